"""Which current facts a turn of a conversation needs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ko_integrations.errors import EmbedderError, SemanticIndexError
from ko_integrations.query.linking import link
from ko_integrations.query.words import FUNCTION_WORDS, content_keys, words_of
from ko_integrations.types import KnowledgeObject

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = ["INTERNAL", "Recalled", "named_chains", "named_subjects", "recall"]

INTERNAL = "ko:"
"""Predicates that start so hold documents and items of a framework, not facts about a subject."""

MAX_WORDS = 256
"""Words of a message in which subjects are looked for, so that a pasted document costs no more than a page."""


MAX_NAMED = 100
"""Facts of named subjects that are kept: more than fits into any prompt."""


@dataclass(frozen=True)
class Recalled:
    """The facts, most needed first, and what kept the semantic part from being read, if anything did."""

    facts: tuple[KnowledgeObject, ...]
    error: str | None = None


def recall(
    store: "KnowledgeStore", text: str, *, k: int = 8, query: Any = None, min_score: float = 0.25
) -> Recalled:
    """Return the current facts that `text` calls for, most needed first.

    Facts of the subjects it names (`I`, `my`: the speaker) come first, those nearest to it in meaning ahead;
    then up to `k` others that are at least `min_score` alike. At most one text is encoded, none when `query`
    is the vector of the text. When the embedder or the index fails, the named subjects' facts still come.

    Raises:
        LogError: the log cannot be read.
    """
    if not text.strip():
        return Recalled(())
    named = [ko for subject in named_subjects(store, text) for ko in store.facts(subject)]
    error = None
    try:
        hits = [hit for hit in store.read(text if query is None else query, k) if hit.score >= min_score]
    except (EmbedderError, SemanticIndexError) as failure:
        hits, error = [], f"{type(failure).__name__}: {failure}"
    rank = {hit.ko.id: place for place, hit in enumerate(hits)}
    keys = _keys(text)
    ordered = sorted(named, key=lambda ko: (rank.get(ko.id, k), -_overlap(ko, keys)))[:MAX_NAMED]
    others = [hit.ko for hit in hits if not hit.ko.predicate.startswith(INTERNAL)]
    return Recalled(tuple({ko.id: ko for ko in (*ordered, *others)}.values()), error)


def named_subjects(store: "KnowledgeStore", text: str) -> list[str]:
    """Return the stored subjects that a text names, surest first."""
    mentions = link(text, words_of(text)[:MAX_WORDS], store)
    return list(dict.fromkeys(mention.subject for mention in mentions))


def named_chains(store: "KnowledgeStore", text: str) -> list[KnowledgeObject]:
    """Return every version of every fact of the subjects that a text names, each slot oldest first.

    Source: main paper 4.2.9 (the whole version chain comes along, so that a change can be told).
    """
    return [
        ko
        for subject in named_subjects(store, text)
        for predicate in store.predicates(subject)
        for ko in store.history(subject, predicate)
    ]


def _keys(text: str) -> frozenset[str]:
    words = words_of(text)[:MAX_WORDS]
    return frozenset(word.key for word in words if word.is_word and word.lower not in FUNCTION_WORDS)


def _overlap(ko: KnowledgeObject, keys: frozenset[str]) -> int:
    return len(keys.intersection(content_keys(ko.predicate)))

"""Which current facts a turn of a conversation needs."""

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ko_integrations.errors import EmbedderError, SemanticIndexError
from ko_integrations.filters import Condition
from ko_integrations.memory.documents import INTERNAL
from ko_integrations.query.lexicon import lexicon_of
from ko_integrations.query.linking import link
from ko_integrations.query.words import FUNCTION_WORDS, words_of
from ko_integrations.times import Moment, to_micros
from ko_integrations.types import KnowledgeObject

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = ["Recalled", "named_chains", "named_subjects", "recall"]

MAX_WORDS = 256
"""Words of a message in which subjects are looked for, so that a pasted document costs no more than a page."""

MAX_CHAIN = 100
"""Versions that a question about a change brings at most."""

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

    Facts of the subjects it names (`I`, `my`: the speaker) come first, those that its words speak of and then
    those nearest to it in meaning ahead;
    then up to `k` others that are at least `min_score` alike. At most one text is encoded: none when `query`
    is the vector of the text, or `k` is 0. When the embedder or the index fails, the named subjects' facts
    still come.

    Raises:
        LogError: the log cannot be read.
    """
    if not text.strip():
        return Recalled(())
    named = [ko for subject in named_subjects(store, text) for ko in store.facts(subject)]
    error = None
    try:
        near = store.read(text if query is None else query, k) if k else []
        hits = [hit for hit in near if hit.score >= min_score]
    except (EmbedderError, SemanticIndexError) as failure:
        hits, error = [], f"{type(failure).__name__}: {failure}"
    rank = {hit.ko.id: place for place, hit in enumerate(hits)}
    spoken_of = _SpokenOf(store, text)
    # What the words speak of comes first: a vector of a short question tells its topic, hardly what it asks for.
    ordered = sorted(named, key=lambda ko: (-spoken_of(ko), rank.get(ko.id, k)))[:MAX_NAMED]
    others = [hit.ko for hit in hits if not hit.ko.predicate.startswith(INTERNAL)]
    return Recalled(tuple({ko.id: ko for ko in (*ordered, *others)}.values()), error)


def named_subjects(store: "KnowledgeStore", text: str) -> list[str]:
    """Return the stored subjects that a text names, surest first."""
    mentions = link(text, words_of(text)[:MAX_WORDS], store)
    return list(dict.fromkeys(mention.subject for mention in mentions))


def named_chains(
    store: "KnowledgeStore",
    text: str,
    *,
    condition: Condition | None = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> list[KnowledgeObject]:
    """Return the versions of the facts of the subjects that a text names, each slot oldest first.

    At most `MAX_CHAIN`, of those that pass `condition` and had begun by `as_of`.

    Source: main paper 4.2.9 (the whole version chain comes along, so that a change can be told).
    """
    until = None if as_of is None else to_micros(as_of, "as_of")
    told = (
        ko
        for subject in named_subjects(store, text)
        for predicate in store.predicates(subject)
        for ko in store.history(subject, predicate, known_at=known_at)
        if (until is None or to_micros(ko.valid_from, "valid_from") <= until)
        and (condition is None or condition(ko))
    )
    return list(islice(told, MAX_CHAIN))


class _SpokenOf:
    """Tells how firmly the words of a text point to a fact's predicate, 0 to 1: `live` to a residence."""

    def __init__(self, store: "KnowledgeStore", text: str) -> None:
        words = words_of(text)[:MAX_WORDS]
        self._keys = {word.key for word in words if word.is_word and word.lower not in FUNCTION_WORDS}
        self._lexicon = lexicon_of(store.vocabulary)

    def __call__(self, ko: KnowledgeObject) -> float:
        cues = self._lexicon.profile(ko.predicate, ko.subject).cues
        return max((cues[key] for key in self._keys & cues.keys()), default=0.0)

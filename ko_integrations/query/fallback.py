"""The semantic read, for questions whose subject no name look-up finds; only with evidence of its own."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ko_integrations.protocols import FactReader
from ko_integrations.query.lexicon import Lexicon
from ko_integrations.query.linking import SPEAKER, Mention
from ko_integrations.query.paths import Candidate, canonical
from ko_integrations.query.question import Asked, analyse
from ko_integrations.query.scoring import fit
from ko_integrations.query.words import FUNCTION_WORDS, Word, words_of
from ko_integrations.times import Moment
from ko_integrations.types import Hit, KnowledgeObject

__all__ = ["near_candidates"]

_HITS = 8
_PARTIAL = 0.6
"""How surely a part of a name ("Dr. Chen") names the subject."""
_OVERLAP = 0.8
_EDGES = "?!.,;:()\"'“”‘’"


def near_candidates(
    text: str, words: Sequence[Word], mentions: Sequence[Mention], reader: FactReader, lexicon: Lexicon,
    as_of: datetime | None, known_at: Moment | None,
) -> list[Candidate]:  # fmt: skip
    """Return the facts near in meaning whose subject the question names in part, or that it all but quotes."""
    hits = reader.read(text, _HITS, as_of=as_of, known_at=known_at)
    named = {mention.subject for mention in mentions}
    candidates = []
    for hit in hits:
        if named and hit.ko.subject not in named:
            continue
        asked = _about(text, words, hit, lexicon)
        if asked is not None:
            profile = lexicon.profile(canonical(reader, hit.ko.predicate), hit.ko.subject)
            fitted = fit(asked, (profile,), lexicon)
            candidates.append(Candidate(asked, (profile,), (hit.ko.subject,), (), (hit.ko,), fitted))
    return candidates


def _about(text: str, words: Sequence[Word], hit: Hit, lexicon: Lexicon) -> Asked | None:
    """Return the question read as one about the subject of a hit, or None if it names something else."""
    subject = _chunks(hit.ko.subject)
    if hit.ko.subject.startswith(f"{SPEAKER}'s ") and not subject & {word.lower for word in words}:
        return None  # "my name" is not my mother's
    part = [i for i, word in enumerate(words) if _telling(word) and _chunk(text, word) in subject]
    if part:
        mention = Mention(hit.ko.subject, part[0], part[-1] + 1, _PARTIAL)
        asked = analyse(text, words, mention, lexicon)
    else:
        asked = _unnamed(text, words, hit.ko, lexicon)
    named = subject | _chunks(hit.ko.predicate.replace("_", " "))
    strangers = {token.lower for token in asked.tokens if token.name_like} - {
        word.lower for word in words if _chunk(text, word) in named
    }
    return None if strangers or (not part and not _quoted(asked, hit.ko)) else asked


def _chunks(name: str) -> set[str]:
    return {chunk.strip(_EDGES).lower() for chunk in name.split()}


def _chunk(text: str, word: Word) -> str:
    """Return what stands between blanks around a word: "C#" and "C++" share a letter, not a name."""
    start = max(text.rfind(" ", 0, word.start) + 1, 0)
    end = text.find(" ", word.end)
    return (
        text[start : end if end >= 0 else len(text)]
        .strip(_EDGES)
        .removesuffix("'s")
        .removesuffix("’s")
        .strip(_EDGES)
        .lower()
    )


def _telling(word: Word) -> bool:
    return word.is_word and word.lower not in FUNCTION_WORDS


def _unnamed(text: str, words: Sequence[Word], ko: KnowledgeObject, lexicon: Lexicon) -> Asked:
    asked = analyse(text, words, Mention(ko.subject, 0, 1, _PARTIAL), lexicon)
    return replace(asked, masked=text)


def _quoted(asked: Asked, ko: KnowledgeObject) -> bool:
    """Tell whether nearly every content word of the question stands in the fact."""
    stated = {word.key for word in words_of(f"{ko.subject} {ko.predicate.replace('_', ' ')} {ko.object}")}
    weight = sum(token.weight for token in asked.tokens if token.key in stated)
    return bool(asked.weight) and weight / asked.weight >= _OVERLAP

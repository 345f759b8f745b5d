"""Which stored subjects a question names: one look-up of its n-grams, whatever the size of the store."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ko_integrations.protocols import FactReader
from ko_integrations.query.lexicon import Lexicon, lexicon_of
from ko_integrations.query.words import CARRIERS, FIRST_PERSON, FUNCTION_WORDS, Word

__all__ = ["MAX_WORDS", "SPEAKER", "Mention", "link", "name_runs"]

MAX_WORDS = 64
"""Words of a question that are read; what follows is left out, so that time stays bounded."""

SPEAKER = "user"
"""The subject of a namespace whose facts are told in the first person."""

_LONGEST = 14
_ONCE, _PROBES = 0.85, 3
_SHORT = 3
_TITLES = ("the", "patient")
"""What a stored name may open with and a question leave out."""
_LEGAL_FORMS = (
    " Inc.",
    ", Inc.",
    " Inc",
    " Ltd.",
    ", Ltd.",
    " Ltd",
    " LLC",
    " GmbH",
    " AG",
    " plc",
    " Corp.",
)
"""What it may end with."""
_OPENING, _CLOSING = frozenset("\"'“‘«„([#$@"), frozenset("\"'”’»)].!?+#%*")
_ARTICLES = frozenset({"the", "a", "an"})
_QUOTES = frozenset("\"'“”‘’«»„")


@dataclass(frozen=True, slots=True)
class Mention:
    """A subject and the words that name it: `words[start:end]`.

    Attributes:
        prior: how surely they do, 0 to 1.
        owner: they hold an "s" that is not of the name: "annas".
    """

    subject: str
    start: int
    end: int
    prior: float
    owner: bool = False


def link(question: str, words: Sequence[Word], reader: FactReader) -> list[Mention]:
    """Return the stored subjects that `question` names, surest first.

    A longer name wins over one inside it; quoted and capitalised names over common words.
    """
    spans = _candidate_spans(question, words)
    if not spans:
        return []
    found = reader.find_subjects(list(spans))
    mentions = [
        Mention(
            subject, start, end, _prior(words, start, end),
            owner=question[words[start].start : words[end - 1].end - 1] == name,
        )
        for name, subject in found.items()
        for start, end in spans[name]
    ]  # fmt: skip
    mentions.sort(key=lambda m: (-(m.end - m.start), m.owner, -m.prior, m.start))
    kept: list[Mention] = []
    for mention in mentions:
        inside = [m for m in kept if m.start <= mention.start and mention.end <= m.end]
        if any(m.subject == mention.subject for m in inside):
            continue
        # A name inside a longer one is hardly meant by itself, but the longer may be a title that says nothing.
        kept.append(Mention(mention.subject, mention.start, mention.end, mention.prior * 0.35 ** len(inside)))
    lexicon = lexicon_of(reader.vocabulary)
    kept = [mention for mention in kept if not _goes_on(words, mention, kept, lexicon)]
    kept.sort(key=lambda m: (-m.prior, -(m.end - m.start), m.start))
    return kept or _once_known(question, words, reader)


def _goes_on(words: Sequence[Word], mention: Mention, others: Sequence[Mention], lexicon: Lexicon) -> bool:
    """Tell whether a name is only the beginning of another one: "Anna" of "Anna Kowalska", who is not stored."""
    last, end = words[mention.end - 1], mention.end
    if end >= len(words) or not _is_proper(last) or words[end].start != last.end + 1:
        return False
    known = any(other.start == end for other in others)
    return _is_proper(words[end]) and not lexicon.frequency[words[end].key] and not known


def _is_proper(word: Word) -> bool:
    """Tell whether a word is written as a proper noun, not as an acronym."""
    return len(word.text) > 2 and word.text[0].isupper() and word.text[1:].islower()


def _once_known(question: str, words: Sequence[Word], reader: FactReader) -> list[Mention]:
    """Return the names of subjects of which nothing holds any more, but something did."""
    runs = [
        Mention(question[words[start].start : words[end - 1].end], start, end, _ONCE)
        for start, end in name_runs(words)[:_PROBES]
    ]
    return [mention for mention in runs if reader.predicates(mention.subject)]


def name_runs(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Return the longest spans of capitalised words, codes and what joins them, the first word of all left out."""
    runs: list[tuple[int, int]] = []
    start: int | None = None
    for i in range(len(words) + 1):
        if i < len(words) and _continues_name(words[i], i, start):
            start = i if start is None else start
        elif start is not None:
            end = i
            while end > start and not (words[end - 1].is_word and words[end - 1].is_name_like):
                end -= 1
            runs.append((start, end))
            start = None
    return runs


def _continues_name(word: Word, i: int, start: int | None) -> bool:
    if word.lower in ("'s", "’s") or word.text in "?!":
        return False
    if start is None:
        return word.is_word and word.is_name_like and i > 0
    return word.is_name_like or word.lower in ("of", "the", "and", "de", "van", "von", "&", "-", ".", "'")


def _candidate_spans(question: str, words: Sequence[Word]) -> dict[str, list[tuple[int, int]]]:
    """Return each name that may stand in the question, with the word spans where it does."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for start, first in enumerate(words):
        if first.lower in FIRST_PERSON:
            spans.setdefault(SPEAKER, []).append((start, start + 1))
            for end in range(start + 2, min(start + 5, len(words)) + 1):  # my brother: user's brother
                if words[end - 1].is_word:
                    rest = question[words[start + 1].start : words[end - 1].end]
                    for name in (f"{SPEAKER}'s {rest}", f"{first.text} {rest}"):
                        spans.setdefault(name, []).append((start, end))
            continue
        if not first.is_word and first.text not in _OPENING:
            continue
        for end in range(start + 1, min(start + _LONGEST, len(words)) + 1):
            if _may_be_name(words, start, end):
                name = question[first.start : words[end - 1].end]
                spans.setdefault(name, []).append((start, end))
                if _may_own(words[end - 1]):  # "annas phone"
                    spans.setdefault(name[:-1], []).append((start, end))
                for longer in _longer_names(name, words[start:end]):
                    spans.setdefault(longer, []).append((start, end))
    return spans


def _longer_names(name: str, words: Sequence[Word]) -> Iterator[str]:
    """Yield what a name may be in full: with a title, a legal form, or the sign before a number."""
    first, last = words[0], words[-1]
    if first.is_name_like:
        yield from (f"{title} {name}" for title in _TITLES if first.lower != title)
        if all(map(_is_proper, words)):
            yield from (f"{name}{form}" for form in _LEGAL_FORMS)
    if len(words) > 1 and last.text.isdigit():
        yield f"{name.removesuffix(last.text)}#{last.text}"


def _may_own(word: Word) -> bool:
    """Tell whether a word may be a possessive that lost its apostrophe."""
    return word.is_word and word.text.isalpha() and word.lower.endswith("s") and len(word.text) > _SHORT


def _may_be_name(words: Sequence[Word], start: int, end: int) -> bool:
    first, last = words[start], words[end - 1]
    if not last.is_word and last.text not in _CLOSING:
        return False
    if any(word.text in "?!" and word.text != last.text for word in words[start:end]):
        return False
    quoted = _is_quoted(words, start, end)
    if end - start == 1:
        if not first.is_word:
            return False
        # A capital at the head of a sentence says nothing; "It" in quotes or inside a sentence does.
        plain = first.lower in FUNCTION_WORDS and not quoted
        return not plain or (first.text[0].isupper() and start > 0 and words[start - 1].text not in ".?!")
    if quoted:
        return True
    opens = first.lower not in FUNCTION_WORDS or first.text[0].isupper() or first.lower in _ARTICLES
    return opens and (last.lower not in FUNCTION_WORDS or last.is_name_like)


def _is_quoted(words: Sequence[Word], start: int, end: int) -> bool:
    return (
        start > 0
        and end < len(words)
        and words[start - 1].text in _QUOTES
        and (words[end].text in _QUOTES or words[end].lower in ("'s", "’s"))
    )


def _prior(words: Sequence[Word], start: int, end: int) -> float:
    """How sure it is that these words name a subject: 0 to 1."""
    inner = [word for word in words[start:end] if word.is_word]
    if _is_quoted(words, start, end):
        return 1.0
    if words[start].lower in FIRST_PERSON:
        return 0.9 if words[start].lower in {"i", "me", "my", "mine", "myself"} else 0.7
    named = sum(word.is_name_like for word in inner if word.lower not in FUNCTION_WORDS)
    if named and (start > 0 or len(inner) > 1 or inner[0].lower not in CARRIERS):
        return 0.95
    return 0.8 if len(inner) > 1 else 0.6

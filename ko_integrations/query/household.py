"""What a question leaves unsaid: "the wifi password" is the speaker's, "how much X do I take" asks of my X."""

from collections.abc import Iterator, Sequence

from ko_integrations.identity import normalize_predicate
from ko_integrations.protocols import FactReader
from ko_integrations.query.linking import SPEAKER, Mention
from ko_integrations.query.words import CARRIERS, FIRST_PERSON, FUNCTION_WORDS, Word

__all__ = ["with_household"]

_SURE = 0.9
_LONGEST = 4


def with_household(words: Sequence[Word], mentions: Sequence[Mention], reader: FactReader) -> list[Mention]:
    """Return the mentions, and what the speaker has and the question names without "my"."""
    if not mentions:
        return _owner(words, reader)
    if {mention.subject for mention in mentions} == {SPEAKER}:
        return [*_possessions(words, reader), *mentions]
    return list(mentions)


def _owner(words: Sequence[Word], reader: FactReader) -> list[Mention]:
    """Return the speaker for a "the" before a noun that the speaker has.

    The whole noun must be what a predicate of the speaker is called: "the garage code" is not the speaker's
    because the speaker has a door code.
    """
    owned: set[str] | None = None
    for start, noun in _definites(words):
        if owned is None:
            owned = set(reader.predicates(SPEAKER))
        declared = reader.vocabulary.get("_".join(noun))
        if normalize_predicate(" ".join(noun)) in owned or (declared and declared.name in owned):
            return [Mention(SPEAKER, start, start + 1, _SURE)]
    return []


def _definites(words: Sequence[Word]) -> Iterator[tuple[int, list[str]]]:
    """Yield where each "the" stands, and the noun after it."""
    for start, word in enumerate(words):
        noun: list[str] = []
        for other in words[start + 1 : start + 1 + _LONGEST] if word.lower == "the" else ():
            if not other.is_word or other.lower in FUNCTION_WORDS:
                break
            noun.append(other.lower)
        if noun:
            yield start, noun


def _possessions(words: Sequence[Word], reader: FactReader) -> list[Mention]:
    """Return the stored possessions of the speaker that are named by one bare noun ("how much ibuprofen do I take")."""
    nouns = {
        f"{SPEAKER}'s {word.lower}": i
        for i, word in enumerate(words)
        if word.is_word
        and not {word.lower} & (FUNCTION_WORDS | CARRIERS)
        and (i == 0 or words[i - 1].lower not in FIRST_PERSON)
    }
    stored = reader.find_subjects(list(nouns)) if nouns else {}
    return [Mention(subject, nouns[name], nouns[name] + 1, _SURE) for name, subject in stored.items()]

"""Nouns narrower than the predicate that they name: "my son" is no daughter, "my cat" no dog."""

from collections.abc import Sequence
from dataclasses import replace

from ko_integrations.kinds import LIVING_KINDS, kin_among
from ko_integrations.morphology import lemma
from ko_integrations.protocols import FactReader
from ko_integrations.query.kin import known_species
from ko_integrations.query.paths import Candidate
from ko_integrations.query.question import Token
from ko_integrations.query.scoring import explains
from ko_integrations.query.words import CARRIERS, FUNCTION_WORDS, Word
from ko_integrations.types import KnowledgeObject

__all__ = ["asks_an_attribute", "narrowed"]


def narrowed(candidate: Candidate, words: Sequence[Word], reader: FactReader) -> Candidate | None:
    """Return the candidate with the values that the noun of the question can mean; None where it means none.

    A value of which nothing tells stays.
    """
    declared = reader.vocabulary.get(candidate.profiles[-1].name)
    if (
        declared is None
        or candidate.inverse
        or declared.cardinality != "set"
        or LIVING_KINDS.isdisjoint(declared.object_kinds)
        or not candidate.values
    ):
        return candidate
    noun = next((word.lower for word in words if _names(word, declared.name, reader)), None)
    if noun is None:
        return candidate
    fitting = set(kin_among(noun, (str(ko.object) for ko in candidate.values)))
    kept = tuple(
        ko
        for ko in candidate.values
        if str(ko.object) in fitting and _is_such(ko, noun, declared.name, reader)
    )
    return replace(candidate, values=kept) if kept else None


def asks_an_attribute(candidate: Candidate, words: Sequence[Word]) -> bool:
    """Tell whether the question asks for an attribute of what the candidate holds: "my car's plate" of the car.

    The noun before the last possessive is what the predicate is called, and nothing explains the noun after it.
    """
    mention = candidate.asked.mention
    for i in range(1, len(words) - 1):
        owner, head = words[i - 1], words[i + 1]
        if words[i].lower not in ("'s", "’s") or mention.start <= i - 1 < mention.end:
            continue
        if not head.is_word or {head.lower} & (FUNCTION_WORDS | CARRIERS):
            continue
        said = any(
            token.key == head.key and _is_explained(token, candidate) for token in candidate.asked.tokens
        )
        if not said and (owner.key,) in candidate.profiles[-1].phrases:
            return True
    return False


def _is_explained(token: Token, candidate: Candidate) -> bool:
    return any(explains(token, profile) > 0 for profile in candidate.profiles)


def _names(word: Word, predicate: str, reader: FactReader) -> bool:
    named = reader.vocabulary.get(word.lower) if word.is_word else None
    return named is not None and named.name == predicate


def _is_such(ko: KnowledgeObject, noun: str, predicate: str, reader: FactReader) -> bool:
    """Tell whether an animal may be called by the noun: it is not known for another species."""
    if lemma(noun) in (lemma(predicate), "pet", "animal"):
        return True
    known = known_species(str(ko.object), reader)
    return not known or lemma(noun) in known

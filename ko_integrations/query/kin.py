"""Whom "my sister" means in a question: a stored subject, if what is asked is asked about her and not who she is."""

from collections.abc import Sequence
from dataclasses import replace

from ko_integrations.kinds import LIVING_KINDS, formal_kin, kin_among
from ko_integrations.protocols import FactReader
from ko_integrations.query.linking import SPEAKER, Mention
from ko_integrations.query.words import CARRIERS, FUNCTION_WORDS, Word
from ko_integrations.vocabulary import Predicate

__all__ = ["known_species", "relatives"]

_OWNING = frozenset({"my", "our"})
_DOING = frozenset({"do", "does", "did"})


def relatives(words: Sequence[Word], mentions: Sequence[Mention], reader: FactReader) -> list[Mention]:
    """Return the mentions, "my" of "my sister" replaced by the one stored subject that she is.

    Nobody else's facts answer for her: where it is not known who she is, or nothing about her is stored, the
    speaker is no subject of the question. "Who is my sister" asks for the relation and stays as it is.
    """
    resolved: list[Mention] = []
    for mention in mentions:
        found = _relation(words, mention, reader)
        if found is None:
            resolved.append(mention)
        else:
            subject = _subject(*found, reader)
            if subject:
                resolved.append(replace(mention, subject=subject, end=mention.start + 2, prior=1.0))
    return list(dict.fromkeys(resolved))


def _relation(words: Sequence[Word], mention: Mention, reader: FactReader) -> tuple[str, Predicate] | None:
    """The noun and predicate of a relation of the speaker about whose bearer something is asked."""
    if (
        mention.subject != SPEAKER
        or words[mention.start].lower not in _OWNING
        or mention.start + 1 >= len(words)
    ):
        return None
    noun = words[mention.start + 1].lower
    declared = reader.vocabulary.get(noun)
    if declared is None or LIVING_KINDS.isdisjoint(declared.object_kinds):
        return None
    around = [
        word for i, word in enumerate(words) if word.is_word and not mention.start <= i < mention.start + 2
    ]
    asked = any(word.lower not in FUNCTION_WORDS and word.lower not in CARRIERS for word in around)
    doing = bool(around) and around[0].lower == "what" and any(word.lower in _DOING for word in around)
    owns_itself = any(
        noun in name.split("_") and name != declared.name for name in reader.predicates(SPEAKER)
    )
    return (noun, declared) if (asked or doing) and not owns_itself else None


def _subject(noun: str, declared: Predicate, reader: FactReader) -> str | None:
    fitting = kin_among(noun, (str(ko.object) for ko in reader.read_values(SPEAKER, declared.name)))
    if "animal" in declared.object_kinds and len(fitting) > 1:  # "my cat" of several pets
        fitting = [name for name in fitting if noun in known_species(name, reader)]
    described = [f"{SPEAKER}'s {formal_kin(noun)}", f"{SPEAKER}'s {noun}"]
    stored = reader.find_subjects([*fitting, *described])
    if len(fitting) == 1 and fitting[0] in stored:
        return stored[fitting[0]]
    return next((stored[name] for name in described if name in stored), None)


def known_species(animal: str, reader: FactReader) -> set[str]:
    """Return what is stored of which animal somebody's pet is."""
    return {str(ko.object) for ko in reader.read_values(animal, "species")}

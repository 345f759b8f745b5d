"""Which animal a pet is: "my dog is Rex" says that Rex is a pet, and that he is a dog."""

from collections.abc import Iterable, Iterator

from ko_integrations.compiler.text import tokens_of
from ko_integrations.morphology import lemma
from ko_integrations.protocols import Extraction
from ko_integrations.vocabulary import Vocabulary

__all__ = ["species_of"]

SPECIES = "species"
_ANIMAL = ("animal",)
_BETWEEN = frozenset("is are was were called named and also our my a an".split())
"""What may stand between the noun and the name, beside other names."""


def species_of(clause: str, stated: Iterable[Extraction], vocabulary: Vocabulary) -> Iterator[Extraction]:
    """Yield the species of each animal that `clause` names by a noun narrower than the predicate."""
    if vocabulary.get(SPECIES) is None:
        return
    for item in stated:
        declared = vocabulary.get(item.predicate)
        if declared is None or tuple(declared.object_kinds) != _ANIMAL or item.kind != "assert":
            continue
        noun = _noun_before(str(item.object), clause)
        named = vocabulary.get(noun) if noun else None
        if named is not None and named.name == declared.name and not _is_general(noun, declared.name):
            yield item.model_copy(update={"subject": str(item.object), "predicate": SPECIES, "object": noun})


def _noun_before(name: str, clause: str) -> str:
    """Return the singular of the common noun that introduces `name`, or ""."""
    head, found, _ = clause.partition(name)
    for word in reversed([token.text for token in tokens_of(head)] if found else []):
        if word.islower() and word not in _BETWEEN:
            return lemma(word)
    return ""


def _is_general(noun: str, predicate: str) -> bool:
    return noun in ("pet", "animal") or noun == lemma(predicate)

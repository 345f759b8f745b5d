"""Corrections of what an earlier text said: "Actually it's Friday, not Thursday" in a turn of its own.

The text has no antecedent, so the store's latest facts are it. One is meant if its value is the one denied; with
none denied, the one of the last turn whose value is built like the new one. Nothing else is touched.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from ko_integrations.kinds import kinds_of
from ko_integrations.protocols import Extraction, FactReader
from ko_integrations.types import Change, KnowledgeObject, Value

__all__ = ["afterthought"]

_MARK = r"(?:oh|oops|ugh|sorry|no(?=,|[.:;!–—-]| (?:wait|sorry)\b)|nope|wait|actually|hmm|correction|typo|my bad|my mistake|hang on|hold on|i mean|i meant|scratch that)"
_AFTERTHOUGHT = re.compile(
    rf"^(?P<marked>(?:{_MARK}\b[,.:;!–—-]* *)+)?(?:(?:i meant|i mean|i should have said|(?:it|that)(?: is|['’]s)|make (?:it|that)|(?:it |that )?should be)\b *)*(?P<new>[^,.;!?\s][^,;!?]*?)"
    r"(?:,? (?:and )?not (?P<old>[^,;!?]+?))?[.!]*$",
    re.IGNORECASE,
)
_MEANT = re.compile(r"\b(?:i meant|i mean|should have said|should be|make it|make that)\b", re.IGNORECASE)
_COPULA = re.compile(r"\b(?:it|that)(?: is|['’]s)\b|^make (?:it|that)\b", re.IGNORECASE)
_LATEST = 6
"""Changes that are looked at."""
_TURN = timedelta(minutes=15)
"""How long after a fact was told a correction without a subject may mean it."""
_BREATH = timedelta(seconds=1)
"""Facts recorded within it were told in one turn."""


@runtime_checkable
class _Following(Protocol):
    """A reader that tells what changed last, as the store does."""

    def latest_changes(self, limit: int) -> Sequence[Change]: ...


def afterthought(
    said: str,
    reader: FactReader,
    said_at: datetime,
    values: Callable[[str, str], Sequence[Value]],
    finite: Callable[[str], bool],
) -> list[Extraction]:
    """Return what a correction of an earlier text states; nothing where `said` is none, or what it means is not clear.

    `values` reads a wording as values of a predicate, `finite` tells whether words hold a verb.
    """
    match = _AFTERTHOUGHT.match(said)
    if (
        match is None
        or finite(match["new"])
        or not (match["marked"] or match["old"] and _COPULA.search(said))
    ):
        return []
    old, new, meant = match["old"], match["new"], _MEANT.search(said) is not None
    told = list(_latest(reader, said_at))
    if old is None:  # then what was told in one breath before
        told = [ko for ko in told if told[0].provenance.recorded_at - ko.provenance.recorded_at < _BREATH]
    fitting = [
        (ko, taken[0])
        for ko in told
        if len(taken := list(values(ko.predicate, new))) == 1
        and taken[0] != ko.object
        and (_alike(ko.object, taken[0], meant) if old is None else ko.object in values(ko.predicate, old))
    ]
    if not fitting or (old is None and len(fitting) > 1):
        return []
    return _corrected(*fitting[0], said, reader)


def _latest(reader: FactReader, said_at: datetime) -> Iterator[KnowledgeObject]:
    """Yield the facts that were told last and still hold, the latest first."""
    if not isinstance(reader, _Following):
        return
    for change in reader.latest_changes(_LATEST):
        ko = change.ko
        if ko is None or change.kind != "asserted" or abs(said_at - change.recorded_at) > _TURN:
            return
        if any(held.object == ko.object for held in reader.read_values(ko.subject, ko.predicate)):
            yield ko


def _alike(old: Value, new: Value, meant: bool) -> bool:
    """Whether two values are of one type and build: as many words, the same kinds, digits and capitals alike.

    Where the words say that a value was meant, a kind may be unknown; else "sorry, Max" may be said to Max,
    and "sorry, later" is no value at all.
    """
    if type(old) is not type(new):
        return False
    one, two = str(old), str(new)
    if len(one.split()) != len(two.split()) or _shape(one) != _shape(two):
        return False
    kinds, others = kinds_of(one), kinds_of(two)
    known = bool(kinds) or any(character.isdigit() for character in one)
    return (known and kinds == others) or (meant and not (kinds and others))


def _shape(text: str) -> tuple[bool, bool]:
    return text[:1].isupper(), any(character.isdigit() for character in text)


def _corrected(ko: KnowledgeObject, value: Value, said: str, reader: FactReader) -> list[Extraction]:
    stated = Extraction(subject=ko.subject, predicate=ko.predicate, object=value, text=said, confidence=0.8)
    if reader.vocabulary.cardinality(ko.predicate) != "set":
        return [stated]
    return [stated.model_copy(update={"object": ko.object, "kind": "retract"}), stated]

"""What a version chain says to a temporal operator: which versions, and the value that answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ko_integrations.identity import canonical_value
from ko_integrations.protocols import FactReader
from ko_integrations.query.temporal import TemporalOperator
from ko_integrations.query.words import plain
from ko_integrations.times import Moment
from ko_integrations.types import KnowledgeObject, Quantity

__all__ = ["Found", "Slot", "apply", "distinct", "names_in", "names_value", "same_value"]

_INSTANT = timedelta(microseconds=1)
_DAYS = {"day": 1.0, "week": 7.0, "month": 365.2425 / 12, "year": 365.2425}
_MAX_CHANGES = 64
"""Changes inside a period that are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot to read: where it is, and what holds in it now."""

    reader: FactReader
    subject: str
    predicate: str
    current: tuple[KnowledgeObject, ...]
    now: datetime
    known_at: Moment | None = None

    @property
    def is_set(self) -> bool:
        """Whether it holds a set of members."""
        return self.reader.vocabulary.cardinality(self.predicate) == "set"

    def chain(self) -> list[KnowledgeObject]:
        """Return the versions that have begun, oldest first."""
        versions = self.reader.history(self.subject, self.predicate, known_at=self.known_at)
        return [ko for ko in versions if ko.valid_from <= self.now or ko in self.current]

    def at(self, moment: datetime) -> list[KnowledgeObject]:
        """Return what held at a moment."""
        return self.reader.read_values(self.subject, self.predicate, as_of=moment, known_at=self.known_at)


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a chain: its value (None: nothing held then) and the versions it rests on."""

    value: Any
    facts: tuple[KnowledgeObject, ...] = ()


def same_value(one: KnowledgeObject, other: KnowledgeObject) -> bool:
    """Tell whether two versions have equal values."""
    return canonical_value(one.object) == canonical_value(other.object)


def distinct(versions: Sequence[KnowledgeObject]) -> list[KnowledgeObject]:
    """Return the versions, of each value the first."""
    return list({canonical_value(ko.object): ko for ko in reversed(versions)}.values())[::-1]


def apply(operator: TemporalOperator, slot: Slot, mentioned: str = "") -> Found:
    """Return what `slot` says to `operator`; `mentioned` are words that may name one of its values."""
    reader = _READERS.get(operator.kind, _current)
    return reader(operator, slot, mentioned)


def _plain(versions: Sequence[KnowledgeObject], *, as_list: bool = False) -> Found:
    """Return one value as it is, several as a list."""
    several = distinct(versions)
    if not several:
        return Found(None)
    values = [ko.object for ko in several]
    return Found(values if as_list or len(values) > 1 else values[0], tuple(several))


def _current(_operator: TemporalOperator, slot: Slot, _mentioned: str) -> Found:
    return _plain(slot.current, as_list=slot.is_set)


def _latest(operator: TemporalOperator, slot: Slot, mentioned: str) -> Found:
    if operator.start or operator.end:
        return _plain(_within(operator, slot)[-1:])
    return _current(operator, slot, mentioned) if slot.current else _plain(slot.chain()[-1:])


def _period(operator: TemporalOperator, slot: Slot, _mentioned: str) -> Found:
    return _plain(_within(operator, slot), as_list=slot.is_set)


def _within(operator: TemporalOperator, slot: Slot) -> list[KnowledgeObject]:
    """Return what held in [start, end), in order: at its beginning, and after each change inside it."""
    chain = slot.chain()
    start = operator.start or (chain[0].valid_from if chain else slot.now)
    end = operator.end or slot.now + _INSTANT
    if end - start <= _INSTANT:
        return slot.at(start)
    changes = {ko.valid_from for ko in chain} | {ko.valid_to for ko in chain if ko.valid_to is not None}
    inside = sorted(moment for moment in changes if start < moment < end)[:_MAX_CHANGES]
    held: list[KnowledgeObject] = []
    for moment in (start, *inside):
        held += [ko for ko in slot.at(moment) if ko not in held]
    return held


def _until(operator: TemporalOperator, slot: Slot, _mentioned: str) -> Found:
    if operator.anchor is not None:
        return _beside_anchor(operator, slot, -1)
    if operator.end is None:
        return Found(None)
    return _plain(slot.at(operator.end - _INSTANT), as_list=slot.is_set)


def _after(operator: TemporalOperator, slot: Slot, _mentioned: str) -> Found:
    if operator.anchor is not None:
        return _beside_anchor(operator, slot, 1)
    if operator.start is None:
        return Found(None)
    started = operator.start
    held = slot.at(started) or [ko for ko in slot.chain() if ko.valid_from >= started][:1]
    return _plain(held, as_list=slot.is_set)


def _beside_anchor(operator: TemporalOperator, slot: Slot, step: int) -> Found:
    """Return the value before or after the one that the anchor names ("before the Lakers")."""
    runs = _runs(slot.chain())
    for place, ko in enumerate(runs):
        if names_value(operator.anchor or "", ko):
            beside = place + step
            return _plain([runs[beside]]) if 0 <= beside < len(runs) else Found(None, (ko,))
    return Found(None)


def names_value(text: str, ko: KnowledgeObject) -> bool:
    """Tell whether `text` names the value of a version: all of it, its last or first part, or more than it."""
    value, words = f" {plain(str(ko.object))} ", f" {plain(text)} "
    return bool(words.strip() and value.strip()) and (words in value or value in words)


def _runs(chain: Sequence[KnowledgeObject]) -> list[KnowledgeObject]:
    """Return the chain with neighbours of equal value taken as one (the first of them)."""
    runs: list[KnowledgeObject] = []
    for ko in chain:
        if not runs or not same_value(runs[-1], ko):
            runs.append(ko)
    return runs


def _previous(operator: TemporalOperator, slot: Slot, _mentioned: str) -> Found:
    if slot.is_set:
        ended = [ko for ko in slot.chain() if ko.valid_to is not None and ko.valid_to <= slot.now]
        ended.sort(key=lambda ko: ko.valid_to or slot.now)
        return _plain(ended[-operator.ordinal :][:1])
    chain = slot.chain()
    if operator.end is not None:
        chain = [ko for ko in chain if ko.valid_from < operator.end]
        held = slot.at(operator.end - _INSTANT)
    else:
        held = list(slot.current)
    if held:
        place = max((i for i, ko in enumerate(chain) if ko == held[0]), default=len(chain) - 1)
        runs = _runs(chain[: place + 1])[:-1]
    else:
        runs = _runs(chain)
    return _plain([runs[-operator.ordinal]]) if len(runs) >= operator.ordinal else Found(None)


def _first(operator: TemporalOperator, slot: Slot, _mentioned: str) -> Found:
    dated = operator.start or operator.end
    versions = _within(operator, slot) if dated else slot.chain()
    return _plain(versions[:1])


def _nth(operator: TemporalOperator, slot: Slot, _mentioned: str) -> Found:
    runs = _runs(slot.chain())
    return _plain([runs[operator.ordinal - 1]]) if len(runs) >= operator.ordinal else Found(None)


def _count(operator: TemporalOperator, slot: Slot, _mentioned: str) -> Found:
    """Count changes of value; the first value is none."""
    runs = _runs(slot.chain())
    if not runs:
        return Found(None)
    changes = [ko for ko in runs[1:] if _inside(ko.valid_from, operator)]
    return Found(len(changes), tuple(runs))


def _inside(moment: datetime, operator: TemporalOperator) -> bool:
    return (operator.start is None or operator.start <= moment) and (
        operator.end is None or moment < operator.end
    )


def _when(operator: TemporalOperator, slot: Slot, mentioned: str) -> Found:
    """Return when the version asked about began: the one named, else the first or the one that holds."""
    chain = slot.chain()
    named = [ko for ko in chain if mentioned and names_in(mentioned, ko)]
    first, last = named[:1] or chain[:1], named[-1:] or list(slot.current[:1]) or chain[-1:]
    versions = first if operator.ordinal < 0 else last
    return Found(versions[0].valid_from, tuple(versions)) if versions else Found(None)


def names_in(text: str, ko: KnowledgeObject) -> bool:
    """Tell whether the value of a version stands in `text`."""
    value = plain(str(ko.object))
    return bool(value) and f" {value} " in f" {plain(text)} "


def _ended(_operator: TemporalOperator, slot: Slot, mentioned: str) -> Found:
    ended = [ko for ko in slot.chain() if ko.valid_to is not None and ko.valid_to <= slot.now]
    named = [ko for ko in ended if mentioned and names_in(mentioned, ko)]
    versions = (named or ended)[-1:]
    return Found(versions[0].valid_to, tuple(versions)) if versions else Found(None)


def _duration(operator: TemporalOperator, slot: Slot, mentioned: str) -> Found:
    began = _when(operator, slot, mentioned)
    if began.value is None:
        return began
    until = began.facts[0].valid_to or slot.now
    days = (min(until, slot.now) - began.value).days
    return Found(Quantity(int(days / _DAYS[operator.unit]), operator.unit), began.facts)


def _trajectory(operator: TemporalOperator, slot: Slot, _mentioned: str) -> Found:
    chain = slot.chain()
    if operator.start or operator.end:
        chain = _within(operator, slot)
    runs = chain if slot.is_set else _runs(chain)
    if operator.limit:
        runs = runs[-operator.limit :] if operator.limit > 0 else runs[: -operator.limit]
    return Found([ko.object for ko in runs], tuple(runs)) if runs else Found(None)


_READERS: dict[str, Callable[[TemporalOperator, Slot, str], Found]] = {
    "as_of": _period,
    "since": _period,
    "between": _period,
    "until": _until,
    "before": _until,
    "after": _after,
    "previous": _previous,
    "first": _first,
    "latest": _latest,
    "nth": _nth,
    "count": _count,
    "when": _when,
    "ended": _ended,
    "duration": _duration,
    "trajectory": _trajectory,
}

"""The reading half of the reference log: every answer is computed from the whole list of assertions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import RLock

from ko_integrations.errors import StoreClosedError
from ko_integrations.identity import normalize_name
from ko_integrations.log.contract import (
    Address,
    Assertion,
    Event,
    Namespace,
    Naming,
    Scope,
    Version,
)
from ko_integrations.log.fold import head_at, next_change, sort_chain

__all__ = ["ReferenceReader", "Row", "State", "subject_key"]


@dataclass
class Row:
    """An assertion where it stands now, where it stood before, and the event that withdrew it."""

    now: Assertion
    moves: list[tuple[int, Address]] = field(default_factory=list)  # (event, where it stood until then)
    withdrawn: int | None = None

    def place_after(self, sequence: int) -> Address:
        return next((address for event, address in self.moves if event > sequence), self.now.address)


@dataclass
class State:
    rows: list[Row] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    slots: dict[bytes, Address] = field(default_factory=dict)
    settled: dict[bytes, int] = field(default_factory=dict)  # slot -> when it was last refolded
    outbox: dict[bytes, int] = field(default_factory=dict)
    vectors: dict[int, bytes] = field(default_factory=dict)
    erasing: dict[bytes, Namespace] = field(default_factory=dict)
    aliases: dict[Namespace, dict[str, str]] = field(default_factory=dict)
    namings: dict[str, Naming] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    generation: int = 0
    marks: int = 0
    sequence: int = 0
    recorded_at: int = 0


class ReferenceReader:
    """A `VersionReader` over a list of assertions."""

    def __init__(self) -> None:
        self._open: State | None = State()
        self._lock = RLock()

    @property
    def _state(self) -> State:
        if self._open is None:
            raise StoreClosedError("the log is closed")
        return self._open

    # -- chains -----------------------------------------------------------------------------------------------
    def _chain(self, slot: bytes) -> list[Assertion]:
        rows = self._state.rows
        return sort_chain(row.now for row in rows if row.now.address.slot == slot and row.withdrawn is None)

    def _head(self, slot: bytes, now: int | None = None) -> Version | None:
        settled = self._state.settled.get(slot, 0)
        return head_at(self._chain(slot), settled if now is None else max(now, settled))

    def _in_scope(self, scope: Scope) -> list[bytes]:
        return sorted(
            slot
            for slot, address in self._state.slots.items()
            if address.namespace == scope.namespace
            and scope.subject_key in (None, address.subject_key)
            and scope.predicate_key in (None, address.predicate_key)
            and scope.verbatim in (None, address.verbatim)
        )

    def _facts(self, namespace: Namespace) -> list[bytes]:
        return self._in_scope(Scope(namespace, verbatim=False))

    # -- reading ------------------------------------------------------------------------------------------------
    def head(self, slot: bytes, now: int) -> Version | None:
        return self._head(slot, now)

    def heads(self, slots: Sequence[bytes], now: int) -> dict[bytes, Version]:
        found = {slot: self._head(slot, now) for slot in slots}
        return {slot: version for slot, version in found.items() if version is not None}

    def scan(
        self, scope: Scope, now: int, *, after: bytes | None = None, limit: int = 1_000
    ) -> list[Version]:
        heads = (self._head(slot, now) for slot in self._in_scope(scope) if after is None or slot > after)
        return [version for version in heads if version is not None][:limit]

    def chains(
        self,
        scope: Scope | Sequence[bytes],
        *,
        known_at: int | None = None,
        after: bytes | None = None,
        limit: int | None = None,
        withdrawn: bool = False,
    ) -> dict[bytes, list[Assertion]]:
        until = self._state.sequence if known_at is None else self.sequence_at(known_at)
        slots = self._in_scope(scope) if isinstance(scope, Scope) else sorted(set(scope))
        found = {
            slot: self._known(slot, until, withdrawn=withdrawn)
            for slot in slots
            if after is None or slot > after
        }
        return dict([(slot, chain) for slot, chain in found.items() if chain][:limit])

    def _known(self, slot: bytes, until: int, *, withdrawn: bool = False) -> list[Assertion]:
        return sort_chain(
            replace(row.now, address=row.place_after(until))
            for row in self._state.rows
            if row.now.sequence <= until
            and (withdrawn or row.withdrawn is None or row.withdrawn > until)
            and row.place_after(until).slot == slot
        )

    def subjects(
        self,
        namespace: Namespace,
        *,
        prefix: str = "",
        keys: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> dict[str, str]:
        found = {
            self._state.slots[slot].subject_key
            for slot in self._facts(namespace)
            if self._head(slot) is not None
        }
        wanted = sorted(key for key in found if key.startswith(prefix) and (keys is None or key in keys))
        return {key: self._spelling(namespace, key) for key in wanted[:limit]}

    def _spelling(self, namespace: Namespace, key: str) -> str:
        spellings = (
            row.now.subject
            for row in self._state.rows
            if row.now.address.namespace == namespace and subject_key(row.now) == key
        )
        return next(spellings, key)

    def predicates(self, namespace: Namespace, subject_key: str) -> list[str]:
        slots = self._in_scope(Scope(namespace, subject_key, verbatim=False))
        return sorted({self._state.slots[slot].predicate_key for slot in slots if self._chain(slot)})

    def naming(self, namespace: Namespace, object_key: str, limit: int) -> list[bytes]:
        heads = [(slot, self._head(slot)) for slot in self._in_scope(Scope(namespace))]
        return [
            slot
            for slot, head in heads
            if head is not None
            and head.first.kind == "s"
            and normalize_name(head.first.value or "") == object_key
        ][:limit]

    def namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        found = {address.namespace for slot, address in self._state.slots.items() if self._head(slot)}
        return sorted(namespace for namespace in found if namespace[: len(prefix)] == prefix)

    def count(self, scope: Scope | None = None) -> int:
        slots = self._state.slots if scope is None else self._in_scope(scope)
        return sum(self._head(slot) is not None for slot in slots)

    def _changes_at(self, slot: bytes) -> int | None:
        return next_change(self._chain(slot), self._state.settled[slot])

    def next_due(self, namespace: Namespace) -> int | None:
        moments = map(self._changes_at, self._in_scope(Scope(namespace)))
        return min((moment for moment in moments if moment is not None), default=None)

    def events(self, after: int, limit: int) -> list[Event]:
        events = [
            Event(
                row.now.sequence,
                "retracted" if row.now.value is None else "asserted",
                row.now.address.namespace,
                row.now.recorded_at,
                (row.place_after(row.now.sequence).slot,),
            )
            for row in self._state.rows
        ]
        events += [replace(event, slots=self._slots_of(event)) for event in self._state.events]
        return sorted((e for e in events if e.sequence > after), key=lambda e: e.sequence)[:limit]

    def _slots_of(self, event: Event) -> tuple[bytes, ...]:
        number, slots = event.sequence, set()
        for row in self._state.rows:
            if event.kind == "withdrawn" and row.withdrawn == number:
                slots.add(row.place_after(number).slot)
            if event.kind == "rekeyed" and number in dict(row.moves):
                slots |= {row.place_after(number - 1).slot, row.place_after(number).slot}
        return tuple(sorted(slots))

    def sequence_at(self, recorded_at: int) -> int:
        recorded = [(row.now.recorded_at, row.now.sequence) for row in self._state.rows]
        recorded += [(event.recorded_at, event.sequence) for event in self._state.events]
        return max((sequence for moment, sequence in recorded if moment <= recorded_at), default=0)


def subject_key(assertion: Assertion) -> str:
    """Return the key that an assertion was asserted under, whatever alias it was filed under."""
    return assertion.subject if assertion.address.verbatim else normalize_name(assertion.subject)

"""The version log as its definition: a list of assertions in memory, every answer computed from all of it.

The oracle that every other log is compared with. It is slow on purpose; nothing is kept of an answer but
the moment at which a slot was last looked at, because a clock that goes back must not hide what was written.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace

from ko_integrations.errors import BatchError, InvalidInputError
from ko_integrations.identity import normalize_predicate
from ko_integrations.log.contract import (
    Address,
    Applied,
    Assertion,
    Entry,
    Event,
    Namespace,
    Naming,
    Outcome,
    Pending,
    Scope,
    Version,
)
from ko_integrations.log.fold import covering, fold
from ko_integrations.testing.reference_reader import ReferenceReader, Row, subject_key

__all__ = ["ReferenceLog"]


class ReferenceLog(ReferenceReader):
    """A `VersionLog` that keeps a list. For tests."""

    # -- writing ------------------------------------------------------------------------------------------------
    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._lock:
            before = deepcopy(self._state)
            try:
                yield
            except BaseException:
                self._open = before
                raise

    def _tick(self, now: int) -> tuple[int, int]:
        self._state.sequence += 1
        self._state.recorded_at = max(now, self._state.recorded_at + 1)
        return self._state.sequence, self._state.recorded_at

    def _record(self, kind: str, namespace: Namespace | None, now: int) -> tuple[int, int]:
        sequence, recorded_at = self._tick(now)
        self._state.events.append(Event(sequence, kind, namespace, recorded_at))  # type: ignore[arg-type]
        return sequence, recorded_at

    def _refold(self, slots: Iterable[bytes], now: int, *, mark: bool = False) -> None:
        for slot in slots:
            self._mark(slot, self._head(slot), now, mark=mark)

    def _mark(self, slot: bytes, before: Version | None, now: int, *, mark: bool = False) -> None:
        self._state.settled[slot] = now
        after = self._head(slot)
        if mark or (before and before.first.sequence) != (after and after.first.sequence):
            self._state.marks += 1
            self._state.outbox[slot] = self._state.marks

    def append(self, entries: Sequence[Entry], *, now: int) -> list[Applied]:
        with self.transaction():
            heads = {entry.address.slot: self._head(entry.address.slot) for entry in entries}
            applied, errors = [], []
            for row, entry in enumerate(entries):
                try:
                    applied.append(self._append(entry, now))
                except InvalidInputError as error:
                    errors.append((row, error))
            if errors:
                raise errors[0][1] if len(entries) == 1 else BatchError(errors)
            for slot, head in heads.items():
                self._mark(slot, head, self._state.settled[slot])
            return applied

    def _append(self, entry: Entry, now: int) -> Applied:
        slot = entry.address.slot
        sequence, recorded_at = self._tick(now)
        before, head = self._chain(slot), self._head(slot)
        valid_from = entry.valid_from
        if valid_from is None:
            valid_from = max(recorded_at, head.valid_from if head else recorded_at)
        if entry.valid_to is not None and entry.valid_to <= valid_from:
            raise InvalidInputError("valid_to", "not after valid_from")
        assertion = Assertion(
            sequence, entry.address, entry.subject, entry.predicate, entry.kind, entry.value, valid_from,
            entry.valid_to, recorded_at, entry.source, entry.confidence, entry.metadata, entry.text,
        )  # fmt: skip
        self._state.rows.append(Row(assertion))
        self._state.slots.setdefault(slot, entry.address)
        self._state.settled[slot] = recorded_at
        if entry.vector is not None:
            self._state.vectors[sequence] = entry.vector
        self._name(entry)
        return _applied(before, self._chain(slot), assertion)

    def _name(self, entry: Entry) -> None:
        key = normalize_predicate(entry.predicate)
        if not entry.address.verbatim and key not in self._state.namings:
            cardinality = "set" if entry.address.member else "single"
            self._state.namings[key] = Naming(entry.address.predicate_key, cardinality)  # type: ignore[arg-type]
            self._state.generation += 1

    def withdraw(
        self, namespace: Namespace, source: str, *, keep: Collection[bytes] = (), now: int
    ) -> list[bytes]:
        with self.transaction():
            rows = [
                row
                for row in self._state.rows
                if row.withdrawn is None
                and row.now.address.namespace == namespace
                and row.now.source == source
                and row.now.address.slot not in keep
            ]
            if not rows:
                return []
            slots = sorted({row.now.address.slot for row in rows})
            heads = {slot: self._head(slot) for slot in slots}
            sequence, recorded_at = self._record("withdrawn", namespace, now)
            for row in rows:
                row.withdrawn = sequence
            for slot in slots:
                self._mark(slot, heads[slot], recorded_at)
            return slots

    def rekey(
        self,
        place: Callable[[Assertion], Address],
        *,
        predicates: Sequence[str] = (),
        subjects: Sequence[tuple[Namespace, str]] = (),
        now: int,
    ) -> int:
        with self.transaction():
            moves = []
            for row in self._state.rows:
                is_under = normalize_predicate(row.now.predicate) in predicates
                is_under = is_under or (row.now.address.namespace, subject_key(row.now)) in subjects
                if is_under and not row.now.address.verbatim:
                    address = place(replace(row.now, withdrawn=row.withdrawn is not None))
                    if address.slot != row.now.address.slot:
                        moves.append((row, address))
            if not moves:
                return 0
            namespaces = {address.namespace for _, address in moves}
            namespace = namespaces.pop() if len(namespaces) == 1 else None
            sequence, recorded_at = self._record("rekeyed", namespace, now)
            touched = set()
            for row, address in moves:
                touched |= {row.now.address.slot, address.slot}
                row.moves.append((sequence, row.now.address))
                row.now = replace(row.now, address=address)
                self._state.slots.setdefault(address.slot, address)
            self._refold(touched, recorded_at, mark=True)
            return len(moves)

    def erase(
        self,
        scope: Scope | None,
        *,
        slots: Sequence[bytes] | None = None,
        source: tuple[Namespace, str] | None = None,
        sequences: Sequence[int] | None = None,
        now: int,
    ) -> list[bytes]:
        if sum(selector is not None for selector in (scope, slots, source, sequences)) != 1:
            raise InvalidInputError("scope", "name exactly one of scope, slots, source, sequences")
        with self.transaction():
            chosen = (
                set(self._in_scope(scope) if scope is not None else slots or ()) & self._state.slots.keys()
            )
            going = [
                row
                for row in self._state.rows
                if row.now.address.slot in chosen
                or row.now.sequence in (sequences or ())
                or (row.now.address.namespace, row.now.source) == source
            ]
            in_use = self._subjects_in_use()
            touched = self._delete(going, chosen, now)
            gone = in_use - self._subjects_in_use()
            if scope is not None and scope.predicate_key is None and not scope.verbatim:
                named = self._alias_keys(scope) if scope.subject_key is None else {scope.subject_key}
                gone |= {(scope.namespace, key) for key in named}
            self._forget_names(gone)
            return touched

    def _alias_keys(self, scope: Scope) -> set[str]:
        return set(self._state.aliases.get(scope.namespace, {}))

    def _subjects_in_use(self) -> set[tuple[Namespace, str]]:
        state = self._state
        used = {(a.namespace, a.subject_key) for a in state.slots.values() if not a.verbatim}
        asserted = (row.now for row in state.rows if not row.now.address.verbatim)
        return used | {(assertion.address.namespace, subject_key(assertion)) for assertion in asserted}

    def _delete(self, going: Sequence[Row], chosen: set[bytes], now: int) -> list[bytes]:
        state = self._state
        touched = set(chosen)
        for row in going:
            touched |= {row.now.address.slot, *(address.slot for _, address in row.moves)}
            state.vectors.pop(row.now.sequence, None)
        state.rows = [row for row in state.rows if all(row is not other for other in going)]
        for row in state.rows:
            row.moves = [(event, address) for event, address in row.moves if address.slot not in chosen]
        if not touched:
            return []
        for namespace in sorted({state.slots[slot].namespace for slot in touched}):
            _, recorded_at = self._record("erased", namespace, now)
        for slot in touched:
            state.erasing[slot] = state.slots[slot].namespace
        for slot in touched - self._standing():
            state.outbox.pop(slot, None)
            del state.slots[slot], state.settled[slot]
        self._refold(touched & state.slots.keys(), recorded_at, mark=True)
        return sorted(touched)

    def _standing(self) -> set[bytes]:
        """Return the slots in which an assertion stands or stood."""
        rows = self._state.rows
        return {row.now.address.slot for row in rows} | {a.slot for row in rows for _, a in row.moves}

    def _forget_names(self, gone: set[tuple[Namespace, str]]) -> None:
        state = self._state
        for namespace, aliases in state.aliases.items():
            kept = {
                alias: subject
                for alias, subject in aliases.items()
                if (namespace, alias) not in gone and (namespace, subject) not in gone
            }
            state.generation += kept != aliases
            state.aliases[namespace] = kept
        used = {normalize_predicate(row.now.predicate) for row in state.rows if not row.now.address.verbatim}
        used |= {address.predicate_key for address in state.slots.values() if not address.verbatim}
        state.generation += not state.namings.keys() <= used
        state.namings = {key: naming for key, naming in state.namings.items() if key in used}

    def erasing(self) -> list[tuple[Namespace, bytes]]:
        return [(namespace, slot) for slot, namespace in sorted(self._state.erasing.items())]

    def erased(self, slots: Sequence[bytes]) -> bool:
        state = self._state
        for slot in slots:
            state.erasing.pop(slot, None)
        held = {address.namespace for address in state.slots.values()} | set(state.erasing.values())
        held |= {namespace for namespace, aliases in state.aliases.items() if aliases}
        state.events = [e if e.namespace in held else replace(e, namespace=None) for e in state.events]
        return True

    # -- what the semantic index needs ------------------------------------------------------------------------------
    def pending(self, namespace: Namespace | None = None) -> int:
        return len(self._waiting(namespace))

    def _waiting(self, namespace: Namespace | None) -> list[Pending]:
        found = [
            Pending(slot, self._state.slots[slot].namespace, mark)
            for slot, mark in self._state.outbox.items()
        ]
        found = [pending for pending in found if namespace is None or pending.namespace == namespace]
        return sorted(found, key=lambda pending: pending.target)

    def claim(self, namespace: Namespace | None, limit: int, *, now: int) -> list[Pending]:
        due = [
            slot
            for slot, address in self._state.slots.items()
            if namespace in (None, address.namespace) and (self._changes_at(slot) or now + 1) <= now
        ]
        if due:
            self._state.sequence += 1
            self._state.recorded_at = max(self._state.recorded_at, now)
            self._refold(due, now)
        return self._waiting(namespace)[:limit]

    def confirm(self, done: Sequence[Pending]) -> None:
        for pending in done:
            if self._state.outbox.get(pending.slot) == pending.target:
                del self._state.outbox[pending.slot]

    def mark_all(self) -> int:
        self._state.sequence += bool(self._state.slots)
        for slot in self._state.slots:
            self._state.marks += 1
            self._state.outbox[slot] = self._state.marks
        return len(self._state.slots)

    def vectors(self, sequences: Sequence[int]) -> Mapping[int, bytes]:
        return {s: self._state.vectors[s] for s in sequences if s in self._state.vectors}

    def head_vectors(self, namespace: Namespace, now: int) -> Iterator[tuple[bytes, int, bytes | None]]:
        for version in self.scan(Scope(namespace), now, limit=1 << 62):
            sequence = version.first.sequence
            yield version.first.address.slot, sequence, self._state.vectors.get(sequence)

    def put_vectors(self, vectors: Mapping[int, bytes]) -> None:
        known = {row.now.sequence for row in self._state.rows}
        self._state.vectors |= {s: data for s, data in vectors.items() if s in known}

    def clear_vectors(self) -> None:
        self._state.vectors.clear()

    # -- small state --------------------------------------------------------------------------------------------
    def get_state(self, key: str) -> str | None:
        return self._state.values.get(key)

    def set_state(self, values: Mapping[str, str | None]) -> None:
        merged: dict[str, str | None] = {**self._state.values, **values}
        self._state.values = {key: value for key, value in merged.items() if value is not None}

    def namings(self) -> dict[str, Naming]:
        return dict(self._state.namings)

    def record_namings(self, namings: Mapping[str, Naming]) -> None:
        self._state.namings |= namings
        self._state.generation += 1

    def generation(self) -> int:
        return self._state.generation

    def aliases(self, namespace: Namespace) -> dict[str, str]:
        return dict(self._state.aliases.get(namespace, {}))

    def aliased(self) -> list[Namespace]:
        return sorted(namespace for namespace, aliases in self._state.aliases.items() if aliases)

    def set_alias(self, namespace: Namespace, alias_key: str, subject_key: str | None) -> None:
        aliases = self._state.aliases.setdefault(namespace, {})
        aliases.pop(alias_key, None)
        if subject_key is not None:
            aliases[alias_key] = subject_key
        self._state.generation += 1

    def size(self) -> int:
        return 0

    def check(self) -> list[str]:
        return []

    def close(self) -> None:
        self._open = None


def _applied(before: list[Assertion], after: list[Assertion], assertion: Assertion) -> Applied:
    """Return what an assertion did to a chain."""
    old, new = fold(before), fold(after)
    decides = (
        covering(after, assertion.recorded_at) is assertion or assertion.valid_from > assertion.recorded_at
    )
    outcome: Outcome = "superseded" if decides else "backdated"
    if not old:
        outcome = "created"
    if [_shape(version) for version in old] == [_shape(version) for version in new]:
        outcome = "confirmed"
    if assertion.value is None:
        held = covering(before, assertion.valid_from)
        ended = [v for v in new if held is not None and held in (v.first, *v.confirmations)]
        return Applied(outcome, ended[0] if ended else None, None)
    version = next(v for v in new if assertion in (v.first, *v.confirmations))
    return Applied(outcome, version, new[version.number - 2] if version.number > 1 else None)


def _shape(version: Version) -> tuple[int, int | None, str, str | None]:
    return version.valid_from, version.valid_to, version.first.kind, version.first.value

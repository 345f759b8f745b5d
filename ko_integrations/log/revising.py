"""Writes that reach back: withdraw, re-key; and the refolding that they share with falling due."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from ko_integrations.log import rows as r
from ko_integrations.log.appending import SqlAppender, head_values
from ko_integrations.log.contract import Address, Assertion, Namespace
from ko_integrations.log.engines import Query, Row
from ko_integrations.log.names import Names
from ko_integrations.log.schema import INDEXED, prefix_of
from ko_integrations.log.tail import settle

__all__ = ["SqlReviser"]

PAGE = 1_000
_NEW_HEAD = (None, 0, None, 0, None, None, 0, None, None)


class SqlReviser(SqlAppender):
    """The part of a log that takes back and moves."""

    def withdraw(
        self, namespace: Namespace, source: str, *, keep: Collection[bytes] = (), now: int
    ) -> list[bytes]:
        """Take back every assertion of a source, but those in the slots to keep; return the slots refolded."""
        with self._db.transaction():
            number = self._namespace(namespace)
            row = None if number is None else self._sql.source_ref.one(namespace=number, name=source)
            slots = [] if row is None else [slot for (slot,) in self._sql.slots_of_source.all(source=row[0])]
            if keep:
                kept = {
                    ref for part in r.parts(slots)
                    for ref, id_, *_ in self._sql.slot_ids.all(refs=self._db.array(part)) if id_ in keep
                }  # fmt: skip
                slots = [ref for ref in slots if ref not in kept]
            if row is None or not slots:
                return []
            sequence, recorded_at = self._record("withdrawn", number, now)
            for part in r.parts(slots):
                self._sql.withdraw.run(source=row[0], sequence=sequence, refs=self._db.array(part))
            self._refold(slots, recorded_at, sequence)
            return self._ids(slots)

    def _record(
        self, kind: str, namespace: int | None, now: int, *, last: tuple[int, int] | None = None
    ) -> tuple[int, int]:
        """Put an event into the change feed, after `last`; return its sequence and record time."""
        sequence, recorded_at = last or self._clock()[1:]
        sequence, recorded_at = sequence + 1, max(now, recorded_at + 1)
        self._sql.insert["event"].run(
            sequence=sequence, kind=kind, namespace=namespace, recorded_at=recorded_at
        )  # fmt: skip
        return sequence, recorded_at

    def _ids(self, refs: Iterable[int]) -> list[bytes]:
        ids = []
        for part in r.parts(list(refs)):
            ids += [row[1] for row in self._sql.slot_ids.all(refs=self._db.array(part))]
        return sorted(ids)

    def _refold(self, refs: Sequence[int], now: int, sequence: int, *, mark: bool = False) -> None:
        """Store the heads of slots anew; mark those that changed (all, if asked) in the outbox."""
        for part in r.parts(refs):
            chains = self._chains(part)
            counts: Counter[int] = Counter()
            updates: list[Row] = []
            for row in self._sql.stored_heads.all(refs=self._db.array(part)):
                ref, namespace, before, marked = row
                head, first = settle(chains.get(ref, []), now)
                if mark or head.sequence != before:
                    marked = sequence
                counts[namespace] += (head.sequence is not None) - (before is not None)
                updates.append((*head_values(head, first, namespace, marked), ref))
            self._sql.update_slot.many(updates)
            self._sql.add_heads.many([(count, ref) for ref, count in counts.items() if count])

    # -- re-keying ------------------------------------------------------------------------------------------------
    def rekey(
        self,
        place: Callable[[Assertion], Address],
        *,
        predicates: Sequence[str] = (),
        subjects: Sequence[tuple[Namespace, str]] = (),
        now: int,
    ) -> int:
        """Move the assertions that were asserted under these predicate or subject keys to where `place` says."""
        with self._db.transaction():
            names = Names(self._db, self._sql)
            moving = _Moves(self, names, now)
            done: set[int] = set()
            for rows in self._asserted_under(predicates, subjects):
                fresh = [row for row in rows if row[r.SEQUENCE] not in done]
                done.update(row[r.SEQUENCE] for row in fresh)
                moving.move([(row, _placed(row, place)) for row in fresh])
            return moving.finish()

    def _asserted_under(
        self, predicates: Sequence[str], subjects: Sequence[tuple[Namespace, str]]
    ) -> Iterable[list[Row]]:
        refs: list[int] = []
        for part in r.parts(predicates):
            keys = set(part)
            rows = self._sql.asserted_predicates.all(starts=self._db.array([key[:INDEXED] for key in part]))
            refs += [ref for ref, key in rows if key in keys]
        if refs:
            yield from self._pages(self._sql.asserted_under_predicates, predicates=self._db.array(refs))
        for namespace, key in subjects:
            number = self._namespace(namespace)
            for ref in [] if number is None else self._subjects(number, key, verbatim=False):
                yield from self._pages(self._sql.asserted_under_subject, subject=ref)

    def _pages(self, query: Query, **values: Any) -> Iterable[list[Row]]:
        after = 0
        while rows := query.all(after=after, limit=PAGE, **values):
            yield rows
            after = rows[-1][r.SEQUENCE]


def _placed(row: Row, place: Callable[[Assertion], Address]) -> Address:
    return place(r.assertion_of(row, r.address_of(row), withdrawn=row[25] is not None))


class _Moves:
    """Assertions on their way to other slots, in one transaction."""

    def __init__(self, log: SqlReviser, names: Names, now: int) -> None:
        self._log = log
        self._sql = log._sql
        self._names = names
        self._now = now
        self._event: tuple[int, int] | None = None
        self._namespaces: set[int] = set()
        self._slots: dict[bytes, tuple[int, int]] = {}  # id -> number, subject
        self._touched: set[int] = set()
        self._moved = 0

    def move(self, placed: Sequence[tuple[Row, Address]]) -> None:
        """Move a page of assertions (rows of `asserted_under_*`) that are not in their place."""
        placed = [(row, address) for row, address in placed if row[r.ID] != address.slot]
        if not placed:
            return
        self._find_slots([address for _, address in placed])
        if self._event is None:
            _, sequence, recorded_at = self._log._clock()
            self._event = sequence + 1, max(self._now, recorded_at + 1)
        moves, updates = [], []
        for row, address in placed:
            ref, subject = self._slots[address.slot]
            sequence, asserted = row[r.SEQUENCE], row[26]
            moves.append((sequence, self._event[0], row[r.REF]))
            updates.append((ref, None if asserted == subject else asserted, sequence))
            self._touched.update((row[r.REF], ref))
        self._sql.insert["move"].many(moves)
        self._sql.move.many(updates)
        self._moved += len(placed)

    def _find_slots(self, addresses: Sequence[Address]) -> None:
        """Fetch or make the slots that assertions move to."""
        wanted = {address.slot: address for address in addresses if address.slot not in self._slots}
        if not wanted:
            return
        prefixes = self._log._db.array([prefix_of(slot) for slot in wanted])
        for id_, ref, namespace, subject in self._sql.slot_refs.all(prefixes=prefixes):
            if id_ in wanted:
                self._slots[id_] = ref, subject
                self._namespaces.add(namespace)
        new = [address for slot, address in wanted.items() if slot not in self._slots]
        names = self._names
        names.load(
            {a.namespace for a in new}, {(a.namespace, a.subject_key) for a in new}, {a.predicate_key for a in new}
        )  # fmt: skip
        rows: list[Row] = []
        for a in new:
            namespace = names.namespace(a.namespace)
            subject, _ = names.subject(namespace, a.subject_key, a.verbatim, a.subject_key)
            predicate = names.predicate(a.predicate_key, a.verbatim)
            ref = names.slot_number()
            rows.append(
                (ref, prefix_of(a.slot), a.slot, namespace, subject, predicate, int(a.member), *_NEW_HEAD)
            )
            self._slots[a.slot] = ref, subject
            self._namespaces.add(namespace)
        names.flush()
        self._sql.insert["slot"].many(rows)

    def finish(self) -> int:
        """Refold both ends, record the event, return how many moved."""
        if self._event is None:
            return 0
        sequence, recorded_at = self._event
        namespace = next(iter(self._namespaces)) if len(self._namespaces) == 1 else None
        self._sql.insert["event"].run(
            sequence=sequence, kind="rekeyed", namespace=namespace, recorded_at=recorded_at
        )  # fmt: skip
        self._log._refold(sorted(self._touched), recorded_at, sequence, mark=True)
        return self._moved

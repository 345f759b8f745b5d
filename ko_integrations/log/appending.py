"""Appending assertions: the one write that has to be fast."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ko_integrations.errors import BatchError, InvalidInputError
from ko_integrations.identity import normalize_name
from ko_integrations.log import rows as r
from ko_integrations.log.around import SqlCatalogue
from ko_integrations.log.contract import Address, Applied, Assertion, Entry
from ko_integrations.log.engines import Row
from ko_integrations.log.names import Names
from ko_integrations.log.schema import name_hash, prefix_of
from ko_integrations.log.tail import NO_HEAD, Head, SlotTail

__all__ = ["SqlAppender"]

_PART = 2_000


class _Slot(NamedTuple):
    """A slot in a write. `row` is the start of its row, if it is new."""

    ref: int
    namespace: int
    address: Address
    stored: Head
    marked: int | None
    tail: SlotTail
    row: Row | None


class SqlAppender(SqlCatalogue):
    """The part of a log that appends assertions."""

    def append(self, entries: Sequence[Entry], *, now: int) -> list[Applied]:
        """Append assertions in order, refold their slots, mark those whose head changed in the outbox."""
        applied: list[Applied] = []
        with self._db.transaction():
            names = Names(self._db, self._sql)
            for part in r.parts(entries, _PART):
                applied += _Append(self, names, part, now, len(applied)).run()
            if names.renamed:
                self._bump_generation()
        return applied

    def _bump_generation(self) -> None:
        self._sql.set_state.run(key="#generation", value=str(self.generation() + 1))


class _Append:
    """One part of an append: look up, apply in memory, then write table by table."""

    def __init__(
        self, log: SqlAppender, names: Names, entries: Sequence[Entry], now: int, offset: int
    ) -> None:
        self._log = log
        self._sql = log._sql
        self._names = names
        self._entries = entries
        self._offset = offset
        _, self._sequence, recorded = log._clock()
        self._recorded_at = max(now - 1, recorded)
        self._slots: dict[bytes, _Slot] = {}
        self._keys: dict[str, str] = {}  # spelling of a subject -> key
        self._touched: dict[bytes, Assertion] = {}  # slot -> its last assertion
        self._assertions: list[Row] = []
        self._vectors: list[Row] = []
        self._errors: list[tuple[int, InvalidInputError]] = []

    def run(self) -> list[Applied]:
        """Append, and tell what each entry did.

        Raises:
            InvalidInputError: an interval would be empty (a BatchError when there are several entries).
        """
        self._look_up()
        applied = [self._apply(entry, row) for row, entry in enumerate(self._entries, self._offset)]
        if self._errors:
            alone = len(self._entries) == 1 and not self._offset
            raise self._errors[0][1] if alone else BatchError(self._errors)
        self._write()
        return [done for done in applied if done is not None]

    # -- looking up -----------------------------------------------------------------------------------------------
    def _look_up(self) -> None:
        entries = self._entries
        for entry in entries:
            if not entry.address.verbatim and entry.subject not in self._keys:
                self._keys[entry.subject] = normalize_name(entry.subject)
        self._names.load(
            {entry.address.namespace for entry in entries},
            {(entry.address.namespace, entry.address.subject_key) for entry in entries}
            | {(entry.address.namespace, self._key(entry)) for entry in entries},
            {entry.predicate for entry in entries} | {entry.address.predicate_key for entry in entries},
            {(entry.address.namespace, entry.source) for entry in entries if entry.source is not None},
        )
        self._names.name_predicates((entry.predicate, entry.address) for entry in entries)
        self._look_up_slots({entry.address.slot for entry in entries})
        self._load_chains()

    def _look_up_slots(self, wanted: set[bytes]) -> None:
        prefixes = self._log._db.array([prefix_of(slot) for slot in wanted])
        for row in self._sql.slots_to_write.all(prefixes=prefixes):
            if row[r.ID] in wanted:
                ref, namespace, tip, marked = row[r.REF], *row[25:]
                head = Head(row[7], row[8], row[9], row[10], row[11], row[12], bool(tip))
                address = r.address_of(row)
                first = None if row[r.HEAD] is None else r.assertion_of(row, address)
                tail = SlotTail(head, first, lambda ref=ref: self._log._chains([ref]).get(ref, []))  # type: ignore[misc]
                self._slots[row[r.ID]] = _Slot(ref, namespace, address, head, marked, tail, None)

    def _load_chains(self) -> None:
        """Fetch in one go the chains that will be asked for."""
        slots = {}
        for entry in self._entries:
            slot = self._slots.get(entry.address.slot)
            if slot is not None and not slot.tail.can_follow(entry.value, entry.valid_from, entry.valid_to):
                slots[slot.ref] = slot
        chains = self._log._chains(list(slots)) if slots else {}
        for ref, slot in slots.items():
            slot.tail.take(chains.get(ref, []))

    def _key(self, entry: Entry) -> str:
        return entry.subject if entry.address.verbatim else self._keys[entry.subject]

    # -- applying -------------------------------------------------------------------------------------------------
    def _apply(self, entry: Entry, row: int) -> Applied | None:
        address = entry.address
        slot = self._slots.get(address.slot)
        self._sequence += 1
        self._recorded_at += 1
        # No head starts after the record time: heads are settled at record times, which only grow.
        valid_from = self._recorded_at if entry.valid_from is None else entry.valid_from
        if entry.valid_to is not None and entry.valid_to <= valid_from:
            self._errors.append((row, InvalidInputError("valid_to", "not after valid_from")))
            return None
        is_new = slot is None
        slot = slot or self._new_slot(entry)
        assertion = Assertion(
            self._sequence, address, entry.subject, entry.predicate, entry.kind, entry.value, valid_from,
            entry.valid_to, self._recorded_at, entry.source, entry.confidence, entry.metadata, entry.text,
        )  # fmt: skip
        self._note(slot, entry, assertion)
        return slot.tail.start(assertion) if is_new else slot.tail.apply(assertion)

    def _new_slot(self, entry: Entry) -> _Slot:
        address, names = entry.address, self._names
        ref, namespace = names.slot_number(), names.namespace(address.namespace)
        spelling = entry.subject if self._key(entry) == address.subject_key else address.subject_key
        subject, _ = names.subject(namespace, address.subject_key, address.verbatim, spelling)
        predicate = names.predicate(address.predicate_key, address.verbatim)
        row = (ref, prefix_of(address.slot), address.slot, namespace, subject, predicate, int(address.member))
        slot = _Slot(ref, namespace, address, NO_HEAD, None, SlotTail(NO_HEAD, None, list), row)
        self._slots[address.slot] = slot
        return slot

    def _note(self, slot: _Slot, entry: Entry, a: Assertion) -> None:
        """Keep the rows that the assertion becomes."""
        names, verbatim = self._names, entry.address.verbatim
        key = self._key(entry)
        ref, first = names.subject(slot.namespace, key, verbatim, entry.subject)
        subject = None if key == entry.address.subject_key else ref
        spelling = None if first == entry.subject else entry.subject
        source = None if entry.source is None else names.source(slot.namespace, entry.source)
        self._assertions.append(
            (a.sequence, slot.ref, subject, spelling, names.predicate(entry.predicate, verbatim), a.kind, a.value,
             a.valid_from, a.valid_to, a.recorded_at, source, a.confidence, a.metadata, a.text)
        )  # fmt: skip
        if entry.vector is not None:
            self._vectors.append((a.sequence, entry.vector))
        self._touched[entry.address.slot] = a

    # -- writing --------------------------------------------------------------------------------------------------
    def _write(self) -> None:
        inserts: list[Row] = []
        updates: list[Row] = []
        counts: Counter[int] = Counter()
        for id_, last in self._touched.items():
            slot = self._slots[id_]
            head = slot.tail.finish(last.recorded_at)
            marked = slot.marked if head.sequence == slot.stored.sequence else last.sequence
            counts[slot.namespace] += (head.sequence is not None) - (slot.stored.sequence is not None)
            values = head_values(head, slot.tail.first, slot.namespace, marked)
            if slot.row is not None:
                inserts.append((*slot.row, *values))
            else:
                updates.append((*values, slot.ref))
        self._names.flush()
        self._sql.insert["slot"].many(inserts)
        self._sql.update_slot.many(updates)
        self._sql.insert["assertion"].many(self._assertions)
        self._sql.insert["vector"].many(self._vectors)
        self._sql.add_heads.many([(count, ref) for ref, count in counts.items() if count])


def head_values(head: Head, first: Assertion | None, namespace: int, marked: int | None) -> Row:
    """Return the columns of a slot that hold its head, in the order of the table."""
    named = None if first is None else name_hash(namespace, first.kind, first.value)
    return (*head[:6], int(head.tip), named, marked)

"""What the semantic index needs of the log, small state, and the log's own health."""

from collections.abc import Iterator, Mapping, Sequence

from ko_integrations.log import rows as r
from ko_integrations.log.appending import head_values
from ko_integrations.log.contract import Namespace, Naming, Pending
from ko_integrations.log.erasing import SqlEraser
from ko_integrations.log.fold import head_at
from ko_integrations.log.names import Names
from ko_integrations.log.schema import prefix_of
from ko_integrations.log.tail import settle

__all__ = ["SqlKeeper"]

PAGE = 1_000
_FOREVER = 1 << 62


class SqlKeeper(SqlEraser):
    """The part of a log that serves the index and keeps house."""

    # -- the outbox -------------------------------------------------------------------------------------------------
    def pending(self, namespace: Namespace | None = None) -> int:
        """Return how many slots wait to be indexed."""
        if namespace is None:
            row = self._sql.pending.one()
        else:
            number = self._namespace(namespace)
            row = None if number is None else self._sql.pending_in.one(namespace=number)
        return 0 if row is None else int(row[0])

    def claim(self, namespace: Namespace | None, limit: int, *, now: int) -> list[Pending]:
        """Return slots to index, oldest first; slots whose next change fell due are marked first."""
        where = {}
        if namespace is not None:
            if (number := self._namespace(namespace)) is None:
                return []
            where = {"namespace": number}
        self._settle_due(where, now)
        query = self._sql.claim_in if where else self._sql.claim
        return [
            Pending(slot, r.path_of(path), marked) for slot, path, marked in query.all(limit=limit, **where)
        ]

    def _settle_due(self, where: dict[str, int], now: int) -> None:
        query = self._sql.due_in if where else self._sql.due
        while query.all(now=now, limit=1, **where):
            with self._db.transaction():
                due = [ref for (ref,) in query.all(now=now, limit=PAGE, **where)]
                self._refold(due, now, self._give_out(now))

    def _give_out(self, now: int) -> int:
        """Give out a sequence that no row records: a mark in the outbox differs from all that were before.

        `now` becomes a lower bound of later record times, so that a clock which goes back does not undo what
        fell due.
        """
        _, sequence, moment = self._clock()
        self._sql.set_state.run(key="#sequence", value=f"{sequence + 1} {max(moment, now)}")
        return sequence + 1

    def confirm(self, done: Sequence[Pending]) -> None:
        """Delete the outbox rows whose target is still the one that was applied."""
        if done:
            with self._db.transaction():
                self._sql.confirm.many([(prefix_of(p.slot), p.slot, p.target) for p in done])

    def mark_all(self) -> int:
        """Mark every slot in the outbox; return how many."""
        with self._db.transaction():
            row = self._sql.count_slots.one()
            if row is None or not row[0]:
                return 0
            self._sql.mark_all.run(sequence=self._give_out(0))
            return int(row[0])

    # -- vectors ----------------------------------------------------------------------------------------------------
    def vectors(self, sequences: Sequence[int]) -> Mapping[int, bytes]:
        """Return the stored vectors of assertions, by sequence."""
        found: dict[int, bytes] = {}
        for part in r.parts(sequences):
            found.update(
                (row[0], row[1]) for row in self._sql.vectors.all(sequences=self._db.array(list(part)))
            )
        return found

    def head_vectors(self, namespace: Namespace, now: int) -> Iterator[tuple[bytes, int, bytes | None]]:
        """Yield (slot, sequence of the head's first assertion, vector or None) for every head of a namespace."""
        number = self._namespace(namespace)
        if number is None:
            return
        where = (("namespace",), {"namespace": number})
        after: bytes | None = None
        while rows := self._page(self._sql.head_vectors(), where, after, PAGE, now=now):
            after = rows[-1][1]
            due = [row[0] for row in rows if row[3] is not None and row[3] <= now]
            chains = self._chains(due) if due else {}
            heads = {ref: head_at(chains.get(ref, []), now) for ref in due}
            sequences = [head.first.sequence for head in heads.values() if head is not None]
            vectors = self.vectors(sequences) if sequences else {}
            for ref, slot, sequence, _, vector in rows:
                if ref not in heads:
                    yield slot, sequence, vector
                elif (head := heads[ref]) is not None:
                    yield slot, head.first.sequence, vectors.get(head.first.sequence)

    def put_vectors(self, vectors: Mapping[int, bytes]) -> None:
        """Keep vectors of assertions; those of assertions that were erased meanwhile are dropped."""
        if vectors:
            with self._db.transaction():
                self._sql.put_vector.many([(data, sequence) for sequence, data in vectors.items()])

    def clear_vectors(self) -> None:
        """Forget all vectors."""
        with self._db.transaction():
            self._sql.clear_vectors.run()

    # -- small state ------------------------------------------------------------------------------------------------
    def set_state(self, values: Mapping[str, str | None]) -> None:
        """Keep values; None deletes."""
        with self._db.transaction():
            for key, value in values.items():
                if value is None:
                    self._sql.delete_state.run(key=key)
                else:
                    self._sql.set_state.run(key=key, value=value)

    def record_namings(self, namings: Mapping[str, Naming]) -> None:
        """Record how asserted predicate keys are named from now on."""
        if namings:
            with self._db.transaction():
                for key, naming in namings.items():
                    self._sql.delete_naming.run(key=key)
                    self._sql.insert["naming"].run(
                        key=key, canonical=naming.canonical, cardinality=naming.cardinality
                    )
                self._bump_generation()

    def set_alias(self, namespace: Namespace, alias_key: str, subject_key: str | None) -> None:
        """Declare or (None) drop a subject alias."""
        with self._db.transaction():
            names = Names(self._db, self._sql)
            names.load({namespace}, (), ())
            number = names.namespace(namespace)
            names.flush()
            self._sql.delete_alias.run(namespace=number, key=alias_key)
            if subject_key is not None:
                self._sql.insert["alias"].run(namespace=number, alias_key=alias_key, subject_key=subject_key)
            self._bump_generation()

    # -- health -----------------------------------------------------------------------------------------------------
    def size(self) -> int:
        """Return bytes on disk, 0 when there are none."""
        return self._db.size()

    def check(self) -> list[str]:
        """Return what is wrong: refold every slot and compare with the stored heads; empty when sound."""
        problems = self._db.integrity()
        problems += [f"slot {id_.hex()} is stored {n} times" for id_, n in self._sql.duplicates.all()]
        problems += [
            f"namespace {path} counts {heads} heads and has {found}"
            for path, heads, found in self._sql.heads_counted.all()
            if heads != found
        ]
        after = 0
        while places := self._sql.all_places.all(after=after, limit=PAGE):
            problems += self._check_heads(
                [row[0] for row in places], {row[0]: row[1].hex() for row in places}
            )
            after = places[-1][0]
        return problems

    def _check_heads(self, refs: Sequence[int], ids: Mapping[int, str]) -> list[str]:
        chains = self._chains(refs)
        problems = []
        for ref, namespace, *stored in self._sql.materialised.all(refs=self._db.array(list(refs))):
            # What a row says holds until just before it changes next, whenever it was written.
            changes_at = stored[5]
            moment = _FOREVER if changes_at is None else changes_at - 1
            head, first = settle(chains.get(ref, []), moment)
            if tuple(stored) != head_values(head, first, namespace, None)[:8]:
                problems.append(f"slot {ids[ref]}: the stored head is not what its chain says")
        return problems

    def close(self) -> None:
        """Release every connection."""
        self._db.close()

"""Erasing for good: nothing of it stays in any table, and in the file nothing of what was there."""

from collections.abc import Iterable, Sequence

from ko_integrations.errors import InvalidInputError
from ko_integrations.log import rows as r
from ko_integrations.log.contract import Namespace, Scope
from ko_integrations.log.revising import SqlReviser

__all__ = ["SqlEraser"]


class SqlEraser(SqlReviser):
    """The part of a log that erases."""

    def erase(
        self,
        scope: Scope | None,
        *,
        slots: Sequence[bytes] | None = None,
        source: tuple[Namespace, str] | None = None,
        sequences: Sequence[int] | None = None,
        now: int,
    ) -> list[bytes]:
        """Delete for good; return the slots touched.

        Raises:
            InvalidInputError: not exactly one selector.
        """
        if sum(selector is not None for selector in (scope, slots, source, sequences)) != 1:
            raise InvalidInputError("scope", "name exactly one of scope, slots, source, sequences")
        with self._db.transaction():
            if source is not None:
                sequences = self._sequences_of_source(*source)
            chosen: list[int] = []
            if sequences is None:
                pages = self._places(scope if scope is not None else slots or (), None, 1_000)
                chosen = [ref for page in pages for ref in page]
            touched = self._delete(chosen, sequences or (), now)
            if scope is not None and scope.predicate_key is None and not scope.verbatim:
                self._delete_aliases(scope)
            return touched

    def _sequences_of_source(self, namespace: Namespace, name: str) -> list[int]:
        number = self._namespace(namespace)
        row = None if number is None else self._sql.source_ref.one(namespace=number, name=name)
        return [] if row is None else [row[0] for row in self._sql.sequences_of_source.all(source=row[0])]

    def _delete(self, chosen: Sequence[int], sequences: Sequence[int], now: int) -> list[bytes]:
        """Delete slots with all that is in them, or single assertions; return the slots touched."""
        last = self._clock()[1:]  # asked before the rows that tell it go
        touched = set(chosen)
        subjects: set[int] = set()
        predicates: set[int] = set()
        sources: set[int] = set()

        def delete(part: Sequence[int]) -> None:
            these = self._db.array(list(part))
            for slot, subject, predicate, source in self._sql.references.all(sequences=these):
                touched.add(slot)
                subjects.add(subject)
                predicates.add(predicate)
                sources.add(source)
            for query in self._sql.delete_assertions:
                query.run(sequences=these)

        for part in r.parts(chosen):
            refs = self._db.array(list(part))
            for rows in r.parts(self._sql.sequences_of_slots.all(refs=refs), 5_000):
                delete([row[0] for row in rows])
            self._sql.delete_moves_from.run(refs=refs)
        for part in r.parts(sequences, 5_000):
            delete(part)
        if not touched:
            return []
        ids = self._forget_slots(sorted(touched), subjects, predicates, now, last)
        self._forget_names(subjects, predicates, sources)
        return ids

    def _forget_slots(
        self,
        touched: Sequence[int],
        subjects: set[int],
        predicates: set[int],
        now: int,
        last: tuple[int, int],
    ) -> list[bytes]:
        """Delete the slots that are empty now, refold the others, and note all for the semantic index."""
        gone: set[int] = set()
        ids: list[bytes] = []
        namespaces: dict[int, Namespace] = {}
        for part in r.parts(touched):
            for _, id_, namespace, subject, predicate, path in self._sql.slot_ids.all(
                refs=self._db.array(list(part))
            ):
                ids.append(id_)
                namespaces[namespace] = r.path_of(path)
                subjects.add(subject)
                predicates.add(predicate)
                self._sql.add_erasure.run(id=id_, namespace=namespace)
        for namespace in sorted(namespaces, key=lambda ref: namespaces[ref]):
            last = self._record("erased", namespace, now, last=last)
        sequence, recorded_at = last
        for part in r.parts(touched):
            rows = self._sql.empty_slots.all(refs=self._db.array(list(part)))
            gone.update(row[0] for row in rows)
            for _, namespace, head in rows:
                if head is not None:
                    self._sql.add_heads.run(heads=-1, ref=namespace)
            self._sql.delete_slots.run(refs=self._db.array([row[0] for row in rows]))
        self._refold([ref for ref in touched if ref not in gone], recorded_at, sequence, mark=True)
        return sorted(ids)

    def _forget_names(
        self, subjects: Iterable[int | None], predicates: Iterable[int | None], sources: Iterable[int | None]
    ) -> None:
        """Delete the names that nothing uses any more."""
        renamed = False
        for part in r.parts([ref for ref in subjects if ref is not None]):
            unused = self._sql.unused_subjects.all(refs=self._db.array(list(part)))
            for _, namespace, key, verbatim in unused:
                if not verbatim:
                    renamed = self._sql.delete_aliases_of.run(namespace=namespace, key=key) > 0 or renamed
            self._sql.delete_subjects.run(refs=self._db.array([row[0] for row in unused]))
        for part in r.parts([ref for ref in sources if ref is not None]):
            self._sql.delete_sources.run(refs=self._db.array(list(part)))
        for part in r.parts([ref for ref in predicates if ref is not None]):
            if self._sql.delete_predicates.run(refs=self._db.array(list(part))) > 0:
                renamed = self._sql.delete_namings.run() > 0 or renamed
        if renamed:
            self._bump_generation()

    def _delete_aliases(self, scope: Scope) -> None:
        number = self._namespace(scope.namespace)
        if number is None:
            return
        if scope.subject_key is None:
            deleted = self._sql.delete_aliases.run(namespace=number)
        else:
            deleted = self._sql.delete_aliases_of.run(namespace=number, key=scope.subject_key)
        if deleted > 0:
            self._bump_generation()

    def erasing(self) -> list[tuple[Namespace, bytes]]:
        """Return the slots whose erasure the index has not confirmed."""
        return [(r.path_of(path), id_) for path, id_ in self._sql.erasing.all()]

    def erased(self, slots: Sequence[bytes]) -> bool:
        """Forget the ids of finished erasures and scrub the files; True when no byte can be left."""
        with self._db.transaction():
            self._sql.delete_erasure.many([(slot,) for slot in slots])
            for (ref,) in self._sql.empty_namespaces.all():
                self._sql.forget_namespace.run(ref=ref)
                self._sql.delete_namespace.run(ref=ref)
        return self._db.scrub()

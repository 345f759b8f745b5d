"""Looking around: which subjects, predicates and namespaces there are, and what changed."""

from collections.abc import Sequence

from ko_integrations.identity import normalize_name
from ko_integrations.log import rows as r
from ko_integrations.log.contract import Event, Namespace, Naming, Scope
from ko_integrations.log.reader import SqlReader
from ko_integrations.log.schema import INDEXED, name_hash

__all__ = ["SqlCatalogue"]

_LAST = "\U0010ffff"
_ALL = 1 << 62


class SqlCatalogue(SqlReader):
    """The part of a log that tells what is in it."""

    def subjects(
        self,
        namespace: Namespace,
        *,
        prefix: str = "",
        keys: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> dict[str, str]:
        """Return canonical subject key -> first spelling, for facts' subjects with a head, sorted by key."""
        number = self._namespace(namespace)
        if number is None:
            return {}
        if keys is None:
            low = prefix[:INDEXED]
            rows = self._sql.subjects_by_prefix.all(
                namespace=number, low=low, high=low + _LAST, prefix=prefix, length=len(prefix),
                limit=_ALL if limit is None else limit,
            )  # fmt: skip
            return dict(rows)
        wanted = {key for key in keys if key.startswith(prefix)}
        found: dict[str, str] = {}
        for part in r.parts(list(wanted)):
            starts = self._db.array([key[:INDEXED] for key in part])
            rows = self._sql.subjects_by_key.all(namespace=number, starts=starts)
            found |= {key: spelling for key, spelling in rows if key in wanted}
        return dict(sorted(found.items())[:limit])

    def predicates(self, namespace: Namespace, subject_key: str) -> list[str]:
        """Return the canonical predicate keys of a fact's subject, also of those without a head."""
        number = self._namespace(namespace)
        subjects = [] if number is None else self._subjects(number, subject_key, verbatim=False)
        if not subjects:
            return []
        return sorted(row[0] for row in self._sql.predicates.all(subjects=self._db.array(subjects)))

    def naming(self, namespace: Namespace, object_key: str, limit: int) -> list[bytes]:
        """Return slots whose head is a string whose `normalize_name` is `object_key`."""
        number = self._namespace(namespace)
        named = None if number is None else name_hash(number, "s", object_key)
        if named is None:
            return []
        rows = self._sql.named.all(named=named, namespace=number)
        return [slot for slot, value in rows if normalize_name(value) == object_key][:limit]

    def namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        """Return the namespaces that hold a head, below `prefix` by whole segments."""
        paths = (r.path_of(row[0]) for row in self._sql.namespaces.all())
        return sorted(path for path in paths if path[: len(prefix)] == prefix)

    def count(self, scope: Scope | None = None) -> int:
        """Return the number of heads."""
        if scope is None:
            row = self._sql.count_all.one()
        elif scope == Scope(scope.namespace):
            row = self._sql.namespace.one(path=r.text_of(scope.namespace))
            row = row and row[1:]
        else:
            where = self._where(scope)
            row = None if where is None else self._sql.count(where[0]).one(**where[1])
        return 0 if row is None else int(row[0])

    def next_due(self, namespace: Namespace) -> int | None:
        """Return when a head of the namespace next changes with no write, or None."""
        number = self._namespace(namespace)
        row = None if number is None else self._sql.next_due.one(namespace=number)
        return None if row is None else row[0]

    # -- the change feed ------------------------------------------------------------------------------------------
    def events(self, after: int, limit: int) -> list[Event]:
        """Return a page of the change feed."""
        events = [
            Event(sequence, "retracted" if retracted else "asserted", r.path_of(path), recorded_at, (slot,))
            for sequence, retracted, recorded_at, path, slot in self._sql.asserted_events.all(
                after=after, limit=limit
            )
        ]
        events += [
            Event(sequence, kind, None if path is None else r.path_of(path), recorded_at)
            for sequence, kind, recorded_at, path in self._sql.other_events.all(after=after, limit=limit)
        ]
        events.sort(key=lambda event: event.sequence)
        return [self._with_slots(event) for event in events[:limit]]

    def _with_slots(self, event: Event) -> Event:
        if event.kind == "withdrawn":
            rows = self._sql.withdrawn_slots.all(sequence=event.sequence)
        elif event.kind == "rekeyed":
            rows = self._sql.moved_slots.all(sequence=event.sequence)
        else:
            return event
        slots = tuple(sorted(row[0] for row in rows))
        return Event(event.sequence, event.kind, event.namespace, event.recorded_at, slots)

    # -- names ------------------------------------------------------------------------------------------------------
    def namings(self) -> dict[str, Naming]:
        """Return asserted predicate key -> canonical name and cardinality."""
        return {
            key: Naming(canonical, cardinality) for key, canonical, cardinality in self._sql.namings.all()
        }

    def aliases(self, namespace: Namespace) -> dict[str, str]:
        """Return subject alias key -> canonical subject key."""
        number = self._namespace(namespace)
        if number is None:
            return {}
        return dict(self._sql.aliases.all(namespace=number))

    def aliased(self) -> list[Namespace]:
        """Return the namespaces in which a subject alias is declared, sorted."""
        return sorted(r.path_of(row[0]) for row in self._sql.aliased.all())

    def generation(self) -> int:
        """Return a number that changes whenever namings or aliases change."""
        return int(self.get_state("#generation") or 0)

    def get_state(self, key: str) -> str | None:
        """Return a value kept beside the log."""
        row = self._sql.get_state.one(key=key)
        return None if row is None else row[0]

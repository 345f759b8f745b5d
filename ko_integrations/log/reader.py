"""Reading heads and chains, by slot and by scope."""

from collections.abc import Iterator, Sequence
from typing import Any

from ko_integrations.log import rows as r
from ko_integrations.log.contract import Address, Assertion, Namespace, Scope, Version
from ko_integrations.log.engines import Database, Query, Row
from ko_integrations.log.fold import fold, head_at, sort_chain
from ko_integrations.log.schema import prefix_of
from ko_integrations.log.statements import Statements

__all__ = ["SqlReader"]

PAGE = 1_000

# A scope as conditions: their names, and their parameters.
Where = tuple[tuple[str, ...], dict[str, Any]]


class SqlReader:
    """The part of a log that reads heads and chains."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._sql = Statements(database)
        self._head_sql = self._sql.head.sql

    # -- heads ------------------------------------------------------------------------------------------------
    def head(self, slot: bytes, now: int) -> Version | None:
        """Return what holds in a slot."""
        row = self._db.one(self._head_sql, (prefix_of(slot), slot))
        if row is None:
            return None
        if row[r.SUPPORT] > 1 or _is_due(row, now):
            return self._held([row], now)[0]
        return None if row[r.HEAD] is None else r.version_of(row)

    def heads(self, slots: Sequence[bytes], now: int) -> dict[bytes, Version]:
        """Return the heads of many slots; slots without one are left out."""
        found: dict[bytes, Version] = {}
        for part in r.parts(list(dict.fromkeys(slots))):
            wanted = set(part)
            rows = self._sql.heads.all(prefixes=self._db.array([prefix_of(slot) for slot in part]))
            rows = [row for row in rows if row[r.ID] in wanted]
            for row, version in zip(rows, self._held(rows, now), strict=True):
                if version is not None:
                    found[row[r.ID]] = version
        return found

    def scan(self, scope: Scope, now: int, *, after: bytes | None = None, limit: int = PAGE) -> list[Version]:
        """Return a page of heads in order of slot id, from the one after `after`."""
        found: list[Version] = []
        where = self._where(scope)
        if where is None:
            return found
        query = self._sql.scan(where[0])
        while (wanted := limit - len(found)) > 0:
            rows = self._page(query, where, after, wanted, now=now)
            found += [version for version in self._held(rows, now) if version is not None]
            if len(rows) < wanted:
                break
            after = rows[-1][r.ID]
        return found

    def _held(self, rows: Sequence[Row], now: int) -> list[Version | None]:
        """Return what holds in the slot of each row: as stored, or by the chain where that cannot tell."""
        unsure = [row[r.REF] for row in rows if row[r.SUPPORT] > 1 or _is_due(row, now)]
        chains = self._chains(unsure) if unsure else {}
        held: list[Version | None] = []
        for row in rows:
            if _is_due(row, now):
                held.append(head_at(chains.get(row[r.REF], []), now))
            elif row[r.HEAD] is None:
                held.append(None)
            elif row[r.SUPPORT] == 1:
                held.append(r.version_of(row))
            else:
                # By its first assertion, not by `now`: a clock that went back hides nothing that was written.
                versions = fold(chains.get(row[r.REF], []))
                held.append(next((v for v in versions if v.first.sequence == row[r.HEAD]), None))
        return held

    # -- chains -------------------------------------------------------------------------------------------------
    def chains(
        self,
        scope: Scope | Sequence[bytes],
        *,
        known_at: int | None = None,
        after: bytes | None = None,
        limit: int | None = None,
        withdrawn: bool = False,
    ) -> dict[bytes, list[Assertion]]:
        """Return the assertions of whole slots in chain order, by slot id, paged by slot."""
        until = None if known_at is None else self.sequence_at(known_at)
        found: dict[bytes, list[Assertion]] = {}
        for places in self._places(scope, after, PAGE if limit is None else limit):
            chains = (
                self._chains(list(places), withdrawn=withdrawn)
                if until is None
                else self._chains_known(places, until)
            )
            for ref, address in places.items():
                if chain := chains.get(ref):
                    found[address.slot] = chain
                    if len(found) == limit:
                        return found
        return found

    def _places(
        self, scope: Scope | Sequence[bytes], after: bytes | None, size: int
    ) -> Iterator[dict[int, Address]]:
        """Yield slots in order of slot id, a page at a time: number -> address."""
        if isinstance(scope, Scope):
            if (where := self._where(scope)) is None:
                return
            query, more = self._sql.scope(where[0]), True
            while more:
                rows = self._page(query, where, after, size)
                yield {row[r.REF]: r.address_of(row) for row in rows}
                more = len(rows) == size
                after = rows[-1][r.ID] if rows else None
        else:
            for part in r.parts(sorted(slot for slot in set(scope) if after is None or slot > after), PAGE):
                wanted = set(part)
                rows = self._sql.places.all(prefixes=self._db.array([prefix_of(slot) for slot in part]))
                rows = sorted((row for row in rows if row[r.ID] in wanted), key=lambda row: row[r.ID])
                yield {row[r.REF]: r.address_of(row) for row in rows}

    def _chains(self, refs: Sequence[int], *, withdrawn: bool = False) -> dict[int, list[Assertion]]:
        """Return the chains of slots, by the number of the slot."""
        query = self._sql.all_chains if withdrawn else self._sql.chains
        found: dict[int, list[Assertion]] = {}
        for part in r.parts(refs):
            addresses: dict[int, Address] = {}
            for row in query.all(refs=self._db.array(part)):
                ref = row[r.REF]
                address = addresses.get(ref)
                if address is None:
                    address = addresses[ref] = r.address_of(row)
                found.setdefault(ref, []).append(r.assertion_of(row, address))
        return {ref: sort_chain(chain) for ref, chain in found.items()}

    def _chains_known(self, places: dict[int, Address], until: int) -> dict[int, list[Assertion]]:
        """Return the chains that the log showed when `until` was its last sequence."""
        refs = self._db.array(list(places))
        rows = {
            row[r.SEQUENCE]: row
            for query in (self._sql.known, self._sql.known_moved)
            for row in query.all(refs=refs, until=until)
        }
        found: dict[int, list[Assertion]] = {}
        for row in rows.values():
            place = row[-1]
            if place in places:
                found.setdefault(place, []).append(r.assertion_of(row, places[place]))
        return {ref: sort_chain(chain) for ref, chain in found.items()}

    # -- scopes -------------------------------------------------------------------------------------------------
    def _where(self, scope: Scope) -> Where | None:
        """Return a scope as conditions, or None when it names nothing stored."""
        namespace = self._namespace(scope.namespace)
        if namespace is None:
            return None
        key: list[str] = []
        values: dict[str, Any] = {}
        if scope.subject_key is None:
            key.append("namespace")
            values["namespace"] = namespace
            if scope.verbatim is not None:
                key.append("verbatim")
                values["verbatim"] = int(scope.verbatim)
        else:
            subjects = self._subjects(namespace, scope.subject_key, scope.verbatim)
            if not subjects:
                return None
            key.append("subjects")
            values["subjects"] = self._db.array(subjects)
        if scope.predicate_key is not None:
            predicates = [row[0] for row in self._sql.predicate_refs.all(key=scope.predicate_key)]
            if not predicates:
                return None
            key.append("predicates")
            values["predicates"] = self._db.array(predicates)
        return tuple(key), values

    def _page(self, query: Query, where: Where, after: bytes | None, limit: int, **values: Any) -> list[Row]:
        """Return the page of a scope that starts after a slot id."""
        prefix = -(1 << 62) if after is None else prefix_of(after)
        return query.all(prefix=prefix, id=after or b"", limit=limit, **where[1], **values)

    def _namespace(self, path: Namespace) -> int | None:
        row = self._sql.namespace.one(path=r.text_of(path))
        return None if row is None else row[0]

    def _subjects(self, namespace: int, key: str, verbatim: bool | None = None) -> list[int]:
        rows = self._sql.subject_refs.all(namespace=namespace, key=key)
        return [ref for ref, is_verbatim in rows if verbatim is None or verbatim == bool(is_verbatim)]

    # -- sequences ------------------------------------------------------------------------------------------------
    def _clock(self) -> tuple[int, int, int]:
        """Return the last sequence of a row, the last one given out at all, and the last moment of a write."""
        row = self._sql.clock.one()
        assert row is not None
        last, recorded_at = max(row[0] or 0, row[2] or 0), max(row[1] or 0, row[3] or 0)
        if row[4] is None:
            return last, last, recorded_at
        given, settled_at = map(int, row[4].split())
        return last, max(last, given), max(recorded_at, settled_at)

    def sequence_at(self, recorded_at: int) -> int:
        """Return the greatest sequence recorded at or before `recorded_at`, 0 if none."""
        last, _, recorded = self._clock()
        if recorded_at >= recorded:
            return last
        queries = (self._sql.assertion_before, self._sql.event_before)
        return max(_search(query, recorded_at, last) for query in queries)


def _search(query: Query, recorded_at: int, high: int) -> int:
    """Bisect a table for its greatest sequence recorded by then: record times grow with sequences."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        row = query.one(sequence=middle)
        if row is None or row[1] <= recorded_at:
            low = middle
        else:
            high = row[0] - 1
    row = query.one(sequence=low)
    return 0 if row is None else int(row[0])


def _is_due(row: Row, now: int) -> bool:
    """Tell whether the head of a slot may have changed with no write."""
    return row[r.CHANGES_AT] is not None and row[r.CHANGES_AT] <= now

"""From names to the numbers of their rows, and new rows for new names, a whole write at a time."""

from collections import defaultdict
from collections.abc import Iterable

from ko_integrations.identity import normalize_predicate
from ko_integrations.log import rows as r
from ko_integrations.log.contract import Address, Namespace
from ko_integrations.log.engines import Database, Row
from ko_integrations.log.schema import INDEXED
from ko_integrations.log.statements import Statements

__all__ = ["Names"]


class Names:
    """The names that one transaction uses. `load` what will be asked for, ask, then `flush` the new rows."""

    def __init__(self, database: Database, statements: Statements) -> None:
        self._db = database
        self._sql = statements
        self._namespaces: dict[Namespace, int] = {}
        self._subjects: dict[tuple[int, str, bool], tuple[int, str]] = {}
        self._predicates: dict[tuple[str, bool], int] = {}
        self._sources: dict[tuple[int, str], int] = {}
        self._named: set[str] = set()
        self._next: dict[str, int] = {}
        self._new: dict[str, list[Row]] = {
            "namespace": [],
            "subject": [],
            "predicate": [],
            "source": [],
            "naming": [],
        }
        self.renamed = False

    def load(
        self,
        namespaces: Iterable[Namespace],
        subjects: Iterable[tuple[Namespace, str]],
        predicates: Iterable[str],
        sources: Iterable[tuple[Namespace, str]] = (),
    ) -> None:
        """Fetch the numbers of these names; those already known are not asked for again."""
        paths = {r.text_of(path): path for path in set(namespaces) - self._namespaces.keys()}
        if paths:
            for ref, text in self._sql.namespaces_by_path.all(starts=self._starts(paths)):
                if text in paths:
                    self._namespaces[paths[text]] = ref
        for namespace, keys in self._by_namespace(subjects).items():
            rows = self._sql.subjects_by_start.all(namespace=namespace, starts=self._starts(keys))
            for ref, key, verbatim, spelling in rows:
                self._subjects[namespace, key, bool(verbatim)] = ref, key if spelling is None else spelling
        for namespace, names in self._by_namespace(sources).items():
            for ref, name in self._sql.sources_by_name.all(namespace=namespace, starts=self._starts(names)):
                self._sources[namespace, name] = ref
        spellings = {name for name in predicates if (name, True) not in self._predicates}
        spellings = {name for name in spellings if (name, False) not in self._predicates}
        if spellings:
            for ref, name, verbatim in self._sql.predicates_by_spelling.all(starts=self._starts(spellings)):
                self._predicates[name, bool(verbatim)] = ref

    def _starts(self, texts: Iterable[str]) -> object:
        return self._db.array(list({text[:INDEXED] for text in texts}))

    def _by_namespace(self, pairs: Iterable[tuple[Namespace, str]]) -> dict[int, set[str]]:
        groups: dict[int, set[str]] = defaultdict(set)
        for path, name in pairs:
            if (ref := self._namespaces.get(path)) is not None:
                groups[ref].add(name)
        return groups

    def _number(self, table: str) -> int:
        if table not in self._next:
            row = self._sql.last_ref[table].one()
            self._next[table] = 1 + (row[0] or 0 if row else 0)
        number = self._next[table]
        self._next[table] = number + 1
        return number

    def slot_number(self) -> int:
        """Return the number of a new slot."""
        return self._number("slot")

    def namespace(self, path: Namespace) -> int:
        """Return the number of a namespace."""
        ref = self._namespaces.get(path)
        if ref is None:
            ref = self._namespaces[path] = self._number("namespace")
            self._new["namespace"].append((ref, r.text_of(path), 0))
        return ref

    def subject(self, namespace: int, key: str, verbatim: bool, spelling: str) -> tuple[int, str]:
        """Return the number of a subject and its first spelling, which is this one if it is new."""
        found = self._subjects.get((namespace, key, verbatim))
        if found is None:
            found = self._subjects[namespace, key, verbatim] = self._number("subject"), spelling
            stored = None if spelling == key else spelling
            self._new["subject"].append((found[0], namespace, key, stored, int(verbatim)))
        return found

    def predicate(self, spelling: str, verbatim: bool) -> int:
        """Return the number of a predicate as it is spelt."""
        ref = self._predicates.get((spelling, verbatim))
        if ref is None:
            ref = self._predicates[spelling, verbatim] = self._number("predicate")
            key = spelling if verbatim else normalize_predicate(spelling)
            self._new["predicate"].append((ref, spelling, key, int(verbatim)))
        return ref

    def source(self, namespace: int, name: str) -> int:
        """Return the number of a source."""
        ref = self._sources.get((namespace, name))
        if ref is None:
            ref = self._sources[namespace, name] = self._number("source")
            self._new["source"].append((ref, namespace, name))
        return ref

    def name_predicates(self, asserted: Iterable[tuple[str, Address]]) -> None:
        """Record how asserted predicates are named, for those that have no record yet."""
        keys = {
            normalize_predicate(spelling): address for spelling, address in asserted if not address.verbatim
        }
        unknown = keys.keys() - self._named
        if not unknown:
            return
        self._named |= unknown
        unknown -= {row[0] for row in self._sql.namings_by_key.all(starts=self._starts(unknown))}
        for key in sorted(unknown):
            cardinality = "set" if keys[key].member else "single"
            self._new["naming"].append((key, keys[key].predicate_key, cardinality))
        self.renamed = self.renamed or bool(unknown)

    def flush(self) -> None:
        """Insert the new rows."""
        for table, rows in self._new.items():
            self._sql.insert[table].many(rows)
            rows.clear()

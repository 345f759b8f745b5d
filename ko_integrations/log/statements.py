"""Every statement of the log, compiled once for its database.

They are SQLAlchemy text: the same for both databases but for the one parameter that stands for a list.
Column names: see `rows`.
"""

from sqlalchemy import text

from ko_integrations.log.engines import Database, Query
from ko_integrations.log.rows import COLUMNS, PLACE
from ko_integrations.log.schema import INDEXED

__all__ = ["Statements"]

_SLOT = """FROM ko_slot s JOIN ko_subject u ON u.ref = s.subject JOIN ko_namespace n ON n.ref = s.namespace
    JOIN ko_predicate c ON c.ref = s.predicate"""
_ASSERTED = """JOIN ko_predicate p ON p.ref = a.predicate LEFT JOIN ko_subject w ON w.ref = a.subject
    LEFT JOIN ko_source o ON o.ref = a.source"""
_HEADS = f"SELECT {COLUMNS} {_SLOT} LEFT JOIN ko_assertion a ON a.sequence = s.head LEFT {_ASSERTED}"
_CHAINS = f"{_SLOT} JOIN ko_assertion a ON a.slot = s.ref {_ASSERTED}"
_DUE_OR_HEAD = "(s.head IS NOT NULL OR s.changes_at <= :now)"
# Where an assertion stood when :until was the last sequence.
_PLACE_AFTER = """COALESCE((SELECT m.slot FROM ko_move m WHERE m.assertion = a.sequence AND m.event > {}
    ORDER BY m.event LIMIT 1), a.slot)"""
_ALIVE = "EXISTS (SELECT 1 FROM ko_slot s WHERE s.subject = u.ref AND s.head IS NOT NULL)"
_SUBJECTS = f"""SELECT u.key, COALESCE(u.spelling, u.key) FROM ko_subject u
    WHERE u.namespace = :namespace AND u.verbatim = 0 AND {_ALIVE}"""


def start(column: str) -> str:
    """Return the indexed start of a text, as the indexes spell it."""
    return f"substr({column}, 1, {INDEXED})"


def same(column: str, parameter: str) -> str:
    """Return the condition that a text equals a parameter, by way of the index on its start."""
    # Were the column compared by itself, SQLite would put the parameter for it into the indexed expression too,
    # and no longer know the index.
    return f"{start(column)} = {start(f':{parameter}')} AND {column} || '' = :{parameter}"


class Statements:
    """The statements of one log."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._scoped: dict[tuple[str, ...], Query] = {}
        self._reading()
        self._looking_around()
        self._appending()
        self._revising()
        self._erasing()
        self._keeping()

    def _query(self, sql: str) -> Query:
        return Query(self._database, text(sql))

    def _among(self, column: str, parameter: str) -> str:
        """Return the condition that a column is in a list, which `Database.array` makes one parameter of.

        One parameter, whatever the length of the list: the statement is prepared once.
        """
        if self._database.name == "postgresql":
            return f"{column} = ANY(:{parameter})"
        return f"{column} IN (SELECT value FROM json_each(:{parameter}))"

    def _reading(self) -> None:
        query, among = self._query, self._among
        # Parameters in this order: prefix, id.
        self.head = query(f"{_HEADS} WHERE s.prefix = :prefix AND s.id = :id")
        self.heads = query(f"{_HEADS} WHERE {among('s.prefix', 'prefixes')}")
        self.places = query(f"SELECT {PLACE} {_SLOT} WHERE {among('s.prefix', 'prefixes')}")
        self.all_places = query(f"SELECT {PLACE} {_SLOT} WHERE s.ref > :after ORDER BY s.ref LIMIT :limit")
        self.chains = query(
            f"SELECT {COLUMNS} {_CHAINS} WHERE {among('s.ref', 'refs')} AND a.withdrawn IS NULL"
        )
        self.all_chains = query(f"SELECT {COLUMNS} {_CHAINS} WHERE {among('s.ref', 'refs')}")
        known = f"""SELECT {COLUMNS}, {_PLACE_AFTER.format(":until")} {_CHAINS} WHERE a.sequence <= :until
            AND (a.withdrawn IS NULL OR a.withdrawn > :until) AND"""
        self.known = query(f"{known} {among('s.ref', 'refs')}")
        self.known_moved = query(
            f"""{known} a.sequence IN
            (SELECT m.assertion FROM ko_move m WHERE {among("m.slot", "refs")} AND m.event > :until)"""
        )
        last = "(SELECT {} FROM ko_{} ORDER BY sequence DESC LIMIT 1)"
        # Last sequence and record time of assertions, the same of events, what was given out for no row.
        self.clock = query(
            f"""SELECT {last.format("sequence", "assertion")}, {last.format("recorded_at", "assertion")},
            {last.format("sequence", "event")}, {last.format("recorded_at", "event")},
            (SELECT value FROM ko_state WHERE key = '#sequence')"""
        )
        before = "SELECT sequence, recorded_at FROM ko_{} WHERE sequence <= :sequence ORDER BY sequence DESC LIMIT 1"
        self.assertion_before = query(before.format("assertion"))
        self.event_before = query(before.format("event"))

    def scan(self, key: tuple[str, ...]) -> Query:
        """Return the page of heads of a scope that has these conditions."""
        return self._page(("scan", *key), f"{_HEADS} WHERE {_DUE_OR_HEAD} AND", key)

    def scope(self, key: tuple[str, ...]) -> Query:
        """Return the page of slots of a scope that has these conditions."""
        return self._page(("scope", *key), f"SELECT {PLACE} {_SLOT} WHERE", key)

    def head_vectors(self, key: tuple[str, ...] = ("namespace",)) -> Query:
        """Return the page of vectors of the heads of a namespace."""
        sql = f"""SELECT s.ref, s.id, s.head, s.changes_at, v.data FROM ko_slot s
            LEFT JOIN ko_vector v ON v.sequence = s.head WHERE {_DUE_OR_HEAD} AND"""
        return self._page(("vectors", *key), sql, key)

    def count(self, key: tuple[str, ...]) -> Query:
        """Return the number of heads of a scope that has these conditions."""
        if ("count", *key) not in self._scoped:
            sql = f"SELECT COUNT(*) {_SLOT} WHERE s.head IS NOT NULL AND {self._conditions(key)}"
            self._scoped["count", *key] = self._query(sql)
        return self._scoped["count", *key]

    def _page(self, name: tuple[str, ...], sql: str, key: tuple[str, ...]) -> Query:
        if name not in self._scoped:
            # The sign keeps the planner from walking all slots in order where it should go by the subject.
            prefix = "s.prefix" if "namespace" in key else "+s.prefix"
            self._scoped[name] = self._query(
                f"""{sql} {self._conditions(key)} AND {prefix} >= :prefix AND ({prefix}, s.id) > (:prefix, :id)
                ORDER BY {prefix}, s.id LIMIT :limit"""
            )
        return self._scoped[name]

    def _conditions(self, key: tuple[str, ...]) -> str:
        conditions = {
            "namespace": "s.namespace = :namespace",
            "verbatim": "u.verbatim = :verbatim",
            "subjects": self._among("s.subject", "subjects"),
            "predicates": self._among("s.predicate", "predicates"),
        }
        return " AND ".join(conditions[name] for name in key)

    def _looking_around(self) -> None:
        query = self._query
        self.namespace = query(f"SELECT ref, heads FROM ko_namespace WHERE {same('path', 'path')}")
        self.namespaces = query("SELECT path FROM ko_namespace WHERE heads > 0")
        self.subject_refs = query(
            f"SELECT ref, verbatim FROM ko_subject WHERE namespace = :namespace AND {same('key', 'key')}"
        )
        self.predicate_refs = query(f"SELECT ref FROM ko_predicate WHERE {same('spelling', 'key')}")
        self.subjects_by_key = query(f"{_SUBJECTS} AND {self._among(start('u.key'), 'starts')}")
        self.subjects_by_prefix = query(
            f"""{_SUBJECTS} AND {start("u.key")} >= :low AND {start("u.key")} < :high
            AND substr(u.key, 1, :length) = :prefix ORDER BY {start("u.key")}, u.key LIMIT :limit"""
        )
        self.predicates = query(
            f"""SELECT DISTINCT c.spelling {_SLOT} WHERE {self._among("s.subject", "subjects")} AND EXISTS
            (SELECT 1 FROM ko_assertion a WHERE a.slot = s.ref AND a.withdrawn IS NULL)"""
        )
        self.named = query(
            """SELECT s.id, a.value FROM ko_slot s JOIN ko_assertion a ON a.sequence = s.head
            WHERE s.named = :named AND +s.namespace = :namespace ORDER BY s.prefix, s.id"""
        )
        self.count_all = query("SELECT COALESCE(SUM(heads), 0) FROM ko_namespace")
        self.next_due = query(
            """SELECT changes_at FROM ko_slot WHERE namespace = :namespace AND changes_at IS NOT NULL
            ORDER BY changes_at LIMIT 1"""
        )
        place = _PLACE_AFTER.format("a.sequence")
        self.asserted_events = query(
            f"""SELECT a.sequence, a.value IS NULL, a.recorded_at, n.path, s.id FROM ko_assertion a
            JOIN ko_slot s ON s.ref = {place} JOIN ko_namespace n ON n.ref = s.namespace
            WHERE a.sequence > :after ORDER BY a.sequence LIMIT :limit"""
        )
        self.other_events = query(
            """SELECT e.sequence, e.kind, e.recorded_at, n.path FROM ko_event e LEFT JOIN ko_namespace n
            ON n.ref = e.namespace WHERE e.sequence > :after ORDER BY e.sequence LIMIT :limit"""
        )
        self.withdrawn_slots = query(
            f"""SELECT DISTINCT s.id FROM ko_assertion a JOIN ko_slot s
            ON s.ref = {_PLACE_AFTER.format("a.withdrawn")} WHERE a.withdrawn = :sequence"""
        )
        self.moved_slots = query(
            f"""SELECT s.id FROM ko_move m JOIN ko_slot s ON s.ref = m.slot WHERE m.event = :sequence
            UNION SELECT s.id FROM ko_move f JOIN ko_assertion a ON a.sequence = f.assertion
            JOIN ko_slot s ON s.ref = {_PLACE_AFTER.format("f.event")} WHERE f.event = :sequence"""
        )

    def _appending(self) -> None:
        query, among = self._query, self._among
        self.namespaces_by_path = query(
            f"SELECT ref, path FROM ko_namespace WHERE {among(start('path'), 'starts')}"
        )
        self.subjects_by_start = query(
            f"""SELECT ref, key, verbatim, spelling FROM ko_subject
            WHERE namespace = :namespace AND {among(start("key"), "starts")}"""
        )
        self.slots_to_write = query(
            f"""SELECT {COLUMNS}, s.namespace, s.tip, s.marked {_SLOT} LEFT JOIN ko_assertion a ON a.sequence = s.head
            LEFT {_ASSERTED} WHERE {among("s.prefix", "prefixes")}"""
        )
        self.predicates_by_spelling = query(
            f"SELECT ref, spelling, verbatim FROM ko_predicate WHERE {among(start('spelling'), 'starts')}"
        )
        self.namings_by_key = query(f"SELECT key FROM ko_naming WHERE {among(start('key'), 'starts')}")
        self.sources_by_name = query(
            f"""SELECT ref, name FROM ko_source WHERE namespace = :namespace
            AND {among(start("name"), "starts")}"""
        )
        self.last_ref = {
            table: query(f"SELECT MAX(ref) FROM ko_{table}")
            for table in ("namespace", "subject", "predicate", "source", "slot")
        }
        columns = {
            "namespace": "ref, path, heads",
            "subject": "ref, namespace, key, spelling, verbatim",
            "predicate": "ref, spelling, key, verbatim",
            "naming": "key, canonical, cardinality",
            "source": "ref, namespace, name",
            "slot": "ref, prefix, id, namespace, subject, predicate, member, head, number, previous, support, "
            "valid_to, changes_at, tip, named, marked",
            "assertion": "sequence, slot, subject, spelling, predicate, kind, value, valid_from, valid_to, "
            "recorded_at, source, confidence, metadata, text",
            "vector": "sequence, data",
            "event": "sequence, kind, namespace, recorded_at",
            "move": "assertion, event, slot",
            "alias": "namespace, alias_key, subject_key",
        }
        self.insert = {
            table: query(f"INSERT INTO ko_{table} ({names}) VALUES (:{', :'.join(names.split(', '))})")
            for table, names in columns.items()
        }
        self.update_slot = query(
            """UPDATE ko_slot SET head = :head, number = :number, previous = :previous, support = :support,
            valid_to = :valid_to, changes_at = :changes_at, tip = :tip, named = :named, marked = :marked
            WHERE ref = :ref"""
        )
        self.add_heads = query("UPDATE ko_namespace SET heads = heads + :heads WHERE ref = :ref")

    def _revising(self) -> None:
        query, among = self._query, self._among
        self.source_ref = query(
            f"SELECT ref FROM ko_source WHERE namespace = :namespace AND {same('name', 'name')}"
        )
        self.slots_of_source = query(
            "SELECT DISTINCT slot FROM ko_assertion WHERE source = :source AND withdrawn IS NULL"
        )
        self.withdraw = query(
            f"""UPDATE ko_assertion SET withdrawn = :sequence
            WHERE source = :source AND withdrawn IS NULL AND {among("slot", "refs")}"""
        )
        self.slot_refs = query(
            f"SELECT id, ref, namespace, subject FROM ko_slot WHERE {among('prefix', 'prefixes')}"
        )
        self.asserted_predicates = query(
            f"SELECT ref, key FROM ko_predicate WHERE verbatim = 0 AND {among(start('key'), 'starts')}"
        )
        moving = f"""SELECT {COLUMNS}, a.withdrawn, COALESCE(a.subject, s.subject) {_CHAINS} WHERE
            a.sequence > :after AND"""
        self.asserted_under_predicates = query(
            f"{moving} {among('a.predicate', 'predicates')} ORDER BY a.sequence LIMIT :limit"
        )
        self.asserted_under_subject = query(
            f"""{moving} a.sequence IN (SELECT x.sequence FROM ko_assertion x WHERE x.subject = :subject
            UNION ALL SELECT x.sequence FROM ko_slot y JOIN ko_assertion x ON x.slot = y.ref
            WHERE y.subject = :subject AND x.subject IS NULL) AND u.verbatim = 0 ORDER BY a.sequence LIMIT :limit"""
        )
        self.move = query(
            "UPDATE ko_assertion SET slot = :slot, subject = :subject WHERE sequence = :sequence"
        )

    def _erasing(self) -> None:
        query, among = self._query, self._among
        these = among("{}", "sequences")
        self.sequences_of_slots = query(f"SELECT sequence FROM ko_assertion WHERE {among('slot', 'refs')}")
        self.sequences_of_source = query("SELECT sequence FROM ko_assertion WHERE source = :source")
        # What the assertions that go refer to: slots now and before, subjects, predicates, sources.
        self.references = query(
            f"""SELECT a.slot, a.subject, a.predicate, a.source FROM ko_assertion a WHERE {these.format("a.sequence")}
            UNION SELECT m.slot, NULL, NULL, NULL FROM ko_move m WHERE {these.format("m.assertion")}"""
        )
        self.delete_assertions = tuple(
            query(f"DELETE FROM ko_{table} WHERE {these.format(column)}")
            for table, column in (("move", "assertion"), ("vector", "sequence"), ("assertion", "sequence"))
        )
        self.delete_moves_from = query(f"DELETE FROM ko_move WHERE {among('slot', 'refs')}")
        unused = """{} AND NOT EXISTS (SELECT 1 FROM ko_assertion a WHERE a.slot = ko_slot.ref)
            AND NOT EXISTS (SELECT 1 FROM ko_move m WHERE m.slot = ko_slot.ref)"""
        self.empty_slots = query(
            f"SELECT ref, namespace, head FROM ko_slot WHERE {unused.format(among('ref', 'refs'))}"
        )
        self.delete_slots = query(f"DELETE FROM ko_slot WHERE {among('ref', 'refs')}")
        self.slot_ids = query(
            f"""SELECT s.ref, s.id, s.namespace, s.subject, s.predicate, n.path FROM ko_slot s
            JOIN ko_namespace n ON n.ref = s.namespace WHERE {among("s.ref", "refs")}"""
        )
        self.unused_subjects = query(
            f"""SELECT ref, namespace, key, verbatim FROM ko_subject WHERE {among("ref", "refs")}
            AND NOT EXISTS (SELECT 1 FROM ko_slot s WHERE s.subject = ko_subject.ref)
            AND NOT EXISTS (SELECT 1 FROM ko_assertion a WHERE a.subject = ko_subject.ref)"""
        )
        self.delete_subjects = query(f"DELETE FROM ko_subject WHERE {among('ref', 'refs')}")
        self.delete_sources = query(
            f"""DELETE FROM ko_source WHERE {among("ref", "refs")}
            AND NOT EXISTS (SELECT 1 FROM ko_assertion a WHERE a.source = ko_source.ref)"""
        )
        self.delete_predicates = query(
            f"""DELETE FROM ko_predicate WHERE {among("ref", "refs")}
            AND NOT EXISTS (SELECT 1 FROM ko_slot s WHERE s.predicate = ko_predicate.ref)
            AND NOT EXISTS (SELECT 1 FROM ko_assertion a WHERE a.predicate = ko_predicate.ref)"""
        )
        self.delete_namings = query(
            """DELETE FROM ko_naming WHERE NOT EXISTS
            (SELECT 1 FROM ko_predicate p WHERE p.key = ko_naming.key AND p.verbatim = 0)"""
        )
        self.delete_aliases_of = query(
            "DELETE FROM ko_alias WHERE namespace = :namespace AND (alias_key = :key OR subject_key = :key)"
        )
        self.delete_aliases = query("DELETE FROM ko_alias WHERE namespace = :namespace")
        self.add_erasure = query(
            """INSERT INTO ko_erasure (id, namespace) SELECT CAST(:id AS {bytes}), :namespace WHERE NOT EXISTS
            (SELECT 1 FROM ko_erasure e WHERE e.id = :id)""".format(
                bytes="BYTEA" if self._database.name == "postgresql" else "BLOB"
            )
        )
        self.erasing = query(
            "SELECT n.path, e.id FROM ko_erasure e JOIN ko_namespace n ON n.ref = e.namespace ORDER BY e.id"
        )
        self.delete_erasure = query("DELETE FROM ko_erasure WHERE id = :id")
        unused_by = " AND ".join(
            f"NOT EXISTS (SELECT 1 FROM ko_{table} x WHERE x.namespace = n.ref)"
            for table in ("slot", "subject", "source", "alias", "erasure")
        )
        self.empty_namespaces = query(f"SELECT n.ref FROM ko_namespace n WHERE n.heads = 0 AND {unused_by}")
        self.forget_namespace = query("UPDATE ko_event SET namespace = NULL WHERE namespace = :ref")
        self.delete_namespace = query("DELETE FROM ko_namespace WHERE ref = :ref")

    def _keeping(self) -> None:
        query, among = self._query, self._among
        self.pending = query("SELECT COUNT(*) FROM ko_slot WHERE marked IS NOT NULL")
        self.pending_in = query(
            "SELECT COUNT(*) FROM ko_slot WHERE namespace = :namespace AND marked IS NOT NULL"
        )
        claim = """SELECT s.id, n.path, s.marked FROM ko_slot s JOIN ko_namespace n ON n.ref = s.namespace
            WHERE {} s.marked IS NOT NULL ORDER BY s.marked LIMIT :limit"""
        self.claim = query(claim.format(""))
        self.claim_in = query(claim.format("s.namespace = :namespace AND"))
        self.due = query(
            """SELECT ref FROM ko_slot WHERE changes_at <= :now AND namespace IN (SELECT ref FROM ko_namespace)
            LIMIT :limit"""
        )
        self.due_in = query(
            "SELECT ref FROM ko_slot WHERE namespace = :namespace AND changes_at <= :now LIMIT :limit"
        )
        self.confirm = query(
            "UPDATE ko_slot SET marked = NULL WHERE prefix = :prefix AND id = :id AND marked = :marked"
        )
        self.count_slots = query("SELECT COUNT(*) FROM ko_slot")
        self.mark_all = query("UPDATE ko_slot SET marked = :sequence")
        self.vectors = query(f"SELECT sequence, data FROM ko_vector WHERE {among('sequence', 'sequences')}")
        self.put_vector = query(
            """INSERT INTO ko_vector (sequence, data) SELECT sequence, :data FROM ko_assertion
            WHERE sequence = :sequence ON CONFLICT (sequence) DO UPDATE SET data = excluded.data"""
        )
        self.clear_vectors = query("DELETE FROM ko_vector")
        self.get_state = query("SELECT value FROM ko_state WHERE key = :key")
        self.set_state = query(
            """INSERT INTO ko_state (key, value) VALUES (:key, :value)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value"""
        )
        self.delete_state = query("DELETE FROM ko_state WHERE key = :key")
        self.namings = query("SELECT key, canonical, cardinality FROM ko_naming")
        self.delete_naming = query(f"DELETE FROM ko_naming WHERE {same('key', 'key')}")
        self.aliases = query("SELECT alias_key, subject_key FROM ko_alias WHERE namespace = :namespace")
        self.aliased = query("SELECT path FROM ko_namespace WHERE ref IN (SELECT namespace FROM ko_alias)")
        self.delete_alias = query(
            f"DELETE FROM ko_alias WHERE namespace = :namespace AND {same('alias_key', 'key')}"
        )
        self.heads_counted = query(
            """SELECT n.path, n.heads, COUNT(s.head) FROM ko_namespace n LEFT JOIN ko_slot s
            ON s.namespace = n.ref GROUP BY n.ref, n.path, n.heads"""
        )
        self.duplicates = query("SELECT id, COUNT(*) FROM ko_slot GROUP BY id HAVING COUNT(*) > 1")
        self.materialised = query(
            f"""SELECT ref, namespace, head, number, previous, support, valid_to, changes_at, tip, named
            FROM ko_slot WHERE {among("ref", "refs")}"""
        )
        self.stored_heads = query(
            f"SELECT ref, namespace, head, marked FROM ko_slot WHERE {among('ref', 'refs')}"
        )

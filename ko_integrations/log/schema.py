"""The tables of the log, the same on SQLite and PostgreSQL.

Ids are integers inside: `ref` numbers a row, `sequence` numbers an assertion or an event, store-wide.
The 32 bytes of a slot id are stored once; look-ups and pages go by `prefix`, the first 48 bits of it as
an ordered integer, so that two narrow indexes do the work of two wide ones. Texts are indexed by their
first `INDEXED` characters: a PostgreSQL index row cannot hold the longest names. Uniqueness of ids and
names is kept by the look-up that precedes each insert (writers are serialised), and verified by `check()`.
"""

from hashlib import blake2b
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    func,
    literal_column,
)

from ko_integrations.identity import normalize_name

__all__ = ["APPLICATION_ID", "FORMAT", "INDEXED", "metadata", "name_hash", "prefix_of"]

APPLICATION_ID = 0x4B4F4C47  # "KOLG", in the header of the SQLite file
FORMAT = 1
INDEXED = 255
MAX_HASHED = 4_096

metadata = MetaData()

# Compared and sorted by code point on both databases.
_Text = Text().with_variant(Text(collation="C"), "postgresql")
_Number = BigInteger().with_variant(Integer(), "sqlite")


def _ref() -> Column[int]:
    return Column("ref", _Number, primary_key=True, autoincrement=False)


def _to(name: str, target: str, *, nullable: bool = False) -> Column[int]:
    return Column(name, _Number, ForeignKey(target), nullable=nullable)


def _partial(name: str, *columns: Column[Any]) -> None:
    """Index the rows whose last of these columns is set."""
    condition = columns[-1].is_not(None)
    Index(name, *columns, sqlite_where=condition, postgresql_where=condition)


def start_of(column: Any) -> Any:
    """Return the indexed start of a text column, as the indexes spell it."""
    return func.substr(column, literal_column("1"), literal_column(str(INDEXED)))


def prefix_of(slot: bytes) -> int:
    """Return the first 48 bits of a slot id as an integer in the order of the ids."""
    return int.from_bytes(slot[:6]) - 0x8000_0000_0000


def name_hash(namespace: int, kind: str, value: str | None) -> int | None:
    """Return the 48-bit look-up hash of an object that may name a subject, None when it cannot.

    A hash that agrees is verified against the value; it only saves a wide index.
    """
    if kind != "s" or value is None or len(value) > MAX_HASHED:
        return None
    text = f"{namespace}:{normalize_name(value)}"
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest()) - 0x8000_0000_0000


namespace = Table(
    "ko_namespace",
    metadata,
    _ref(),
    Column("path", _Text, nullable=False),  # JSON array of the segments
    Column("heads", _Number, nullable=False),  # how many slots hold a head
)
Index("ko_namespace_path", start_of(namespace.c.path))

subject = Table(
    "ko_subject",
    metadata,
    _ref(),
    _to("namespace", "ko_namespace.ref"),
    Column("key", _Text, nullable=False),
    Column("spelling", _Text),  # the first one; NULL: the key
    Column("verbatim", SmallInteger, nullable=False),
)
Index("ko_subject_key", subject.c.namespace, start_of(subject.c.key))

# Predicates as they were asserted, and the canonical names of slots.
predicate = Table(
    "ko_predicate",
    metadata,
    _ref(),
    Column("spelling", _Text, nullable=False),
    Column("key", _Text, nullable=False),
    Column("verbatim", SmallInteger, nullable=False),
)
Index("ko_predicate_spelling", start_of(predicate.c.spelling))
Index("ko_predicate_key", start_of(predicate.c.key))

# Asserted predicate key -> canonical name.
naming = Table(
    "ko_naming",
    metadata,
    Column("key", _Text, nullable=False),
    Column("canonical", _Text, nullable=False),
    Column("cardinality", _Text, nullable=False),
)
Index("ko_naming_key", start_of(naming.c.key))

source = Table(
    "ko_source", metadata, _ref(), _to("namespace", "ko_namespace.ref"), Column("name", _Text, nullable=False)
)
Index("ko_source_name", source.c.namespace, start_of(source.c.name))

# A slot and its materialised head: `head` is the sequence of the head version's first assertion, whose
# `valid_from` is the version's. The row says what holds until `changes_at`; NULL: until the next write.
slot = Table(
    "ko_slot",
    metadata,
    _ref(),
    Column("prefix", _Number, nullable=False),
    Column("id", LargeBinary, nullable=False),
    _to("namespace", "ko_namespace.ref"),
    _to("subject", "ko_subject.ref"),
    _to("predicate", "ko_predicate.ref"),
    Column("member", SmallInteger, nullable=False),
    Column("head", _Number),
    Column("number", _Number, nullable=False),  # place of the head in the chain; 0: no head
    Column("previous", _Number),
    Column("support", _Number, nullable=False),  # assertions that the head rests on
    Column("valid_to", _Number),
    Column("changes_at", _Number),
    Column(
        "tip", SmallInteger, nullable=False
    ),  # 1: the head is open, ends the chain and rests on one assertion
    Column("named", _Number),  # name_hash of the head's value
    Column("marked", _Number),  # the outbox: waits to be indexed since this sequence
)
Index("ko_slot_prefix", slot.c.prefix)
Index("ko_slot_page", slot.c.namespace, slot.c.prefix)
Index("ko_slot_subject", slot.c.subject, slot.c.predicate)
for _name, _columns in {
    "named": (slot.c.named,),
    "due": (slot.c.namespace, slot.c.changes_at),
    "marked": (slot.c.namespace, slot.c.marked),
}.items():
    _partial(f"ko_slot_{_name}", *_columns)

assertion = Table(
    "ko_assertion",
    metadata,
    Column("sequence", _Number, primary_key=True, autoincrement=False),
    _to("slot", "ko_slot.ref"),
    _to("subject", "ko_subject.ref", nullable=True),  # as asserted; NULL: the slot's
    Column("spelling", _Text),  # NULL: the subject's first spelling
    _to("predicate", "ko_predicate.ref"),
    Column("kind", _Text, nullable=False),
    Column("value", _Text),  # NULL: a retraction
    Column("valid_from", _Number, nullable=False),
    Column("valid_to", _Number),
    Column("recorded_at", _Number, nullable=False),
    _to("source", "ko_source.ref", nullable=True),
    Column("confidence", Float, nullable=False),
    Column("metadata", _Text),
    Column("text", _Text),
    Column("withdrawn", _Number),  # sequence of the withdrawal
)
Index("ko_assertion_slot", assertion.c.slot)
for _column in (assertion.c.subject, assertion.c.source, assertion.c.withdrawn):
    _partial(f"ko_assertion_{_column.name}", _column)

# `event` moved `assertion` away from `slot`: where it stood before.
move = Table(
    "ko_move",
    metadata,
    Column("assertion", _Number, ForeignKey("ko_assertion.sequence"), primary_key=True),
    Column("event", _Number, primary_key=True),
    _to("slot", "ko_slot.ref"),
)
Index("ko_move_slot", move.c.slot)
Index("ko_move_event", move.c.event)

vector = Table(
    "ko_vector",
    metadata,
    Column("sequence", _Number, ForeignKey("ko_assertion.sequence"), primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

# Whatever is in the change feed and is no assertion.
event = Table(
    "ko_event",
    metadata,
    Column("sequence", _Number, primary_key=True, autoincrement=False),
    Column("kind", _Text, nullable=False),
    _to("namespace", "ko_namespace.ref", nullable=True),
    Column("recorded_at", _Number, nullable=False),
)

# Slots whose erasure the semantic index has not confirmed.
erasure = Table(
    "ko_erasure",
    metadata,
    Column("id", LargeBinary, primary_key=True),
    _to("namespace", "ko_namespace.ref"),
)

alias = Table(
    "ko_alias",
    metadata,
    _to("namespace", "ko_namespace.ref"),
    Column("alias_key", _Text, nullable=False),
    Column("subject_key", _Text, nullable=False),
)
Index("ko_alias_key", alias.c.namespace, start_of(alias.c.alias_key))

state = Table(
    "ko_state", metadata, Column("key", _Text, primary_key=True), Column("value", _Text, nullable=False)
)

migration = Table(
    "ko_migration",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=False),
    Column("name", _Text, nullable=False),
)

"""What a version log stores and answers. The chain rules are in `fold`; a backend only keeps rows.

Times are microseconds since 1970 UTC, slot ids 32 bytes, sequences store-wide and strictly increasing (with
gaps). Record times grow with the sequences, whatever the clock does: the later of the caller's `now` and one
microsecond after the last.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

Outcome = Literal["created", "superseded", "confirmed", "backdated"]
Namespace = tuple[str, ...]

LAST = 1 << 62
"""A record time after every other: `sequence_at(LAST)` is the end of the log."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where an assertion belongs.

    `subject_key` and `predicate_key` are canonical (aliases followed, normalised; verbatim for keys).
    `member` says that the slot is one member of a set-valued predicate.
    """

    slot: bytes
    namespace: Namespace
    subject_key: str
    predicate_key: str
    member: bool
    verbatim: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """An assertion to append. `value` None is a tombstone: "no value" from `valid_from` on.

    `valid_from` None means: the later of the record time and the head's `valid_from` (DESIGN rule 6).
    `vector` is float32 little-endian bytes. `subject` and `predicate` are as the caller spelt them.
    """

    address: Address
    subject: str
    predicate: str
    kind: str
    value: str | None
    valid_from: int | None = None
    valid_to: int | None = None
    source: str | None = None
    confidence: float = 1.0
    metadata: str | None = None
    text: str | None = None
    vector: bytes | None = None


@dataclass(frozen=True, slots=True)
class Assertion:
    """A row of the log."""

    sequence: int
    address: Address
    subject: str
    predicate: str
    kind: str
    value: str | None
    valid_from: int
    valid_to: int | None
    recorded_at: int
    source: str | None
    confidence: float
    metadata: str | None
    text: str | None
    withdrawn: bool = False  # only `rekey` shows such


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a slot: its first assertion, its interval, its place, and what else supports it."""

    first: Assertion
    valid_from: int
    valid_to: int | None
    number: int
    previous: int | None
    confirmations: tuple[Assertion, ...] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """What appending one entry did. Of a tombstone, `version` is what held at its moment, or None."""

    outcome: Outcome
    version: Version | None
    previous: Version | None


@dataclass(frozen=True, slots=True)
class Scope:
    """Which slots: of a namespace, of a subject in it, of a predicate of that subject."""

    namespace: Namespace
    subject_key: str | None = None
    predicate_key: str | None = None
    verbatim: bool | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An entry of the change feed."""

    sequence: int
    kind: Literal["asserted", "retracted", "withdrawn", "rekeyed", "erased"]
    namespace: Namespace | None
    recorded_at: int
    slots: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Pending:
    """A slot that waits to be indexed. `target` is what the outbox row asks for; confirm with the same."""

    slot: bytes
    namespace: Namespace
    target: int


@dataclass(frozen=True, slots=True)
class Naming:
    """How asserted predicates map to canonical ones, as recorded in the log."""

    canonical: str
    cardinality: Literal["single", "set"]


class VersionReader(Protocol):
    """Reading. Heads are `as_of(now)`, also where a change fell due since the last write.

    A `now` before the slot was last written counts as that moment: a clock that went back, or that of another
    machine, hides nothing that was acknowledged. Methods without a `now` tell of the heads as they were last
    settled, by a write or by `claim`; `claim(namespace, 0, now=now)` settles what fell due and returns nothing.
    """

    def head(self, slot: bytes, now: int) -> Version | None:
        """Return what holds in a slot. This is the hot path: one indexed look-up."""
        ...

    def heads(self, slots: Sequence[bytes], now: int) -> dict[bytes, Version]:
        """Return the heads of many slots; slots without one are left out."""
        ...

    def scan(
        self, scope: Scope, now: int, *, after: bytes | None = None, limit: int = 1_000
    ) -> list[Version]:
        """Return a page of heads in order of slot id, from the one after `after`."""
        ...

    def chains(
        self,
        scope: Scope | Sequence[bytes],
        *,
        known_at: int | None = None,
        after: bytes | None = None,
        limit: int | None = None,
        withdrawn: bool = False,
    ) -> dict[bytes, list[Assertion]]:
        """Return the assertions of whole slots in (valid_from, sequence) order, by slot id, paged by slot.

        `withdrawn` (without `known_at`): also those that were taken back, which an erasure must reach.

        With `known_at`: what the log knew then: recorded by then, not withdrawn by then, in the slot where
        it stood then. Slots without assertions are left out.
        """
        ...

    def subjects(
        self,
        namespace: Namespace,
        *,
        prefix: str = "",
        keys: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> dict[str, str]:
        """Return canonical subject key -> first spelling, for facts' subjects with a head, sorted by key.

        `keys` asks for exactly these keys (the n-gram look-up), `prefix` for keys that start so.
        """
        ...

    def predicates(self, namespace: Namespace, subject_key: str) -> list[str]:
        """Return the canonical predicate keys of a fact's subject, sorted, also of those without a head."""
        ...

    def naming(self, namespace: Namespace, object_key: str, limit: int) -> list[bytes]:
        """Return slots whose head is a string whose `normalize_name` is `object_key`."""
        ...

    def namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        """Return the namespaces that hold a head, below `prefix` by whole segments."""
        ...

    def count(self, scope: Scope | None = None) -> int:
        """Return the number of heads."""
        ...

    def next_due(self, namespace: Namespace) -> int | None:
        """Return when a head of the namespace next changes with no write (the least `changes_at`), or None."""
        ...

    def events(self, after: int, limit: int) -> list[Event]:
        """Return a page of the change feed."""
        ...

    def sequence_at(self, recorded_at: int) -> int:
        """Return the greatest sequence recorded at or before `recorded_at`, 0 if none."""
        ...


class VersionLog(VersionReader, Protocol):
    """Reading and writing. Each write is one transaction, or part of the one that `transaction()` opened.

    A write returns when it is durable. `now` is the caller's clock; record times are made strictly
    increasing from it.
    """

    def transaction(self) -> AbstractContextManager[None]:
        """Group writes of this thread: all or nothing. Reads of the same thread see them."""
        ...

    def append(self, entries: Sequence[Entry], *, now: int) -> list[Applied]:
        """Append assertions in order, refold their slots, mark those whose head changed in the outbox.

        Raises:
            InvalidInputError: a `valid_to` is not after its `valid_from`, known only now where that was left
                out; a BatchError with the row numbers when there are several entries. Nothing is stored.
        """
        ...

    def withdraw(
        self, namespace: Namespace, source: str, *, keep: Collection[bytes] = (), now: int
    ) -> list[bytes]:
        """Take back every assertion of a source, but those in the slots to keep; return the slots refolded."""
        ...

    def rekey(
        self,
        place: Callable[[Assertion], Address],
        *,
        predicates: Sequence[str] = (),
        subjects: Sequence[tuple[Namespace, str]] = (),
        now: int,
    ) -> int:
        """Move the assertions that were asserted under these predicate or subject keys to where `place` says.

        Withdrawn ones are moved too, so that an erasure finds them; `place` is shown that they are. Old and
        new slots are refolded and marked in the outbox; the move is recorded by ids, so that `known_at` before
        it still sees the old places. Return how many moved.
        """
        ...

    def erase(
        self,
        scope: Scope | None,
        *,
        slots: Sequence[bytes] | None = None,
        source: tuple[Namespace, str] | None = None,
        sequences: Sequence[int] | None = None,
        now: int,
    ) -> list[bytes]:
        """Delete assertions, slots, vectors, moves, outbox rows and aliases for good; return the slots touched.

        Exactly one selector; `sequences` names single assertions. They are remembered in `erasing()` until
        `erased()` says that the index forgot them too. With `source` or `sequences`, slots that keep other
        assertions are refolded. The slots in which an erased assertion stood before a move are touched as well.
        Names that nothing else uses go with them; of the change feed only that something was erased remains, and
        in which namespace as long as that holds anything.
        """
        ...

    def erasing(self) -> list[tuple[Namespace, bytes]]:
        """Return the slots whose erasure the index has not confirmed."""
        ...

    def erased(self, slots: Sequence[bytes]) -> bool:
        """Forget the ids of finished erasures and scrub the files; True when no byte can be left."""
        ...

    # -- what the semantic index needs -----------------------------------------------------------------
    def pending(self, namespace: Namespace | None = None) -> int:
        """Return how many slots wait to be indexed."""
        ...

    def claim(self, namespace: Namespace | None, limit: int, *, now: int) -> list[Pending]:
        """Return slots to index, oldest first; those whose next change fell due are settled, and marked, first."""
        ...

    def confirm(self, done: Sequence[Pending]) -> None:
        """Delete the outbox rows whose target is still the one that was applied."""
        ...

    def mark_all(self) -> int:
        """Mark every slot in the outbox (a new generation of the index); return how many."""
        ...

    def vectors(self, sequences: Sequence[int]) -> Mapping[int, bytes]:
        """Return the stored vectors of assertions, by sequence."""
        ...

    def head_vectors(self, namespace: Namespace, now: int) -> Iterator[tuple[bytes, int, bytes | None]]:
        """Yield (slot, sequence of the head's first assertion, vector or None) for every head of a namespace."""
        ...

    def put_vectors(self, vectors: Mapping[int, bytes]) -> None:
        """Keep vectors of assertions (float32 little-endian)."""
        ...

    def clear_vectors(self) -> None:
        """Forget all vectors (another model)."""
        ...

    # -- small state ------------------------------------------------------------------------------------
    def get_state(self, key: str) -> str | None:
        """Return a value kept beside the log (model id, vocabulary, index generation)."""
        ...

    def set_state(self, values: Mapping[str, str | None]) -> None:
        """Keep values; None deletes."""
        ...

    def namings(self) -> dict[str, Naming]:
        """Return asserted predicate key -> canonical name and cardinality, for every non-verbatim predicate."""
        ...

    def record_namings(self, namings: Mapping[str, Naming]) -> None:
        """Record how asserted predicate keys are named from now on (`append` records those it sees first)."""
        ...

    def generation(self) -> int:
        """Return a number that changes whenever namings or aliases change, in any process. Cheap."""
        ...

    def aliases(self, namespace: Namespace) -> dict[str, str]:
        """Return subject alias key -> canonical subject key."""
        ...

    def aliased(self) -> list[Namespace]:
        """Return the namespaces in which a subject alias is declared, sorted."""
        ...

    def set_alias(self, namespace: Namespace, alias_key: str, subject_key: str | None) -> None:
        """Declare or (None) drop a subject alias."""
        ...

    def size(self) -> int:
        """Return bytes on disk, 0 when there are none."""
        ...

    def check(self) -> list[str]:
        """Return what is wrong (refold every slot, compare with the stored heads); empty when sound."""
        ...

    def close(self) -> None:
        """Release every connection."""
        ...

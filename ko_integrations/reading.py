"""The reads of one namespace: exact, in time, by meaning."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from ko_integrations import writing
from ko_integrations.addressing import check_namespace, several
from ko_integrations.errors import InvalidInputError, SetValuedError
from ko_integrations.feed import changes_after, latest_changes
from ko_integrations.filters import Where, compile_where
from ko_integrations.handle import Handle
from ko_integrations.identity import (
    MAX_VALUE_BYTES,
    canonical_value,
    check_count,
    check_text,
    normalize_name,
    normalize_predicate,
    slot_of,
)
from ko_integrations.log.contract import Address, Namespace, Scope, Version
from ko_integrations.log.fold import fold, head_at
from ko_integrations.log.pages import each_head, each_head_now, each_held
from ko_integrations.protocols import Embedder
from ko_integrations.records import to_knowledge_object, to_knowledge_objects
from ko_integrations.times import Moment, to_micros
from ko_integrations.twins import async_iterator_twin, async_twin
from ko_integrations.types import (
    Answer,
    Chain,
    Change,
    Changes,
    HeadPage,
    Hit,
    KnowledgeObject,
    Value,
)
from ko_integrations.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FactView"]

_PAGE = 1_000


class FactView:
    """One namespace of an open store, reading only. `KnowledgeStore` adds writing and house keeping.

    Every method sees exactly this namespace. Each has a twin `a...` for async code.
    """

    def __init__(self, handle: Handle, namespace: Namespace = (), *, opener: bool = False) -> None:
        if not isinstance(handle, Handle):
            raise InvalidInputError("handle", "a store is opened with KnowledgeStore.open(...)")
        self._handle = handle
        self._namespace = namespace
        self._opener = opener

    @property
    def namespace_path(self) -> Namespace:
        """The namespace this view is bound to."""
        return self._namespace

    @property
    def handle(self) -> Handle:
        """What all views of one open store share."""
        return self._handle

    @property
    def closed(self) -> bool:
        """Whether the store was closed."""
        return self._handle.closed

    @property
    def where(self) -> str:
        """Where the store was opened: a folder, `":memory:"` or a URL."""
        return self._handle.where

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary in force."""
        return self._handle.addresser.vocabulary

    @property
    def embedder(self) -> Embedder:
        """The embedder in force.

        Raises:
            IndexMismatchError: the stored vectors were made by another model.
        """
        return self._handle.check().sync.encoding.embedder

    def now(self) -> datetime:
        """Return the present by the store's clock, aware."""
        return self._handle.check().clock()

    # -- exact reads ------------------------------------------------------------------------------------------
    def read_exact(
        self,
        subject: str,
        predicate: str,
        *,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        verbatim: bool = False,
    ) -> KnowledgeObject | None:
        """Return what holds in a slot: at `as_of` (default: now), as known at `known_at` (default: now).

        Raises:
            SetValuedError: the predicate holds a set; use `read_values`.

        Source: main paper A.3 (ReadExact).
        """
        handle = self._handle.check()
        address = self._place(subject, predicate, verbatim=verbatim)
        if as_of is None and known_at is None:
            head = handle.log.head(address.slot, handle.now())
            return None if head is None else to_knowledge_object(head)
        if verbatim:
            found = self._past([address.slot], as_of, known_at)
        else:
            found = self._held(subject, predicate, as_of, known_at)
        return found[0] if found else None

    def read_values(
        self, subject: str, predicate: str, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> list[KnowledgeObject]:
        """Return what holds: the members of a set-valued predicate by event time, or a list of at most one."""
        return self._held(subject, predicate, as_of, known_at)

    def get_many(self, ids: Sequence[str]) -> list[KnowledgeObject | None]:
        """Return the heads of slots of this namespace by id, in the order asked; None where there is none.

        Raises:
            InvalidInputError: an id is not 64 hex digits.
        """
        handle = self._handle.check()
        slots = [slot_of(name) for name in several("ids", ids)]
        heads = handle.log.heads(slots, handle.now())
        found = (heads.get(slot) for slot in slots)
        return [
            to_knowledge_object(head) if head and head.first.address.namespace == self._namespace else None
            for head in found
        ]

    def facts(
        self,
        subject: str,
        *,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        verbatim: bool = False,
    ) -> list[KnowledgeObject]:
        """Return everything that holds of a subject; with `verbatim` what is stored under that very key."""
        if not verbatim:
            return self._held(subject, None, as_of, known_at)
        handle = self._handle.check()
        scope = Scope(self._namespace, check_text(subject, "subject"), verbatim=True)
        if as_of is None and known_at is None:
            return to_knowledge_objects(_by_time(each_head(handle.log, scope, handle.now())))
        return self._past(scope, as_of, known_at)

    # -- reads by meaning ----------------------------------------------------------------------------------------
    def read(
        self,
        query: "str | Sequence[float] | NDArray[np.floating[Any]]",
        k: int = 5,
        *,
        where: Where | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        wait: bool = True,
    ) -> list[Hit]:
        """Return the k facts nearest in meaning that hold, best first.

        `query` is a text, or its vector (shape (dimension,)). `where` is a condition as in `filters`. With
        `as_of` or `known_at` the versions of that time are searched.

        Raises:
            IndexBehind: many writes wait to be indexed and `wait` is false.
            EmbedderError, IndexMismatchError: the query cannot be encoded.

        Source: main paper A.3 (Read), 4.2.4.
        """
        handle = self._handle.check()
        check_count(k, "k")
        if isinstance(query, str):
            check_text(query, "query", limit=1_000_000)
        condition = compile_where(where)
        if as_of is None and known_at is None:
            return handle.searcher.read(self._namespace, query, k, condition, wait=wait)
        moment, known = self._moments(as_of, known_at)
        return handle.searcher.read_past(self._namespace, query, k, condition, moment, known)

    def encode_query(self, text: str) -> "NDArray[np.float32]":
        """Return the unit vector of a query, shape (dimension,), for several reads with one encoding.

        Raises:
            EmbedderError, IndexMismatchError: it cannot be encoded.
        """
        handle = self._handle.check()
        return handle.searcher.encode_query(check_text(text, "query", limit=1_000_000))

    def marked(self, key: str) -> bool:
        """Tell whether `mark(key)` was called in this namespace."""
        return self._handle.check().log.get_state(writing.mark_key(self._namespace, key)) is not None

    def ask(self, question: str, *, now: Moment | None = None, known_at: Moment | None = None) -> Answer:
        """Answer a question from the stored facts, or abstain (`value is None`).

        `now` is the present that "currently" and "last year" count from.
        """
        handle = self._handle.check()
        check_text(question, "question", limit=100_000)
        moment = handle.clock() if now is None else writing.as_datetime(now, "now")
        return handle.parser.answer(question, reader=self, now=moment, known_at=known_at)

    def vectors_of(self, kos: Sequence[KnowledgeObject]) -> "NDArray[np.float32]":
        """Return the unit vectors of facts as they were read, shape (len(kos), dimension)."""
        encoding = self._handle.check().sync.encoding
        if not all(isinstance(ko, KnowledgeObject) for ko in several("kos", kos)):
            raise InvalidInputError("kos", "expected KnowledgeObjects")
        return encoding.vectors_at([ko.provenance.sequence for ko in kos], lambda row: kos[row].text)

    # -- time and change ------------------------------------------------------------------------------------------
    def history(
        self,
        subject: str,
        predicate: str,
        *,
        object: Value | None = None,
        known_at: Moment | None = None,
        verbatim: bool = False,
    ) -> list[KnowledgeObject]:
        """Return every version, oldest first; of a set-valued predicate those of all members, or of `object`."""
        handle = self._handle.check()
        known = None if known_at is None else to_micros(known_at, "known_at")
        if verbatim:
            chains = handle.log.chains([self._place(subject, predicate, verbatim=True).slot], known_at=known)
        else:
            chains = handle.log.chains(self._scope_then(subject, predicate, known), known_at=known)
        history = to_knowledge_objects(
            _by_time(version for chain in chains.values() for version in fold(chain))
        )
        if object is not None:
            wanted = canonical_value(object)
            history = [ko for ko in history if canonical_value(ko.object) == wanted]
        return Chain(history)

    def snapshot(
        self, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> Iterator[KnowledgeObject]:
        """Yield everything that held at `as_of`, as known at `known_at`, in order of slot id.

        Each is true when it comes out, however long the iterator is kept open: without `as_of` and `known_at` it
        holds then, and what was erased meanwhile never comes. A slot that is new meanwhile may be left out.
        """
        handle = self._handle.check()
        scope = Scope(self._namespace)
        if as_of is None and known_at is None:
            return map(to_knowledge_object, each_head_now(handle.log, scope, handle.now))
        moment, known = self._moments(as_of, known_at)
        return map(to_knowledge_object, each_held(handle.log, scope, moment, known))

    def changes_since(self, cursor: int | Moment, *, limit: int = _PAGE) -> Changes:
        """Return what changed after a cursor (or a record time), oldest first, and the cursor to go on from.

        The cursor is exact: whoever follows it misses nothing and sees nothing twice. A view sees its own
        namespace's changes, the root handle all.
        """
        handle = self._handle.check()
        if isinstance(cursor, bool):
            raise InvalidInputError("cursor", "expected a number or a time, got a bool")
        if not isinstance(cursor, int | date):  # a datetime is a date
            raise InvalidInputError("cursor", f"expected a cursor or a time, got {type(cursor).__name__}")
        if not isinstance(cursor, int):
            cursor = handle.log.sequence_at(to_micros(cursor, "cursor"))
        first, size = check_count(cursor, "cursor", 0), check_count(limit, "limit")
        return changes_after(handle.log, first, size, self._concerns)

    def latest_changes(self, limit: int = 10) -> tuple[Change, ...]:
        """Return the last changes, the latest first: of the last 1,000 of the store those that this view sees."""
        log = self._handle.check().log
        return latest_changes(log, check_count(limit, "limit"), self._concerns)

    # -- looking around ------------------------------------------------------------------------------------------
    def subjects(self, prefix: str = "") -> list[str]:
        """Return the subjects that something holds of, as first spelt, by normalised name."""
        log = self._handle.check().settle(self._namespace).log
        key = normalize_name(check_text(prefix, "prefix", blank=True))
        return list(log.subjects(self._namespace, prefix=key).values())

    def find_subjects(self, names: Sequence[str]) -> dict[str, str]:
        """Return, of `names`, those that are stored subjects or aliases of one -> the subject as stored."""
        handle = self._handle.check().settle(self._namespace)
        asked = [
            check_text(name, "names", limit=MAX_VALUE_BYTES, blank=True) for name in several("names", names)
        ]
        keys = {name: handle.addresser.subject_key(self._namespace, name) for name in asked}
        found = handle.log.subjects(self._namespace, keys=list(dict.fromkeys(keys.values())))
        return {name: found[key] for name, key in keys.items() if key in found}

    def predicates(self, subject: str) -> list[str]:
        """Return the canonical predicates that a subject has, or once had, a value for."""
        handle = self._handle.check()
        return handle.log.predicates(self._namespace, self._scope(subject).subject_key or "")

    def facts_naming(self, object: str, *, limit: int = 100) -> list[KnowledgeObject]:
        """Return the facts that hold and whose object is the name `object` (the inverse look-up)."""
        handle = self._handle.check().settle(self._namespace)
        key = normalize_name(check_text(object, "object", limit=MAX_VALUE_BYTES, blank=True))
        slots = handle.log.naming(self._namespace, key, check_count(limit, "limit", 0))
        return to_knowledge_objects(list(handle.log.heads(slots, handle.now()).values()))

    def iter_heads(self, cursor: str | None = None, limit: int = _PAGE) -> HeadPage:
        """Return a page of what holds, in order of slot id, and the cursor of the next page (None: no more)."""
        handle = self._handle.check()
        after = None if cursor is None else slot_of(cursor)
        page = handle.log.scan(
            Scope(self._namespace), handle.now(), after=after, limit=check_count(limit, "limit")
        )
        last = page[-1].first.address.slot.hex() if len(page) == limit else None
        return HeadPage(items=tuple(to_knowledge_objects(page)), cursor=last)

    def count(self) -> int:
        """Return the number of facts that hold in this namespace."""
        return self._handle.check().settle(self._namespace).log.count(Scope(self._namespace))

    def namespaces(self, prefix: Sequence[str] = ()) -> list[Namespace]:
        """Return the namespaces that hold something, below `prefix` by whole segments. Root handle only.

        Raises:
            InvalidInputError: called on a bound view, which sees exactly its own namespace.
        """
        if not self._opener:
            raise InvalidInputError("namespace", "a bound view sees only its own; ask the root handle")
        return self._handle.check().settle(None).log.namespaces((*self._namespace, *check_namespace(prefix)))

    # -- helpers ------------------------------------------------------------------------------------------
    def _place(self, subject: str, predicate: str, *, verbatim: bool = False) -> Address:
        handle = self._handle
        try:
            return handle.addresser.place(self._namespace, subject, predicate, verbatim=verbatim)
        except SetValuedError as error:
            raise SetValuedError(
                "predicate", f"{predicate!r} holds a set of values; use read_values"
            ) from error

    def _scope(self, subject: str, predicate: str | None = None) -> Scope:
        addresser = self._handle.check().addresser
        key = addresser.subject_key(self._namespace, check_text(subject, "subject"))
        if predicate is None:
            return Scope(self._namespace, key, verbatim=False)
        check_text(predicate, "predicate")
        return Scope(self._namespace, key, addresser.naming(predicate).canonical, verbatim=False)

    def _scope_then(self, subject: str, predicate: str | None, known: int | None) -> Scope:
        """Return the scope that a name meant at a record time: an alias may have been declared only later."""
        scope = self._scope(subject, predicate)
        if known is None or (scope.subject_key, scope.predicate_key) == (
            own := _own_names(subject, predicate)
        ):
            return scope
        for subject_key in dict.fromkeys((own[0], scope.subject_key)):
            for predicate_key in dict.fromkeys((own[1], scope.predicate_key)):
                then = Scope(self._namespace, subject_key, predicate_key, verbatim=False)
                if self._handle.log.chains(then, known_at=known, limit=1):
                    return then
        return scope

    def _held(
        self, subject: str, predicate: str | None, as_of: Moment | None, known_at: Moment | None
    ) -> list[KnowledgeObject]:
        handle = self._handle.check()
        if as_of is None and known_at is None:
            scope = self._scope(subject, predicate)
            return to_knowledge_objects(_by_time(each_head(handle.log, scope, handle.now())))
        known = None if known_at is None else to_micros(known_at, "known_at")
        return self._past(self._scope_then(subject, predicate, known), as_of, known_at)

    def _concerns(self, namespace: Namespace | None) -> bool:
        """Tell whether this view shows changes of a namespace: its own, or (root handle) one below its own."""
        if namespace is None or not self._opener:
            return namespace == self._namespace or (self._opener and not self._namespace)
        return namespace[: len(self._namespace)] == self._namespace

    def _moments(self, as_of: Moment | None, known_at: Moment | None) -> tuple[int, int | None]:
        """Return event time and record time of a read; an omitted event time is now."""
        known = None if known_at is None else to_micros(known_at, "known_at")
        if as_of is not None:
            return to_micros(as_of, "as_of"), known
        # What was recorded by `known` held by then, also should this process's clock be behind.
        return max(self._handle.now(), known or 0), known

    def _past(
        self, where: Scope | Sequence[bytes], as_of: Moment | None, known_at: Moment | None
    ) -> list[KnowledgeObject]:
        moment, known = self._moments(as_of, known_at)
        chains = self._handle.log.chains(where, known_at=known)
        held = (head_at(chain, moment) for chain in chains.values())
        return to_knowledge_objects(_by_time(version for version in held if version is not None))

    # -- async twins ------------------------------------------------------------------------
    aread_exact = async_twin(read_exact)
    aencode_query = async_twin(encode_query)
    amarked = async_twin(marked)
    anow = async_twin(now)
    aread_values = async_twin(read_values)
    aget_many = async_twin(get_many)
    afacts = async_twin(facts)
    aread = async_twin(read)
    aask = async_twin(ask)
    avectors_of = async_twin(vectors_of)
    ahistory = async_twin(history)
    asnapshot = async_iterator_twin(snapshot)
    achanges_since = async_twin(changes_since)
    alatest_changes = async_twin(latest_changes)
    asubjects = async_twin(subjects)
    afind_subjects = async_twin(find_subjects)
    apredicates = async_twin(predicates)
    afacts_naming = async_twin(facts_naming)
    aiter_heads = async_twin(iter_heads)
    acount = async_twin(count)
    anamespaces = async_twin(namespaces)


def _by_time(versions: Iterable[Version]) -> list[Version]:
    return sorted(versions, key=lambda version: (version.valid_from, version.first.sequence))


def _own_names(subject: str, predicate: str | None) -> tuple[str, str | None]:
    return normalize_name(subject), None if predicate is None else normalize_predicate(predicate)

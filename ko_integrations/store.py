"""`KnowledgeStore`: facts that supersede each other, addressed by slot, questioned in time and by meaning."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from os import PathLike
from typing import IO, Any, Literal

from ko_integrations import erasing, transfer, writing
from ko_integrations.addressing import check_namespace, several
from ko_integrations.errors import InvalidInputError
from ko_integrations.handle import Stats, open_handle
from ko_integrations.identity import MAX_VALUE_BYTES, check_text, slot_of
from ko_integrations.log.contract import Scope
from ko_integrations.protocols import Compilation, Compiler, QueryParser
from ko_integrations.reading import FactView
from ko_integrations.rekey import alias_subject, apply_vocabulary
from ko_integrations.sync import Progress
from ko_integrations.times import Moment
from ko_integrations.twins import async_batch, async_twin
from ko_integrations.types import (
    EraseReport,
    Fact,
    KnowledgeObject,
    Value,
    WriteReport,
    WriteResult,
)
from ko_integrations.upkeep import VerifyReport, rebuild, renew_id, verify
from ko_integrations.vocabulary import Vocabulary

__all__ = ["KnowledgeStore"]

_PASSWORD = re.compile(r"(?<=://)(?P<user>[^:/@]*):[^/]*@")


def expect_store(store: Any) -> "KnowledgeStore":
    """Return `store`, for adapters that are given one.

    Raises:
        InvalidInputError: it is something else, for example the path of a store.
    """
    if isinstance(store, KnowledgeStore):
        return store
    opening = f"; open it first: KnowledgeStore.open({store!r})" if isinstance(store, str | PathLike) else ""
    raise InvalidInputError("store", f"expected a KnowledgeStore, got {type(store).__name__}{opening}")


class KnowledgeStore(FactView):
    """A store of Knowledge Objects, seen through one namespace.

    `open` gives the root handle; `namespace` gives views that share it and see exactly their own facts.
    Handles are thread-safe, not fork-safe. Every operation has a twin `a...` for async code.

    Raises (from every operation):
        InvalidInputError: an argument cannot be used; names it, and nothing was stored.
        LogUnavailableError, LogCorruptError: the log cannot be read or written.
        StoreClosedError, ForkedStoreError: the handle is of no use any longer.

    Source: main paper section 4.2 and appendix A.3.

    >>> store = KnowledgeStore.open(":memory:")
    >>> store.update("Alice", "phone", "555-1111").outcome
    'created'
    >>> store.update("Alice", "phone", "555-2222").outcome
    'superseded'
    >>> store.read_exact("Alice", "phone").object
    '555-2222'
    >>> [ko.object for ko in store.history("Alice", "phone")]
    ['555-1111', '555-2222']
    """

    # -- opening and closing --------------------------------------------------------------------------------
    @classmethod
    def open(
        cls,
        where: str | PathLike[str] = ":memory:",
        *,
        namespace: Sequence[str] = (),
        embedder: Any = None,
        vocabulary: Vocabulary | None = None,
        compiler: Compiler | None = None,
        parser: QueryParser | None = None,
        index: Any = None,
        collection: str = "knowledge_objects",
        clock: Callable[[], datetime] | None = None,
        create: bool = True,
    ) -> "KnowledgeStore":
        """Open a store, making it if need be.

        Args:
            where: a folder, `":memory:"`, or a PostgreSQL URL (`postgresql+psycopg://...`).
            namespace: whose memory the root handle reads and writes.
            embedder: ours, a LangChain `Embeddings`, a LlamaIndex `BaseEmbedding`, a Chroma embedding function,
                or a callable from texts to vectors. Default: all-MiniLM-L6-v2, loaded when first needed.
            vocabulary: default: the one the store was last opened with, else `Vocabulary.general()`. Another one
                than last time re-keys the facts that it names otherwise.
            compiler: for `write`. Default: offline, no model.
            parser: for `ask`. Default: offline, no model.
            index: default: Chroma inside the folder (none in memory, none for PostgreSQL). A URL of a Chroma
                server, a Chroma client or collection, a folder, `False` for none.
            collection: name of the Chroma collection.
            clock: returns the aware present. Default: the system's.
            create: with False a store that is not there is an error, and nothing is made.

        Raises:
            InvalidInputError: an option cannot be used.
            MissingExtraError: PostgreSQL without the extra `postgres`.
            NotAStoreError, LogCorruptError, LogVersionError, LogUnavailableError: the log cannot be opened.
        """
        path = check_namespace(namespace)
        handle = open_handle(
            where, embedder=embedder, vocabulary=vocabulary, compiler=compiler, parser=parser, index=index,
            collection=collection, clock=clock, create=create,
        )  # fmt: skip
        return cls(handle, path, opener=True)

    def namespace(self, *parts: str) -> "KnowledgeStore":
        """Return a view bound to exactly the namespace `parts` below this one. Closing it closes nothing."""
        self._handle.check()
        if len(parts) == 1 and isinstance(parts[0], tuple | list):
            said = ", ".join(map(repr, parts[0]))
            raise InvalidInputError("namespace", f"give its segments one by one: namespace({said})")
        return KnowledgeStore(self._handle, (*self._namespace, *check_namespace(parts)))

    def close(self) -> None:
        """Release everything, if this is the root handle. What waits to be indexed stays in the log."""
        if self._opener:
            self._handle.close()

    def __enter__(self) -> "KnowledgeStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = _PASSWORD.sub(r"\g<user>:***@", self._handle.where)
        view = f", namespace={self._namespace!r}" if self._namespace else ""
        return f"KnowledgeStore({where!r}{view}{', closed' if self._handle.closed else ''})"

    # -- writing --------------------------------------------------------------------------------------------
    def update(
        self,
        subject: str,
        predicate: str,
        object: Value,
        *,
        source: str | None = None,
        confidence: float = 1.0,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> WriteResult:
        """State one fact. When it returns, the fact is durable and every later read sees it.

        An omitted `valid_from` is now, or the head's `valid_from` if that is later.

        Source: main paper A.3 (Update), 4.2.6.
        """
        fact = Fact.model_construct(
            subject=subject, predicate=predicate, object=object, source=source, confidence=confidence,
            valid_from=valid_from, valid_to=valid_to, metadata=metadata, text=None, vector=None, verbatim=False,
        )  # fmt: skip
        return writing.write_facts(self._handle.check(), self._namespace, [fact])[0]

    def update_many(
        self, facts: Iterable[Fact | Mapping[str, Any]], *, on_error: Literal["raise", "collect"] = "raise"
    ) -> list[WriteResult]:
        """State many facts in one transaction, in order.

        With `on_error="collect"` the bad rows are refused (`outcome == "refused"`, with the error) and the
        others stored; with `"raise"` one bad row means that nothing is stored.

        Raises:
            BatchError: rows are bad; lists them all.
        """
        return writing.write_batch(self._handle.check(), self._namespace, facts, on_error)

    def write(
        self, text: str, *, source: str | None = None, said_at: Moment | None = None, once: str | None = None,
        before: str = "",
    ) -> WriteReport:  # fmt: skip
        """Compile a text to statements and store them, in one transaction.

        Relative dates count from `said_at` (default: now), which is also when the statements start to
        hold unless they say otherwise. A text under a key `once` (a message id, say) is written once: again
        with the same key nothing is compiled or stored, and the report says `repeated`. `before` is what was
        said before, of which nothing is stored: whom "she" means may stand there.

        Source: main paper A.3 (Write), 4.2.5.
        """
        return writing.write_text(self, self._handle.check(), text, source, said_at, once, before)

    def mark(self, key: str) -> bool:
        """Record in this namespace that something was done; True if it was not recorded before.

        Part of the batch that is open: what was done and its mark stand or fall together. Erasing does not
        remove marks, so that what was erased is not learnt again from a replay.
        """
        return writing.mark(self._handle.check(), self._namespace, key)

    def compile(self, text: str, *, said_at: Moment | None = None, before: str = "") -> Compilation:
        """Return the statements that `write` would store of a text, without storing them."""
        handle = self._handle.check()
        check_text(text, "text", limit=MAX_VALUE_BYTES)
        moment = handle.clock() if said_at is None else writing.as_datetime(said_at, "said_at")
        return writing.compiled(self, handle, text, moment, before)

    def batch(self) -> AbstractContextManager[None]:
        """Group writes of this thread: all are stored when the block ends, none when it raises."""
        return self._handle.check().batch()

    def retract(
        self,
        subject: str,
        predicate: str,
        object: Value | None = None,
        *,
        at: Moment | None = None,
        source: str | None = None,
        verbatim: bool = False,
    ) -> list[KnowledgeObject]:
        """End what holds at `at` (default: now); its history stays, and nothing older revives.

        `object` restricts it to that value; of a set-valued predicate all members end without it. Return
        the versions that ended.
        """
        handle = self._handle.check()
        return writing.retract(
            handle, self._namespace, subject, predicate, object, at, source, verbatim=verbatim
        )

    def withdraw_source(self, source: str, *, keep: Iterable[str] = ()) -> list[str]:
        """Take back everything `source` asserted in this namespace; return the ids of the slots concerned.

        A version that others assert too stays; one that rested on it alone goes, and what survives shows.
        `known_at` before now still sees it. `keep` names slots, by id, that it goes on asserting (a document
        that was edited).
        """
        handle = self._handle.check()
        check_text(source, "source")
        kept = {slot_of(name) for name in several("keep", keep)}
        slots = handle.log.withdraw(self._namespace, source, keep=kept, now=handle.now())
        handle.wrote(len(slots))
        return [slot.hex() for slot in slots]

    # -- taking back for good ----------------------------------------------------------------------------------------
    def erase(
        self,
        subject: str,
        predicate: str | None = None,
        object: Value | None = None,
        *,
        mentions: bool = False,
        verbatim: bool = False,
    ) -> EraseReport:
        """Leave nothing of a subject, of one of its predicates, or of one value, in all of them without `predicate`.

        Facts that merely name the subject as their object stay unless `mentions` is true.
        """
        handle = self._handle.check()
        return erasing.erase(
            handle, self._namespace, subject, predicate, object, mentions=mentions, verbatim=verbatim
        )

    def erase_source(self, source: str) -> EraseReport:
        """Leave nothing of what `source` asserted in this namespace."""
        check_text(source, "source")
        return erasing.erase_selected(self._handle.check(), None, source=(self._namespace, source))

    def erase_namespace(self) -> EraseReport:
        """Leave nothing of this namespace."""
        return erasing.erase_selected(self._handle.check(), Scope(self._namespace))

    # -- keeping house ------------------------------------------------------------------------------------------
    def alias(self, subject: str, alias: str | None = None, *, drop: str | None = None) -> int:
        """Declare `alias` another name of `subject` in this namespace, or drop one; return the facts moved.

        Reversible: facts keep the name they were stated under. `known_at` before now sees the old state.
        """
        handle = self._handle.check()
        check_text(subject, "subject")
        if (alias is None) == (drop is None):
            raise InvalidInputError("alias", "name one to declare, or one to drop")
        name = check_text(drop, "drop") if alias is None else check_text(alias, "alias")
        with handle.naming_change():
            return alias_subject(
                handle.log, handle.addresser, self._namespace, name, subject, drop=alias is None,
                now=handle.now(),
            )  # fmt: skip

    def use_vocabulary(self, vocabulary: Vocabulary) -> int:
        """Put another vocabulary in force, re-keying the facts it names otherwise; return how many moved.

        Undone by putting the old one back. Concerns every namespace.
        """
        handle = self._handle.check()
        if not isinstance(vocabulary, Vocabulary):
            raise InvalidInputError("vocabulary", f"expected a Vocabulary, got {type(vocabulary).__name__}")
        handle.refuse_in_batch("use_vocabulary")
        with handle.naming_change():
            moved = apply_vocabulary(handle.log, handle.addresser, vocabulary, now=handle.now())
            handle.keep_vocabulary(vocabulary)
        return moved

    def drain(self, *, progress: Progress | None = None) -> int:
        """Index everything that waits, now; return how many slots were settled.

        Raises:
            EmbedderError, IndexMismatchError: nothing is lost, the slots go on waiting.
        """
        return self._handle.check().sync.drain(progress=progress)

    def stats(self) -> Stats:
        """Return how big the store is and what state it is in."""
        return self._handle.check().stats()

    def verify(self) -> VerifyReport:
        """Compare log and index, and query a sample of the index by its own vectors.

        What is missing, extra or unreachable does no harm to a read beyond being missed by it: `rebuild_index`
        mends it.
        """
        handle = self._handle.check()
        handle.refuse_in_batch("verify")
        return verify(handle.sync)

    def rebuild_index(self, embedder: Any = None, *, progress: Progress | None = None) -> int:
        """Build the semantic index anew from the log, then switch to it; return the number of records.

        With another `embedder` every fact is encoded again; without, nothing is.

        Raises:
            EmbedderError, SemanticIndexError: it is not done; the log is untouched.
        """
        handle = self._handle.check()
        handle.refuse_in_batch("rebuild_index")
        try:
            return rebuild(handle.sync, embedder, progress=progress)
        finally:
            handle.searcher.forget()

    def renew_id(self) -> None:
        """Give this store an id of its own. For a copy of another's folder or database, open nowhere else meanwhile.

        A copy has the original's id, and takes its Chroma collection on a server for its own. With an id of its
        own it is refused there, until it is opened with a `collection=` of its own. An index in the store's own
        folder is made anew from the vectors in the log.

        Raises:
            InvalidInputError: in a batch.
            IndexOwnedError, IndexUnavailableError: the folder's index cannot be cleared; the id is as it was.
        """
        handle = self._handle.check()
        handle.refuse_in_batch("renew_id")
        renew_id(handle.sync)

    def export_jsonl(self, file: IO[str]) -> int:
        """Write the subject aliases and every assertion that was not taken back; return the number of lines.

        A JSON object a line.

        A view writes its namespace, the root handle all below its own.
        """
        return transfer.export_jsonl(self._handle.check(), self._namespace, file, below=self._opener)

    def import_jsonl(self, file: IO[str]) -> int:
        """Assert what `export_jsonl` wrote, and declare its aliases; return the number of assertions.

        One transaction. Event times, sources and confidences are kept; record times are new.

        Raises:
            InvalidInputError: names the line and the reason; nothing was stored.
        """
        return transfer.import_jsonl(self._handle.check(), self._namespace, file, below=self._opener)

    # -- async twins (one helper makes them, a parity test keeps them) ----
    aupdate = async_twin(update)
    aupdate_many = async_twin(update_many)
    awrite = async_twin(write)
    acompile = async_twin(compile)  # noqa: A003 - the method above, not the builtin
    amark = async_twin(mark)
    aretract = async_twin(retract)
    awithdraw_source = async_twin(withdraw_source)
    aerase = async_twin(erase)
    aerase_source = async_twin(erase_source)
    aerase_namespace = async_twin(erase_namespace)
    aalias = async_twin(alias)
    ause_vocabulary = async_twin(use_vocabulary)
    adrain = async_twin(drain)
    astats = async_twin(stats)
    averify = async_twin(verify)
    arebuild_index = async_twin(rebuild_index)
    arenew_id = async_twin(renew_id)
    aexport_jsonl = async_twin(export_jsonl)
    aimport_jsonl = async_twin(import_jsonl)
    aclose = async_twin(close)
    abatch = async_batch(batch)

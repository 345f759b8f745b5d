"""What an open store consists of, shared by all its views: log, index, embedder, names, clock."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakSet

from pydantic import BaseModel, ConfigDict

from ko_integrations.addressing import Addresser
from ko_integrations.embeddings import SentenceTransformerEmbedder, as_embedder
from ko_integrations.errors import (
    EmbedderError,
    ForkedStoreError,
    IndexMismatchError,
    InvalidInputError,
    LogUnavailableError,
    NotAStoreError,
    StoreClosedError,
)
from ko_integrations.identity import check_text
from ko_integrations.index.opening import index_opener
from ko_integrations.log import open_log
from ko_integrations.log.contract import Namespace, VersionLog
from ko_integrations.protocols import Compiler, QueryParser
from ko_integrations.rekey import apply_vocabulary
from ko_integrations.search import Searcher
from ko_integrations.sync import STORE_ID, Synchroniser
from ko_integrations.testing import faults
from ko_integrations.times import to_micros
from ko_integrations.vocabulary import Vocabulary

__all__ = ["MEMORY", "Handle", "Stats", "open_handle", "opened_at"]

LOG_FILE = "log.sqlite3"
INDEX_FOLDER = "chroma"

MEMORY = ":memory:"

_opened: "WeakSet[Handle]" = WeakSet()
_opened_lock = threading.Lock()
_numbers = count()


class Stats(BaseModel):
    """The size and the state of a store.

    Attributes:
        facts: heads in all namespaces.
        namespaces: namespaces that hold something.
        pending: slots that wait to be indexed.
        log_bytes: size of the log on disk, 0 where it is not a file.
        indexed: whether there is a semantic index besides the log's vectors.
        degraded: why the index cannot be used now, another process that owns it included; reads search exactly
            meanwhile.
        last_error: what the background drain last failed with.
        model, dimension: of the stored vectors, once there are any.
        generation: of the index; each rebuild makes the next.
    """

    model_config = ConfigDict(frozen=True)

    facts: int
    namespaces: int
    pending: int
    log_bytes: int
    indexed: bool
    degraded: str | None
    last_error: str | None
    model: str | None
    dimension: int | None
    generation: int


class _Depth(threading.local):
    """How many batches a thread has open, one inside the other."""

    value = 0


class Handle:
    """The open parts of a store. Thread-safe; of no use in a forked child.

    Attributes:
        where: as it was opened.
        place: names it, in this process and, but for a store in memory, in any other: a full path or a URL.
    """

    def __init__(
        self, where: str, log: VersionLog, addresser: Addresser, sync: Synchroniser, depth: _Depth,
        clock: Callable[[], datetime] | None, compiler: Compiler | None, parser: QueryParser | None,
    ) -> None:  # fmt: skip
        self.where = where
        self.place = f"{MEMORY}{uuid4().hex}" if where == MEMORY else _place_of(where)
        self.log = log
        self.addresser = addresser
        self.sync = sync
        self._clock = clock
        self._compiler = compiler
        self._parser = parser
        self.searcher = Searcher(log, sync, self.now)
        self._pid = os.getpid()
        self._closed = False
        self._close_lock = threading.Lock()
        self._depth = depth
        with _opened_lock:
            self._number = next(_numbers)
            _opened.add(self)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def usable(self) -> bool:
        """Whether it is open, and was opened in this process."""
        return not self._closed and os.getpid() == self._pid

    def check(self) -> "Handle":
        """Return this handle if it may be used here, its names up to date.

        Raises:
            ForkedStoreError: this is a forked child of the process that opened it.
            StoreClosedError: it was closed.
        """
        if os.getpid() != self._pid:
            raise ForkedStoreError("this store was opened before the fork; open it again in the child")
        if self._closed:
            raise StoreClosedError("this store is closed")
        self.addresser.refresh()
        return self

    def clock(self) -> datetime:
        """Return the present, aware."""
        return datetime.now(UTC) if self._clock is None else self._clock()

    def now(self) -> int:
        """Return the present in microseconds."""
        return _present(self._clock)

    @property
    def compiler(self) -> Compiler:
        """The compiler; the offline one unless another was configured."""
        if self._compiler is None:
            from ko_integrations.compiler import OfflineCompiler

            self._compiler = OfflineCompiler()
        return self._compiler

    @property
    def parser(self) -> QueryParser:
        """The query parser; the offline one unless another was configured."""
        if self._parser is None:
            from ko_integrations.query import OfflineQueryParser

            self._parser = OfflineQueryParser()
        return self._parser

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Group the writes of this thread in one transaction."""
        self._depth.value += 1
        try:
            with self.log.transaction():
                yield
        except BaseException:
            self.addresser.forget()  # names first seen in what was rolled back
            raise
        finally:
            self._depth.value -= 1
        if not self._depth.value:
            faults.reach("log:committed")

    @contextmanager
    def naming_change(self) -> Iterator[None]:
        """Run a change of names; should it fail, forget what was read of it."""
        try:
            yield
        except BaseException:
            self.addresser.forget()
            raise
        self.addresser.refresh()

    def refuse_in_batch(self, operation: str) -> None:
        """Raise unless no batch is open in this thread.

        Raises:
            InvalidInputError: `operation` reaches beyond the transaction and cannot be rolled back.
        """
        if self._depth.value:
            raise InvalidInputError(
                "batch", f"{operation} cannot be rolled back and so has no place in a batch"
            )

    def settle(self, namespace: Namespace | None) -> "Handle":
        """Let the stored heads catch up with the clock: look-ups by name and counts go by these.

        Reads of a head never need it. None: every namespace.
        """
        now = self.now()
        due = now if namespace is None else self.log.next_due(namespace)
        if due is not None and due <= now:
            self.log.claim(namespace, 0, now=now)
        return self

    def wrote(self, count: int) -> None:
        """Note that `count` slots may wait to be indexed."""
        self.sync.wrote(count)

    def keep_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Put `vocabulary` in force here, and for whoever opens the store without one."""
        self.log.set_state({"vocabulary": json.dumps(vocabulary.to_dict())})
        self.addresser.vocabulary = vocabulary

    def stats(self) -> Stats:
        """Return how big the store is and what state it is in."""
        self.settle(None)
        dimension = self.log.get_state("dimension")
        return Stats(
            facts=self.log.count(),
            namespaces=len(self.log.namespaces()),
            pending=self.log.pending(),
            log_bytes=self.log.size(),
            indexed=self.sync.indexed,
            degraded=self.sync.trouble(),
            last_error=self.sync.last_error,
            model=self.log.get_state("model"),
            dimension=int(dimension) if dimension else None,
            generation=self.sync.generation(),
        )

    def close(self) -> None:
        """Release everything; twice does no harm. In a forked child nothing of the parent's is touched."""
        with self._close_lock:
            if self._closed or os.getpid() != self._pid:
                return
            self._closed = True
            self.sync.close()
            self.log.close()


def opened_at(name: str) -> Handle | None:
    """Return the store that is open in this process at a place, the first one if it is open more than once.

    `name` is a folder, a URL or a `Handle.place`. Data that names a store means the open one where there is one.
    """
    place = _place_of(name)
    with _opened_lock:
        found = [handle for handle in _opened if handle.place == place and handle.usable]
    return min(found, key=lambda handle: handle._number, default=None)


def _place_of(name: str) -> str:
    return name if name.startswith(MEMORY) or "://" in name else str(Path(name).resolve())


def _present(clock: Callable[[], datetime] | None) -> int:
    return time.time_ns() // 1_000 if clock is None else to_micros(clock(), "clock")


def open_handle(
    where: str | PathLike[str],
    *,
    embedder: Any,
    vocabulary: Vocabulary | None,
    compiler: Compiler | None,
    parser: QueryParser | None,
    index: Any,
    collection: str,
    clock: Callable[[], datetime] | None,
    create: bool,
) -> Handle:
    """Open log, index and names; finish what a crash left undone. Options are checked before anything is made."""
    _check_options(vocabulary, compiler, parser, collection, clock)
    if not isinstance(create, bool):
        raise InvalidInputError("create", f"expected True or False, got {create!r}")
    encoder = SentenceTransformerEmbedder() if embedder is None else as_embedder(embedder)
    location, folder = _locate(where)
    chroma = None if folder is None else folder / INDEX_FOLDER
    opener = index_opener(index, chroma, collection, lambda: _store_id(log))
    _look_into(folder, create=create)
    log = open_log(location, create=create)
    try:
        in_force = vocabulary  # `is None`, not `or`: an empty vocabulary is one, too
        if in_force is None:
            in_force = _stored_vocabulary(log)
        if in_force is None:
            in_force = Vocabulary.general()
        addresser = Addresser(log, in_force)
        depth = _Depth()
        sync = Synchroniser(log, encoder, opener, lambda: _present(clock), lambda: depth.value > 0)
        handle = Handle(fspath(where), log, addresser, sync, depth, clock, compiler, parser)
        addresser.refresh()
        with handle.naming_change():
            apply_vocabulary(log, addresser, in_force, now=handle.now())
        if vocabulary is not None and vocabulary.to_dict() != _stored_dict(log):
            handle.keep_vocabulary(vocabulary)
        _finish_erasures(sync)
    except BaseException:
        log.close()
        raise
    return handle


def _check_options(vocabulary: Any, compiler: Any, parser: Any, collection: Any, clock: Any) -> None:
    """Raises InvalidInputError, naming the option, when one cannot be used."""
    if vocabulary is not None and not isinstance(vocabulary, Vocabulary):
        raise InvalidInputError("vocabulary", f"expected a Vocabulary, got {type(vocabulary).__name__}")
    for field, given, method in (("compiler", compiler, "compile"), ("parser", parser, "answer")):
        if given is not None and not callable(getattr(given, method, None)):
            raise InvalidInputError(field, f"expected an object with {method}(), got {type(given).__name__}")
    check_text(collection, "collection")
    if clock is not None:
        if not callable(clock):
            raise InvalidInputError("clock", f"expected a callable, got {type(clock).__name__}")
        _present(clock)


def _finish_erasures(sync: Synchroniser) -> None:
    """Resume erasures that a crash interrupted; opening must not fail because the index cannot be had now."""
    try:
        sync.finish_erasures()
    except (EmbedderError, IndexMismatchError) as error:
        sync.last_error = str(error)


def _locate(where: str | PathLike[str]) -> tuple[str, Path | None]:
    """Return what to open as the log, and the store's folder if it has one.

    Raises:
        InvalidInputError: no path and no URL.
    """
    text = check_text(fspath(where) if isinstance(where, PathLike) else where, "where")
    if text == MEMORY or "://" in text:
        return text, None
    folder = Path(text).absolute()  # should the process change its working directory
    return str(folder / LOG_FILE), folder


def _look_into(folder: Path | None, *, create: bool) -> None:
    """Make the folder of a store, unless it is there or must be.

    Raises:
        LogUnavailableError: it cannot be made or looked into.
        NotAStoreError: it is a file, or a folder of something else; or it is not there, and must be.
    """
    if folder is None:
        return
    try:
        if folder.exists() and not folder.is_dir():
            raise NotAStoreError(f"{folder} is a file; a store is a folder")
        if folder.is_dir() and not (folder / LOG_FILE).exists() and any(folder.iterdir()):
            raise NotAStoreError(f"{folder} holds something else and no {LOG_FILE}; it was left alone")
        if not create and not (folder / LOG_FILE).exists():
            raise NotAStoreError(f"there is no store at {folder}")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LogUnavailableError(f"{folder}: {error}") from error


def _store_id(log: VersionLog) -> str:
    """Return what tells this store from every other one, whose index it must not touch."""
    known = log.get_state(STORE_ID)
    if known is None:
        with log.transaction():
            known = log.get_state(STORE_ID)  # another process may have been first
            if known is None:
                known = uuid4().hex
                log.set_state({STORE_ID: known})
    return known


def _stored_dict(log: VersionLog) -> Any:
    text = log.get_state("vocabulary")
    return None if text is None else json.loads(text)


def _stored_vocabulary(log: VersionLog) -> Vocabulary | None:
    data = _stored_dict(log)
    return None if data is None else Vocabulary.from_dict(data)

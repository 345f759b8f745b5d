"""Connections, transactions and errors: what differs between databases, and nothing of the log itself.

SQLAlchemy makes the engines, the pools and the SQL; the compiled statements run on the driver connection
that a thread holds, which is what makes a read of one row cost what the driver costs.
"""

import json
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, ClassVar

from sqlalchemy import Engine
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.sql import ClauseElement
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from ko_integrations.errors import KOError, LogError, LogUnavailableError, StoreClosedError

__all__ = ["Database", "Query", "Row"]

Row = tuple[Any, ...]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class _Lease:
    """A pooled connection held for longer than one statement; given back when it is let go.

    `busy` while a statement runs on it: a connection that is closed under a running statement brings the whole
    process down.
    """

    def __init__(self, engine: Engine) -> None:
        self.busy = False
        self.pooled: PoolProxiedConnection = engine.raw_connection()
        self.driver: Any = self.pooled.driver_connection

    def drop(self) -> None:
        """Close the connection for good; the pool makes another one."""
        with suppress(DBAPIError):
            self.pooled.invalidate()


class _Local(threading.local):
    """What a thread holds: the connection that its statements run on, and how deep in a transaction it is."""

    def __init__(self) -> None:
        self.connection: Any = None
        self.lease: _Lease | None = None
        self.depth = 0


class Query:
    """A statement compiled for one database, run with its parameters by name."""

    __slots__ = ("_constants", "_database", "names", "sql")

    def __init__(self, database: "Database", statement: ClauseElement) -> None:
        compiled = statement.compile(dialect=database.dialect)
        positions: Sequence[str] | None = getattr(compiled, "positiontup", None)
        self.sql = str(compiled)
        self.names = tuple(positions or ())
        self._constants = {name: value for name, value in compiled.params.items() if value is not None}
        self._database = database

    def arguments(self, values: dict[str, Any]) -> Row:
        """Return named values in the order of the statement."""
        if self._constants:
            values = self._constants | values
        return tuple([values[name] for name in self.names])

    def all(self, **values: Any) -> list[Row]:
        """Return every row."""
        return self._database.all(self.sql, self.arguments(values))

    def one(self, **values: Any) -> Row | None:
        """Return the first row, or None."""
        return self._database.one(self.sql, self.arguments(values))

    def run(self, **values: Any) -> int:
        """Run a write; return how many rows it changed."""
        return self._database.run(self.sql, self.arguments(values))

    def many(self, rows: Sequence[Row]) -> None:
        """Run a write once for each row of parameters, given in the order of the statement."""
        if rows:
            self._database.many(self.sql, rows)


class Database(ABC):
    """One database of a log: a reading connection a thread, one writing connection for all of them."""

    name: ClassVar[str]
    begin: ClassVar[tuple[str, ...]]
    driver_errors: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, readers: Engine, writers: Engine, dialect: Dialect, busy_timeout: float) -> None:
        self.dialect = dialect
        self.busy_timeout = busy_timeout
        self._readers = readers
        self._writers = writers
        self._local = _Local()
        self._leases: weakref.WeakSet[_Lease] = weakref.WeakSet()
        self._writer: _Lease | None = None
        self._begin_errors: tuple[type[Exception], ...] = (LogError, *self.driver_errors)
        self._write_lock = threading.RLock()
        self._closed = False

    def array(self, values: Sequence[Any]) -> Any:
        """Return a list as one parameter, for `among`."""
        return _encode(values)

    # -- statements -----------------------------------------------------------------------------------------
    def all(self, sql: str, arguments: Row) -> list[Row]:
        """Return every row."""
        result: list[Row] = self._attempt(lambda connection: connection.execute(sql, arguments).fetchall())
        return result

    def one(self, sql: str, arguments: Row) -> Row | None:
        """Return the first row, or None. Nothing of the statement stays open, if it has one row at most."""
        local = self._local
        connection, lease = local.connection, local.lease
        if connection is not None and lease is not None:
            lease.busy = True
            try:
                if self._closed:  # after `busy` is set: `close` sets them in the other order
                    raise StoreClosedError("the log is closed")
                row: Row | None = connection.execute(sql, arguments).fetchone()
                return row
            except self.driver_errors as error:
                if not self._again(error):
                    raise self.mapped(error) from error
            finally:
                lease.busy = False
        found: Row | None = self._attempt(lambda connection: connection.execute(sql, arguments).fetchone())
        return found

    def run(self, sql: str, arguments: Row) -> int:
        """Run a write; return how many rows it changed."""
        changed: int = self._attempt(lambda connection: connection.execute(sql, arguments).rowcount)
        return changed

    def many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run a write once for each row of parameters."""
        self._attempt(lambda connection: connection.cursor().executemany(sql, rows))

    def script(self, statements: Sequence[str]) -> None:
        """Run statements without parameters."""
        for statement in statements:
            self.run(statement, ())

    def _attempt(self, work: Callable[[Any], Any]) -> Any:
        try:
            return self._guarded(work, self._local.connection or self._connect())
        except self.driver_errors as error:
            if not self._again(error):
                raise self.mapped(error) from error
        try:
            return self._guarded(work, self._connect())
        except self.driver_errors as error:
            raise self.mapped(error) from error

    def _guarded(self, work: Callable[[Any], Any], connection: Any) -> Any:
        """Do work on a connection of this thread so that `close` waits for its end."""
        lease = self._local.lease
        if lease is None:
            return work(connection)
        lease.busy = True
        try:
            if self._closed:
                raise StoreClosedError("the log is closed")
            return work(connection)
        finally:
            lease.busy = False

    def _again(self, error: Exception) -> bool:
        """Tell whether a read may be tried once more on a new connection, having let go of the old one."""
        local = self._local
        if local.depth or self._closed or local.lease is None or not self.is_lost(error, local.lease.driver):
            return False
        local.lease.drop()
        local.connection = local.lease = None
        return True

    def _connect(self) -> Any:
        """Give this thread a reading connection."""
        local = self._local
        local.lease = self._lend(self._readers)
        local.connection = local.lease.driver
        return local.connection

    def _lend(self, engine: Engine) -> _Lease:
        if self._closed:
            raise StoreClosedError("the log is closed")
        try:
            lease = _Lease(engine)
        except DBAPIError as error:
            raise self.mapped(error.orig if isinstance(error.orig, Exception) else error) from error
        except self.driver_errors as error:
            raise self.mapped(error) from error
        self._leases.add(lease)
        return lease

    # -- transactions -----------------------------------------------------------------------------------------
    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block as one transaction of this thread; inside another one, as a part that can fail alone."""
        local = self._local
        if local.depth:
            with self._savepoint(local):
                yield
            return
        if not self._write_lock.acquire(timeout=self.busy_timeout):
            raise LogUnavailableError(f"another thread has been writing for {self.busy_timeout:g} s")
        before = local.connection
        try:
            connection = self._begin()
            local.connection, local.depth = connection, 1
            try:
                yield
                self._execute(connection, "COMMIT")
            except BaseException:
                self._roll_back(connection)
                raise
        finally:
            local.connection, local.depth = before, 0
            self._write_lock.release()

    @contextmanager
    def _savepoint(self, local: _Local) -> Iterator[None]:
        name = f"ko_{local.depth}"
        self._execute(local.connection, f"SAVEPOINT {name}")
        local.depth += 1
        try:
            yield
        except BaseException:
            with suppress(LogError):  # the whole transaction is lost already; the block's error tells why
                self._execute(local.connection, f"ROLLBACK TO SAVEPOINT {name}")
            raise
        finally:
            local.depth -= 1
        self._execute(local.connection, f"RELEASE SAVEPOINT {name}")

    def _execute(self, connection: Any, sql: str) -> None:
        try:
            connection.execute(sql)
        except self.driver_errors as error:
            raise self.mapped(error) from error

    def _begin(self) -> Any:
        """Begin on the writing connection; a busy or lost one is tried again until `busy_timeout` is over."""
        deadline = monotonic() + self.busy_timeout
        try:
            return self._begin_once()
        except self._begin_errors as error:
            if not self.is_transient(error) or monotonic() >= deadline:
                raise self._ours(error) from error.__cause__ or error
        attempts = Retrying(
            stop=stop_after_delay(max(0.0, deadline - monotonic())),
            wait=wait_random_exponential(multiplier=0.01, max=0.5),
            retry=retry_if_exception(self.is_transient),
            reraise=True,
        )
        try:
            return attempts(self._begin_once)
        except self._begin_errors as error:
            raise self._ours(error) from error.__cause__ or error

    def _ours(self, error: Exception) -> Exception:
        return error if isinstance(error, KOError) else self.mapped(error)

    def _begin_once(self) -> Any:
        if self._writer is None:
            self._writer = self._lend(self._writers)
        connection = self._writer.driver
        try:
            for statement in self.begin:
                connection.execute(statement)
        except self.driver_errors as error:
            self._roll_back(connection, lost=self.is_lost(error, connection))
            raise
        return connection

    def _roll_back(self, connection: Any, *, lost: bool = False) -> None:
        if not lost:
            try:
                if self.in_transaction(connection):
                    connection.execute("ROLLBACK")
            except self.driver_errors:
                lost = True
        if lost and self._writer is not None:
            self._writer.drop()
            self._writer = None

    # -- what a database says ---------------------------------------------------------------------------------
    @property
    @abstractmethod
    def place(self) -> str:
        """Where it is, in words for people: without a password."""

    @abstractmethod
    def in_transaction(self, connection: Any) -> bool:
        """Tell whether a transaction is open on a connection."""

    @abstractmethod
    def is_transient(self, error: BaseException) -> bool:
        """Tell whether beginning a transaction may succeed when it is tried again."""

    @abstractmethod
    def is_lost(self, error: Exception, connection: Any, /) -> bool:
        """Tell whether a connection is of no more use after this error."""

    @abstractmethod
    def mapped(self, error: Exception) -> KOError:
        """Return our error for a driver's."""

    @abstractmethod
    def inspect(self) -> int:
        """Return the format of the log in this database, 0 when there is nothing yet.

        Raises:
            NotAStoreError, LogCorruptError: it is no log of ours, or cannot be read.
        """

    @abstractmethod
    def recorded(self) -> int:
        """Return the format that the open transaction sees, 0 when there are no tables."""

    @abstractmethod
    def stamp(self, number: int) -> None:
        """Record the format where the database keeps it, as part of the open transaction."""

    @abstractmethod
    def size(self) -> int:
        """Return bytes on disk."""

    @abstractmethod
    def scrub(self) -> bool:
        """Overwrite what was deleted; True when no byte of it can be left."""

    @abstractmethod
    def integrity(self) -> list[str]:
        """Return what the database itself finds wrong."""

    def close(self) -> None:
        """Close every connection, those of other threads included."""
        if self._closed:
            return
        with self._write_lock:
            self._closed = True
            for lease in list(self._leases):
                while lease.busy:
                    time.sleep(0.001)
                lease.drop()
            self._local = _Local()
            self._writer = None
            self._readers.dispose()
            self._writers.dispose()

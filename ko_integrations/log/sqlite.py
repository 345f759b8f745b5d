"""SQLite: WAL and a sync a commit on every connection; one writer a process, readers beside it."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool, StaticPool

from ko_integrations.errors import (
    KOError,
    LogCorruptError,
    LogError,
    LogUnavailableError,
    NotAStoreError,
    StoreClosedError,
)
from ko_integrations.log.engines import Database, Row
from ko_integrations.log.schema import APPLICATION_ID

__all__ = ["MemoryDatabase", "SqliteDatabase"]

CACHE_KIB = 8_192

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_OUT_OF_ORDER = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written (it may be full)",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
    sqlite3.SQLITE_READONLY: "the file is read-only",
    sqlite3.SQLITE_NOMEM: "out of memory",
    sqlite3.SQLITE_PERM: "no permission",
}


class SqliteDatabase(Database):
    """A log in a file."""

    name = "sqlite"
    begin = ("BEGIN IMMEDIATE",)
    driver_errors: ClassVar[tuple[type[Exception], ...]] = (sqlite3.Error,)

    def __init__(self, path: str, busy_timeout: float) -> None:
        self.path = Path(path)
        super().__init__(
            self._engine(busy_timeout, "PRAGMA query_only=ON"),
            self._engine(busy_timeout),
            sqlite.dialect(),
            busy_timeout,
        )

    def _engine(self, busy_timeout: float, /, *more: str) -> Engine:
        engine = create_engine(
            "sqlite://", creator=self._open, poolclass=QueuePool, pool_size=8, max_overflow=-1,
            pool_reset_on_return=None,
        )  # fmt: skip
        settings = (
            f"PRAGMA busy_timeout={int(busy_timeout * 1_000)}",
            "PRAGMA journal_mode=WAL",
            "PRAGMA synchronous=FULL",
            "PRAGMA foreign_keys=ON",
            "PRAGMA secure_delete=ON",
            f"PRAGMA cache_size=-{CACHE_KIB}",
            *more,
        )

        @event.listens_for(engine, "connect")
        def configure(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
            for setting in settings:
                connection.execute(setting).fetchall()

        return engine

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self.path,
            timeout=self.busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
        )

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self.path)

    def in_transaction(self, connection: Any) -> bool:
        """Tell whether a transaction is open on a connection."""
        return bool(connection.in_transaction)

    def is_transient(self, error: BaseException) -> bool:
        """Tell whether another process was in the way, of a statement or of connecting."""
        # While others open or close a fresh file, SQLite refuses to switch it to WAL at once, whatever the timeout.
        met = error.__cause__ if isinstance(error, LogUnavailableError) else error
        return isinstance(met, sqlite3.Error) and _code(met) in _BUSY

    def is_lost(self, error: Exception, _connection: Any, /) -> bool:
        """Tell whether the file could not be read: what the connection remembers of it may be wrong."""
        return isinstance(error, sqlite3.Error) and _code(error) == sqlite3.SQLITE_IOERR

    def mapped(self, error: Exception) -> KOError:
        """Return our error for one of sqlite3's."""
        if isinstance(error, KOError):
            return error
        code = _code(error)
        if code in _BUSY:
            return LogUnavailableError(f"{self.path}: locked by another process for {self.busy_timeout:g} s")
        if code in _DAMAGED:
            return LogCorruptError(f"{self.path}: {error}")
        if code in _OUT_OF_ORDER:
            return LogUnavailableError(f"{self.path}: {_OUT_OF_ORDER[code]} ({error})")
        if self._closed and isinstance(error, sqlite3.ProgrammingError):
            return StoreClosedError("the log is closed")
        return LogError(f"{self.path}: {error}")

    def inspect(self) -> int:
        """Look at the file before anything is written to it.

        Through SQLite only: a file opened and closed by other means takes with it the locks that SQLite holds
        on that file for this whole process (POSIX advisory locks), and another process that closes the
        log would then delete the write-ahead log under us.
        """
        if not self.path.exists():
            return 0
        connection: sqlite3.Connection | None = None
        try:
            connection = self._open()
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (number,) = connection.execute("PRAGMA user_version").fetchone()
            tables = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.Error as error:
            if _code(error) == sqlite3.SQLITE_NOTADB:
                raise NotAStoreError(f"{self.path} is not a version log; it was left alone") from error
            raise self.mapped(error) from error
        finally:
            if connection is not None:
                connection.close()
        if application == APPLICATION_ID:
            return int(number)
        if application or number or tables:
            raise NotAStoreError(f"{self.path} is the SQLite file of another program; it was left alone")
        return 0

    def recorded(self) -> int:
        """Return the format in the header of the file."""
        row = self.one("PRAGMA user_version", ())
        return 0 if row is None else int(row[0])

    def stamp(self, number: int) -> None:
        """Record the format in the header of the file."""
        self.script([f"PRAGMA application_id={APPLICATION_ID}", f"PRAGMA user_version={number}"])

    def size(self) -> int:
        """Return bytes of the file and what stands beside it."""
        files = (self.path, *(Path(f"{self.path}{suffix}") for suffix in ("-wal", "-shm")))
        return sum(file.stat().st_size for file in files if file.exists())

    def scrub(self) -> bool:
        """Write the write-ahead log back and cut it to nothing.

        `secure_delete` has overwritten what was deleted in the pages; their old images are in the write-ahead
        log until no reader of any process needs them. True when none did.
        """
        if self._local.depth:
            return False
        with self._write_lock:
            self._readers.dispose()
            try:
                connection = self._begin()
                connection.execute("COMMIT")
                busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.Error as error:
                if _code(error) in _BUSY:
                    return False
                raise self.mapped(error) from error
        return not busy

    def integrity(self) -> list[str]:
        """Return what SQLite finds wrong with the file."""
        found = [str(row[0]) for row in self.all("PRAGMA integrity_check", ())]
        rows = self.all("PRAGMA foreign_key_check", ())
        return [line for line in found if line != "ok"] + [
            f"a row of {row[0]} refers to nothing" for row in rows
        ]


class MemoryDatabase(SqliteDatabase):
    """A log in memory: one connection, shared by all threads under the write lock."""

    def __init__(self, busy_timeout: float) -> None:
        super().__init__(":memory:", busy_timeout)
        self._readers = self._writers

    def _engine(self, _busy_timeout: float, /, *_more: str) -> Engine:
        engine = create_engine(
            "sqlite://", creator=self._open, poolclass=StaticPool, pool_reset_on_return=None
        )

        @event.listens_for(engine, "connect")
        def configure(connection: sqlite3.Connection, _: ConnectionPoolEntry) -> None:
            connection.execute("PRAGMA foreign_keys=ON")

        return engine

    def all(self, sql: str, arguments: Row) -> list[Row]:
        """Return every row."""
        with self._write_lock:
            return super().all(sql, arguments)

    def one(self, sql: str, arguments: Row) -> Row | None:
        """Return the first row, or None."""
        with self._write_lock:
            return super().one(sql, arguments)

    def run(self, sql: str, arguments: Row) -> int:
        """Run a write; return how many rows it changed."""
        with self._write_lock:
            return super().run(sql, arguments)

    def many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run a write once for each row of parameters."""
        with self._write_lock:
            super().many(sql, rows)

    def inspect(self) -> int:
        """A log in memory is always new."""
        return 0

    def size(self) -> int:
        """Nothing is on disk."""
        return 0

    def scrub(self) -> bool:
        """Nothing is on disk."""
        return True


def _code(error: BaseException) -> int:
    """Return the primary result code; the extended ones keep it in the low byte."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF

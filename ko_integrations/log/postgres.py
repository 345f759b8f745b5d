"""PostgreSQL by psycopg 3: writers of all processes take turns, so that sequences become visible in order."""

from collections.abc import Sequence
from typing import Any, ClassVar

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import ConnectionPoolEntry

from ko_integrations.errors import (
    InvalidInputError,
    KOError,
    LogCorruptError,
    LogError,
    LogUnavailableError,
    MissingExtraError,
    NotAStoreError,
    StoreClosedError,
)
from ko_integrations.log.engines import Database
from ko_integrations.log.schema import APPLICATION_ID, metadata

try:
    import psycopg
    from psycopg import errors, pq
except ImportError as error:
    raise MissingExtraError("psycopg", "postgres") from error

__all__ = ["PostgresDatabase"]

_DAMAGED = (errors.DataCorrupted, errors.IndexCorrupted)
_READ_ONLY = (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege)


class PostgresDatabase(Database):
    """A log in the first schema of a database's search path."""

    name = "postgresql"
    # The lock is held until the commit is visible: no follower of the change feed misses a sequence. Under it
    # each statement sees what was committed, so READ COMMITTED is enough.
    begin = ("BEGIN", f"SELECT pg_advisory_xact_lock({APPLICATION_ID}, hashtext(current_schema()))")
    driver_errors: ClassVar[tuple[type[Exception], ...]] = (psycopg.Error,)

    def __init__(self, url: str, busy_timeout: float) -> None:
        try:
            self._url = make_url(url).set(drivername="postgresql+psycopg")
        except ArgumentError as error:
            raise InvalidInputError("url", str(error)) from error
        self._tables = sorted(table.name for table in metadata.sorted_tables)
        patience = f"SET lock_timeout = {int(busy_timeout * 1_000)}"
        super().__init__(
            self._engine("SET default_transaction_read_only = on"),
            self._engine(patience, "SET synchronous_commit = on"),
            PGDialect_psycopg(paramstyle="format"),  # type: ignore[no-untyped-call]
            busy_timeout,
        )

    def _engine(self, *settings: str) -> Engine:
        engine = create_engine(
            self._url, isolation_level="AUTOCOMMIT", pool_pre_ping=True, pool_size=8, max_overflow=-1,
            pool_reset_on_return=None,
        )  # fmt: skip

        @event.listens_for(engine, "connect")
        def configure(connection: Any, _: ConnectionPoolEntry) -> None:
            connection.autocommit = True
            for setting in settings:
                connection.execute(setting)

        return engine

    def array(self, values: Sequence[Any]) -> Any:
        """Return a list as one parameter."""
        return list(values)

    @property
    def place(self) -> str:
        """Host and database."""
        return f"{self._url.host or 'localhost'}/{self._url.database}"

    def in_transaction(self, connection: Any) -> bool:
        """Tell whether a transaction is open on a connection."""
        if connection.closed:
            raise psycopg.OperationalError("the connection is closed")
        return bool(connection.info.transaction_status != pq.TransactionStatus.IDLE)

    def is_transient(self, error: BaseException) -> bool:
        """Tell whether the server restarted, or is about to be there again."""
        if isinstance(error, LogUnavailableError):
            return True  # it could not be connected to
        lost = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.DeadlockDetected)
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return error.sqlstate is None or isinstance(error, lost)
        return False

    def is_lost(self, _error: Exception, connection: Any, /) -> bool:
        """Tell whether the connection is gone."""
        return bool(connection.closed or connection.broken)

    def mapped(self, error: Exception) -> KOError:
        """Return our error for one of psycopg's."""
        if isinstance(error, KOError):
            return error
        place = self.place
        if self._closed and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return StoreClosedError("the log is closed")
        if isinstance(error, errors.LockNotAvailable):
            return LogUnavailableError(f"{place}: locked by another writer for {self.busy_timeout:g} s")
        if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, *_READ_ONLY)):
            return LogUnavailableError(f"{place}: {error}")
        if isinstance(error, _DAMAGED):
            return LogCorruptError(f"{place}: {error}")
        return LogError(f"{place}: {error}")

    def inspect(self) -> int:
        """Look at the tables before anything is written."""
        return self.recorded()

    def recorded(self) -> int:
        """Return the last recorded migration."""
        found = self.all(
            """SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND c.relname = ANY(%s)
            AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())""",
            (self._tables,),
        )
        if not found:
            return 0
        if ("ko_migration",) not in found:
            raise NotAStoreError(
                f"{self._url.database} has a table {found[0][0]} that is not ours; it was left alone"
            )
        row = self.one("SELECT MAX(number) FROM ko_migration", ())
        return int(row[0] or 0) if row else 0

    def stamp(self, number: int) -> None:
        """The table of migrations is the record."""

    def size(self) -> int:
        """Return bytes of our tables and their indexes."""
        sizes = self.one(
            "SELECT SUM(pg_total_relation_size(t::regclass)) FROM unnest(%s::text[]) t", (self._tables,)
        )
        return int(sizes[0]) if sizes else 0

    def scrub(self) -> bool:
        """False: rows that were deleted live on in the server's files until it reuses them, and in its archives."""
        return False

    def integrity(self) -> list[str]:
        """The server keeps its own constraints."""
        return []

"""The version log on SQLite and PostgreSQL: one implementation for both."""

from contextlib import AbstractContextManager

from ko_integrations.errors import NotAStoreError
from ko_integrations.log.engines import Database
from ko_integrations.log.keeping import SqlKeeper
from ko_integrations.log.migrations import migrate

__all__ = ["SqlVersionLog"]


class SqlVersionLog(SqlKeeper):
    """A `VersionLog` in a database. Use it from any thread; not across a fork.

    Raises (also from every method):
        LogUnavailableError: locked for too long, disk full, server gone; nothing was stored.
        LogCorruptError: the file is damaged.
        StoreClosedError: it was closed.
    """

    def __init__(self, database: Database, *, create: bool = True) -> None:
        try:
            if not create and not database.inspect():
                raise NotAStoreError(f"there is no store at {database.place}")
            migrate(database)
            super().__init__(database)
        except BaseException:
            database.close()
            raise

    def transaction(self) -> AbstractContextManager[None]:
        """Group writes of this thread: all or nothing. Reads of the same thread see them."""
        return self._db.transaction()

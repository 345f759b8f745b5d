"""Opening a version log. Nothing heavy is imported before it is asked for."""

from os import PathLike, fspath
from typing import TYPE_CHECKING

from ko_integrations.errors import InvalidInputError

if TYPE_CHECKING:
    from ko_integrations.log.sql import SqlVersionLog

__all__ = ["open_log"]


def open_log(
    where: str | PathLike[str], *, busy_timeout: float = 30.0, create: bool = True
) -> "SqlVersionLog":
    """Open the log at a path, `:memory:`, or a `sqlite:` or `postgresql:` URL; make it where there is none.

    A write waits up to `busy_timeout` seconds for writers of other threads and processes.

    Raises:
        InvalidInputError: a URL of another kind.
        NotAStoreError: something else is there, which was left alone; or nothing is, and `create` is false.
        LogCorruptError: the file is damaged.
        LogVersionError: a newer release wrote it.
        LogUnavailableError: it cannot be opened now.
        MissingExtraError: PostgreSQL without its driver.

    Example:
        >>> log = open_log(":memory:")
        >>> log.count()
        0
    """
    from ko_integrations.log.sql import SqlVersionLog
    from ko_integrations.log.sqlite import MemoryDatabase, SqliteDatabase

    place = fspath(where)
    scheme, separator, rest = place.partition("://")
    if separator and scheme == "sqlite":
        place, separator = rest.removeprefix("/") or ":memory:", ""
    if not separator:
        file = MemoryDatabase(busy_timeout) if place == ":memory:" else SqliteDatabase(place, busy_timeout)
        return SqlVersionLog(file, create=create)
    if scheme.partition("+")[0] not in ("postgresql", "postgres"):
        raise InvalidInputError(
            "url", f"no version log for {scheme}:// (a path, sqlite:// or postgresql:// is)"
        )
    from ko_integrations.log.postgres import PostgresDatabase

    return SqlVersionLog(PostgresDatabase(place, busy_timeout), create=create)

"""Bringing a log to the current format. A migration and the record of it are one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import insert
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from ko_integrations.errors import LogVersionError
from ko_integrations.log.engines import Database, Query
from ko_integrations.log.schema import metadata, migration

__all__ = ["MIGRATIONS", "Migration", "create_statements", "migrate"]


@dataclass(frozen=True)
class Migration:
    """A step from format `number - 1` to `number`: the statements for a dialect."""

    number: int
    name: str
    statements: Callable[[Dialect], Sequence[str]]


def create_statements(dialect: Dialect) -> list[str]:
    """Return the statements that make the tables. `tests/log/schema-*.sql` pins them."""
    statements = []
    for table in metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)).strip())
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=dialect)) for index in indexes]
    return statements


MIGRATIONS: tuple[Migration, ...] = (Migration(1, "the first format", create_statements),)


def migrate(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply what is missing. Safe from several processes at once: each looks again inside its transaction.

    Raises:
        LogVersionError: a newer release wrote it.
        NotAStoreError, LogCorruptError, LogUnavailableError: see `Database.inspect`.
    """
    newest = migrations[-1].number
    while (number := database.inspect()) < newest:
        with database.transaction():
            done = database.recorded()
            step = next((step for step in migrations if step.number > done), None)
            if step is None:
                return
            database.script(step.statements(database.dialect))
            Query(database, insert(migration)).run(number=step.number, name=step.name)
            database.stamp(step.number)
    if number > newest:
        raise LogVersionError(f"the log has format {number}; this release reads up to {newest}")

"""The schema is pinned; a migration and its record are one transaction."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Dialect

from ko_integrations.errors import LogError
from ko_integrations.log import open_log
from ko_integrations.log.migrations import MIGRATIONS, Migration, create_statements, migrate
from ko_integrations.log.schema import FORMAT
from ko_integrations.log.sqlite import SqliteDatabase
from ko_integrations.testing.log_rows import NOW, entry

FOLDER = Path(__file__).parent


@pytest.mark.parametrize(
    ("name", "dialect"),
    [("sqlite", sqlite.dialect()), ("postgresql", PGDialect_psycopg(paramstyle="format"))],
)
def test_the_schema_is_the_golden_one(name: str, dialect: Dialect) -> None:
    """A change of the schema needs a migration and a new `FORMAT`; then write these files anew."""
    statements = "".join(f"{statement};\n" for statement in create_statements(dialect))
    lines = "".join(f"{line.rstrip()}\n" for line in statements.splitlines())
    assert lines == (FOLDER / f"schema-{name}.sql").read_text()


def test_migrations_are_numbered_up_to_the_format() -> None:
    assert [step.number for step in MIGRATIONS] == list(range(1, FORMAT + 1))


def test_a_migration_keeps_what_is_there_and_runs_once(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite3"
    log = open_log(path)
    log.append([entry("Ann", "city", "A")], now=NOW)
    log.close()
    steps = (*MIGRATIONS, Migration(FORMAT + 1, "a table", lambda _: ["CREATE TABLE added (a)"]))
    for _ in range(2):
        database = SqliteDatabase(str(path), 1)
        migrate(database, steps)
        database.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT number, name FROM ko_migration").fetchall()[-1] == (
            FORMAT + 1,
            "a table",
        )
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT + 1,)
        assert connection.execute("SELECT COUNT(*) FROM ko_assertion").fetchone() == (1,)
    connection.close()


def test_a_migration_that_fails_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite3"
    open_log(path).close()
    bad = Migration(FORMAT + 1, "bad", lambda _: ["CREATE TABLE added (a)", "CREATE TABLE ko_slot (a)"])
    database = SqliteDatabase(str(path), 1)
    with pytest.raises(LogError):
        migrate(database, (*MIGRATIONS, bad))
    assert database.all("SELECT name FROM sqlite_master WHERE name = 'added'", ()) == []
    assert database.recorded() == FORMAT
    database.close()
    open_log(path).close()

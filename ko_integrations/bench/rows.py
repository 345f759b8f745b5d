"""Replaying, with nothing but `sqlite3`, the very rows that the version log wrote: the floor under every write.

A recording store does the writes once; the rows that they left behind, table by table, are then written
by the bare side into a copy of the database as it stood before, with the same schema and indices.
"""

import shutil
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Replay", "bare_connection", "log_file"]


def log_file(folder: Path) -> Path:
    """Return the SQLite file of the version log in a store folder."""
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.open("rb").read(15) == b"SQLite format 3":
            return file
    raise FileNotFoundError(f"no SQLite file in {folder}")


def snapshot(folder: Path, copy: Path) -> Path:
    """Copy the log of a closed store, with all that its write-ahead log holds; return the copy."""
    source = log_file(folder)
    connection = sqlite3.connect(source)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    shutil.copy(source, copy)
    return copy


def bare_connection(file: Path) -> sqlite3.Connection:
    """Open a database as the log does: WAL, one sync a commit, transactions by hand."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


@dataclass(frozen=True)
class _Table:
    statement: str
    rows: Sequence[tuple[object, ...]]


class Replay:
    """The rows by which the database `after` differs from `before`, dealt out over `steps` transactions.

    A row that was rewritten every time (a counter) is there once only, which favours the bare side.
    """

    def __init__(self, before: Path, after: Path, *, steps: int) -> None:
        self._steps = steps
        self._connection = bare_connection(before)
        self._tables = list(self._changed(after))

    def _changed(self, after: Path) -> "list[_Table]":
        changed = []
        self._connection.execute("ATTACH ? AS later", (str(after),))
        query = "SELECT name FROM later.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        for (name,) in self._connection.execute(query).fetchall():
            rows = self._connection.execute(
                f'SELECT * FROM later."{name}" EXCEPT SELECT * FROM main."{name}"'
            ).fetchall()
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                changed.append(_Table(f'INSERT OR REPLACE INTO main."{name}" VALUES ({marks})', rows))
        self._connection.execute("DETACH later")
        return changed

    @property
    def rows_a_step(self) -> float:
        """Rows that one transaction writes, on average."""
        return sum(len(table.rows) for table in self._tables) / self._steps

    def step(self, number: int) -> None:
        """Write the rows of one transaction and commit."""
        self._connection.execute("BEGIN IMMEDIATE")
        for table in self._tables:
            share = len(table.rows) / self._steps
            rows = table.rows[round(number * share) : round((number + 1) * share)]
            if len(rows) == 1:
                self._connection.execute(table.statement, rows[0])
            elif rows:
                self._connection.executemany(table.statement, rows)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

"""The SQLite file: what is set on every connection, what is synced, and what happens when the file is not well."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ko_integrations.errors import (
    LogCorruptError,
    LogUnavailableError,
    LogVersionError,
    NotAStoreError,
    StoreClosedError,
)
from ko_integrations.log import open_log
from ko_integrations.log.contract import Scope
from ko_integrations.log.schema import APPLICATION_ID, FORMAT
from ko_integrations.log.sql import SqlVersionLog
from ko_integrations.log.sqlite import SqliteDatabase
from ko_integrations.testing.log_rows import NOW, A, entry

SETTINGS = {
    "journal_mode": "wal",
    "synchronous": 2,
    "foreign_keys": 1,
    "secure_delete": 1,
    "busy_timeout": 30_000,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.sqlite3"


def test_a_file_that_is_busy_while_it_is_connected_to_is_tried_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [2]

    class Busy(sqlite3.Connection):
        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            if sql == "PRAGMA journal_mode=WAL" and refusals[0]:
                refusals[0] -= 1
                error = sqlite3.OperationalError("database is locked")
                error.sqlite_errorcode = sqlite3.SQLITE_BUSY
                raise error
            return super().execute(sql, *rest)

    def connect(database: SqliteDatabase) -> sqlite3.Connection:
        return sqlite3.connect(database.path, isolation_level=None, check_same_thread=False, factory=Busy)

    monkeypatch.setattr(SqliteDatabase, "_open", connect)
    log = open_log(str(path))
    assert refusals == [0]
    log.append([entry("s", "p", "v")], now=NOW)
    assert log.count() == 1
    log.close()


def settings_of(log: SqlVersionLog) -> dict[str, object]:
    return {name: log._db.all(f"PRAGMA {name}", ())[0][0] for name in SETTINGS}


def test_every_connection_has_the_settings(path: Path) -> None:
    log = open_log(path)
    seen: list[dict[str, object]] = []
    everyone_is_reading = threading.Barrier(4)

    def read() -> None:
        everyone_is_reading.wait(30)
        seen.append(settings_of(log))
        everyone_is_reading.wait(30)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen.append(settings_of(log))
    with log.transaction():
        seen.append(settings_of(log))
    log.erased([])  # empties the pool
    seen.append(settings_of(log))
    assert seen == [SETTINGS] * 7
    log.close()


def test_readers_of_other_threads_see_commits_only(path: Path) -> None:
    log = open_log(path)
    seen = []

    def in_another_thread(ask: Callable[[], object]) -> None:
        thread = threading.Thread(target=lambda: seen.append(ask()))
        thread.start()
        thread.join()

    with log.transaction():
        log.append([entry("Ann", "city", "A")], now=NOW)
        in_another_thread(lambda: log.head(A.slot, NOW))
    in_another_thread(lambda: log.head(A.slot, NOW) is not None)
    assert seen == [None, True]
    log.close()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_write_is_synced_once_before_it_is_acknowledged(path: Path, tmp_path: Path) -> None:
    script = """
        import os, sys
        from ko_integrations.log import open_log
        from ko_integrations.testing.log_rows import NOW, entry
        log = open_log(sys.argv[1])
        for i in range(5):
            os.write(2, b"ask%d" % i)
            log.append([entry("Ann", "city", str(i)), entry(f"s{i}", "p", "v", source="s")], now=NOW + i)
            os.write(2, b"ack%d" % i)
        os._exit(0)
    """
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-e", "trace=fsync,fdatasync,write", "-o", str(trace), sys.executable, "-c"]
    done = subprocess.run(
        [*command, textwrap.dedent(script), str(path)], capture_output=True, timeout=120, check=False
    )
    if b"ptrace" in done.stderr.lower() and not trace.read_text():
        pytest.skip("strace may not trace here")
    calls = trace.read_text().splitlines()
    for i in range(1, 5):  # the first write also starts the write-ahead log
        start = next(n for n, call in enumerate(calls) if f'"ask{i}"' in call)
        end = next(n for n, call in enumerate(calls) if f'"ack{i}"' in call)
        assert sum("fsync(" in call or "fdatasync(" in call for call in calls[start:end]) == 1


# -- files that are not well ---


def test_a_file_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("SQLite is what I should read about\n")
    other = tmp_path / "other.sqlite3"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    for file in (text, other):
        before = file.read_bytes()
        with pytest.raises(NotAStoreError):
            open_log(file)
        assert file.read_bytes() == before
        assert not file.with_name(file.name + "-wal").exists()


def test_an_empty_file_becomes_a_log(path: Path) -> None:
    path.touch()
    log = open_log(path)
    log.append([entry("Ann", "city", "A")], now=NOW)
    log.close()
    header = path.read_bytes()[:100]
    assert int.from_bytes(header[68:72]) == APPLICATION_ID
    assert int.from_bytes(header[60:64]) == FORMAT


def test_a_newer_format_is_refused(path: Path) -> None:
    open_log(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version={FORMAT + 1}")
    connection.close()
    with pytest.raises(LogVersionError, match=f"format {FORMAT + 1}"):
        open_log(path)


def test_damage_is_reported(path: Path) -> None:
    log = open_log(path)
    log.append([entry(f"s{i}", "p", "v" * 100) for i in range(500)], now=NOW)
    log.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:8_192] + b"\xa5" * (len(whole) - 8_192))
    with pytest.raises(LogCorruptError):
        read_everything(path)
    path.write_bytes(whole[:5_000])
    with pytest.raises(LogCorruptError):
        read_everything(path)


def read_everything(path: Path) -> None:
    log = open_log(path)
    try:
        log.chains(Scope(("n",)))
        log.append([entry("Ann", "city", "A")], now=NOW)
    finally:
        log.close()


def test_check_finds_a_head_that_is_wrong(path: Path) -> None:
    log = open_log(path)
    log.append([entry("Ann", "city", "A"), entry("Ann", "city", "B")], now=NOW)
    assert log.check() == []
    with log.transaction():
        log._db.run("UPDATE ko_slot SET head = 1", ())
    assert log.check() == [f"slot {A.slot.hex()}: the stored head is not what its chain says"]
    log.close()


def test_a_locked_file_is_unavailable_and_recovers(path: Path) -> None:
    log = open_log(path, busy_timeout=0.2)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LogUnavailableError, match="locked"):
        log.append([entry("Ann", "city", "A")], now=NOW)
    other.execute("ROLLBACK")
    other.close()
    log.append([entry("Ann", "city", "A")], now=NOW)
    assert log.count() == 1
    log.close()


def test_a_full_disk_stores_nothing_and_recovers(path: Path) -> None:
    log = open_log(path)
    log.append([entry("Ann", "city", "A")], now=NOW)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    stored = 0

    def fill() -> None:
        nonlocal stored
        for i in range(200):
            log.append([entry(f"s{i}", "p", "v" * 20_000)], now=NOW + i)
            stored += 1

    try:
        with pytest.raises(LogUnavailableError):
            fill()
        with pytest.raises(LogUnavailableError):
            log.append([entry("s", "p", "v" * 900_000)], now=NOW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert log.count() == 1 + stored
    log.append([entry("Ann", "city", "B")], now=NOW + 1_000)
    assert log.check() == []
    log.close()
    log = open_log(path)
    assert log.count() == 1 + stored
    log.close()


def test_a_read_only_folder_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(LogUnavailableError):
        open_log(tmp_path / "missing" / "log.sqlite3")


def test_a_closed_log_is_closed_for_every_thread(path: Path) -> None:
    log = open_log(path)
    log.append([entry("Ann", "city", "A")], now=NOW)
    errors: list[Exception] = []
    has_read, is_closed = threading.Event(), threading.Event()

    def work() -> None:
        log.head(A.slot, NOW)
        has_read.set()
        is_closed.wait(30)
        try:
            log.head(A.slot, NOW)
        except StoreClosedError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    has_read.wait(30)
    log.close()
    is_closed.set()
    thread.join()
    assert len(errors) == 1
    assert not path.with_name(path.name + "-wal").exists()


# -- erasing from the file ---


def test_no_byte_of_what_was_erased_is_left(path: Path) -> None:
    log = open_log(path)
    names = [f"person-{i:04}-{os.urandom(4).hex()}" for i in range(600)]
    secret = "zanzibar-7f3a"
    for start in range(0, len(names), 20):
        log.append(
            [
                entry(name, "home", f"place of {name}", vector=name.encode() * 20)
                for name in names[start : start + 20]
            ],
            now=NOW,
        )
        log.append([entry(names[start], "home", f"else {start}", source=f"s{start}")], now=NOW + start)
    log.append(
        [
            entry(f"{secret}-subject", f"{secret}-predicate", f"{secret}-value-{i}", source=f"{secret}-source",
                  metadata=f'{{"{secret}": 1}}', text=f"{secret} text", vector=secret.encode() * 100)
            for i in range(5)
        ],
        now=NOW,
    )  # fmt: skip
    log.withdraw(("n",), f"{secret}-source", now=NOW)
    log.append([entry(f"{secret}-SUBJECT", f"{secret}-predicate", "again")], now=NOW)
    log.set_alias(("n",), f"{secret}-alias", f"{secret}-subject")
    gone = [f"{secret}-subject", *names[::7]]
    slots: list[bytes] = []
    for name in gone:
        slots += log.erase(Scope(("n",), name), now=NOW)
    assert log.erased(slots)
    traces = {
        file.name: [
            mark for mark in [secret.encode(), *map(str.encode, gone), *slots] if mark in file.read_bytes()
        ]
        for file in path.parent.iterdir()
    }
    assert traces == {name: [] for name in traces}
    assert log.count() == len(names) - len(names[::7])
    assert log.check() == []
    log.close()


def test_erasing_waits_for_readers_and_survives_a_restart(path: Path) -> None:
    log = open_log(path, busy_timeout=0.1)
    log.append([entry("Ann", "city", "zanzibar-7f3a")], now=NOW)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM ko_assertion").fetchall()
    slots = log.erase(Scope(("n",)), now=NOW)
    log.close()
    log = open_log(path, busy_timeout=0.1)
    assert log.erasing() == [(("n",), slots[0])]
    assert not log.erased(slots)
    reader.close()
    assert log.erased([])
    assert all(b"zanzibar" not in file.read_bytes() for file in path.parent.iterdir())
    assert log.erasing() == []
    log.close()


def test_opening_a_log_loads_no_index_and_no_framework() -> None:
    script = """
        import sys
        from ko_integrations.log import open_log
        assert "sqlalchemy" not in sys.modules
        open_log(":memory:").close()
        print(sorted({"chromadb", "numpy", "torch", "langchain_core", "llama_index", "psycopg"} & sys.modules.keys()))
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert found.stdout.strip() == "[]"


# -- cost ---


def test_no_read_walks_a_large_table(path: Path) -> None:
    log = open_log(path)
    sql = log._sql
    queries = [
        sql.head, sql.heads, sql.places, sql.chains, sql.known, sql.known_moved, sql.clock,
        sql.namespace, sql.subject_refs, sql.predicate_refs, sql.subjects_by_key, sql.subjects_by_prefix,
        sql.predicates, sql.named, sql.next_due, sql.asserted_events, sql.other_events,
        sql.withdrawn_slots, sql.moved_slots,
        sql.namespaces_by_path, sql.subjects_by_start, sql.slots_to_write, sql.predicates_by_spelling,
        sql.namings_by_key, sql.sources_by_name, sql.source_ref, sql.slots_of_source, sql.withdraw, sql.update_slot,
        sql.pending_in, sql.claim_in, sql.due, sql.due_in, sql.confirm, sql.vectors, sql.aliases, sql.head_vectors(),
        *(sql.scan(key) for key in (("namespace",), ("subjects",), ("subjects", "predicates"))),
        *(sql.scope(key) for key in (("namespace",), ("subjects",), ("subjects", "predicates"))),
    ]  # fmt: skip
    for query in queries:
        plan = [row[3] for row in log._db.all(f"EXPLAIN QUERY PLAN {query.sql}", (None,) * len(query.names))]
        walks = [step for step in plan if step.startswith("SCAN") and "ko_" in step]
        if query is sql.clock:  # the last row of each table, by its number
            walks = [step for step in walks if step not in ("SCAN ko_assertion", "SCAN ko_event")]
        if query is sql.due:
            walks = [step for step in walks if "ko_namespace" not in step]
        assert walks == [], query.sql
    log.close()


def test_threads_that_end_give_their_connections_back(path: Path) -> None:
    log = open_log(path)
    for _ in range(30):
        thread = threading.Thread(target=log.head, args=(A.slot, NOW))
        thread.start()
        thread.join()
    assert len([file for file in map(os.readlink, open_files()) if file == str(path)]) <= 4
    log.close()


def open_files() -> list[str]:
    return [
        f"/proc/self/fd/{name}"
        for name in os.listdir("/proc/self/fd")
        if os.path.lexists(f"/proc/self/fd/{name}")
    ]


def test_a_slot_is_small(path: Path) -> None:
    log = open_log(path)
    slots = 5_000
    log.append([entry(f"member {i // 5}", f"p{i % 5}", f"place {i % 97}") for i in range(slots)], now=NOW)
    log.erased([])
    assert path.stat().st_size / slots < 400
    log.close()

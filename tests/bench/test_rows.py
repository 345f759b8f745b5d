"""The bare side of the write measurements writes exactly what the log wrote."""

import sqlite3

from ko_integrations.bench.rows import Replay, bare_connection, log_file, snapshot
from ko_integrations.store import KnowledgeStore


def test_replay_leaves_the_same_rows_as_the_store(tmp_path):
    with KnowledgeStore.open(tmp_path / "store", index=False) as store:
        store.update("Alice", "desk", "north")
    before = snapshot(tmp_path / "store", tmp_path / "before.db")
    with KnowledgeStore.open(tmp_path / "store", index=False) as store:
        for i in range(10):
            store.update(f"member {i}", "desk", f"hall {i}")
    after = snapshot(tmp_path / "store", tmp_path / "after.db")
    replay = Replay(before, after, steps=10)
    assert replay.rows_a_step >= 2
    for i in range(10):
        replay.step(i)
    replay.close()
    assert Replay(before, after, steps=1).rows_a_step == 0
    assert sqlite3.connect(before).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_the_bare_side_syncs_as_the_log_does(tmp_path):
    connection = bare_connection(tmp_path / "bare.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_log_file_is_found(tmp_path):
    KnowledgeStore.open(tmp_path / "store", index=False).close()
    assert log_file(tmp_path / "store").suffix == ".sqlite3"

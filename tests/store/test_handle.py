"""Opening, closing, forking, threads, async, embedders: the life of a handle."""

import asyncio
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from ko_integrations import Fact, KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import (
    EmbedderError,
    ForkedStoreError,
    IndexBehind,
    IndexMismatchError,
    InvalidInputError,
    LogCorruptError,
    LogVersionError,
    NotAStoreError,
    StoreClosedError,
)
from ko_integrations.testing.scattered import ScatteredEmbedder


def test_it_remembers_what_it_was_told(tmp_path: Path, embedder: HashingEmbedder) -> None:
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        store.update("Ann", "phone", "1")
        store.namespace("a", "b").update("Ann", "phone", "2")
        assert len(store.read("Ann phone")) == 1
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        assert store.read_exact("Ann", "phone").object == "1"
        assert store.namespace("a", "b").read_exact("Ann", "phone").object == "2"
        assert store.verify().ok


def test_what_is_not_ours_is_left_alone(tmp_path: Path, embedder: HashingEmbedder) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"meow")
    (tmp_path / "notes.txt").write_text("hello")
    for where in (tmp_path / "photos", tmp_path / "notes.txt"):
        with pytest.raises(NotAStoreError):
            KnowledgeStore.open(where, embedder=embedder)
    assert [entry.name for entry in (tmp_path / "photos").iterdir()] == ["cat.jpg"]


def test_a_log_that_is_damaged_or_of_a_newer_release_is_refused_and_left_as_it_is(
    tmp_path: Path, embedder: HashingEmbedder
) -> None:
    file = tmp_path / "m" / "log.sqlite3"
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        store.update_many(Fact(subject=f"s{n}", predicate="p", object="x" * 100) for n in range(500))
    whole = file.read_bytes()

    def use() -> None:
        with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
            list(store.snapshot())

    newer = whole[:60] + (1_000).to_bytes(4) + whole[64:]  # the format, in the header of the file
    for content, error in (
        (newer, LogVersionError),
        (whole[:8_192] + b"\xa5" * (len(whole) - 8_192), LogCorruptError),
        (b"notes of somebody else\n" * 100, NotAStoreError),
    ):
        file.write_bytes(content)
        with pytest.raises(error):
            use()
        assert file.read_bytes() == content
    file.write_bytes(whole)
    use()


def test_use_after_close_is_refused_and_views_close_nothing(embedder: HashingEmbedder) -> None:
    store = KnowledgeStore.open(":memory:", embedder=embedder)
    view = store.namespace("a")
    view.close()
    view.update("x", "p", 1)
    store.close()
    store.close()
    for use in (
        lambda: view.read_exact("x", "p"),
        lambda: store.update("x", "p", 1),
        lambda: store.read("x"),
    ):
        with pytest.raises(StoreClosedError):
            use()


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_use_after_fork_is_refused(tmp_path: Path, embedder: HashingEmbedder, kind: str) -> None:
    store = KnowledgeStore.open(":memory:" if kind == "memory" else tmp_path / "m", embedder=embedder)
    store.update("x", "p", 1)
    store.read("x")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            store.read_exact("x", "p")
        except ForkedStoreError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert store.read_exact("x", "p").object == 1
    store.close()


def test_threads_share_a_handle(tmp_path: Path, embedder: HashingEmbedder) -> None:
    store = KnowledgeStore.open(tmp_path / "m", embedder=embedder)
    failures: list[BaseException] = []

    def work(name: int) -> None:
        try:
            for number in range(25):
                store.update("shared", "counter", f"{name}-{number}")
                store.update(f"own {name}", "counter", number)
                assert store.read_exact(f"own {name}", "counter").object == number
                if number % 10 == 0:
                    assert store.read(f"own {name} counter", k=2)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test must show it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store.history("shared", "counter")) == 100
    assert store.count() == 5
    store.close()


async def test_async_operations_do_not_block_the_loop(embedder: HashingEmbedder) -> None:
    started, release = threading.Event(), threading.Event()

    class Slow(HashingEmbedder):
        def encode(self, texts):  # type: ignore[no-untyped-def]
            started.set()
            release.wait(10)
            return super().encode(texts)

    store = KnowledgeStore.open(":memory:", embedder=Slow())
    await store.aupdate("x", "p", 1)
    reading = asyncio.create_task(store.aread("x p"))
    while not started.is_set():
        await asyncio.sleep(0.01)
    assert (await store.aread_exact("x", "p")).object == 1  # answered while the other waits
    release.set()
    assert len(await reading) == 1
    assert [ko.object async for ko in store.asnapshot()] == [1]
    await store.aclose()


async def test_an_async_batch_is_one_transaction(embedder: HashingEmbedder) -> None:
    store = KnowledgeStore.open(":memory:", embedder=embedder)

    async def fail() -> None:
        async with store.abatch():
            await store.aupdate("x", "p", 1)
            assert (await store.aread_exact("x", "p")).object == 1
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert await store.acount() == 0
    async with store.abatch():
        await store.aupdate("x", "p", 1)
        await store.aupdate("x", "q", 1)
    assert await store.acount() == 2
    await store.aclose()


def test_an_embedder_that_raises_loses_nothing(tmp_path: Path) -> None:
    class Flaky(HashingEmbedder):
        broken = True

        def encode(self, texts):  # type: ignore[no-untyped-def]
            if self.broken:
                raise EmbedderError("out of memory")
            return super().encode(texts)

    flaky = Flaky()
    store = KnowledgeStore.open(tmp_path / "m", embedder=flaky)
    store.update("x", "p", 1)
    with pytest.raises(EmbedderError, match="out of memory"):
        store.read("x p")
    assert store.read_exact("x", "p").object == 1
    assert store.stats().pending == 1
    flaky.broken = False
    assert store.read("x p")[0].ko.object == 1
    assert store.stats().pending == 0
    store.close()


def test_an_embedder_of_the_wrong_shape_is_an_error() -> None:
    store = KnowledgeStore.open(":memory:", embedder=lambda texts: np.ones((len(texts), 4), dtype=np.float32))
    store.update("x", "p", 1)
    store.read("x")
    store._handle.sync.encoding._embedder.encode = lambda texts: np.ones((len(texts), 3), dtype=np.float32)  # type: ignore[method-assign]
    store.update("x", "p", 2)
    with pytest.raises((EmbedderError, IndexMismatchError)):
        store.read("x")


def test_another_model_is_a_clear_error_and_rebuild_mends_it(tmp_path: Path) -> None:
    with KnowledgeStore.open(tmp_path / "m", embedder=HashingEmbedder(64)) as store:
        store.update("Ann", "phone", "1")
        store.read("Ann")
    other = HashingEmbedder(128)
    with KnowledgeStore.open(tmp_path / "m", embedder=other) as store:
        assert store.read_exact("Ann", "phone").object == "1"
        with pytest.raises(IndexMismatchError, match=r"rebuild_index\(embedder"):
            store.read("Ann")
        assert store.rebuild_index(embedder=other) == 1
        assert store.read("Ann")[0].ko.object == "1"
        assert store.verify().ok
        assert store.stats().dimension == 128
    with KnowledgeStore.open(tmp_path / "m", embedder=other) as store:
        assert store.read("Ann")[0].ko.object == "1"


def test_rebuild_encodes_nothing_again(tmp_path: Path) -> None:
    class Counting(ScatteredEmbedder):
        encoded = 0

        def encode(self, texts):  # type: ignore[no-untyped-def]
            self.encoded += len(texts)
            return super().encode(texts)

    counting = Counting()
    with KnowledgeStore.open(tmp_path / "m", embedder=counting) as store:
        store.update_many(Fact(subject=f"s{n}", predicate="p", object=n) for n in range(50))
        store.drain()
        assert counting.encoded == 50
        assert store.rebuild_index() == 50
        assert counting.encoded == 50
        assert store.stats().generation == 1
        assert store.verify().ok
        assert store.read("s7 p", k=1)


def test_a_second_process_reads_and_writes_while_the_owner_lives(
    tmp_path: Path, embedder: HashingEmbedder
) -> None:
    import subprocess
    import sys

    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        store.update("Ann", "phone", "1")
        assert store.read("Ann phone")
        code = (
            "from ko_integrations import KnowledgeStore; from ko_integrations.embeddings import HashingEmbedder\n"
            f"s = KnowledgeStore.open({str(tmp_path / 'm')!r}, embedder=HashingEmbedder())\n"
            "s.update('Ann', 'phone', '2'); s.update('Bob', 'phone', '3')\n"
            "print([h.ko.object for h in s.read('Ann phone', k=1)], s.stats().degraded is not None)\n"
            "s.close()"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "['2'] True"
        assert store.read_exact("Ann", "phone").object == "2"
        assert sorted(hit.ko.object for hit in store.read("phone", k=9)) == ["2", "3"]
        assert store.verify().ok


def test_a_large_backlog_is_drained_or_reported(tmp_path: Path, embedder: HashingEmbedder) -> None:
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        store.update_many(Fact(subject=f"s{n}", predicate="p", object=n) for n in range(2_100))
        with pytest.raises(IndexBehind) as caught:
            store.read("s1", wait=False)
        assert caught.value.pending == 2_100
        assert store.read("s1 p", k=1)
        assert store.stats().pending == 0


def test_queries_may_be_vectors(embedder: HashingEmbedder) -> None:
    with KnowledgeStore.open(":memory:", embedder=embedder) as store:
        store.update("Ann", "phone", "1")
        vector = embedder.encode(["Ann phone 1"])[0]
        assert store.read(vector)[0].score == pytest.approx(1.0, abs=1e-5)
        assert store.read(list(map(float, vector * 7)))[0].score == pytest.approx(1.0, abs=1e-5)
        for bad in (vector[:3], vector * float("nan"), ["x"]):
            with pytest.raises(InvalidInputError, match="query"):
                store.read(bad)
        for k in (0, -1, 1.5, True):
            with pytest.raises(InvalidInputError, match="k: "):
                store.read("Ann", k=k)


def test_facts_may_bring_their_text_and_vector(embedder: HashingEmbedder) -> None:
    with KnowledgeStore.open(":memory:", embedder=embedder) as store:
        vector = embedder.encode(["something else"])[0]
        fact = Fact(
            subject="doc",
            predicate="content",
            object="body",
            text="an override",
            vector=vector.tolist(),
            verbatim=True,
        )
        store.update_many([fact])
        (hit,) = store.read("something else")
        assert hit.score == pytest.approx(1.0, abs=1e-5)
        assert hit.ko.text == "an override"
        assert store.read_exact("doc", "content", verbatim=True).object == "body"
        assert store.read_exact("doc", "content") is None
        with pytest.raises(InvalidInputError, match="vector"):
            store.update_many([fact.model_copy(update={"vector": [1.0, 2.0]})])


@pytest.mark.parametrize("where", ["m", "deep/m", "sqlite:///{}/m.sqlite3", ":memory:"])
def test_a_store_that_has_to_be_there_is_not_made(tmp_path: Path, where: str) -> None:
    place = where.format(tmp_path) if ":" in where else str(tmp_path / where)
    with pytest.raises(NotAStoreError, match="there is no store at"):
        KnowledgeStore.open(place, create=False)
    assert not any(tmp_path.iterdir())


def test_a_store_that_is_there_is_opened(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="create: "):
        KnowledgeStore.open(tmp_path / "m", create="no")
    KnowledgeStore.open(tmp_path / "m").close()
    with KnowledgeStore.open(tmp_path / "m", create=False) as store:
        assert store.count() == 0

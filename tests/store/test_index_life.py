"""Whose the index is, whether it can be used, and what a kill leaves of it."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import chromadb
import pytest
from chromadb.config import Settings

from ko_integrations import Fact, KnowledgeStore, search
from ko_integrations.errors import IndexMismatchError, InvalidInputError
from ko_integrations.index.chroma import ChromaIndex
from ko_integrations.index.exact import ExactIndex
from ko_integrations.testing import faults
from ko_integrations.testing.scattered import ScatteredEmbedder

COUNT = 40
OTHER = 'ScatteredEmbedder(model_id="another of the same dimension")'


@pytest.fixture(autouse=True)
def through_the_index(monkeypatch):
    monkeypatch.setattr(search, "EXACT_LIMIT", 10)


@pytest.fixture
def embedder():
    return ScatteredEmbedder()


@pytest.fixture
def client():
    """Return a client of one memory with every other of the process: tests use names of their own."""
    return chromadb.EphemeralClient(Settings(anonymized_telemetry=False))


def facts(word="hall"):
    return [Fact(subject=f"member {n}", predicate="desk", object=f"{word} {n}") for n in range(COUNT)]


def assert_whole(store, word="hall"):
    store.drain()
    report = store.verify()
    assert report.ok, report
    assert not report.pending
    for n in range(0, COUNT, 7):
        assert store.read(f"member {n} desk {word} {n}", 1)[0].ko.object == f"{word} {n}"


def in_a_process(folder: Path, work: str) -> subprocess.CompletedProcess:
    program = f"""
from ko_integrations import Fact, KnowledgeStore
from ko_integrations.testing import faults
from ko_integrations.testing.scattered import ScatteredEmbedder
store = KnowledgeStore.open({str(folder)!r}, embedder=ScatteredEmbedder())
{work}
store.close()
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)


# -- can it be used ---
def test_stats_of_a_process_that_does_not_own_the_index_say_so_before_any_read(tmp_path, embedder):
    ask = "print(store.stats().degraded)"
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as owner:
        owner.update_many(facts())
        assert in_a_process(tmp_path / "m", ask).stdout.strip() == "None", "nobody has opened it yet"
        owner.drain()
        assert "another process owns" in in_a_process(tmp_path / "m", ask).stdout
        assert owner.stats().degraded is None
    assert in_a_process(tmp_path / "m", ask).stdout.strip() == "None"


def test_asking_does_not_take_the_index(tmp_path, embedder):
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        store.update_many(facts())
        store.drain()
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as idle:
        assert idle.stats().degraded is None
        done = in_a_process(tmp_path / "m", "store.drain(); store.read('x'); print(store.verify().degraded)")
        assert done.stdout.strip() == "None", done.stderr


def test_stats_tell_of_a_server_that_is_gone_before_any_read(tmp_path, embedder):
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder, index="http://127.0.0.1:9") as store:
        assert "127.0.0.1:9" in store.stats().degraded
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder, index=False) as store:
        assert store.stats().degraded is None


# -- whose is it ---
def test_a_second_store_on_one_client_is_told_to_name_a_collection(tmp_path, embedder, client):
    name = uuid4().hex
    options = {"embedder": embedder, "index": client, "collection": name}
    first = KnowledgeStore.open(tmp_path / "one", **options)
    first.update_many(facts())
    assert_whole(first)
    first.rebuild_index()  # no generation 0 is left that the second could run into
    second = KnowledgeStore.open(tmp_path / "two", **options)
    second.update_many(facts("hut"))
    for use in (second.drain, lambda: second.read("member 1"), second.rebuild_index):
        with pytest.raises(IndexMismatchError, match="collection="):
            use()
    report = second.verify()
    assert not report.ok
    assert "collection=" in report.degraded
    assert "collection=" in second.stats().degraded
    assert second.read_exact("member 1", "desk").object == "hut 1"
    erased = second.erase("member 1")
    assert not erased.complete
    assert "collection=" in erased.remaining[0]
    second.close()
    assert_whole(first)
    first.rebuild_index()
    assert_whole(first)
    first.close()
    with KnowledgeStore.open(tmp_path / "two", **(options | {"collection": name + "-b"})) as second:
        second.update("member 1", "desk", "hut 1")
        second.drain()
        assert_whole(second, "hut")
        assert second.erase("member 2").remaining


def copy_of(store, folder):
    """Copy a store as the documentation says: SQLite's online back-up."""
    folder.mkdir()
    with (
        closing(sqlite3.connect(Path(store.where) / "log.sqlite3")) as source,
        closing(sqlite3.connect(folder / "log.sqlite3")) as target,
    ):
        source.backup(target)
    return folder


def test_a_copy_with_an_id_of_its_own_leaves_the_original_its_collection(tmp_path, embedder, client):
    name = uuid4().hex
    options = {"embedder": embedder, "index": client, "collection": name}
    with KnowledgeStore.open(tmp_path / "one", **options) as first:
        first.update_many(facts())
        assert_whole(first)
        copy = copy_of(first, tmp_path / "two")
        with KnowledgeStore.open(copy, **options) as second:
            assert_whole(second)  # it takes the collection for its own
            second.renew_id()
            with pytest.raises(IndexMismatchError) as refused:
                second.read("member 1")
            assert refused.value.remedy == "collection"
        with KnowledgeStore.open(copy, **(options | {"collection": name + "-b"})) as second:
            second.update_many(facts("hut"))
            assert_whole(second, "hut")
        assert_whole(first)


def test_a_copied_folder_makes_the_index_in_it_anew(tmp_path, embedder):
    with KnowledgeStore.open(tmp_path / "one", embedder=embedder) as store:
        store.update_many(facts())
        assert_whole(store)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    never = ScatteredEmbedder()
    never.encode = lambda texts: pytest.fail("the vectors are in the log")
    with KnowledgeStore.open(tmp_path / "two", embedder=never) as store:
        first, generation = store.handle.sync.index().identity, store.stats().generation
        store.renew_id()
        store.drain()
        assert store.handle.sync.index().identity != first
        assert store.stats().generation == generation
        assert store.verify().ok
    for folder in ("one", "two"):
        with KnowledgeStore.open(tmp_path / folder, embedder=embedder) as store:
            assert_whole(store)


def test_an_id_is_not_renewed_where_the_index_cannot_be_cleared(tmp_path, embedder):
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as owner:
        owner.update_many(facts())
        owner.drain()
        known = owner.handle.log.get_state("id")
        with pytest.raises(InvalidInputError, match="renew_id"), owner.batch():
            owner.renew_id()
        assert "IndexOwnedError" in in_a_process(tmp_path / "m", "store.renew_id()").stderr
        assert owner.handle.log.get_state("id") == known
        assert_whole(owner)


def test_a_collection_of_the_callers_is_one_stores_too(tmp_path, embedder, client):
    collection = client.create_collection(
        uuid4().hex, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    with KnowledgeStore.open(tmp_path / "one", embedder=embedder, index=collection) as first:
        first.update_many(facts())
        assert_whole(first)
        with KnowledgeStore.open(tmp_path / "two", embedder=embedder, index=collection) as second:
            second.update("member 1", "desk", "hut 1")
            with pytest.raises(IndexMismatchError, match="index="):
                second.read("member 1")
        assert_whole(first)
    with KnowledgeStore.open(tmp_path / "one", embedder=embedder, index=collection) as first:
        assert_whole(first)


def test_a_collection_without_an_owner_is_taken_over(tmp_path, embedder, client):
    name = uuid4().hex
    older = ChromaIndex.open(client, name=name, generation=0, dimension=embedder.dimension)
    options = {"embedder": embedder, "index": client, "collection": name}
    with KnowledgeStore.open(tmp_path / "one", **options) as first:
        first.update_many(facts())
        first.drain()
        assert older.count() == COUNT
    with KnowledgeStore.open(tmp_path / "two", **options) as second:
        second.update("x", "p", "v")
        with pytest.raises(IndexMismatchError):
            second.drain()


# -- is it the one that the outbox speaks of ---
def test_an_index_that_was_made_and_never_filled_is_filled(tmp_path, embedder, client):
    """What a kill between making the collection and marking everything due leaves, and an older folder put back."""
    options = {"embedder": embedder, "collection": uuid4().hex}
    with KnowledgeStore.open(tmp_path / "m", **options) as store:
        store.update_many(facts())
        assert_whole(store)
    with KnowledgeStore.open(tmp_path / "m", index=client, **options) as store:
        assert_whole(store)
        store.update("member 0", "desk", "cellar")
        store.drain()
    empty = tmp_path / "elsewhere"
    ChromaIndex.open(empty, name=options["collection"], generation=0, dimension=embedder.dimension).close()
    for index in (empty, None):
        with KnowledgeStore.open(tmp_path / "m", index=index, **options) as store:
            store.update("member 0", "desk", "hall 0")
            assert store.read("member 7 desk hall 7", 1)[0].ko.object == "hall 7"
            assert store.stats().pending == 0
            assert_whole(store)


def test_an_index_of_the_callers_is_filled_by_each_that_opens_the_store(tmp_path, embedder):
    for _ in range(2):
        index = ExactIndex(dimension=embedder.dimension)
        with KnowledgeStore.open(tmp_path / "m", embedder=embedder, index=index) as store:
            store.update_many(facts())
            assert_whole(store)
            assert store.rebuild_index() == COUNT
            assert_whole(store)


# -- rebuilding, interrupted and beside others ---
@pytest.mark.parametrize("point", ["rebuild:filled", "rebuild:switched", "drain:upserted"])
@pytest.mark.parametrize("embedder_too", [False, True], ids=["same model", "another model"])
def test_a_killed_rebuild_leaves_nothing_that_the_next_opening_does_not_mend(
    tmp_path, embedder, point, embedder_too
):
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        store.update_many(facts())
        store.drain()
    rebuild = f"faults.arm({point!r}, faults.kill); store.rebuild_index({OTHER if embedder_too else ''})"
    killed = in_a_process(tmp_path / "m", rebuild).returncode == -9
    assert killed == (point.startswith("drain") == embedder_too or point == "rebuild:switched")
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        model = store.stats().model
        if model != embedder.model_id:
            with pytest.raises(IndexMismatchError):
                store.read("member 1")
    with KnowledgeStore.open(tmp_path / "m", embedder=ScatteredEmbedder(model_id=model)) as store:
        assert_whole(store)
        store.rebuild_index()
        assert_whole(store)
        assert generations(store) == [store.stats().generation]


def generations(store):
    return store.handle.sync.index().generations()


def test_rebuilding_leaves_no_files_of_what_was_replaced(tmp_path, embedder):
    """Chroma does not delete the vectors of a collection that it drops; it has files of them from 1,000 writes on."""

    def folders() -> list[Path]:
        return [path for path in (tmp_path / "m" / "chroma").iterdir() if path.is_dir()]

    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        store.update_many(Fact(subject=f"s{n}", predicate="p", object=n) for n in range(1_100))
        store.drain()
        for _ in range(2):
            store.rebuild_index()
            assert len(folders()) == 1
        (folder,) = folders()
    shutil.copytree(folder, folder.with_name(str(uuid4())))  # left by a kill between dropping and deleting
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        assert store.verify().ok
        assert folders() == [folder]


def test_what_others_write_and_index_during_a_rebuild_is_in_the_new_index(tmp_path, embedder, client):
    options = {"embedder": embedder, "index": client, "collection": uuid4().hex}
    with (
        KnowledgeStore.open(tmp_path / "m", **options) as store,
        KnowledgeStore.open(tmp_path / "m", **options) as other,
    ):
        store.update_many(facts())
        store.drain()

        def meanwhile(*_: int) -> None:
            other.update("member 7", "desk", "hut 7")
            other.update("newcomer", "desk", "attic")
            other.retract("member 8", "desk")
            assert other.drain() == 3

        store.rebuild_index(progress=meanwhile)
        for each in (store, other):
            report = each.verify()
            assert report.ok, report
            assert each.read("newcomer desk attic", 1)[0].ko.object == "attic"
            assert each.read("member 7 desk hut 7", 1)[0].ko.object == "hut 7"
        assert generations(store) == generations(other) == [1]
        assert (store.stats().pending, store.count()) == (0, COUNT)


def test_what_was_applied_to_an_index_that_is_replaced_is_not_confirmed(tmp_path, embedder, client):
    options = {"embedder": embedder, "index": client, "collection": uuid4().hex}
    with (
        KnowledgeStore.open(tmp_path / "m", **options) as store,
        KnowledgeStore.open(tmp_path / "m", **options) as other,
    ):
        store.update_many(facts())
        store.drain()
        other.drain()
        store.update("newcomer", "desk", "attic")

        def replace() -> None:
            faults.disarm("drain:upserted")
            other.rebuild_index(embedder=ScatteredEmbedder(model_id="another"))

        with faults.armed("drain:upserted", replace):
            store.drain()
        with KnowledgeStore.open(
            tmp_path / "m", **(options | {"embedder": ScatteredEmbedder(model_id="another")})
        ) as third:
            assert_whole(third)
            assert third.read("newcomer desk attic", 1)[0].ko.object == "attic"


def test_house_is_not_kept_inside_a_batch(tmp_path, embedder):
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        for use in (store.verify, store.rebuild_index):
            with pytest.raises(InvalidInputError, match="batch"), store.batch():
                use()
        with store.batch():
            assert store.stats().degraded is None

"""Damaged files: a clear error, never a crash or a wrong answer, and a way to start afresh."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ko_integrations.errors import IndexDamagedError, IndexUnavailableError, NotAStoreError
from ko_integrations.index.chroma import ChromaIndex
from ko_integrations.testing.index_suite import DIMENSION, put, record_id, unit_vectors

COUNT = 1_100  # over 1,000 writes: Chroma has saved its vectors once


def vectors_of(folder: Path) -> Path:
    (header,) = folder.glob("*/header.bin")
    return header.parent


def cut(name: str, size: int) -> Callable[[Path], None]:
    return lambda folder: os.truncate(vectors_of(folder) / name, size)


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (vectors_of(folder) / name).unlink()


def fill_with_junk(name: str) -> Callable[[Path], None]:
    return lambda folder: (vectors_of(folder) / name).write_bytes(b"\xa5" * 5_000)


def junk_database(folder: Path) -> None:
    (folder / "chroma.sqlite3").write_bytes(b"\xa5" * 5_000)


FILES = ("data_level0.bin", "header.bin", "index_metadata.pickle", "length.bin", "link_lists.bin")
DAMAGE = {
    **{f"{name} cut to {size}": cut(name, size) for name in FILES for size in (0, 10)},
    **{f"{name} removed": remove(name) for name in FILES},
    "data_level0.bin cut in half": cut("data_level0.bin", 50_000),
    "index_metadata.pickle cut in half": cut("index_metadata.pickle", 50_000),
    "header.bin junk": fill_with_junk("header.bin"),
    "index_metadata.pickle junk": fill_with_junk("index_metadata.pickle"),
    "vectors removed": lambda folder: shutil.rmtree(vectors_of(folder)),
    "database cut": lambda folder: os.truncate(folder / "chroma.sqlite3", 5_000),
    "database junk": junk_database,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "chroma"
    index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    put(index, unit_vectors(COUNT))
    index.close()
    return folder


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_found_before_chroma_loads_it(
    whole: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "chroma"
    shutil.copytree(whole, folder)
    damage(folder)
    with pytest.raises(IndexUnavailableError):
        ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    index = ChromaIndex.salvage(folder, name="x", dimension=DIMENSION)
    assert index.created
    assert index.count() == 0
    rows = unit_vectors(30)
    ids = put(index, rows)
    assert index.unreachable(ids, rows) == []
    index.close()
    again = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    assert (again.created, again.count()) == (False, 30)
    again.close()


def test_torn_vector_files_are_told_from_what_is_only_out_of_reach(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "chroma")
    cut("index_metadata.pickle", 50_000)(tmp_path / "chroma")
    with pytest.raises(IndexDamagedError, match=r"index_metadata\.pickle"):
        ChromaIndex.open(tmp_path / "chroma", name="x", dimension=DIMENSION)


def test_a_transaction_that_a_kill_left_half_done_is_rolled_back(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    shutil.copytree(whole, tmp_path / "killed")
    with closing(sqlite3.connect(tmp_path / "killed" / "chroma.sqlite3")) as database:
        database.execute("PRAGMA cache_size = 1")  # so that pages reach the file before the end
        database.execute("UPDATE embedding_metadata SET string_value = string_value || 'x'")
        shutil.copytree(tmp_path / "killed", folder)  # what is on disk at this moment
    assert (folder / "chroma.sqlite3-journal").stat().st_size > 0
    index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    assert (index.created, index.count()) == (False, COUNT)
    index.close()


def test_the_next_generation_opens_beside_a_damaged_one(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    shutil.copytree(whole, folder)
    cut("data_level0.bin", 0)(folder)
    index = ChromaIndex.salvage(folder, name="x", generation=2, dimension=DIMENSION)
    rows = unit_vectors(30)
    ids = put(index, rows)
    index.drop_generation(1)
    assert index.generations() == [2]
    assert index.scrub(ids[:1]) is None
    assert index.unreachable(ids[1:], rows[1:]) == []
    index.close()


def test_whole_files_are_not_taken_for_damaged(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    shutil.copytree(whole, folder)
    index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    assert (index.created, index.count()) == (False, COUNT)
    index.close()


def test_a_kill_between_a_save_and_its_note_is_no_damage(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    shutil.copytree(whole, folder)
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database, database:
        database.execute("DELETE FROM max_seq_id WHERE segment_id = ?", (vectors_of(folder).name,))
    index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    assert index.count() == COUNT
    assert index.unreachable([record_id(row) for row in range(100)], unit_vectors(COUNT)[:100]) == []
    index.close()


def test_a_folder_deleted_under_the_index(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    rows = unit_vectors(10)
    put(index, rows)
    shutil.rmtree(folder)
    for use in (lambda: index.query(rows[0], 1, None), lambda: put(index, rows), lambda: index.count()):
        with pytest.raises(IndexUnavailableError, match="deleted or replaced"):
            use()
    index.reset()
    ids = put(index, rows)
    assert index.unreachable(ids, rows) == []
    index.close()


def test_a_folder_deleted_while_closed_says_that_everything_has_to_be_indexed(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    for _ in range(2):
        index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
        assert index.created
        put(index, unit_vectors(3))
        index.close()
        shutil.rmtree(folder)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(NotAStoreError):
        ChromaIndex.open(tmp_path, name="x", dimension=DIMENSION)
    with pytest.raises(NotAStoreError):
        ChromaIndex.salvage(tmp_path, name="x", dimension=DIMENSION)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_damaged_chroma_folder_of_somebody_else_is_not_cleared(tmp_path: Path) -> None:
    import chromadb
    from chromadb.config import Settings

    folder = tmp_path / "chroma"
    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    client.create_collection("theirs", embedding_function=None)
    client.close()
    index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    put(index, unit_vectors(3))
    index.close()
    junk_database(folder)
    with pytest.raises(IndexUnavailableError, match="was not made by this package"):
        ChromaIndex.salvage(folder, name="x", dimension=DIMENSION)
    assert (folder / "chroma.sqlite3").read_bytes() == b"\xa5" * 5_000


def test_a_path_that_cannot_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexUnavailableError):
        ChromaIndex.open(tmp_path / "file", name="x", dimension=DIMENSION)
    with pytest.raises(IndexUnavailableError):
        ChromaIndex.open(tmp_path / "file" / "below", name="x", dimension=DIMENSION)


def test_acknowledged_writes_survive_kill_9(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    # Saves every few writes, so that some kills fall into a save.
    program = f"""
from ko_integrations.index.chroma import ChromaIndex
from ko_integrations.testing.index_suite import DIMENSION, put, unit_vectors
index = ChromaIndex.open({str(folder)!r}, name="x", dimension=DIMENSION)
index._collection.open().modify(configuration={{"hnsw": {{"sync_threshold": 50}}}})
rows = unit_vectors(100_000)
for first in range(index.count(), 100_000, 20):
    put(index, rows[first : first + 20], first=first)
    print(first + 20, flush=True)
"""
    acknowledged = 0
    for acknowledgements in (3, 9):
        writer = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", program], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(acknowledgements):
            acknowledged = int(writer.stdout.readline())
        writer.kill()
        acknowledged = max([acknowledged, *map(int, writer.stdout.read().split())])
        writer.wait()
        index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
        rows = unit_vectors(100_000)[:acknowledged]
        assert index.count() >= acknowledged
        held = list(index.ids())
        ids = [record_id(row) for row in range(acknowledged)]
        assert set(ids) <= set(held)
        assert index.unreachable(ids, rows) == []
        index.close()

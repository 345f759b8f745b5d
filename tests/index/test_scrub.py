"""Erasing from an embedded Chroma folder leaves no byte; the others stay as they were."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ko_integrations.index.chroma import ChromaIndex
from ko_integrations.testing.chroma_server import ChromaServer
from ko_integrations.testing.index_suite import record_id, unit_vectors
from ko_integrations.testing.traces import find_traces

WIDE = 64


def text_of(number: int) -> str:
    return f'patient {number} takes "zebrafish{number}x" daily, ümlaut{number}e {triple(number)}'


def triple(number: int) -> str:
    """Three letters that no other text has: one term of the full-text index, which cuts texts in threes."""
    return "".join(chr(0xAC00 + 7 * number + letter) for letter in range(3))


def fill(index: ChromaIndex, rows: np.ndarray, first: int = 0) -> list[str]:
    ids = [record_id(first + row) for row in range(len(rows))]
    index.upsert([("clinic",)] * len(ids), ids, rows, [text_of(first + row) for row in range(len(rows))])
    return ids


def traces(folder: Path, numbers: list[int], rows: np.ndarray) -> dict[str, list[str]]:
    texts = {f"id {n}": record_id(n) for n in numbers}
    texts |= {f"text {n}": text_of(n) for n in numbers} | {f"word {n}": f"zebrafish{n}x" for n in numbers}
    texts |= {f"other word {n}": f"ümlaut{n}e" for n in numbers}
    found = find_traces(folder, texts=texts, vectors={f"vector {n}": rows[n] for n in numbers})
    # Terms are stored without what they share with the one before: at least these bytes of it.
    database = (folder / "chroma.sqlite3").read_bytes()
    return found | {f"term {n}": ["chroma.sqlite3"] for n in numbers if triple(n).encode()[3:] in database}


@pytest.mark.parametrize("count", [1, 3, 700, 1_500])
def test_no_byte_is_left_and_the_others_are_unharmed(tmp_path: Path, count: int) -> None:
    folder = tmp_path / "chroma"
    index = ChromaIndex.open(folder, name="clinic", dimension=WIDE)
    rows = unit_vectors(count, dimension=WIDE)
    ids = fill(index, rows)
    # 7 of count: for `count` over 1,000 a part was saved by Chroma, the rest is in its queue.
    gone = list(range(0, count, max(1, count // 7)))[:7]
    assert set(traces(folder, gone, rows)) >= {f"vector {n}" for n in gone} | {f"word {n}" for n in gone}
    assert index.scrub([ids[n] for n in gone]) is None
    assert traces(folder, gone, rows) == {}
    kept = [n for n in range(count) if n not in gone]
    assert sorted(index.ids()) == sorted(ids[n] for n in kept)
    assert index.unreachable([ids[n] for n in kept], rows[kept]) == []
    index.close()
    assert traces(folder, gone, rows) == {}


def test_values_that_were_replaced_or_deleted_before_go_too(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    index = ChromaIndex.open(folder, name="clinic", dimension=WIDE)
    rows = unit_vectors(1_302, dimension=WIDE)
    ids = fill(index, rows[:1_300])
    # Slot 0 moves on to the value of 1300, slot 1 is retracted, and both are erased much later.
    index.upsert([("clinic",)], ids[:1], rows[1_300:1_301], [text_of(1_300)])
    index.delete([ids[1]])
    assert {"vector 0", "vector 1", "word 1"} <= set(traces(folder, [0, 1], rows))
    assert index.scrub(ids[:2]) is None
    assert traces(folder, [0, 1, 1_300], rows) == {}
    assert index.unreachable(ids[2:], rows[2:1_300]) == []
    index.close()


def test_what_is_written_after_an_erasure_holds_nothing_of_it(tmp_path: Path) -> None:
    """Chroma makes and grows its files out of memory that held other things."""
    folder = tmp_path / "chroma"
    index = ChromaIndex.open(folder, name="clinic", dimension=WIDE)
    rows = unit_vectors(1_400, dimension=WIDE)
    ids = fill(index, rows[:80])
    assert index.scrub(ids) is None
    fill(index, rows[80:], first=80)  # more than 1,000: grows the files, and saves
    following = index.next_generation()
    fill(following, rows[80:90], first=80)
    following.close()
    index.close()
    assert traces(folder, list(range(0, 80, 8)), rows) == {}


def test_a_vector_that_stood_in_for_an_erased_one_goes_with_its_own_record(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    index = ChromaIndex.open(folder, name="clinic", dimension=WIDE)
    rows = unit_vectors(12, dimension=WIDE)
    ids = fill(index, rows)
    for number in range(12):
        assert index.scrub([ids[number]]) is None
        assert traces(folder, list(range(number + 1)), rows) == {}
    index.close()


def test_erasing_everything(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    index = ChromaIndex.open(folder, name="clinic", dimension=WIDE)
    rows = unit_vectors(30, dimension=WIDE)
    assert index.scrub(fill(index, rows)) is None
    assert traces(folder, list(range(30)), rows) == {}
    fill(index, rows[:3])
    assert index.count() == 3
    index.close()


def test_a_generation_left_by_a_rebuild_is_scrubbed_as_well(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    old = ChromaIndex.open(folder, name="clinic", dimension=WIDE)
    rows = unit_vectors(20, dimension=WIDE)
    ids = fill(old, rows)
    new = old.next_generation()
    fill(new, rows)
    assert new.scrub(ids[:2]) is None
    assert traces(folder, [0, 1], rows) == {}
    assert sorted(old.ids()) == sorted(new.ids()) == sorted(ids[2:])
    new.drop_generation(old.generation)
    assert new.generations() == [new.generation]
    assert new.scrub(ids[2:4]) is None
    # The dropped collection's files are gone with it.
    assert len(list(folder.glob("*/header.bin"))) == 1
    assert traces(folder, [2, 3], rows) == {}
    old.close()
    new.close()


# Deleted in Chroma, everything still in the bytes; what makes Chroma save written and not yet deleted.
@pytest.mark.parametrize(
    "killed",
    [
        "chroma_scrub.compact_database = lambda root: os.kill(os.getpid(), 9)",
        """delete = Collection.delete
Collection.delete = lambda self, ids: (
    os.kill(os.getpid(), 9) if ids is chroma_scrub._SCRATCH else delete(self, ids)
)""",
    ],
    ids=["before the files", "before the scratch goes"],
)
def test_scrubbing_again_after_a_crash_in_between_completes_it(tmp_path: Path, killed: str) -> None:
    folder = tmp_path / "chroma"
    rows = unit_vectors(50, dimension=WIDE)
    index = ChromaIndex.open(folder, name="clinic", dimension=WIDE)
    ids = fill(index, rows)
    index.close()
    program = f"""
import os
from chromadb.api.models.Collection import Collection
from ko_integrations.index import chroma_scrub
from ko_integrations.index.chroma import ChromaIndex
{killed}
ChromaIndex.open({str(folder)!r}, name="clinic", dimension={WIDE}).scrub({ids[:2]!r})
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == -9
    assert traces(folder, [0, 1], rows) != {}
    index = ChromaIndex.open(folder, name="clinic", dimension=WIDE)
    assert index.scrub(ids[:2]) is None
    assert traces(folder, [0, 1], rows) == {}
    assert sorted(index.ids()) == sorted(ids[2:])
    assert index.unreachable(ids[2:], rows[2:]) == []
    assert save_threshold(index) == 1_000
    index.close()


def test_the_save_threshold_is_put_back(tmp_path: Path) -> None:
    index = ChromaIndex.open(tmp_path / "chroma", name="clinic", dimension=WIDE)
    ids = fill(index, unit_vectors(5, dimension=WIDE))
    index.scrub(ids[:1])
    assert save_threshold(index) == 1_000
    index.close()


def save_threshold(index: ChromaIndex) -> int:
    with index._source.session("look"):
        collection = index._source.client.get_collection(index.collection_name, embedding_function=None)
    return int(collection.configuration_json["hnsw"]["sync_threshold"])


def test_it_says_so_when_another_client_of_the_process_has_the_folder_open(tmp_path: Path) -> None:
    import chromadb
    from chromadb.config import Settings

    index = ChromaIndex.open(tmp_path / "chroma", name="clinic", dimension=WIDE)
    ids = fill(index, unit_vectors(5, dimension=WIDE))
    other = chromadb.PersistentClient(str(tmp_path / "chroma"), settings=Settings(anonymized_telemetry=False))
    remaining = index.scrub(ids[:1])
    assert remaining is not None
    assert "another Chroma client" in remaining
    other.close()
    assert index.scrub(ids[:1]) is None
    index.close()


def test_a_server_says_where_bytes_may_live_on(chroma_server: ChromaServer) -> None:
    index = ChromaIndex.open(chroma_server.url, name="clinic-scrub", dimension=WIDE, patience=30)
    rows = unit_vectors(5, dimension=WIDE)
    ids = fill(index, rows)
    remaining = index.scrub(ids[:2])
    assert remaining is not None
    assert index.collection_name in remaining
    assert sorted(index.ids()) == sorted(ids[2:])
    index.close()


def test_the_search_for_traces_finds_them(tmp_path: Path) -> None:
    vector = unit_vectors(1, dimension=WIDE)[0]
    (tmp_path / "a").write_bytes(b"xyz" + (vector * np.float32(3.0)).tobytes())
    (tmp_path / "b").write_bytes(b'{"t": "caf\\u00e9 \\"noir\\""}')
    (tmp_path / "c").write_bytes(bytes.fromhex(record_id(1)))
    found = find_traces(
        tmp_path,
        texts={"text": 'café "noir"', "id": record_id(1), "absent": "nothing"},
        vectors={"vector": vector, "other": -vector},
    )
    assert found == {"text": ["b"], "id": ["c"], "vector": ["a"]}
    shutil.rmtree(tmp_path)
    assert find_traces(tmp_path, texts={"text": "x"}) == {}

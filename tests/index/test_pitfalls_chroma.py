"""PITFALLS 1 to 21: what Chroma does, and that our index does right. Each test is named by its number."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import chromadb
import numpy as np
import pytest
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

from ko_integrations.errors import (
    ForkedStoreError,
    IndexMismatchError,
    IndexOwnedError,
    IndexUnavailableError,
    InvalidInputError,
)
from ko_integrations.identity import check_text
from ko_integrations.index.chroma import ChromaIndex
from ko_integrations.index.chroma_collection import generation_name
from ko_integrations.testing.chroma_server import ChromaServer
from ko_integrations.testing.index_suite import DIMENSION, put, record_id, unit_vectors

COSINE = {"hnsw": {"space": "cosine"}}


def quiet() -> Settings:
    return Settings(anonymized_telemetry=False)


@pytest.fixture
def client() -> Any:
    return chromadb.EphemeralClient(quiet())


@pytest.fixture
def plain(client: Any) -> Collection:
    """A collection as anybody makes it."""
    return client.create_collection(uuid4().hex, embedding_function=None, configuration=COSINE)


@pytest.fixture
def index(client: Any) -> ChromaIndex:
    return ChromaIndex.open(client, name=uuid4().hex, dimension=DIMENSION)


def collection_of(index: ChromaIndex) -> Collection:
    return index._source.client.get_collection(index.collection_name, embedding_function=None)


def test_01_add_keeps_the_old_value_and_we_upsert(plain: Collection, index: ChromaIndex) -> None:
    one, two = unit_vectors(2)
    for row, text in ((one, "Paris"), (two, "London")):
        plain.add(ids=["a"], embeddings=[row], documents=[text])
        index.upsert([("n",)], [record_id(1)], row[None], [text])
    assert plain.get(ids=["a"])["documents"] == ["Paris"]
    assert collection_of(index).get()["documents"] == ["London"]
    assert index.query(two, 1, ("n",))[0][1] == pytest.approx(1.0, abs=1e-5)


def test_02_upsert_merges_metadata_and_we_send_every_key(plain: Collection, index: ChromaIndex) -> None:
    row = unit_vectors(1)
    plain.upsert(ids=["a"], embeddings=row, documents=["x"], metadatas=[{"old": 1}])
    plain.upsert(ids=["a"], embeddings=row, documents=["x"], metadatas=[{"new": 1}])
    assert plain.get()["metadatas"] == [{"old": 1, "new": 1}]
    for namespace in (("a", "b"), (), ("c",)):
        put(index, row, namespace)
        (metadata,) = collection_of(index).get()["metadatas"] or []
        assert set(metadata) == {"ko_namespace"}
    assert metadata["ko_namespace"] == '["c"]'


def test_03_upsert_without_a_document_keeps_the_old_one_and_we_always_send_it(
    plain: Collection, index: ChromaIndex
) -> None:
    one, two = unit_vectors(2)
    plain.upsert(ids=["a"], embeddings=[one], documents=["Paris"])
    plain.upsert(ids=["a"], embeddings=[two])
    assert plain.get()["documents"] == ["Paris"]
    index.upsert([("n",)], [record_id(1)], one[None], ["Paris"])
    index.upsert([("n",)], [record_id(1)], two[None], [""])
    assert collection_of(index).get()["documents"] == [""]


def test_04_a_duplicate_id_fails_the_call_and_we_coalesce(plain: Collection, index: ChromaIndex) -> None:
    rows = unit_vectors(3)
    with pytest.raises(ChromaError):
        plain.upsert(ids=["a", "b", "a"], embeddings=rows, documents=["1", "2", "3"])
    ids = [record_id(1), record_id(2), record_id(1)]
    index.upsert([("x",), ("y",), ("z",)], ids, rows, ["1", "2", "3"])
    held = collection_of(index).get(ids=[record_id(1)])
    assert (held["documents"], held["metadatas"]) == (
        ["3"],
        [{"ko_namespace": '["z"]'}],
    )
    assert index.query(rows[2], 1, ("z",))[0][0] == record_id(1)


def test_05_batches_are_of_the_clients_own_maximum(
    plain: Collection, index: ChromaIndex, client: Any
) -> None:
    largest = client.get_max_batch_size()
    with pytest.raises(ChromaError):
        plain.get(ids=[str(number) for number in range(40_000)])
    count = largest + 1
    rows = np.tile(unit_vectors(7), (count // 7 + 1, 1))[:count]
    with pytest.raises(ChromaError, match="max batch size"):
        plain.upsert(ids=[str(row) for row in range(count)], embeddings=rows)
    ids = put(index, rows)
    assert sorted(index.ids()) == sorted(ids)
    index.delete(ids[1:])
    assert list(index.ids()) == ids[:1]


def test_06_get_and_delete_are_loose_and_we_do_not_rely_on_them(
    plain: Collection, index: ChromaIndex
) -> None:
    plain.upsert(ids=["a", "b"], embeddings=unit_vectors(2), documents=["1", "2"])
    assert plain.get(ids=["b", "missing", "a"])["ids"] != ["b", "missing", "a"]
    with pytest.raises(ValueError, match="non-empty list"):
        plain.delete(ids=[])
    ids = put(index, unit_vectors(2))
    index.delete([])
    index.delete([record_id(99)])
    index.delete([ids[1], record_id(99), ids[0], ids[0]])
    assert index.count() == 0


def test_07_metadata_bends_values_and_ours_are_strings(plain: Collection, index: ChromaIndex) -> None:
    row = unit_vectors(1)
    plain.upsert(ids=["a"], embeddings=row, metadatas=[{"nan": float("nan"), "big": 2**63, "kept": 1}])
    (bent,) = plain.get()["metadatas"] or []
    assert "nan" not in bent
    assert not isinstance(bent["big"], int)
    with pytest.raises((ValueError, TypeError)):
        plain.upsert(ids=["a"], embeddings=row, metadatas=[{"chroma:document": "x"}])
    put(index, row, ("chroma:document", "1e400", "null"))
    (metadata,) = collection_of(index).get()["metadatas"] or []
    assert all(key.startswith("ko_") and isinstance(value, str) for key, value in metadata.items())


def test_08_where_takes_one_key_alone(plain: Collection, client: Any) -> None:
    plain.upsert(ids=["a"], embeddings=unit_vectors(1), documents=["x"], metadatas=[{"k": "v"}])
    for refused in ({"a": "1", "b": "2"}, {"$and": [{"a": "1"}]}, {"a": {"$in": []}}):
        with pytest.raises(ValueError, match=r"where|operator|operand|expression|value"):
            plain.get(where=refused)
    assert plain.get(where={"absent": {"$ne": "1"}})["ids"] == ["a"]
    # No namespace, a namespace, and either in a collection of the caller's: none, one, one and two clauses.
    row = unit_vectors(1, seed=2)
    shared = client.create_collection(uuid4().hex, embedding_function=None, configuration=COSINE)
    for where in (client, shared):
        index = ChromaIndex.open(where, name=uuid4().hex, dimension=DIMENSION)
        put(index, row, ("n",))
        assert len(index.query(row[0], 1, None)) == len(index.query(row[0], 1, ("n",))) == 1


def test_09_get_or_create_hands_back_l2_and_we_assert(client: Any) -> None:
    name = uuid4().hex
    client.create_collection(generation_name(name, 1), embedding_function=None)
    handed = client.get_or_create_collection(
        generation_name(name, 1), embedding_function=None, configuration=COSINE
    )
    assert handed.configuration["hnsw"]["space"] == "l2"
    with pytest.raises(IndexMismatchError, match="l2"):
        ChromaIndex.open(client, name=name, dimension=DIMENSION)


def test_10_no_embedding_function_is_ever_registered_or_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chromadb.api.types import DefaultEmbeddingFunction

    asked: list[object] = []

    def fetch(self: object, input: object) -> list[object]:
        asked.append(input)
        return []

    monkeypatch.setattr(DefaultEmbeddingFunction, "__call__", fetch)
    for _ in range(2):
        index = ChromaIndex.open(tmp_path / "chroma", name="x", dimension=DIMENSION)
        ids = put(index, unit_vectors(3))
        index.query(unit_vectors(1)[0], 1, None)
        index.scrub(ids[:1])
        assert index._collection.open()._embedding_function is None
        index.close()
    assert asked == []


def test_11_bad_vectors_are_refused_before_chroma_sees_them(plain: Collection, index: ChromaIndex) -> None:
    plain.upsert(ids=["a"], embeddings=[[0.0] * DIMENSION])
    with pytest.raises((TypeError, ValueError)):
        plain.query(query_embeddings=[[1.0] * DIMENSION], n_results=0)
    for bad in (np.zeros((1, 3)), np.full((1, DIMENSION), np.nan), np.full((1, DIMENSION), np.inf)):
        with pytest.raises(InvalidInputError, match=r"^vectors: "):
            index.upsert([("n",)], [record_id(1)], bad.astype(np.float32), ["x"])
    assert index.query(unit_vectors(1)[0], 0, None) == []
    # A zero vector is like nothing, and does no harm.
    index.upsert([("n",)], [record_id(1)], np.zeros((1, DIMENSION), dtype=np.float32), ["x"])
    put(index, unit_vectors(1), ("n",), first=2)
    assert index.query(unit_vectors(1)[0], 2, ("n",))[0][0] == record_id(2)


def test_12_records_that_the_graph_loses_are_found_by_the_audit_and_a_rebuild(tmp_path: Path) -> None:
    index = ChromaIndex.open(tmp_path / "chroma", name="x", dimension=DIMENSION)
    rows = unit_vectors(1_500)
    ids = put(index, rows)
    for turn in range(3):  # churn: the same records deleted and brought back, elsewhere
        rows[turn::3] = unit_vectors(500, seed=10 + turn)
        index.delete(ids[turn::3])
        index.upsert([("a",)] * 500, ids[turn::3], rows[turn::3], ["x"] * 500)
    lost = set(index.unreachable(ids, rows))
    for id_, row in list(zip(ids, rows, strict=True))[::50]:
        assert (id_ in lost) == (id_ not in [hit for hit, _ in index.query(row, 10, None)])
    rebuilt = index.next_generation()
    rebuilt.upsert([("a",)] * 1_500, ids, rows, ["x"] * 1_500)
    assert len(rebuilt.unreachable(ids, rows)) <= len(lost)
    rebuilt.close()
    index.close()


def test_13_old_values_are_not_kept_behind_a_filter(index: ChromaIndex) -> None:
    rows = unit_vectors(40)
    for row in rows:
        put(index, row[None], ("n",), first=1)
    assert index.count() == 1
    assert index.query(rows[0], 40, None) == index.query(rows[0], 40, ("n",))


def test_14_what_chroma_did_not_save_yet_survives_in_its_queue(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    program = f"""
import os
from ko_integrations.index.chroma import ChromaIndex
from ko_integrations.testing.index_suite import DIMENSION, put, unit_vectors
put(ChromaIndex.open({str(folder)!r}, name="x", dimension=DIMENSION), unit_vectors(100))
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == -9
    assert list(folder.glob("*/index_metadata.pickle")) == []
    index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    rows = unit_vectors(100)
    assert index.unreachable([record_id(row) for row in range(100)], rows) == []
    index.close()


def test_15_a_second_process_reads_stale_vectors_and_we_let_only_one_in(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    old, new = unit_vectors(2)
    put(index, old[None])
    # The other process has loaded the vectors when the record moves.
    program = f"""
import chromadb
from chromadb.config import Settings
client = chromadb.PersistentClient({str(folder)!r}, settings=Settings(anonymized_telemetry=False))
collection = client.get_collection({index.collection_name!r}, embedding_function=None)
old = {old.tolist()}
look = lambda: collection.query(query_embeddings=[old], n_results=1, include=["documents", "distances"])
look()
print("loaded", flush=True)
input()
found = look()
print(found["documents"][0][0], abs(found["distances"][0][0]) < 1e-5, flush=True)
"""
    ours = f"""
from ko_integrations.errors import IndexOwnedError
from ko_integrations.index.chroma import ChromaIndex
try:
    ChromaIndex.open({str(folder)!r}, name="x", dimension={DIMENSION})
except IndexOwnedError:
    print("owned")
"""
    other = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "loaded\n"
    index.upsert([("a",)], [record_id(0)], new[None], ["moved"])
    seen, _ = other.communicate("\n", timeout=60)
    assert seen == "moved True\n"  # the new document at distance 0 from the old vector
    done = subprocess.run([sys.executable, "-c", ours], capture_output=True, text=True, timeout=60)
    assert done.stdout == "owned\n"
    index.close()


def test_16_one_client_a_resolved_path_and_none_after_a_fork(tmp_path: Path) -> None:
    one = ChromaIndex.open(tmp_path / "chroma", name="x", dimension=DIMENSION)
    two = ChromaIndex.open(f"{tmp_path}/./chroma", name="x", dimension=DIMENSION)
    assert one._source.client is two._source.client
    put(one, unit_vectors(1))
    assert two.count() == 1
    one.close()
    two.close()
    program = f"""
import os, sys
from ko_integrations.index.chroma import ChromaIndex
from ko_integrations.testing.index_suite import DIMENSION, put, unit_vectors
folder = {str(tmp_path / "forked")!r}
index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
put(index, unit_vectors(3))
child = os.fork()
if child == 0:
    for use in (
        lambda: index.query(unit_vectors(1)[0], 1, None),
        lambda: put(index, unit_vectors(1)),
        lambda: ChromaIndex.open(folder, name="x", dimension=DIMENSION),
    ):
        try:
            use()
        except Exception as error:
            print(type(error).__name__, flush=True)
    index.close()
    os._exit(0)
os.waitpid(child, 0)
print(index.count())
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == [ForkedStoreError.__name__] * 2 + [IndexOwnedError.__name__, "3"], (
        done.stderr
    )


def test_17_a_stale_handle_is_refreshed(client: Any, index: ChromaIndex) -> None:
    assert (
        chromadb.EphemeralClient(quiet()).list_collections() == client.list_collections()
    )  # they share data
    rows = unit_vectors(3)
    put(index, rows)
    stale = collection_of(index)
    client.delete_collection(index.collection_name)
    client.create_collection(index.collection_name, embedding_function=None, configuration=COSINE)
    with pytest.raises(NotFoundError):
        stale.count()
    assert index.count() == 0
    put(index, rows)
    assert index.query(rows[1], 1, ("a",))[0][0] == record_id(1)


@pytest.mark.parametrize(
    "name", ["", "..", "ab", "a b", "naïve", "x" * 600, "-a-", "日本", "a..b", "A", "a/b"]
)
def test_18_any_store_name_makes_a_collection(client: Any, name: str) -> None:
    index = ChromaIndex.open(client, name=name, dimension=DIMENSION)
    put(index, unit_vectors(1))
    assert index.collection_name in [collection.name for collection in client.list_collections(limit=1_000)]
    index.reset()


def test_19_a_server_that_is_starting_is_waited_for_and_a_dead_one_named(tmp_path: Path) -> None:
    server = ChromaServer(tmp_path / "data")
    with pytest.raises(ValueError, match="connect"):
        chromadb.HttpClient(host="127.0.0.1", port=server.port, settings=quiet())
    with pytest.raises(IndexUnavailableError, match=server.url):
        ChromaIndex.open(server.url, name="x", dimension=DIMENSION, patience=0.2)
    with server:
        index = ChromaIndex.open(server.url, name="x", dimension=DIMENSION, patience=30)
        server.stop()
        with pytest.raises(IndexUnavailableError, match=server.url):
            index.query(unit_vectors(1)[0], 1, None)
        index.close()


def test_20_text_that_chroma_cannot_hold_is_refused_on_write(plain: Collection) -> None:
    row = unit_vectors(1)
    plain.upsert(ids=["a"], embeddings=row, documents=["Before\0after"])
    assert plain.get(where_document={"$contains": "before"})["ids"] == []
    assert plain.get(where_document={"$contains": "after"})["ids"] == []
    with pytest.raises((UnicodeError, ValueError, TypeError)):
        plain.upsert(ids=["a"], embeddings=row, documents=["\ud800"])
    for text in ("Before\0after", "\ud800"):
        with pytest.raises(InvalidInputError):
            check_text(text, "object")


def test_21_limits_belong_to_the_client(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Chroma's cloud, which takes 300 records a call."""
    sizes: list[int] = []
    upsert, get, delete = Collection.upsert, Collection.get, Collection.delete

    def counted(method: Any) -> Any:
        def call(self: Collection, **arguments: Any) -> Any:
            sizes.append(len(arguments.get("ids") or range(arguments.get("limit") or 0)))
            return method(self, **arguments)

        return call

    monkeypatch.setattr(type(client), "get_max_batch_size", lambda self: 300)
    for name, method in (("upsert", upsert), ("get", get), ("delete", delete)):
        monkeypatch.setattr(Collection, name, counted(method))
    index = ChromaIndex.open(client, name=uuid4().hex, dimension=DIMENSION)
    ids = put(index, unit_vectors(1_000))
    assert len(list(index.ids())) == 1_000
    index.scrub(ids[:500])
    index.delete(ids)
    assert index.count() == 0
    assert max(sizes) == 300

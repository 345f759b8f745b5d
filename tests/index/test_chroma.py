"""Opening, owning, generations and errors of the Chroma index."""

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations.errors import (
    IndexMismatchError,
    IndexOwnedError,
    IndexUnavailableError,
    InvalidInputError,
    StoreClosedError,
)
from ko_integrations.index import chroma_source
from ko_integrations.index.chroma import ChromaIndex
from ko_integrations.index.chroma_collection import generation_name
from ko_integrations.testing.chroma_server import ChromaServer
from ko_integrations.testing.index_suite import DIMENSION, put, record_id, unit_vectors


def quiet() -> Settings:
    # A new one each time: Chroma writes into the settings that it is given.
    return Settings(anonymized_telemetry=False)


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_two_indexes_of_one_process_share_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    one = ChromaIndex.open(folder, name="one", dimension=DIMENSION)
    two = ChromaIndex.open(f"{tmp_path}/x/../chroma/", name="two", dimension=DIMENSION)
    put(one, unit_vectors(2))
    assert (one.count(), two.count()) == (2, 0)
    one.close()
    one.close()
    put(two, unit_vectors(3))
    assert two.count() == 3
    two.close()
    with pytest.raises(StoreClosedError):
        two.count()


def test_a_second_process_is_told_who_owns_the_folder_until_it_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    program = f"""
from ko_integrations.errors import IndexOwnedError
from ko_integrations.index.chroma import ChromaIndex
try:
    ChromaIndex.open({str(folder)!r}, name="x", dimension={DIMENSION}).close()
    print("opened")
except IndexOwnedError:
    print("owned")
"""
    index = ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    assert run(program) == "owned"
    index.close()
    assert run(program) == "opened"


def test_kill_9_of_the_owner_gives_the_folder_free(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    program = f"""
import time
from ko_integrations.index.chroma import ChromaIndex
index = ChromaIndex.open({str(folder)!r}, name="x", dimension={DIMENSION})
print("opened", flush=True)
time.sleep(60)
"""
    owner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "opened\n"
    with pytest.raises(IndexOwnedError):
        ChromaIndex.open(folder, name="x", dimension=DIMENSION)
    owner.kill()
    owner.wait()
    ChromaIndex.open(folder, name="x", dimension=DIMENSION).close()


@given(st.text(max_size=80), st.integers(0, 10_000))
def test_names_are_such_as_chroma_allows(store: str, generation: int) -> None:
    name = generation_name(store, generation)
    assert 3 <= len(name) <= 512
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert ".." not in name
    assert name[0].isalnum()
    assert name[-1].isalnum()
    assert generation_name(store + "x", generation) != name
    assert generation_name(store, generation + 1) != name


def test_generations_are_made_switched_to_and_dropped(tmp_path: Path) -> None:
    first = ChromaIndex.open(tmp_path / "chroma", name="x", dimension=DIMENSION)
    other = ChromaIndex.open(tmp_path / "chroma", name="x y", dimension=DIMENSION)
    put(first, unit_vectors(4))
    second = first.next_generation(dimension=3)
    put(second, unit_vectors(2, dimension=3))
    assert first.generations() == [1, 2]
    assert (first.count(), second.count()) == (4, 2)
    second.drop_generation(1)
    second.drop_generation(1)
    second.drop_generation(2)
    assert second.generations() == [2]
    assert other.generations() == [1]
    # What a rebuild left half done is not mistaken for whole.
    assert second.next_generation().count() == 0
    for index in (first, second, other):
        index.close()


def test_a_generation_dropped_by_somebody_else_is_an_error_not_an_empty_answer(tmp_path: Path) -> None:
    index = ChromaIndex.open(tmp_path / "chroma", name="x", dimension=DIMENSION)
    other = ChromaIndex.open(tmp_path / "chroma", name="x", generation=2, dimension=DIMENSION)
    put(index, unit_vectors(4))
    other.drop_generation(1)
    with pytest.raises(IndexUnavailableError, match="was deleted"):
        index.query(unit_vectors(1)[0], 1, None)
    index.reset()
    assert index.count() == 0
    index.close()
    other.close()


def test_another_dimension_is_refused_on_opening(tmp_path: Path) -> None:
    for fill in (False, True):
        index = ChromaIndex.open(tmp_path / f"{fill}", name="x", dimension=DIMENSION)
        if fill:
            put(index, unit_vectors(1))
        index.close()
        with pytest.raises(IndexMismatchError, match=r"rebuild_index\(embedder=\.\.\.\)"):
            ChromaIndex.open(tmp_path / f"{fill}", name="x", dimension=DIMENSION + 1)


def test_a_collection_of_the_callers_is_checked(tmp_path: Path) -> None:
    client = chromadb.EphemeralClient(quiet())
    l2 = client.create_collection(uuid4().hex, embedding_function=None)
    with pytest.raises(IndexMismatchError, match="l2"):
        ChromaIndex.open(l2, name="x", dimension=DIMENSION)
    cosine = client.create_collection(
        uuid4().hex, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    cosine.add(ids=["theirs"], embeddings=[[1.0, 2.0]], documents=["theirs"])
    with pytest.raises(IndexMismatchError, match="dimension 2"):
        ChromaIndex.open(cosine, name="x", dimension=DIMENSION)
    legacy = client.create_collection(uuid4().hex, embedding_function=None, metadata={"hnsw:space": "cosine"})
    ChromaIndex.open(legacy, name="x", dimension=DIMENSION)


def test_two_stores_share_a_collection_of_the_callers() -> None:
    client = chromadb.EphemeralClient(quiet())
    collection = client.create_collection(
        uuid4().hex, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    one = ChromaIndex.open(collection, name="one", dimension=DIMENSION)
    two = ChromaIndex.open(collection, name="two", dimension=DIMENSION)
    row = unit_vectors(1)
    put(one, row, first=1)
    put(two, row, first=2)
    assert [id_ for id_, _ in one.query(row[0], 5, None)] == [record_id(1)]
    assert [id_ for id_, _ in two.query(row[0], 5, ("a",))] == [record_id(2)]
    assert (one.count(), list(two.ids())) == (1, [record_id(2)])
    assert one.next_generation().count() == 0
    assert two.count() == 1


@pytest.mark.parametrize("where", [None, 7, object(), "ftp://host", "http://", "http://host:notaport"])
def test_what_cannot_hold_an_index_is_bad_input(where: object) -> None:
    with pytest.raises(InvalidInputError, match=r"^index: "):
        ChromaIndex.open(where, name="x", dimension=DIMENSION, patience=0.1)  # type: ignore[arg-type]


def test_a_server_stopped_and_started_again(tmp_path: Path) -> None:
    with ChromaServer(tmp_path / "data") as server:
        index = ChromaIndex.open(server.url, name="x", dimension=DIMENSION, patience=30)
        rows = unit_vectors(5)
        ids = put(index, rows)
        server.stop(kill=True)
        for use in (
            lambda: index.query(rows[0], 1, None),
            lambda: put(index, rows),
            lambda: index.delete(ids),
        ):
            with pytest.raises(IndexUnavailableError):
                use()
        server.start()
        ChromaIndex.open(server.url, name="x", dimension=DIMENSION, patience=30).close()
        assert index.unreachable(ids, rows) == []
        assert index.query(rows[0], 1, ("a",))[0][0] == ids[0]
        index.close()


def test_a_server_that_hangs_does_not_hang_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma_source, "_REQUEST_SECONDS", 0.5)
    with ChromaServer(tmp_path / "data") as server:
        index = ChromaIndex.open(server.url, name="x", dimension=DIMENSION, patience=30)
        assert server.process_id is not None
        os.kill(server.process_id, signal.SIGSTOP)
        with pytest.raises(IndexUnavailableError):
            index.count()
        os.kill(server.process_id, signal.SIGCONT)
        assert index.count() == 0
        index.close()


def test_something_that_is_no_chroma_server(tmp_path: Path) -> None:
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Teapot(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Teapot)
    Thread(target=server.serve_forever, daemon=True).start()
    with pytest.raises(IndexUnavailableError):
        ChromaIndex.open(
            f"http://127.0.0.1:{server.server_port}", name="x", dimension=DIMENSION, patience=0.2
        )
    server.shutdown()
    server.server_close()


def test_a_client_that_the_caller_closed(tmp_path: Path) -> None:
    client = chromadb.PersistentClient(str(tmp_path / "chroma"), settings=quiet())
    index = ChromaIndex.open(client, name="x", dimension=DIMENSION)
    client.close()  # type: ignore[attr-defined]
    with pytest.raises(IndexUnavailableError):
        index.count()


def test_nothing_is_sent_to_anybody_and_no_model_is_fetched(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        index = ChromaIndex.open(tmp_path / "chroma", name="x", dimension=DIMENSION)
        client = index._source.client
        assert client.get_settings().anonymized_telemetry is False
        put(index, unit_vectors(1))
        index.close()
    again = chromadb.PersistentClient(str(tmp_path / "chroma"), settings=quiet())
    collection = again.get_collection(generation_name("x", 1), embedding_function=None)
    assert collection.configuration["embedding_function"] is None
    again.close()


def test_the_self_audit_finds_records_that_the_graph_lost(tmp_path: Path) -> None:
    index = ChromaIndex.open(tmp_path / "chroma", name="x", dimension=DIMENSION)
    rows = unit_vectors(50)
    ids = put(index, rows)
    assert index.unreachable(ids, rows) == []
    index.delete(ids[:3])
    assert index.unreachable(ids, rows) == ids[:3]
    # Thirty records of one vector: the audit does not take the crowd for a loss.
    same = np.repeat(unit_vectors(1, seed=5), 30, axis=0)
    crowd = put(index, same, first=100)
    assert index.unreachable(crowd, same) == []
    index.close()


def test_calls_to_one_database_of_this_process_take_turns() -> None:
    """While one thread writes, Chroma fails the query of another: "Error finding id", once in some hundred times."""
    client, another = chromadb.EphemeralClient(quiet()), chromadb.EphemeralClient(quiet())
    collection = another.create_collection(uuid4().hex, embedding_function=None)
    for where in (client, another, collection):
        entered = Event()

        def enter(where: object = where, entered: Event = entered) -> None:
            with chroma_source.source_at(where, 0.0).session("a query"):
                entered.set()

        with chroma_source.source_at(client, 0.0).session("a write"):
            thread = Thread(target=enter)
            thread.start()
            assert not entered.wait(0.2)
        thread.join(30)
        assert entered.is_set()


def test_calls_to_a_server_wait_for_nobody(chroma_server: ChromaServer) -> None:
    client = chromadb.HttpClient(host="127.0.0.1", port=chroma_server.port, settings=quiet())
    with chroma_source.source_at(client, 0.0).session("a write"):
        thread = Thread(target=chroma_source.source_at(client, 0.0).session("a query").__enter__)
        thread.start()
        thread.join(30)
        assert not thread.is_alive()

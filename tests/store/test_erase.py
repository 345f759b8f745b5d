"""Erase leaves nothing, and says truly where something may be left (DESIGN section 4, rule 16)."""

import subprocess
import sys
from pathlib import Path

import pytest

from ko_integrations import Fact, KnowledgeStore, Predicate, Vocabulary
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.protocols import Embedder
from ko_integrations.testing.chroma_server import ChromaServer
from ko_integrations.testing.scattered import ScatteredEmbedder
from ko_integrations.testing.traces import find_traces

SUBJECT = "Zaphod Quibbleton"
SECRETS = {
    "subject": SUBJECT,
    "normalised": SUBJECT.lower(),
    "old value": "frumious-bandersnatch",
    "value": 'say "ꙮꙮꙮ" to \u2603',
    "token": "ꙮꙮꙮ",
    "metadata": "vorpal-sword",
    "source": "jabberwock.txt",
    "member": "slithy-toves",
}


def scan(folder: Path, copy: Path, **wanted: object) -> dict[str, list[str]]:
    """Look into a copy: a file of SQLite that this process opens and closes loses the locks held on it."""
    subprocess.run(["cp", "-r", str(folder), str(copy)], check=True)
    return find_traces(copy, **wanted)  # type: ignore[arg-type]


def fill(store: KnowledgeStore) -> dict[str, str]:
    """Store several hundred facts and the secrets among them; return the secrets' slot ids."""
    others = [Fact(subject=f"person {n}", predicate="city", object=f"town {n % 37}") for n in range(300)]
    store.update_many(others[:150])
    store.update(SUBJECT, "verdict", SECRETS["old value"], source=SECRETS["source"])
    store.update(SUBJECT, "friend", SECRETS["member"])
    store.drain()
    store.update(SUBJECT, "verdict", SECRETS["value"], metadata={"with": SECRETS["metadata"]})
    store.update("person 3", "idol", SUBJECT)
    store.update_many(others[150:])
    store.drain()
    kos = [*store.history(SUBJECT, "verdict"), *store.history(SUBJECT, "friend")]
    return {f"slot {n}": ko.id for n, ko in enumerate(kos)}


def vectors(embedder: Embedder) -> dict[str, object]:
    texts = [f"{SUBJECT} verdict {SECRETS['old value']}", f"{SUBJECT} verdict {SECRETS['value']}"]
    return dict(zip(("old vector", "vector"), embedder.encode(texts), strict=True))


def test_no_byte_of_it_is_left_in_any_file(tmp_path: Path) -> None:
    embedder = ScatteredEmbedder()  # of the alike vectors of alike texts HNSW loses one now and then
    vocabulary = Vocabulary([Predicate(name="friend", cardinality="set")])
    store = KnowledgeStore.open(tmp_path / "m", embedder=embedder, vocabulary=vocabulary)
    slots = fill(store)
    wanted = {"texts": SECRETS | slots, "vectors": vectors(embedder)}
    before = scan(tmp_path / "m", tmp_path / "before", **wanted)
    assert set(before) >= set(SECRETS) | set(slots) | {"vector"} - {"normalised"}, (
        "the scan sees what is there"
    )
    chains = {n: store.history(f"person {n}", "city") for n in range(0, 300, 7)}

    report = store.erase(SUBJECT, mentions=True)

    assert (report.complete, report.remaining, report.erased) == (True, (), 3)
    assert scan(tmp_path / "m", tmp_path / "after", **wanted) == {}
    assert {n: store.history(f"person {n}", "city") for n in range(0, 300, 7)} == chains
    assert store.verify().ok
    for n in (0, 99, 299):
        assert any(
            hit.ko.subject == f"person {n}" for hit in store.read(f"person {n} city town {n % 37}", k=3)
        )
    store.close()
    assert scan(tmp_path / "m", tmp_path / "closed", **wanted) == {}


def test_erasing_a_version_a_source_and_a_namespace(tmp_path: Path, embedder: HashingEmbedder) -> None:
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        view = store.namespace("acme", "zq-tenant")
        for value in ("frumious-one", "frumious-two", "frumious-three"):
            view.update("thing", "colour", value, source=f"src-{value}")
        view.drain()
        assert view.erase("thing", "colour", "frumious-one").complete
        assert view.erase_source("src-frumious-two").complete
        assert view.read_exact("thing", "colour").object == "frumious-three"
        assert [hit.ko.object for hit in view.read("thing colour")] == ["frumious-three"]
        gone = {"one": "frumious-one", "two": "frumious-two"}
        assert scan(tmp_path / "m", tmp_path / "some", texts=gone) == {}
        assert view.erase_namespace().complete
        rest = {"three": "frumious-three", "tenant": "zq-tenant"}
        assert scan(tmp_path / "m", tmp_path / "all", texts=gone | rest) == {}


def test_a_process_that_does_not_own_the_index_says_so_and_the_owner_finishes(tmp_path: Path) -> None:
    embedder = ScatteredEmbedder()  # as in the first test: `verify` queries every record's own vector
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as owner:
        fill(owner)
        code = (
            "from ko_integrations import KnowledgeStore\n"
            "from ko_integrations.testing.scattered import ScatteredEmbedder\n"
            f"s = KnowledgeStore.open({str(tmp_path / 'm')!r}, embedder=ScatteredEmbedder())\n"
            f"r = s.erase({SUBJECT!r}, mentions=True); print(r.complete, len(r.remaining)); s.close()"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["False", "1"]
        assert owner.facts(SUBJECT) == []
        assert all(hit.ko.subject != SUBJECT for hit in owner.read(f"{SUBJECT} verdict", k=20))
        owner.drain()
        assert scan(tmp_path / "m", tmp_path / "after", texts=SECRETS) == {}
        assert owner.verify().ok


def test_on_a_chroma_server_no_query_returns_it_and_the_report_says_where_it_may_be(tmp_path: Path) -> None:
    embedder = ScatteredEmbedder()  # as in the first test
    with (
        ChromaServer(tmp_path / "server") as server,
        KnowledgeStore.open(tmp_path / "m", embedder=embedder, index=server.wait().url) as store,
    ):
        fill(store)
        report = store.erase(SUBJECT, mentions=True)
        assert not report.complete
        assert "Chroma" in report.remaining[0]
        assert all(hit.ko.subject != SUBJECT for hit in store.read(f"{SUBJECT} verdict", k=20))
        assert store.verify().ok


@pytest.mark.postgres
def test_on_postgres_no_query_returns_it_and_the_report_says_where_it_may_be(
    postgres_url: str, embedder: HashingEmbedder
) -> None:
    with KnowledgeStore.open(postgres_url, embedder=embedder) as store:
        fill(store)
        report = store.erase(SUBJECT, mentions=True)
        assert not report.complete
        assert "back-ups" in report.remaining[0]
        assert store.facts(SUBJECT) == []
        assert store.history("person 3", "idol") == []

"""What hostile use found: each of these went wrong once."""

import io
import threading
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from pathlib import Path

import pytest

from ko_integrations import Fact, KnowledgeStore, Predicate, Vocabulary
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import EmbedderError, InvalidInputError, StoreClosedError


def test_closing_under_reading_threads_is_an_error_of_theirs(
    tmp_path: Path, embedder: HashingEmbedder
) -> None:
    store = KnowledgeStore.open(tmp_path / "m", embedder=embedder, index=False)
    store.update_many(Fact(subject=f"s{n}", predicate="p", object=n) for n in range(50))
    ended: list[BaseException] = []

    def read() -> None:
        try:
            while True:
                store.read_exact("s1", "p")
                store.history("s2", "p")
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test must show it
            ended.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    threading.Event().wait(0.3)
    store.close()
    for thread in threads:
        thread.join(10)
    assert [type(error) for error in ended] == [StoreClosedError] * 3


def test_erasing_one_of_two_in_a_sentence_leaves_no_copy_of_the_sentence(store: KnowledgeStore) -> None:
    store.write("Alice's phone is 555-1111 and Bob's phone is 555-2222.")
    store.erase("Alice")
    (bob,) = store.facts("Bob")
    assert "555-1111" not in bob.model_dump_json()


def test_erasing_a_value_reaches_what_was_withdrawn(store: KnowledgeStore) -> None:
    known = store.update("A", "p", "secret", source="src").ko.provenance.recorded_at
    store.withdraw_source("src")
    assert store.erase("A", "p", "secret").erased == 1
    assert store.read_exact("A", "p", known_at=known) is None


def test_a_batch_that_is_rolled_back_leaves_the_index_alone(
    tmp_path: Path, embedder: HashingEmbedder
) -> None:
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        store.update("x", "p", "old")
        store.drain()

        def fail() -> None:
            with store.batch():
                store.update("x", "p", "new")
                store.update("y", "p", "never")
                assert {hit.ko.object for hit in store.read("p", k=5)} == {"new", "never"}
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail()
        assert [hit.ko.object for hit in store.read("p", k=5)] == ["old"]
        assert store.verify().ok


def test_reading_on_after_another_embedder(embedder: HashingEmbedder) -> None:
    with KnowledgeStore.open(":memory:", embedder=embedder) as store:
        store.update("x", "p", "v")
        store.read("x")
        store.rebuild_index(embedder=HashingEmbedder(32))
        assert store.read("x")[0].ko.object == "v"


async def test_an_async_snapshot_is_whole(embedder: HashingEmbedder) -> None:
    with KnowledgeStore.open(":memory:", embedder=embedder) as store:
        store.update_many(Fact(subject=f"s{n}", predicate="p", object=n) for n in range(350))
        assert len([ko async for ko in store.asnapshot()]) == 350


def test_a_time_beyond_the_calendar_is_refused(store: KnowledgeStore) -> None:
    early = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    late = datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=14)))
    for options in ({"valid_from": early}, {"valid_to": late}):
        with pytest.raises(InvalidInputError, match="years 1 to 9999"):
            store.update("a", "p", "x", **options)
    with pytest.raises(InvalidInputError, match="object"):
        store.update("a", "p", early)
    assert store.count() == 0


def test_a_name_means_what_it_meant_then(store: KnowledgeStore, clock) -> None:
    store.update("NYC", "mayor", "Adams")
    store.update("New York City", "mayor", "Koch")
    then = clock.tick()
    clock.tick()
    store.alias("New York City", "NYC")
    assert store.read_exact("NYC", "mayor", known_at=then).object == "Adams"
    assert store.read_exact("New York City", "mayor", known_at=then).object == "Koch"
    assert [ko.object for ko in store.history("NYC", "mayor", known_at=then)] == ["Adams"]
    assert store.read_exact("NYC", "mayor", known_at=clock.tick()) == store.read_exact("NYC", "mayor")


def test_an_alias_of_an_alias_follows(store: KnowledgeStore, clock) -> None:
    store.update("Gotham", "mayor", "C")
    clock.tick()
    store.update("NYC", "mayor", "A")
    store.alias("NYC", "Gotham")
    store.alias("New York", "NYC")
    assert {store.read_exact(name, "mayor").object for name in ("Gotham", "NYC", "New York")} == {"A"}
    assert len(store.subjects()) == 1


def test_an_alias_is_declared_or_dropped_by_its_own_subject(store: KnowledgeStore) -> None:
    store.update("NYC", "mayor", "A")
    store.alias("NYC", "Gotham")
    for alias, drop in ((None, None), ("Big Apple", "Gotham")):
        with pytest.raises(InvalidInputError, match=r"^alias: name one to declare, or one to drop"):
            store.alias("NYC", alias, drop=drop)
    with pytest.raises(InvalidInputError, match=r"^drop: 'Gotham' is another name of 'nyc'"):
        store.alias("Metropolis", drop="Gotham")
    assert store.read_exact("Gotham", "mayor").object == "A"
    assert store.read_exact("Big Apple", "mayor") is None
    assert store.alias("NYC", drop="Big Apple") == 0  # it never was one
    store.alias("NYC", drop="Gotham")
    assert store.read_exact("Gotham", "mayor") is None


def test_a_vocabulary_is_not_changed_in_a_batch(store: KnowledgeStore) -> None:
    with pytest.raises(InvalidInputError, match="use_vocabulary"), store.batch():
        store.use_vocabulary(Vocabulary([Predicate(name="phone")], mode="strict"))
    store.update("a", "colour", "x")


def test_a_follower_is_not_told_too_early_that_there_is_no_more(store: KnowledgeStore) -> None:
    store.namespace("other").update_many(Fact(subject=f"s{n}", predicate="p", object=n) for n in range(30))
    view = store.namespace("mine")
    view.update("x", "p", 1)
    page = view.changes_since(0, limit=10)
    assert [change.ko.object for change in page.items] == [1]
    assert view.changes_since(page.cursor).items == ()


def test_the_latest_changes_are_those_that_a_view_sees(store: KnowledgeStore) -> None:
    view = store.namespace("mine")
    assert view.latest_changes() == ()
    view.update("x", "p", 1)
    view.update("x", "p", 2)
    store.namespace("other").update_many(Fact(subject=f"s{n}", predicate="p", object=n) for n in range(30))
    view.retract("x", "p")
    latest = view.latest_changes(2)
    assert [(change.kind, change.ko and change.ko.object) for change in latest] == [
        ("retracted", None), ("asserted", 2)
    ]  # fmt: skip
    assert tuple(reversed(view.latest_changes())) == view.changes_since(0).items
    assert [change.ko.object for change in store.latest_changes(3)[1:]] == [29, 28]


def test_a_root_handle_on_a_namespace_follows_what_is_below_it(
    embedder: HashingEmbedder, tmp_path: Path
) -> None:
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder) as store:
        store.namespace("beta").update("Bob", "ssn", "1234")
        store.namespace("acme", "x").update("Ann", "ssn", "5678")
    with KnowledgeStore.open(tmp_path / "m", embedder=embedder, namespace=("acme",)) as store:
        assert [change.ko.object for change in store.changes_since(0).items] == ["5678"]


def test_damaged_exports_are_refused_by_line(store: KnowledgeStore) -> None:
    good = '{"ko": 1, "namespace": [], "subject": "s", "predicate": "p", "kind": "s", "value": "v"}\n'
    for bad in (
        '"kind": "i", "value": "x"',
        '"kind": "q", "value": "["',
        '"kind": "s", "value": "v", "valid_from": 5',
    ):
        line = f'{{"ko": 1, "namespace": [], "subject": "s", "predicate": "p", {bad}}}\n'
        with pytest.raises(InvalidInputError, match="line 2"):
            store.import_jsonl(io.StringIO(good + line))
    assert store.count() == 0


def test_the_end_of_what_was_never_stated_leaves_nothing(open_store) -> None:
    store = open_store(vocabulary=Vocabulary([Predicate(name="allergy", cardinality="set")]))
    assert store.retract("Nobody", "x") == []
    assert store.retract("Nobody", "allergy", "milk") == []
    assert store.predicates("Nobody") == []
    assert store.changes_since(0).items == ()


def test_an_embedder_that_raises_anything_is_an_embedder_error(tmp_path: Path) -> None:
    class Broken(HashingEmbedder):
        def encode(self, texts):  # type: ignore[no-untyped-def]
            raise RuntimeError("out of order")

    store = KnowledgeStore.open(tmp_path / "m", embedder=Broken())
    store.update("x", "p", 1)
    with pytest.raises(EmbedderError, match="out of order"):
        store.read("x")
    store.close()


def test_a_relative_folder_stays_where_it_was(tmp_path: Path, monkeypatch, embedder: HashingEmbedder) -> None:
    monkeypatch.chdir(tmp_path)
    store = KnowledgeStore.open("memory", embedder=embedder)
    store.update("x", "p", 1)
    monkeypatch.chdir("/")
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(store.read_exact("x", "p").object))
    thread.start()
    thread.join()
    assert found == [1]
    store.close()


def test_values_beyond_measure_are_refused(store: KnowledgeStore) -> None:
    endless: list[object] = []
    endless.append(endless)
    for value in (10**5000, endless):
        with pytest.raises(InvalidInputError, match="object"):
            store.update("x", "p", value)


def test_odd_arguments_are_refused_by_name(store: KnowledgeStore) -> None:
    class Colour(str, Enum):  # noqa: UP042 - the kind whose str() is not its text
        RED = "red"

    for call, field in (
        (lambda: store.iter_heads(limit=0), "limit"),
        (lambda: store.changes_since(-1), "cursor"),
        (lambda: store.changes_since(10**30), "cursor"),
        (lambda: store.read("x", where={1: 2}), "where"),
        (lambda: store.update("x", "_", 1), "predicate"),
        (lambda: store.update_many(5), "facts"),
        (lambda: store.namespaces(5), "namespace"),
    ):
        with pytest.raises(InvalidInputError, match=f"^{field}"):
            call()
    store.update("x", "p", Colour.RED)
    assert store.update("x", "p", "red").outcome == "confirmed"
    assert store.read_exact("x", "p").valid_from <= datetime.now(UTC)

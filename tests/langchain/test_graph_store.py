"""`KOLangGraphStore`: the contract, and the versions beyond it (PITFALLS 22, 30, 31)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from ko_integrations import KnowledgeStore
from ko_integrations.errors import InvalidInputError
from ko_integrations.langchain import KOLangGraphStore


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2025, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **amount: float) -> datetime:
        self.now += timedelta(**(amount or {"seconds": 1}))
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(embedder: Any, clock: Clock) -> Iterator[KOLangGraphStore]:
    with KnowledgeStore.open(":memory:", embedder=embedder, clock=clock) as store:
        yield KOLangGraphStore(store=store)


@pytest.mark.parametrize(
    "key", ["a.b", "A b", "a-b", "a_b", " lead", "", " ", "ünïcode", "10%", "x" * 500, "a/b\n"]
)
def test_keys_and_namespaces_round_trip_verbatim(memory: KOLangGraphStore, key: str) -> None:
    memory.put(("Users", "Ann B"), key, {"v": 1})
    memory.put(("users", "Ann B"), key + "2", {"v": 2})
    item = memory.get(("Users", "Ann B"), key)
    assert (item.key, item.namespace, item.value) == (key, ("Users", "Ann B"), {"v": 1})
    assert memory.get(("users", "Ann B"), key) is None
    assert [found.key for found in memory.search(("Users",), query="v")] == [key]
    memory.put(("Users", "Ann B"), key, {"v": 3})
    assert len(memory.history(("Users", "Ann B"), key)) == 2
    memory.erase(("Users", "Ann B"), key)
    assert memory.history(("Users", "Ann B"), key) == []


def test_an_overwrite_supersedes_and_keeps_created_at(memory: KOLangGraphStore, clock: Clock) -> None:
    memory.put(("u",), "k", {"city": "Bern"})
    first = memory.get(("u",), "k")
    clock.tick(hours=1)
    memory.put(("u",), "k", {"city": "Basel"})
    second = memory.get(("u",), "k")
    assert second.value == {"city": "Basel"}
    assert second.created_at == first.created_at
    assert second.updated_at >= first.updated_at + timedelta(hours=1)
    assert [item.value["city"] for item in memory.history(("u",), "k")] == ["Bern", "Basel"]


def test_the_same_value_again_is_no_version_but_an_update(memory: KOLangGraphStore, clock: Clock) -> None:
    memory.put(("u",), "k", {"a": 1})
    before = memory.get(("u",), "k")
    clock.tick()
    memory.put(("u",), "k", {"a": 1})
    assert len(memory.history(("u",), "k")) == 1
    assert memory.get(("u",), "k").updated_at > before.updated_at


def test_deleted_and_put_again_is_a_new_item(memory: KOLangGraphStore, clock: Clock) -> None:
    memory.put(("u",), "k", {"a": 1})
    created = memory.get(("u",), "k").created_at
    clock.tick()
    memory.delete(("u",), "k")
    memory.delete(("u",), "k")
    memory.delete(("nobody",), "k")
    assert memory.get(("u",), "k") is None
    assert memory.search(("u",)) == []
    assert memory.list_namespaces() == []
    clock.tick()
    memory.put(("u",), "k", {"a": 1})
    assert memory.get(("u",), "k").created_at > created
    assert len(memory.history(("u",), "k")) == 2


def test_a_prefix_never_crosses_segments(memory: KOLangGraphStore) -> None:
    for namespace in [("team",), ("team2",), ("team", "a"), ("tea", "m")]:
        memory.put(namespace, "k", {"n": list(namespace)})
    assert {item.namespace for item in memory.search(("team",))} == {("team",), ("team", "a")}
    assert memory.search(("te",)) == []
    assert len(memory.search(())) == 4
    found = memory.search(("team",), query="team2")
    assert {item.namespace for item in found} == {("team",), ("team", "a")}


def test_reads_in_a_batch_see_the_state_before_it(memory: KOLangGraphStore) -> None:
    memory.put(("u",), "k", {"v": 1})
    results = memory.batch(
        [
            PutOp(("u",), "k", {"v": 2}),
            GetOp(("u",), "k"),
            PutOp(("u",), "k", {"v": 3}),
            SearchOp(("u",)),
            ListNamespacesOp(),
        ]
    )
    assert results[0] is None
    assert results[1].value == {"v": 1}
    assert [item.value for item in results[3]] == [{"v": 1}]
    assert results[4] == [("u",)]
    assert [item.value["v"] for item in memory.history(("u",), "k")] == [1, 2, 3]


def test_a_batch_is_stored_whole_or_not_at_all(memory: KOLangGraphStore) -> None:
    with pytest.raises(InvalidInputError):
        memory.batch([PutOp(("u",), "good", {"v": 1}), PutOp(("u",), "bad", {"v": float("nan")})])
    assert memory.search(("u",)) == []


@pytest.mark.parametrize("value", [["x"], "x", 1])
def test_a_value_must_be_a_mapping(memory: KOLangGraphStore, value: Any) -> None:
    with pytest.raises(InvalidInputError, match="value"):
        memory.put(("u",), "k", value)
    assert memory.search(("u",)) == []


def test_namespaces_are_checked_in_batches_too(memory: KOLangGraphStore) -> None:
    for operation in [GetOp(("a.b",), "k"), PutOp(("",), "k", {}), SearchOp(("a.b",)), GetOp((1,), "k")]:
        with pytest.raises(InvalidNamespaceError):
            memory.batch([operation])
    memory.put(("u",), "k", {"v": 1})
    with pytest.raises(InvalidInputError, match="filter"):
        memory.search(("u",), filter={"v": {"$regex": "x"}})


def test_filters(memory: KOLangGraphStore) -> None:
    memory.put(("u",), "1", {"n": 1, "tags": ["a"], "who": {"name": "Ann", "age": 3}})
    memory.put(("u",), "2", {"n": 2, "tags": ["a", "b"]})
    memory.put(("u",), "3", {"text": "none"})

    def keys(**filter: Any) -> list[str]:
        return [item.key for item in memory.search(("u",), filter=filter)]

    assert keys(n=1) == ["1"]
    assert keys(n={"$gte": 1, "$lt": 2}) == ["1"]
    assert keys(n={"$gt": 0}) == ["1", "2"]
    assert keys(n={"$ne": 1}) == ["2", "3"]
    assert keys(who={"name": "Ann"}) == ["1"]
    assert keys(tags=["a", "b"]) == ["2"]
    assert [item.key for item in memory.search(("u",), query="n tags", filter={"n": {"$lte": 1}})] == ["1"]


def test_dates_and_words_are_compared_too(memory: KOLangGraphStore) -> None:
    for key, day in (("1", "2024-12-31"), ("2", "2025-01-01"), ("3", 2025)):
        memory.put(("u",), key, {"day": day})
    for filter, expected in (({"$gte": "2025-01-01"}, ["2"]), ({"$lt": "2025"}, ["1"]), ({"$lt": None}, [])):
        assert [item.key for item in memory.search(("u",), filter={"day": filter})] == expected


def test_namespaces_are_listed_by_conditions(memory: KOLangGraphStore) -> None:
    for namespace in [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("z",)]:
        memory.put(namespace, "k", {})
    assert memory.list_namespaces(prefix=("a", "*"), suffix=("c",)) == [("a", "b", "c"), ("a", "x", "c")]
    assert memory.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("z",)]
    assert memory.list_namespaces(limit=2, offset=1) == [("a", "b", "d"), ("a", "x", "c")]
    with pytest.raises(InvalidInputError):
        memory.batch([ListNamespacesOp((MatchCondition("middle", ("a",)),))])


def test_facts_beside_items_are_no_items(memory: KOLangGraphStore) -> None:
    memory.store.namespace("facts").update("Alice", "city", "Basel")
    memory.put(("u",), "k", {"v": "Alice"})
    assert memory.list_namespaces() == [("u",)]
    assert len(memory.search((), query="Alice city")) == 1


# -- meaning ----------------------------------------------------------------------------------------------------
def test_search_ranks_by_the_nearest_text_of_an_item(memory: KOLangGraphStore) -> None:
    memory = KOLangGraphStore(store=memory.store, index={"fields": ["title", "parts[*].text"]})
    memory.put(("d",), "1", {"title": "cooking", "parts": [{"text": "apple pie"}, {"text": "soup"}]})
    memory.put(("d",), "2", {"title": "boats", "parts": []})
    memory.put(("d",), "3", {"other": "no text at all"})
    found = memory.search(("d",), query="apple pie")
    assert [item.key for item in found] == ["1", "2", "3"]
    assert found[0].score == pytest.approx(1, abs=1e-5)
    assert found[2].score is None
    assert memory.search(("d",), query="boats")[0].key == "2"
    memory.put(("d",), "1", {"title": "cooking", "parts": [{"text": "soup"}]})
    assert memory.search(("d",), query="apple pie", limit=1)[0].score < 0.9


def test_index_false_takes_effect_on_the_same_value_too(memory: KOLangGraphStore) -> None:
    """In-memory keeps the old vector (langgraph 8214)."""
    memory.put(("d",), "k", {"text": "apple"})
    assert memory.search(("d",), query="apple")[0].score is not None
    memory.put(("d",), "k", {"text": "apple"}, index=False)
    [found] = memory.search(("d",), query="apple")
    assert found.score is None
    assert len(memory.history(("d",), "k")) == 1
    memory.put(("d",), "k", {"text": "apple"}, index=["text"])
    assert memory.search(("d",), query="apple")[0].score == pytest.approx(1, abs=1e-5)


def test_pages_do_not_overlap(memory: KOLangGraphStore) -> None:
    for number in range(7):
        memory.put(
            ("d", str(number % 2)),
            f"k{number}",
            {"text": f"apple {number}"},
            index=False if number > 4 else None,
        )
    for query in (None, "apple 1"):
        pages = [memory.search(("d",), query=query, limit=3, offset=offset) for offset in (0, 3, 6)]
        assert [len(page) for page in pages] == [3, 3, 1]
        assert len({item.key for page in pages for item in page}) == 7


def test_without_an_index_a_query_is_ignored(memory: KOLangGraphStore, embedder: Any) -> None:
    plain = KOLangGraphStore(store=memory.store, index=False)
    plain.put(("d",), "1", {"text": "apple"})
    embedder.calls.clear()
    assert [item.score for item in plain.search(("d",), query="apple")] == [None]
    assert embedder.calls == []


def test_the_index_configuration_must_be_the_stores(memory: KOLangGraphStore, embedder: Any) -> None:
    KOLangGraphStore(store=memory.store, index={"dims": embedder.dimension})
    with pytest.raises(InvalidInputError, match="dims"):
        KOLangGraphStore(store=memory.store, index={"dims": 7})
    with pytest.raises(InvalidInputError, match="embed"):
        KOLangGraphStore(
            store=memory.store, index={"dims": embedder.dimension, "embed": lambda texts: [[1.0]]}
        )


# -- time ---------------------------------------------------------------------------------------------------------
def test_an_item_ends_after_its_time_to_live(memory: KOLangGraphStore, clock: Clock) -> None:
    memory.put(("u",), "k", {"v": 1}, ttl=1)
    clock.tick(seconds=59)
    assert memory.get(("u",), "k", refresh_ttl=False) is not None
    clock.tick(seconds=1)
    assert memory.get(("u",), "k") is None
    assert memory.search(("u",), query="v") == []
    assert memory.list_namespaces() == []


def test_reading_starts_the_time_anew_and_is_no_update(memory: KOLangGraphStore, clock: Clock) -> None:
    memory.put(("u",), "k", {"v": 1}, ttl=1)
    updated = memory.get(("u",), "k").updated_at
    for read in (lambda: memory.get(("u",), "k"), lambda: memory.search(("u",), query="v")):
        clock.tick(seconds=40)
        assert read()
    item = memory.get(("u",), "k")
    assert item.updated_at == updated
    assert len(memory.history(("u",), "k")) == 1
    clock.tick(seconds=61)
    assert memory.get(("u",), "k") is None


def test_no_older_value_shows_again_when_a_shorter_one_ends(memory: KOLangGraphStore, clock: Clock) -> None:
    memory.put(("u",), "k", {"v": "old"}, ttl=100)
    clock.tick()
    memory.put(("u",), "k", {"v": "new"}, ttl=1)
    clock.tick(minutes=2)
    assert memory.get(("u",), "k") is None
    memory.put(("u",), "j", {"v": "old"})
    memory.put(("u",), "j", {"v": "new"}, ttl=1)
    memory.put(("u",), "j", {"v": "last"})
    clock.tick(minutes=200)
    assert memory.get(("u",), "j").value == {"v": "last"}


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), 1e300])
def test_a_time_to_live_must_be_one(memory: KOLangGraphStore, ttl: float) -> None:
    with pytest.raises(InvalidInputError, match="ttl"):
        memory.put(("u",), "k", {"v": 1}, ttl=ttl)
    assert memory.get(("u",), "k") is None


def test_default_time_to_live(memory: KOLangGraphStore, clock: Clock) -> None:
    timed = KOLangGraphStore(store=memory.store, ttl={"default_ttl": 1, "refresh_on_read": False})
    timed.put(("u",), "k", {"v": 1})
    timed.put(("u",), "for ever", {"v": 2}, ttl=None)
    clock.tick(seconds=40)
    timed.get(("u",), "k")
    clock.tick(seconds=30)
    assert [item.key for item in timed.search(("u",))] == ["for ever"]


def test_the_past_can_be_read(memory: KOLangGraphStore, clock: Clock) -> None:
    memory.put(("u",), "k", {"city": "Bern"})
    then = clock.tick(hours=1)
    clock.tick(hours=1)
    memory.put(("u",), "k", {"city": "Basel"})
    memory.put(("u",), "later", {"city": "Chur"})
    assert memory.get(("u",), "k", as_of=then).value == {"city": "Bern"}
    assert [item.value for item in memory.search((), as_of=then)] == [{"city": "Bern"}]
    assert [item.value for item in memory.search(("u",), query="city", as_of=then)] == [{"city": "Bern"}]
    memory.delete(("u",), "k")
    memory.delete(("u",), "later")
    assert [item.key for item in memory.search(("u",), as_of=then)] == ["k"]


def test_erase_leaves_nothing(memory: KOLangGraphStore) -> None:
    memory.put(("u",), "k", {"secret": "x"})
    memory.put(("u",), "k", {"secret": "y"})
    assert memory.erase(("u",), "k").complete
    assert memory.get(("u",), "k") is None
    assert memory.history(("u",), "k") == []


async def test_async_does_as_sync(memory: KOLangGraphStore, clock: Clock) -> None:
    await memory.aput(("u",), "k", {"v": 1})
    await memory.aput(("u",), "k", {"v": 2})
    assert (await memory.aget(("u",), "k")).value == {"v": 2}
    assert len(await memory.ahistory(("u",), "k")) == 2
    assert len(await memory.asearch(("u",), query="v")) == 1
    assert await memory.alist_namespaces() == [("u",)]
    assert (await memory.aget(("u",), "k", as_of=clock.now - timedelta(days=1))) is None
    await memory.adelete(("u",), "k")
    assert await memory.abatch([GetOp(("u",), "k")]) == [None]


@pytest.mark.parametrize("page", [{"limit": -1}, {"offset": -1}])
def test_a_page_does_not_start_before_the_first_item(memory: KOLangGraphStore, page: dict[str, int]) -> None:
    memory.put(("a",), "k", {"text": "x"})
    for look in (
        lambda: memory.search(("a",), **page),
        lambda: memory.search(("a",), query="x", **page),
        lambda: memory.list_namespaces(**page),
    ):
        with pytest.raises(InvalidInputError, match=f"^{next(iter(page))}: "):
            look()

"""`KOLangGraphStore` against LangGraph's `InMemoryStore`, over random sequences of operations.

Differences are allowed where the in-memory store is known to be wrong: it makes a new `created_at` on an
overwrite; it keeps the vectors of an older value (or of the same one, after `index=False`); it lists
namespaces that hold nothing, or were only read; it raises on comparing a field that is missing, and on
one text under two fields; and its pages repeat the items that are not indexed.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.langchain import KOLangGraphStore

EMBEDDER = HashingEmbedder(dimension=32)
LABELS = st.sampled_from(["a", "b", "ab"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
PREFIXES = st.lists(LABELS, max_size=2).map(tuple)
KEYS = st.sampled_from(["k", "K", "k ", "", "k.1", "é"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["x", "y", "é", "3"])
VALUES = st.fixed_dictionaries(
    {"n": st.integers(-3, 3)},
    optional={
        "s": SCALARS,
        "l": st.lists(SCALARS, max_size=2),
        "d": st.dictionaries(st.sampled_from("pq"), SCALARS),
    },
)
NUMBERS = st.dictionaries(
    st.sampled_from(["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"]), st.integers(-3, 3), min_size=1, max_size=2
)
FILTERS = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "n": st.integers(-3, 3) | NUMBERS,
        "s": SCALARS,
        "d": st.dictionaries(st.sampled_from("pq"), SCALARS),
    },
)

PUTS = st.tuples(NAMESPACES, KEYS, st.none() | VALUES).map(lambda parts: PutOp(*parts))
GETS = st.tuples(NAMESPACES, KEYS).map(lambda parts: GetOp(*parts))
SEARCHES = st.tuples(PREFIXES, FILTERS).map(lambda parts: SearchOp(*parts))
CONDITIONS = st.builds(
    MatchCondition,
    st.sampled_from(["prefix", "suffix"]),
    st.lists(LABELS | st.just("*"), min_size=1, max_size=2).map(tuple),
)
LISTS = st.tuples(st.lists(CONDITIONS, max_size=2).map(tuple), st.none() | st.integers(1, 3)).map(
    lambda parts: ListNamespacesOp(*parts)
)
BATCHES = st.lists(st.lists(PUTS | PUTS | GETS | SEARCHES | LISTS, min_size=1, max_size=5), max_size=12)


def embed(texts: list[str]) -> list[list[float]]:
    return [[float(x) for x in row] for row in EMBEDDER.encode(texts)]


@pytest.fixture(scope="module")
def shared() -> Iterator[KnowledgeStore]:
    """One store for every example, emptied between them: opening costs more than an example does."""
    with KnowledgeStore.open(":memory:", embedder=EMBEDDER) as store:
        yield store


def stores(shared: KnowledgeStore, fields: list[str] | None) -> tuple[KOLangGraphStore, InMemoryStore]:
    ours = KOLangGraphStore(store=shared, index={"fields": fields} if fields else False)
    for item in ours.search((), limit=1_000):
        ours.delete(item.namespace, item.key)
    reference = (
        InMemoryStore(index={"dims": 32, "embed": embed, "fields": fields}) if fields else InMemoryStore()
    )
    return ours, reference


def plain(result: Any) -> Any:
    """Return a result without what may differ: times, and the order of items."""
    if isinstance(result, list):
        return sorted((plain(item) for item in result), key=repr)
    if isinstance(result, Item):
        score = (
            round(result.score, 4) if isinstance(result, SearchItem) and result.score is not None else None
        )
        return result.namespace, result.key, sorted(result.value.items()), score
    return result


def expected_of(reference: InMemoryStore, batch: list[Op]) -> list[Any]:
    """Return what the reference says, namespaces without items left out of what is listed."""
    clean = InMemoryStore()
    clean._data.update({namespace: dict(items) for namespace, items in reference._data.items() if items})
    listed = {i: clean.batch([op])[0] for i, op in enumerate(batch) if isinstance(op, ListNamespacesOp)}
    return [listed.get(i, result) for i, result in enumerate(reference.batch(batch))]


@settings(max_examples=150, deadline=None)
@given(BATCHES)
def test_the_same_operations_give_the_same_results(shared: KnowledgeStore, batches: list[list[Op]]) -> None:
    ours, reference = stores(shared, None)
    for batch in batches:
        wide = [op._replace(limit=1_000) if isinstance(op, SearchOp) else op for op in batch]
        expected = expected_of(reference, wide)
        got = ours.batch(wide)
        for op, one, other in zip(batch, got, expected, strict=True):
            assert plain(one) == plain(other), op


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(KEYS, st.none() | VALUES), max_size=12),
    st.integers(0, 4),
    st.integers(1, 4),
    FILTERS,
)
def test_pages_of_a_namespace_come_in_the_order_of_creation(
    shared: KnowledgeStore, puts: list[tuple[str, Any]], offset: int, limit: int, filter: Any
) -> None:
    ours, reference = stores(shared, None)
    for key, value in puts:
        for store in (ours, reference):
            store.batch([PutOp(("a",), key, value)])
    op = SearchOp(("a",), filter, limit, offset)
    assert [item.key for item in ours.batch([op])[0]] == [item.key for item in reference.batch([op])[0]]


TEXTS = st.text("abc ", min_size=1, max_size=8).filter(str.strip)


@pytest.mark.parametrize("fields", [["$"], ["t"], ["t", "l[*]"]])
@settings(max_examples=40, deadline=None)
@given(
    items=st.dictionaries(
        st.tuples(st.sampled_from([("a",), ("a", "b"), ("c",)]), KEYS),
        st.tuples(
            st.fixed_dictionaries({"t": TEXTS}, optional={"l": st.lists(TEXTS, max_size=3)}).filter(
                lambda value: len({value["t"], *value.get("l", ())}) == 1 + len(value.get("l", ()))
            ),
            st.sampled_from([None, False, ["t"]]),
        ),
        max_size=8,
    ),
    query=TEXTS,
    prefix=st.sampled_from([(), ("a",), ("c",)]),
)
def test_search_by_meaning_scores_the_same(
    shared: KnowledgeStore, fields: list[str], items: Any, query: str, prefix: Any
) -> None:
    ours, reference = stores(shared, fields)
    for (namespace, key), (value, index) in items.items():
        for store in (ours, reference):
            store.put(namespace, key, value, index=index)
    got, expected = (
        {(item.namespace, item.key): item.score for item in store.search(prefix, query=query, limit=50)}
        for store in (ours, reference)
    )
    assert got.keys() == expected.keys()
    for key, score in expected.items():
        assert (got[key] is None) == (score is None)
        assert score is None or got[key] == pytest.approx(score, abs=1e-4)

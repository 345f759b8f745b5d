"""What a LlamaIndex vector store must do."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)

__all__ = ["DIMENSION", "VectorStoreSuite"]

DIMENSION = 8
"""Length of the vectors that the suite writes."""

Reopen = Callable[[BasePydanticVectorStore], BasePydanticVectorStore]


def vector(*parts: float) -> list[float]:
    """Return a vector that starts with `parts`, padded with zeros."""
    return [*parts, *([0.0] * (DIMENSION - len(parts)))]


def node(
    id: str, at: list[float], text: str | None = None, *, doc: str | None = None, **metadata: Any
) -> TextNode:
    """Return a node with a vector, of a document where one is given."""
    relationships = {} if doc is None else {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=doc)}
    return TextNode(id_=id, text=text or id, embedding=at, metadata=metadata, relationships=relationships)


def found(
    store: BasePydanticVectorStore,
    at: list[float] | None = None,
    k: int = 10,
    filters: MetadataFilters | None = None,
    **options: Any,
) -> list[str]:
    """Return the ids that a query gives, best first."""
    query = VectorStoreQuery(
        query_embedding=at or vector(1, 1), similarity_top_k=k, filters=filters, **options
    )
    return list(store.query(query).ids or [])


def where(
    key: str, operator: FilterOperator, value: Any, condition: FilterCondition = FilterCondition.AND
) -> MetadataFilters:
    """Return a filter of one condition."""
    return MetadataFilters(
        filters=[MetadataFilter(key=key, value=value, operator=operator)], condition=condition
    )


_OPERATORS: list[tuple[FilterOperator, str, Any, set[str]]] = [
    (FilterOperator.EQ, "colour", "red", {"a"}),
    (FilterOperator.EQ, "year", 2020, {"b"}),
    (FilterOperator.NE, "colour", "red", {"b", "c"}),
    (FilterOperator.GT, "year", 2019, {"b"}),
    (FilterOperator.GTE, "year", 2019, {"a", "b"}),
    (FilterOperator.LT, "year", 2020, {"a"}),
    (FilterOperator.LTE, "year", 2020, {"a", "b"}),
    (FilterOperator.IN, "colour", ["red", "blue"], {"a", "b"}),
    (FilterOperator.NIN, "colour", ["red"], {"b", "c"}),
    (FilterOperator.TEXT_MATCH, "colour", "re", {"a"}),
    (FilterOperator.TEXT_MATCH_INSENSITIVE, "colour", "RE", {"a"}),
    (FilterOperator.IS_EMPTY, "colour", None, {"c"}),
]

_LIST_OPERATORS: list[tuple[FilterOperator, Any, set[str]]] = [
    (FilterOperator.CONTAINS, "x", {"a"}),
    (FilterOperator.ANY, ["x", "z"], {"a", "b"}),
    (FilterOperator.ALL, ["x", "y"], {"a"}),
]


class VectorStoreSuite:
    """The conformance suite; vectors have `DIMENSION` numbers, similarity is not less for what is nearer."""

    @pytest.fixture
    def vector_store(self) -> BasePydanticVectorStore:
        """Return an empty store."""
        raise pytest.UsageError("give the suite a fixture `vector_store`")

    @pytest.fixture
    def reopen(self) -> Reopen:
        """Return what opens, from `to_dict` of a store, another one on the same data."""
        pytest.skip("no fixture `reopen`")

    # -- writing ------------------------------------------------------------------------------------------
    def test_a_node_comes_back_as_it_went_in(self, vector_store: BasePydanticVectorStore) -> None:
        went = node("a", vector(1), "Text ü 中", doc="d", n=1, f=0.5, s="x", b=True)
        went.excluded_llm_metadata_keys = ["n"]
        assert vector_store.add([went]) == ["a"]
        [came] = vector_store.get_nodes(node_ids=["a"])
        assert isinstance(came, TextNode)
        assert (came.node_id, came.text, came.ref_doc_id) == ("a", "Text ü 中", "d")
        assert came.metadata == {"n": 1, "f": 0.5, "s": "x", "b": True}
        assert came.excluded_llm_metadata_keys == ["n"]

    def test_metadata_of_any_depth_comes_back(self, vector_store: BasePydanticVectorStore) -> None:
        metadata: dict[str, Any] = {
            "tags": ["x", "y"],
            "deep": {"a": [1, {"b": None}]},
            "none": None,
            "big": 2**70,
        }
        vector_store.add([node("a", vector(1), **metadata)])
        [came] = vector_store.get_nodes(node_ids=["a"])
        assert came.metadata == metadata

    def test_a_node_added_again_supersedes(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1), "old")])
        vector_store.add([node("a", vector(0, 1), "new")])
        result = vector_store.query(VectorStoreQuery(query_embedding=vector(1), similarity_top_k=5))
        assert [found.get_content() for found in result.nodes or []] == ["new"]

    def test_a_node_added_again_has_its_new_vector(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1), "old"), node("b", vector(1, 1))])
        vector_store.add([node("a", vector(-1), "new")])
        assert found(vector_store, vector(1)) == ["b", "a"]

    def test_a_node_added_again_leaves_no_metadata_behind(
        self, vector_store: BasePydanticVectorStore
    ) -> None:
        vector_store.add([node("a", vector(1), colour="red", year=2020)])
        vector_store.add([node("a", vector(1), colour="blue")])
        assert found(vector_store, filters=where("year", FilterOperator.EQ, 2020)) == []
        assert found(vector_store, filters=where("colour", FilterOperator.EQ, "blue")) == ["a"]

    def test_an_id_twice_in_a_batch_leaves_the_last(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1), "first"), node("a", vector(1), "second")])
        assert [found.get_content() for found in vector_store.get_nodes(node_ids=["a"])] == ["second"]

    def test_nothing_added_is_no_error(self, vector_store: BasePydanticVectorStore) -> None:
        assert vector_store.add([]) == []
        assert found(vector_store) == []

    def test_a_batch_of_any_size_is_stored(self, vector_store: BasePydanticVectorStore) -> None:
        ids = [f"n{i}" for i in range(6_000)]
        vector_store.add([node(id, vector(1, i / 1_000)) for i, id in enumerate(ids)])
        assert len(vector_store.get_nodes(node_ids=[ids[0], ids[-1]])) == 2

    def test_a_vector_of_another_length_is_refused(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1))])
        with pytest.raises(Exception, match=r"(?i)dim|length|shape|expect"):
            vector_store.add([node("b", [1.0, 0.0])])
        assert found(vector_store) == ["a"]

    # -- reading ------------------------------------------------------------------------------------------
    def test_a_query_gives_the_nearest_first_with_similarities(
        self, vector_store: BasePydanticVectorStore
    ) -> None:
        vector_store.add([node("far", vector(0, 1)), node("near", vector(1)), node("mid", vector(1, 1))])
        result = vector_store.query(VectorStoreQuery(query_embedding=vector(1), similarity_top_k=3))
        assert result.ids == ["near", "mid", "far"]
        assert [each.node_id for each in result.nodes or []] == result.ids
        assert result.similarities is not None
        assert len(result.similarities) == 3
        assert result.similarities == sorted(result.similarities, reverse=True)
        assert found(vector_store, vector(1), k=1) == ["near"]

    def test_diverse_results_by_marginal_relevance(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1)), node("twin", vector(1, 0.01)), node("other", vector(1, 1))])
        query = VectorStoreQuery(query_embedding=vector(1), similarity_top_k=2, mode=VectorStoreQueryMode.MMR)
        result = vector_store.query(query, mmr_threshold=0.3)
        assert result.ids == ["a", "other"]
        assert len(result.similarities or []) == 2

    def test_get_nodes_keeps_the_order_asked(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node(id, vector(1)) for id in "abc"])
        assert [n.node_id for n in vector_store.get_nodes(node_ids=["c", "missing", "a"])] == ["c", "a"]

    def test_get_nodes_without_arguments_gives_all(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node(id, vector(1)) for id in "abc"])
        assert {n.node_id for n in vector_store.get_nodes()} == {"a", "b", "c"}

    # -- filters ------------------------------------------------------------------------------------------
    @pytest.fixture
    def coloured(self, vector_store: BasePydanticVectorStore) -> BasePydanticVectorStore:
        """Return a store with three nodes, the third without metadata."""
        vector_store.add(
            [
                node("a", vector(1), colour="red", year=2019),
                node("b", vector(1, 1), colour="blue", year=2020),
                node("c", vector(0, 1)),
            ]
        )
        return vector_store

    @pytest.mark.parametrize(
        ("operator", "key", "value", "ids"),
        _OPERATORS,
        ids=[f"{key} {op.value}" for op, key, _, _ in _OPERATORS],
    )
    def test_filter(
        self,
        coloured: BasePydanticVectorStore,
        operator: FilterOperator,
        key: str,
        value: Any,
        ids: set[str],
    ) -> None:
        assert set(found(coloured, filters=where(key, operator, value))) == ids

    @pytest.mark.parametrize(
        ("operator", "value", "ids"), _LIST_OPERATORS, ids=[op.value for op, _, _ in _LIST_OPERATORS]
    )
    def test_filter_on_lists(
        self, vector_store: BasePydanticVectorStore, operator: FilterOperator, value: Any, ids: set[str]
    ) -> None:
        vector_store.add(
            [
                node("a", vector(1), tags=["x", "y"]),
                node("b", vector(1, 1), tags=["z"]),
                node("c", vector(0, 1)),
            ]
        )
        assert set(found(vector_store, filters=where("tags", operator, value))) == ids

    @pytest.mark.parametrize(
        ("condition", "ids"),
        [(FilterCondition.AND, {"a"}), (FilterCondition.OR, {"a", "b"}), (FilterCondition.NOT, {"c"})],
        ids=["and", "or", "not"],
    )
    def test_condition(
        self, coloured: BasePydanticVectorStore, condition: FilterCondition, ids: set[str]
    ) -> None:
        both = [
            MetadataFilter(key="colour", value="red"),
            MetadataFilter(key="year", value=2019, operator=FilterOperator.GTE),
        ]
        assert set(found(coloured, filters=MetadataFilters(filters=both, condition=condition))) == ids

    def test_nested_conditions(self, coloured: BasePydanticVectorStore) -> None:
        inner = MetadataFilters(
            filters=[MetadataFilter(key="colour", value=c) for c in ("red", "blue")],
            condition=FilterCondition.OR,
        )
        filters = MetadataFilters(filters=[inner, MetadataFilter(key="year", value=2020)])
        assert found(coloured, filters=filters) == ["b"]

    def test_filters_come_before_the_limit(self, coloured: BasePydanticVectorStore) -> None:
        assert found(coloured, vector(0, 1), k=1, filters=where("colour", FilterOperator.EQ, "red")) == ["a"]

    def test_get_nodes_by_filter(self, coloured: BasePydanticVectorStore) -> None:
        nodes = coloured.get_nodes(filters=where("colour", FilterOperator.EQ, "red"))
        assert [n.node_id for n in nodes] == ["a"]

    def test_a_query_within_documents_or_nodes(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1), doc="d1"), node("b", vector(1, 1), doc="d2")])
        assert found(vector_store, doc_ids=["d2"]) == ["b"]
        assert found(vector_store, node_ids=["a"]) == ["a"]

    # -- deleting -----------------------------------------------------------------------------------------
    def test_delete_takes_a_document_out_and_no_other(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1), doc="d1"), node("b", vector(1), doc="d2")])
        vector_store.delete("d1")
        vector_store.delete("d1")
        vector_store.delete("unknown")
        assert found(vector_store) == ["b"]

    def test_delete_shows_what_another_document_said(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1), "Bern", doc="d1")])
        vector_store.add([node("a", vector(1), "Basel", doc="d2")])
        vector_store.delete("d2")
        assert [n.get_content() for n in vector_store.get_nodes(node_ids=["a"])] == ["Bern"]

    def test_a_deleted_document_can_come_again(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1), doc="d1")])
        vector_store.delete("d1")
        vector_store.add([node("a", vector(1), doc="d1")])
        assert found(vector_store) == ["a"]

    def test_delete_nodes_by_id(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node(id, vector(1)) for id in "abc"])
        vector_store.delete_nodes(["a", "unknown"])
        assert set(found(vector_store)) == {"b", "c"}

    def test_delete_nodes_by_filter(self, coloured: BasePydanticVectorStore) -> None:
        coloured.delete_nodes(filters=where("year", FilterOperator.GTE, 2020))
        assert set(found(coloured)) == {"a", "c"}

    def test_delete_nodes_by_both_takes_those_that_are_in_both(
        self, coloured: BasePydanticVectorStore
    ) -> None:
        coloured.delete_nodes(["a", "b"], filters=where("year", FilterOperator.GTE, 2020))
        assert set(found(coloured)) == {"a", "c"}

    def test_delete_nodes_of_no_ids_deletes_nothing(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node("a", vector(1))])
        vector_store.delete_nodes([])
        assert found(vector_store) == ["a"]

    def test_clear_of_an_empty_store_is_no_error(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.clear()
        assert found(vector_store) == []

    def test_clear(self, vector_store: BasePydanticVectorStore) -> None:
        vector_store.add([node(id, vector(1)) for id in "ab"])
        vector_store.clear()
        assert found(vector_store) == []
        vector_store.add([node("a", vector(1))])
        assert found(vector_store) == ["a"]

    # -- around -------------------------------------------------------------------------------------------
    def test_async_does_as_sync(self, vector_store: BasePydanticVectorStore) -> None:
        async def steps() -> None:
            ids = await vector_store.async_add([node(id, vector(1), doc=f"d{id}") for id in "abc"])
            assert ids == ["a", "b", "c"]
            assert [n.node_id for n in await vector_store.aget_nodes(node_ids=["b"])] == ["b"]
            await vector_store.adelete("da")
            await vector_store.adelete_nodes(["b"])
            query = VectorStoreQuery(query_embedding=vector(1), similarity_top_k=5)
            assert (await vector_store.aquery(query)).ids == ["c"]
            await vector_store.aclear()
            assert not (await vector_store.aquery(query)).ids

        asyncio.run(steps())

    def test_it_is_found_again_from_its_data(
        self, vector_store: BasePydanticVectorStore, reopen: Reopen
    ) -> None:
        vector_store.add([node("a", vector(1), "kept")])
        json.dumps(vector_store.to_dict())
        assert [n.get_content() for n in reopen(vector_store).get_nodes(node_ids=["a"])] == ["kept"]

"""What a LlamaIndex property graph store must do."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    EntityNode,
    LabelledNode,
    PropertyGraphStore,
    Relation,
    Triplet,
)
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery

__all__ = ["GraphStoreSuite"]

VECTOR = [1.0, *([0.0] * 7)]
FUNCTIONAL = "CAPITAL"
"""A relation that has one value at a time."""


def relation(source: str, label: str, target: str, chunk: str | None = None, **properties: Any) -> Relation:
    """Return a relation, found in a chunk where one is given."""
    if chunk is not None:
        properties[TRIPLET_SOURCE_KEY] = chunk
    return Relation(label=label, source_id=source, target_id=target, properties=properties)


def put(store: PropertyGraphStore, *relations: Relation) -> None:
    """Store relations one at a time, with their ends, as an index does."""
    for each in relations:
        store.upsert_nodes(
            [
                EntityNode(name=name, properties=dict(each.properties))
                for name in (each.source_id, each.target_id)
            ]
        )
        store.upsert_relations([each])


def plain(triplets: Sequence[Triplet]) -> list[tuple[str, str, str]]:
    """Return triples as names, in order."""
    return sorted((source.id, each.id, target.id) for source, each, target in triplets)


def names(nodes: Sequence[LabelledNode]) -> set[str]:
    """Return the ids of nodes."""
    return {node.id for node in nodes}


class GraphStoreSuite:
    """The conformance suite; `FUNCTIONAL` is a relation of one value at a time."""

    @pytest.fixture
    def graph_store(self) -> PropertyGraphStore:
        """Return an empty store."""
        raise pytest.UsageError("give the suite a fixture `graph_store`")

    # -- nodes ----------------------------------------------------------------------------------------------
    def test_a_node_comes_back_as_it_went_in(self, graph_store: PropertyGraphStore) -> None:
        graph_store.upsert_nodes(
            [EntityNode(name="Ann", label="PERSON", properties={"age": 3, "tags": ["x"]})]
        )
        [node] = graph_store.get(ids=["Ann"])
        assert isinstance(node, EntityNode)
        assert (node.name, node.label, node.properties) == ("Ann", "PERSON", {"age": 3, "tags": ["x"]})

    def test_a_node_stored_again_supersedes(self, graph_store: PropertyGraphStore) -> None:
        graph_store.upsert_nodes([EntityNode(name="Ann", properties={"age": 3, "old": True})])
        graph_store.upsert_nodes([EntityNode(name="Ann", properties={"age": 4})])
        assert [node.properties for node in graph_store.get(ids=["Ann"])] == [{"age": 4}]

    def test_nodes_by_all_of_their_properties(self, graph_store: PropertyGraphStore) -> None:
        graph_store.upsert_nodes(
            [
                EntityNode(name="Ann", properties={"age": 3, "sex": "f"}),
                EntityNode(name="Bob", properties={"age": 3, "sex": "m"}),
            ]
        )
        assert names(graph_store.get(properties={"age": 3, "sex": "f"})) == {"Ann"}
        assert names(graph_store.get(properties={"age": 3}, ids=["Bob"])) == {"Bob"}
        assert names(graph_store.get()) == {"Ann", "Bob"}

    def test_no_ids_mean_no_nodes(self, graph_store: PropertyGraphStore) -> None:
        graph_store.upsert_nodes([EntityNode(name="Ann")])
        assert graph_store.get(ids=[]) == []
        assert graph_store.get(ids=["unknown"]) == []

    def test_chunks_come_back_as_they_went_in(self, graph_store: PropertyGraphStore) -> None:
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="d")}
        graph_store.upsert_llama_nodes(
            [TextNode(id_="c", text="Text.", metadata={"page": 1}, relationships=source)]
        )
        [node] = graph_store.get_llama_nodes(["c"])
        assert (node.node_id, node.get_content(), node.metadata["page"], node.ref_doc_id) == (
            "c",
            "Text.",
            1,
            "d",
        )

    # -- triples ----------------------------------------------------------------------------------------------
    def test_triples_by_what_they_are_made_of(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, relation("Ann", "KNOWS", "Bob", since=1), relation("Bob", "HELPED", "Cid", since=2))
        everything = [("Ann", "KNOWS", "Bob"), ("Bob", "HELPED", "Cid")]
        assert plain(graph_store.get_triplets(entity_names=["Bob"])) == everything
        assert plain(graph_store.get_triplets(ids=["Ann"])) == everything[:1]
        assert plain(graph_store.get_triplets(relation_names=["HELPED"])) == everything[1:]
        assert plain(graph_store.get_triplets(properties={"since": 1})) == everything[:1]
        both = graph_store.get_triplets(entity_names=["Ann"], relation_names=["HELPED"])
        assert plain(both) == []
        assert graph_store.get_triplets() == []

    def test_relations_keep_their_properties(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, relation("Ann", "KNOWS", "Bob", since=1))
        put(graph_store, relation("Ann", "KNOWS", "Bob", since=2))
        [(_, edge, _)] = graph_store.get_triplets(entity_names=["Ann"])
        assert edge.properties == {"since": 2}

    def test_ends_that_nobody_stored_become_nodes(self, graph_store: PropertyGraphStore) -> None:
        graph_store.upsert_relations([relation("Ann", "KNOWS", "Bob")])
        assert names(graph_store.get(ids=["Ann", "Bob"])) == {"Ann", "Bob"}

    def test_a_functional_relation_supersedes(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, *(relation("Kazakhstan", FUNCTIONAL, city) for city in ("Almaty", "Astana")))
        assert plain(graph_store.get_triplets(entity_names=["Kazakhstan"])) == [
            ("Kazakhstan", FUNCTIONAL, "Astana")
        ]
        assert graph_store.get_triplets(entity_names=["Almaty"]) == []

    def test_other_relations_keep_every_edge(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, relation("Ann", "KNOWS", "Bob"), relation("Ann", "KNOWS", "Cid"))
        assert len(graph_store.get_triplets(entity_names=["Ann"])) == 2

    def test_names_that_read_alike_in_a_row_stay_apart(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, relation("a_b", "r", "c", n=1), relation("a", "b_r", "c", n=2))
        triplets = graph_store.get_triplets(entity_names=["c"])
        assert {(source.id, edge.label, edge.properties["n"]) for source, edge, _ in triplets} == {
            ("a_b", "r", 1),
            ("a", "b_r", 2),
        }

    # -- walking ------------------------------------------------------------------------------------------------
    def test_the_surroundings_of_nodes(self, graph_store: PropertyGraphStore) -> None:
        steps = [("a", "R", "b"), ("b", "R", "c"), ("c", "R", "d"), ("x", "R", "a")]
        put(graph_store, *(relation(*step) for step in steps))
        start = graph_store.get(ids=["a"])
        assert plain(graph_store.get_rel_map(start, depth=1)) == [("a", "R", "b"), ("x", "R", "a")]
        assert plain(graph_store.get_rel_map(start, depth=2)) == [steps[0], steps[1], steps[3]]
        assert plain(graph_store.get_rel_map(start, depth=9)) == sorted(steps)
        assert len(graph_store.get_rel_map(start, depth=9, limit=2)) == 2
        assert graph_store.get_rel_map([], depth=2) == []

    def test_ignored_relations_do_not_use_up_the_limit(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, *(relation("a", "SOURCE", f"s{i}") for i in range(3)), relation("a", "R", "b"))
        found = graph_store.get_rel_map(graph_store.get(ids=["a"]), depth=1, limit=1, ignore_rels=["SOURCE"])
        assert plain(found) == [("a", "R", "b")]

    def test_vectors(self, graph_store: PropertyGraphStore) -> None:
        if not graph_store.supports_vector_queries:
            pytest.skip("no vector queries")
        other = [0.0, 1.0, *([0.0] * 6)]
        graph_store.upsert_nodes(
            [EntityNode(name="Ann", embedding=VECTOR), EntityNode(name="Bob", embedding=other)]
        )
        nodes, scores = graph_store.vector_query(VectorStoreQuery(query_embedding=VECTOR, similarity_top_k=2))
        assert [node.id for node in nodes] == ["Ann", "Bob"]
        assert scores == sorted(scores, reverse=True)

    # -- deleting ---------------------------------------------------------------------------------------------
    def test_deleting_a_relation_leaves_its_nodes(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, relation("Ann", "KNOWS", "Bob"), relation("Ann", "HELPED", "Bob"))
        graph_store.delete(relation_names=["KNOWS"])
        assert plain(graph_store.get_triplets(entity_names=["Ann"])) == [("Ann", "HELPED", "Bob")]
        assert names(graph_store.get()) == {"Ann", "Bob"}

    def test_deleting_a_node_takes_its_edges_and_no_other_node(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, relation("Ann", "KNOWS", "Bob"), relation("Bob", "KNOWS", "Cid"))
        graph_store.delete(ids=["Ann"])
        graph_store.delete(ids=["Ann", "unknown"])
        assert names(graph_store.get()) == {"Bob", "Cid"}
        assert plain(graph_store.get_triplets(entity_names=["Bob"])) == [("Bob", "KNOWS", "Cid")]

    def test_deleting_nothing_deletes_nothing(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, relation("Ann", "KNOWS", "Bob"))
        graph_store.delete()
        graph_store.delete(ids=[])
        assert len(graph_store.get()) == 2

    def test_deleting_a_chunk_leaves_what_another_says_too(self, graph_store: PropertyGraphStore) -> None:
        put(
            graph_store,
            relation("Ann", "KNOWS", "Bob", chunk="c1"),
            relation("Ann", "KNOWS", "Bob", chunk="c2"),
        )
        graph_store.delete_llama_nodes(node_ids=["c2"])
        assert plain(graph_store.get_triplets(entity_names=["Ann"])) == [("Ann", "KNOWS", "Bob")]
        graph_store.delete_llama_nodes(node_ids=["c1"])
        assert graph_store.get_triplets(entity_names=["Ann"]) == []

    def test_deleting_a_chunk_shows_what_was_said_before(self, graph_store: PropertyGraphStore) -> None:
        put(
            graph_store,
            relation("Kazakhstan", FUNCTIONAL, "Almaty", chunk="c1"),
            relation("Kazakhstan", FUNCTIONAL, "Astana", chunk="c2"),
        )
        graph_store.delete_llama_nodes(node_ids=["c2"])
        assert plain(graph_store.get_triplets(entity_names=["Kazakhstan"])) == [
            ("Kazakhstan", FUNCTIONAL, "Almaty")
        ]

    def test_deleting_a_document_takes_its_chunks_and_what_they_say(
        self, graph_store: PropertyGraphStore
    ) -> None:
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="d")}
        graph_store.upsert_llama_nodes([TextNode(id_="c1", text="Ann knows Bob.", relationships=source)])
        put(graph_store, relation("Ann", "KNOWS", "Bob", chunk="c1"))
        graph_store.delete_llama_nodes(ref_doc_ids=["d"])
        assert graph_store.get_llama_nodes(["c1"]) == []
        assert graph_store.get_triplets(entity_names=["Ann"]) == []

    # -- around -----------------------------------------------------------------------------------------------
    def test_the_schema_names_what_is_in_use(self, graph_store: PropertyGraphStore) -> None:
        put(graph_store, relation("Ann", "KNOWS", "Bob"))
        try:
            schema = graph_store.get_schema_str()
        except NotImplementedError:
            pytest.skip("no schema")
        assert "KNOWS" in schema

    def test_async_does_as_sync(self, graph_store: PropertyGraphStore) -> None:
        async def steps() -> None:
            await graph_store.aupsert_nodes([EntityNode(name="Ann"), EntityNode(name="Bob")])
            await graph_store.aupsert_relations([relation("Ann", "KNOWS", "Bob")])
            nodes = await graph_store.aget(ids=["Ann"])
            assert plain(await graph_store.aget_rel_map(nodes, depth=1)) == [("Ann", "KNOWS", "Bob")]
            assert len(await graph_store.aget_triplets(entity_names=["Bob"])) == 1
            await graph_store.adelete(ids=["Bob"])
            assert await graph_store.aget(ids=["Bob"]) == []

        asyncio.run(steps())

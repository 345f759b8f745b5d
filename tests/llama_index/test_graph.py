"""`KOPropertyGraphStore` under `PropertyGraphIndex` and its retrievers."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from llama_index.core import Document, PropertyGraphIndex
from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY, EntityNode, Relation
from llama_index.core.indices.property_graph import (
    ImplicitPathExtractor,
    LLMSynonymRetriever,
    VectorContextRetriever,
)
from llama_index.core.llms import MockLLM
from llama_index.core.schema import BaseNode, TransformComponent
from llama_index.core.vector_stores.types import VectorStoreQuery

from ko_integrations import KnowledgeStore
from ko_integrations.errors import InvalidInputError
from ko_integrations.llama_index import KOPropertyGraphStore
from ko_integrations.llama_index.embedding import StoreEmbedding


class Extractor(TransformComponent):
    """Reads "A -LABEL-> B" from a node's text, as a model would read triples."""

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        for node in nodes:
            triples = re.findall(r"(\w+) -(\w+)-> (\w+)", node.get_content())
            names = {name for source, _, target in triples for name in (source, target)}
            node.metadata[KG_NODES_KEY] = [EntityNode(name=name, label="THING") for name in sorted(names)]
            node.metadata[KG_RELATIONS_KEY] = [
                Relation(label=label, source_id=source, target_id=target) for source, label, target in triples
            ]
        return nodes


@pytest.fixture
def graph(store: KnowledgeStore) -> KOPropertyGraphStore:
    return KOPropertyGraphStore(store.namespace("graph"))


def index_of(graph: KOPropertyGraphStore, *texts: str) -> PropertyGraphIndex:
    return PropertyGraphIndex.from_documents(
        [Document(doc_id=f"d{i}", text=text) for i, text in enumerate(texts)],
        property_graph_store=graph,
        kg_extractors=[Extractor()],
        llm=MockLLM(),
        embed_model=StoreEmbedding(graph.client.embedder),
        use_async=False,
    )


def triples(graph: KOPropertyGraphStore, *names: str) -> set[tuple[str, str, str]]:
    found = graph.get_triplets(entity_names=list(names))
    return {(source.id, relation.label, target.id) for source, relation, target in found}


# -- the index ------------------------------------------------------------------------------------------------
async def test_an_index_and_its_retrievers(graph: KOPropertyGraphStore, scripted: Callable[..., Any]) -> None:
    index = index_of(graph, "Alice -EMPLOYER-> Acme and Acme -MAKES-> Anvils", "Bob -EMPLOYER-> Globex")
    assert triples(graph, "Acme") == {("Alice", "EMPLOYER", "Acme"), ("Acme", "MAKES", "Anvils")}
    embed_model = StoreEmbedding(graph.client.embedder)
    near = VectorContextRetriever(graph, embed_model=embed_model, include_text=False, similarity_top_k=1)
    assert [n.text for n in near.retrieve("Bob")] == ["Bob -> EMPLOYER -> Globex"]
    synonyms = LLMSynonymRetriever(graph, llm=scripted("alice^nobody"), include_text=False, path_depth=2)
    expected = {"Alice -> EMPLOYER -> Acme", "Acme -> MAKES -> Anvils"}
    assert {n.text for n in synonyms.retrieve("Who is Alice?")} == expected
    assert {n.text for n in await synonyms.aretrieve("Who is Alice?")} == expected
    [found] = index.as_retriever(sub_retrievers=[near.__class__(graph, embed_model=embed_model, similarity_top_k=1)]
    ).retrieve("Bob")  # fmt: skip
    assert "Bob -> EMPLOYER -> Globex" in found.text
    assert "Bob -EMPLOYER-> Globex" in found.text


def test_a_new_value_of_a_functional_relation_supersedes_and_ask_knows(graph: KOPropertyGraphStore) -> None:
    index = index_of(graph, "Kazakhstan -CAPITAL-> Almaty", "Alice -KNOWS-> Bob")
    index.insert(Document(doc_id="later", text="Kazakhstan -CAPITAL-> Astana, Alice -KNOWS-> Cid"))
    assert triples(graph, "Kazakhstan") == {("Kazakhstan", "CAPITAL", "Astana")}
    assert triples(graph, "Alice") == {("Alice", "KNOWS", "Bob"), ("Alice", "KNOWS", "Cid")}
    store = graph.client
    assert store.ask("What is the capital of Kazakhstan?").value == "Astana"
    assert [ko.object for ko in store.history("Kazakhstan", "capital")] == ["Almaty", "Astana"]
    graph.delete_llama_nodes(ref_doc_ids=["later"])
    assert triples(graph, "Kazakhstan", "Alice") == {
        ("Kazakhstan", "CAPITAL", "Almaty"),
        ("Alice", "KNOWS", "Bob"),
    }


def test_paths_between_chunks_are_no_facts(graph: KOPropertyGraphStore) -> None:
    PropertyGraphIndex.from_documents(
        [Document(doc_id="d", text="One. " * 300 + "Two. " * 300)],
        property_graph_store=graph,
        kg_extractors=[ImplicitPathExtractor()],
        embed_model=StoreEmbedding(graph.client.embedder),
        llm=MockLLM(),
        use_async=False,
        transformations=None,
    )
    labels = {relation.label for _, relation, _ in graph.get_triplets(entity_names=["d"])}
    assert labels == {"SOURCE"}
    assert graph.client.find_subjects(["d"]) == {} or graph.client.facts("d") == []


def test_it_is_used_without_an_index_too(graph: KOPropertyGraphStore) -> None:
    graph.client.update("Alice", "employer", "Acme")
    graph.client.update("Alice", "age", 30)
    assert triples(graph, "Alice") == {("Alice", "employer", "Acme")}
    assert triples(graph, "Acme") == {("Alice", "employer", "Acme")}
    assert {node.id for node in graph.get(ids=["Alice", "Acme"])} == {"Alice", "Acme"}
    [start] = graph.get(ids=["Acme"])
    assert len(graph.get_rel_map([start])) == 1
    graph.delete(entity_names=["Alice"], relation_names=["employer"])
    assert triples(graph, "Alice") == set()
    assert [ko.object for ko in graph.client.history("Alice", "employer")] == ["Acme"]


def test_members_of_a_set_are_deleted_one_by_one(graph: KOPropertyGraphStore) -> None:
    graph.upsert_relations(
        [Relation(label="CHILD", source_id="Alice", target_id=name) for name in ("Bob", "Cid")]
    )
    assert len(graph.client.read_values("Alice", "child")) == 2
    graph.delete(ids=["Bob"])
    assert triples(graph, "Alice") == {("Alice", "CHILD", "Cid")}


def test_what_it_refuses(graph: KOPropertyGraphStore) -> None:
    with pytest.raises(InvalidInputError, match="query language"):
        graph.structured_query("MATCH (n) RETURN n")
    with pytest.raises(InvalidInputError, match="query"):
        graph.vector_query(VectorStoreQuery())
    with pytest.raises(InvalidInputError):
        graph.upsert_nodes([EntityNode(name="ok"), EntityNode(name="nul\0")])
    assert graph.get() == []


def test_a_text_query_of_nodes(graph: KOPropertyGraphStore) -> None:
    graph.upsert_nodes([EntityNode(name="office in Bern"), EntityNode(name="dogs")])
    graph.client.update("office", "place", "Bern")
    nodes, _ = graph.vector_query(VectorStoreQuery(query_str="office", similarity_top_k=1))
    assert [node.id for node in nodes] == ["office in Bern"]


def test_how_far_and_how_many_are_whole_numbers(graph: KOPropertyGraphStore) -> None:
    graph.upsert_nodes([EntityNode(name="Ann")])
    for field in ("depth", "limit"):
        with pytest.raises(InvalidInputError, match=f"^{field}: "):
            graph.get_rel_map([EntityNode(name="Ann")], **{field: -1})
    with pytest.raises(InvalidInputError, match=r"^store: .*KnowledgeStore.open"):
        KOPropertyGraphStore(store="memory/")

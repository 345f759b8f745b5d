"""`KOVectorStore` under `VectorStoreIndex`."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import ImageNode, IndexNode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.llama_index import KOVectorStore


@pytest.fixture
def vectors(store: KnowledgeStore) -> KOVectorStore:
    return KOVectorStore(store=store.namespace("docs"))


def index_of(vectors: KOVectorStore, *documents: Document) -> VectorStoreIndex:
    context = StorageContext.from_defaults(vector_store=vectors)
    return VectorStoreIndex.from_documents(
        list(documents), storage_context=context, embed_model=vectors.embed_model
    )


def texts(index: VectorStoreIndex, question: str = "office", k: int = 5, **options: Any) -> list[str]:
    return [n.text for n in index.as_retriever(similarity_top_k=k, **options).retrieve(question)]


def doc(id: str, text: str, **metadata: Any) -> Document:
    return Document(doc_id=id, text=text, metadata=metadata)


def fact(value: str, ref: str | None = None, **metadata: Any) -> TextNode:
    """A node about Alice's city, as a document's chunk states it."""
    metadata = {"subject": "Alice", "predicate": "city", "object": value, **metadata}
    source = {} if ref is None else {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=ref)}
    return TextNode(text=f"Alice lives in {value}.", metadata=metadata, relationships=source)


# -- the life of documents ----------------------------------------------------------------------------------
def test_insert_update_refresh_delete(vectors: KOVectorStore) -> None:
    index = index_of(vectors, doc("a", "The office is in Bern."), doc("b", "Dogs bark."))
    assert texts(index, k=1) == ["The office is in Bern."]
    index.update_ref_doc(doc("a", "The office is in Basel."))
    assert set(texts(index)) == {"The office is in Basel.", "Dogs bark."}
    changed = index.refresh_ref_docs(
        [doc("a", "The office is in Chur."), doc("b", "Dogs bark."), doc("c", "New.")]
    )
    assert changed == [True, False, True]
    assert set(texts(index)) == {"The office is in Chur.", "Dogs bark.", "New."}
    for _ in range(2):
        index.delete_ref_doc("a", delete_from_docstore=True)
    assert set(texts(index)) == {"Dogs bark.", "New."}


BY_PLACE = SentenceSplitter(id_func=lambda number, document: f"{document.node_id}-{number}")


def test_an_updated_document_keeps_its_chains(vectors: KOVectorStore) -> None:
    """LlamaIndex deletes a document and inserts it anew, in every way that it has of updating one."""
    context = StorageContext.from_defaults(vector_store=vectors)
    index = VectorStoreIndex.from_documents(
        [doc("a", "The office is in Bern.")],
        storage_context=context,
        embed_model=vectors.embed_model,
        transformations=[BY_PLACE],
    )
    for city in ("Basel", "Chur", "Chur"):
        index.update_ref_doc(doc("a", f"The office is in {city}."))
    index.refresh_ref_docs([doc("a", "The office is in Genf.")])
    cities = ["Bern", "Basel", "Chur", "Genf"]
    assert [n.text for n in vectors.history("a-0")] == [f"The office is in {city}." for city in cities]
    assert texts(index) == ["The office is in Genf."]
    steps = IngestionPipeline(
        transformations=[BY_PLACE, vectors.embed_model], docstore=SimpleDocumentStore(), vector_store=vectors
    )
    for city in ("Oslo", "Rome"):
        steps.run(documents=[doc("p", f"It is in {city}.")])
    assert [n.text for n in vectors.history("p-0")] == ["It is in Oslo.", "It is in Rome."]


def test_an_updated_document_leaves_what_others_state(vectors: KOVectorStore) -> None:
    index = index_of(
        vectors, doc("other", "Alice lives in Bern.", subject="Alice", predicate="city", object="Bern")
    )
    began = {}
    for city in ("Basel", "Chur"):
        document = doc("mine", f"Alice lives in {city}.", subject="Alice", predicate="city", object=city)
        index.update_ref_doc(document)
        began[city] = vectors.client.read_exact("Alice", "city").valid_from
    chain = vectors.client.history("Alice", "city")
    assert [(ko.object, ko.provenance.source) for ko in chain] == [
        ("Bern", "other"), ("Basel", "mine"), ("Chur", "mine"),
    ]  # fmt: skip
    assert {ko.object: ko.valid_from for ko in chain[1:]} == began
    index.delete_ref_doc("mine")
    assert [ko.object for ko in vectors.client.history("Alice", "city")] == ["Bern"]
    index.insert(doc("mine", "Dogs bark."))
    assert [ko.object for ko in vectors.client.history("Alice", "city")] == ["Bern"]


def test_a_node_says_since_when_its_fact_holds(vectors: KOVectorStore) -> None:
    vectors.add(
        [fact("Bern", valid_from="2020-01-01"), fact("Basel", valid_from="2010-01-01", valid_to="2015-01-01")]
    )
    assert vectors.client.read_exact("Alice", "city").object == "Bern"
    assert (
        vectors.client.read_exact("Alice", "city", as_of=datetime(2012, 1, 1, tzinfo=UTC)).object == "Basel"
    )
    assert vectors.client.read_exact("Alice", "city", as_of=datetime(2016, 1, 1, tzinfo=UTC)) is None
    with pytest.raises(InvalidInputError, match="valid_from"):
        vectors.add([fact("Chur", valid_from="some day")])


@pytest.mark.parametrize("condition", list(FilterCondition))
def test_a_group_of_no_filters_restricts_nothing(vectors: KOVectorStore, condition: FilterCondition) -> None:
    vectors.add([TextNode(id_="a", text="x", metadata={"colour": "red"}), TextNode(id_="b", text="y")])
    nothing = MetadataFilters(filters=[], condition=condition)
    assert len(vectors.get_nodes(filters=MetadataFilters(filters=[nothing]))) == 2
    red = MetadataFilters(filters=[nothing, MetadataFilter(key="colour", value="red")])
    assert [n.node_id for n in vectors.get_nodes(filters=red)] == ["a"]


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        (FilterOperator.EQ, None, {"none"}),
        (FilterOperator.NE, None, {"red", "empty", "absent"}),
        (FilterOperator.IS_EMPTY, None, {"none", "empty", "absent"}),
        (FilterOperator.GT, None, set()),
        (FilterOperator.IN, ["red"], {"red"}),
        (FilterOperator.NIN, ["red"], {"none", "empty", "absent"}),
    ],
)
def test_values_that_are_none(
    vectors: KOVectorStore, operator: FilterOperator, value: Any, expected: set[str]
) -> None:
    held = {"red": {"colour": "red"}, "none": {"colour": None}, "empty": {"colour": ""}, "absent": {}}
    vectors.add([TextNode(id_=id, text=id, metadata=metadata) for id, metadata in held.items()])
    filters = MetadataFilters(filters=[MetadataFilter(key="colour", operator=operator, value=value)])
    assert {n.node_id for n in vectors.get_nodes(filters=filters)} == expected


async def test_the_same_inside_a_running_loop(vectors: KOVectorStore) -> None:
    index = index_of(vectors, doc("a", "The office is in Bern."))
    await index.ainsert(doc("b", "Dogs bark."))
    found = await index.as_retriever(similarity_top_k=1).aretrieve("office")
    assert [n.text for n in found] == ["The office is in Bern."]
    assert found[0].score == pytest.approx(vectors.query(query("office", vectors)).similarities[0])
    await index.aupdate_ref_doc(doc("a", "The office is in Basel."))
    await index.adelete_ref_doc("b")
    assert texts(index) == ["The office is in Basel."]


def query(text: str, vectors: KOVectorStore, **options: Any) -> VectorStoreQuery:
    embedding = vectors.embed_model.get_query_embedding(text)
    return VectorStoreQuery(query_embedding=embedding, **{"similarity_top_k": 1, **options})


def test_async_use_of_the_index_constructor(vectors: KOVectorStore) -> None:
    context = StorageContext.from_defaults(vector_store=vectors)
    nodes = [TextNode(id_=f"n{i}", text=f"text {i}") for i in range(5)]
    VectorStoreIndex(nodes, storage_context=context, embed_model=vectors.embed_model, use_async=True)
    assert len(vectors.get_nodes()) == 5


def test_filters_reach_the_store(vectors: KOVectorStore) -> None:
    index = index_of(vectors, doc("a", "office one", year=2019), doc("b", "office two", year=2021))
    late = MetadataFilters(filters=[MetadataFilter(key="year", value=2020, operator=FilterOperator.GT)])
    assert texts(index, filters=late) == ["office two"]
    assert texts(index, doc_ids=["a"]) == ["office one"]


def test_a_query_engine_with_marginal_relevance(vectors: KOVectorStore) -> None:
    index = index_of(
        vectors, doc("a", "office Bern"), doc("b", "office Bern too"), doc("c", "office in Chur")
    )
    found = texts(
        index, "office Bern", 2, vector_store_query_mode="mmr", vector_store_kwargs={"mmr_threshold": 0.1}
    )
    assert found[0] == "office Bern"
    assert "office in Chur" in found


def test_other_kinds_of_nodes_come_back(vectors: KOVectorStore) -> None:
    image = ImageNode(id_="i", image="aGk=", text="a picture", embedding=[1.0, *[0.0] * 255])
    index_node = IndexNode(id_="x", text="see there", index_id="there", embedding=[1.0, *[0.0] * 255])
    vectors.add([image, index_node])
    assert [type(n) for n in vectors.get_nodes(node_ids=["i", "x"])] == [ImageNode, IndexNode]


# -- slots ------------------------------------------------------------------------------------------------------
def test_a_node_about_a_fact_supersedes_and_the_chain_stays(vectors: KOVectorStore) -> None:
    bern, basel = fact("Bern"), fact("Basel")
    vectors.add([bern])
    vectors.add([basel])
    assert [n.metadata["object"] for n in vectors.get_nodes()] == ["Basel"]
    assert [n.metadata["object"] for n in vectors.history(basel.node_id)] == ["Bern", "Basel"]
    assert vectors.client.ask("Which city does Alice live in?").value == "Basel"
    assert [n.node_id for n in vectors.get_nodes(node_ids=[basel.node_id])] == [basel.node_id]
    assert vectors.get_nodes(node_ids=[bern.node_id]) == []
    vectors.delete_nodes([basel.node_id])
    assert vectors.get_nodes() == []
    assert len(vectors.client.history("Alice", "city")) == 2


def test_withdrawing_a_document_shows_what_another_states(vectors: KOVectorStore) -> None:
    vectors.add([fact("Bern", "d1")])
    vectors.add([fact("Basel", "d2")])
    vectors.add([fact("Basel", "d3")])
    asked = query("Alice lives", vectors, similarity_top_k=5)
    for gone, left in (("d3", ["Basel"]), ("d2", ["Bern"]), ("d1", [])):
        vectors.delete(gone)
        assert [n.metadata["object"] for n in vectors.query(asked).nodes] == left


def test_a_fact_of_two_documents_is_found_within_either(vectors: KOVectorStore) -> None:
    vectors.add([fact("Bern", "d1")])
    vectors.add([fact("Bern", "d2")])
    for id in ("d1", "d2"):
        assert len(vectors.query(query("Alice", vectors, doc_ids=[id])).nodes) == 1


def test_a_confirmation_without_metadata_leaves_the_node_as_it_is(vectors: KOVectorStore) -> None:
    node = fact("Bern", page=3)
    vectors.add([node])
    vectors.client.update("Alice", "city", "Bern")
    [came] = vectors.get_nodes()
    assert (came.node_id, came.metadata["page"]) == (node.node_id, 3)


def test_a_node_that_is_confirmed_is_filtered_by_what_it_shows(vectors: KOVectorStore) -> None:
    vectors.add([fact("Bern", page=3)])
    vectors.add([fact("Bern", page=4)])
    for page, expected in ((3, 0), (4, 1)):
        filters = MetadataFilters(filters=[MetadataFilter(key="page", value=page)])
        assert len(vectors.get_nodes(filters=filters)) == expected


def test_plain_facts_are_nodes_too(vectors: KOVectorStore) -> None:
    ko = vectors.client.update("Alice", "employer", "Acme").ko
    [node] = vectors.query(query("Alice employer", vectors)).nodes
    assert (node.node_id, node.text, node.metadata["subject"]) == (ko.id, "Alice employer Acme", "Alice")


def test_the_past_can_be_searched(store: KnowledgeStore) -> None:
    vectors = KOVectorStore(store=store)
    vectors.add([TextNode(id_="a", text="office in Bern")])
    then = store.latest_changes(1)[0].recorded_at
    vectors.add([TextNode(id_="a", text="office in Basel")])
    asked = query("office", vectors)
    assert [n.text for n in vectors.query(asked, as_of=then).nodes] == ["office in Bern"]
    assert [n.text for n in vectors.query(asked, known_at=then).nodes] == ["office in Bern"]
    assert [n.text for n in vectors.query(asked).nodes] == ["office in Basel"]


def test_no_path_leads_out_of_a_namespace(store: KnowledgeStore) -> None:
    mine, other = (KOVectorStore(store=store.namespace(name)) for name in ("alice", "bob"))
    mine.add([TextNode(id_="a", text="Alice's code"), fact("Bern", "d1")])
    other.add([TextNode(id_="b", text="Bob's code"), fact("Rome", "d1")])
    asked = query("code", mine, similarity_top_k=9)
    mine.delete("d1")
    mine.delete_nodes(["b"])
    assert mine.get_nodes(node_ids=["b"]) == []
    assert mine.history("b") == []
    assert [n.text for n in mine.query(asked).nodes] == ["Alice's code"]
    mine.clear()
    assert {n.text for n in other.query(asked).nodes} == {"Bob's code", "Alice lives in Rome."}
    assert len(other.get_nodes(filters=MetadataFilters(filters=[]))) == 2


# -- what is refused ----------------------------------------------------------------------------------------
def test_a_bad_node_means_that_none_is_stored(vectors: KOVectorStore) -> None:
    with pytest.raises(InvalidInputError, match="NUL"):
        vectors.add([TextNode(text="good"), TextNode(text="nul\0")])
    assert vectors.get_nodes() == []
    with pytest.raises(InvalidInputError, match="query"):
        vectors.query(VectorStoreQuery(similarity_top_k=1))
    with pytest.raises(InvalidInputError, match="mode"):
        vectors.query(query("x", vectors, mode=VectorStoreQueryMode.SPARSE))
    with pytest.raises(InvalidInputError, match="store"):
        KOVectorStore()


def test_an_embedding_model_of_another_length_is_refused(vectors: KOVectorStore) -> None:
    context = StorageContext.from_defaults(vector_store=vectors)
    with pytest.raises(InvalidInputError):
        VectorStoreIndex.from_documents(
            [doc("a", "x")], storage_context=context, embed_model=MockEmbedding(embed_dim=3)
        )


# -- again --------------------------------------------------------------------------------------------------
AGAIN = """
import json, sys
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.llama_index import KOVectorStore
vectors = KOVectorStore.from_dict(json.loads(sys.argv[1]), embedder=HashingEmbedder())
print(vectors.client.namespace_path, [node.text for node in vectors.get_nodes(node_ids=["a"])])
"""


def test_it_opens_in_another_process(tmp_path: Path) -> None:
    with KnowledgeStore.open(tmp_path / "store", embedder=HashingEmbedder()) as store:
        vectors = KOVectorStore(store=store.namespace("acme", "alice"))
        vectors.add([TextNode(id_="a", text="kept")])
        data = json.dumps(vectors.to_dict())
    command = [sys.executable, "-c", AGAIN, data]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "('acme', 'alice') ['kept']\n"


def test_two_stores_in_memory_are_never_mixed_up() -> None:
    stores = [KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) for _ in range(2)]
    saved = []
    for number, each in enumerate(stores):
        vectors = KOVectorStore(store=each)
        vectors.add([TextNode(id_="a", text=f"store {number}")])
        saved.append(vectors.to_dict())
    del vectors
    for number, data in enumerate(saved):
        assert [n.text for n in KOVectorStore.from_dict(data).get_nodes()] == [f"store {number}"]
    stores[0].close()
    with pytest.raises(InvalidInputError, match="gone"):
        KOVectorStore.from_dict(saved[0])
    stores[1].close()


def test_it_opens_a_store_of_its_own() -> None:
    vectors = KOVectorStore(path=":memory:", namespace=["n"], embedder=HashingEmbedder())
    assert vectors.client.namespace_path == ("n",)
    vectors.add([TextNode(id_="a", text="x")])
    assert [n.text for n in KOVectorStore.from_dict(vectors.to_dict()).get_nodes()] == ["x"]

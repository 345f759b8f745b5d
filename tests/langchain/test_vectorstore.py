"""`KOVectorStore` and `ko_ingest`."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.indexing import InMemoryRecordManager, index

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.langchain import KOVectorStore, ko_ingest

EARLY = datetime(2024, 1, 1, tzinfo=UTC)


def fact_document(value: str, **metadata: Any) -> Document:
    metadata = {"subject": "Alice", "predicate": "city", "object": value, **metadata}
    return Document(page_content=f"Alice lives in {value}.", metadata=metadata)


@pytest.fixture
def vectors(store: KnowledgeStore) -> KOVectorStore:
    return KOVectorStore(store=store)


def test_ids_are_the_callers_else_the_slots_else_of_the_content(vectors: KOVectorStore) -> None:
    slot = vectors.store.update("Alice", "city", "Bern").ko
    ids = vectors.add_documents(
        [Document(id="mine", page_content="a"), fact_document("Basel"), Document(page_content="b")]
    )
    assert ids[:2] == ["mine", slot.id]
    assert ids[2] == vectors.add_texts(["b"])[0]
    assert ids[2] != vectors.add_texts(["b"], [{"page": 2}])[0]


def test_an_explicit_id_comes_before_the_slot(vectors: KOVectorStore) -> None:
    assert vectors.add_documents([fact_document("Basel")], ids=["mine"]) == ["mine"]
    assert vectors.store.read_exact("Alice", "city") is None


def test_a_second_document_in_a_slot_supersedes_the_first(vectors: KOVectorStore) -> None:
    [first] = vectors.add_documents([fact_document("Bern")])
    [second] = vectors.add_documents([fact_document("Basel")])
    assert first == second
    assert [d.page_content for d in vectors.similarity_search("Where does Alice live?")] == [
        "Alice lives in Basel."
    ]
    assert [ko.object for ko in vectors.store.history("Alice", "city")] == ["Bern", "Basel"]
    assert [d.metadata["object"] for d in vectors.history(first)] == ["Bern", "Basel"]


def test_a_document_read_back_and_changed_stays_in_its_slot(vectors: KOVectorStore) -> None:
    vectors.add_documents([fact_document("Bern")])
    [found] = vectors.similarity_search("Alice")
    found.metadata["object"], found.page_content = "Basel", "Alice lives in Basel."
    assert vectors.add_documents([found]) == [found.id]
    assert vectors.store.read_exact("Alice", "city").object == "Basel"
    assert vectors.store.count() == 1


def test_nothing_is_added_to_metadata_and_its_change_alone_is_a_new_version(vectors: KOVectorStore) -> None:
    nested = {"id": 1, "source": "a.pdf", "tags": ["x", {"y": None}], "subject": 3}
    vectors.add_texts(["text"], [nested], ids=["d"])
    assert vectors.get_by_ids(["d"])[0].metadata == nested
    vectors.add_texts(["text"], [{"id": 2}], ids=["d"])
    assert vectors.get_by_ids(["d"])[0].metadata == {"id": 2}
    assert [d.metadata for d in vectors.history("d")] == [nested, {"id": 2}]


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"source": "a.pdf"}, {"1"}),
        ({"id": 2}, {"2"}),
        ({"source": {"$ne": "a.pdf"}}, {"2", "3"}),
        ({"page": {"$gte": 5}}, {"2"}),
        ({"$or": [{"page": 3}, {"id": 2}]}, {"1", "2"}),
        ({"$not": {"source": {"$in": ["a.pdf", "b.pdf"]}}}, {"3"}),
        ({"confidence": "high"}, {"3"}),
    ],
)
def test_filters_mean_the_callers_metadata(
    vectors: KOVectorStore, filter: dict[str, Any], expected: set[str]
) -> None:
    vectors.add_texts(
        ["one", "two", "three"],
        [
            {"source": "a.pdf", "page": 3, "id": 1},
            {"source": "b.pdf", "page": 5, "id": 2},
            {"confidence": "high"},
        ],
        ids=["1", "2", "3"],
    )
    assert {d.id for d in vectors.similarity_search("one", k=9, filter=filter)} == expected


def test_filters_reach_plain_facts_too(vectors: KOVectorStore) -> None:
    vectors.store.update("Alice", "city", "Basel", source="chat")
    vectors.store.update("Alice", "employer", "Acme", source="hr")
    [found] = vectors.similarity_search("Alice", filter={"predicate": "city"})
    assert found.metadata == {"subject": "Alice", "predicate": "city"}
    assert len(vectors.similarity_search("Alice", filter={"source": "hr"})) == 1


def test_text_can_be_searched(vectors: KOVectorStore) -> None:
    vectors.add_texts(["the cat sat", "the dog ran"])
    assert len(vectors.similarity_search("the", where_document={"$contains": "dog"})) == 1
    assert len(vectors.similarity_search("the", where_document={"$not_contains": "dog"})) == 1


def test_get_is_chromas(vectors: KOVectorStore) -> None:
    vectors.add_texts(["one", "two", "three"], [{"n": 1}, {"n": 2}, {"n": 3}], ids=["1", "2", "3"])
    assert vectors.get(["2", "9"]) == {"ids": ["2"], "documents": ["two"], "metadatas": [{"n": 2}]}
    assert set(vectors.get(where={"n": {"$gt": 1}})["ids"]) == {"2", "3"}
    assert vectors.get(where_document={"$contains": "one"})["ids"] == ["1"]
    assert len(vectors.get(limit=2)["ids"]) == 2
    assert set(vectors.get(limit=2)["ids"] + vectors.get(offset=2)["ids"]) == {"1", "2", "3"}


def test_scores_are_distances_and_relevance_is_from_0_to_1(vectors: KOVectorStore) -> None:
    vectors.add_texts(["apple pie", "submarine"])
    scored = vectors.similarity_search_with_score("apple pie", k=2)
    assert [d.page_content for d, _ in scored] == ["apple pie", "submarine"]
    assert scored[0][1] == pytest.approx(0, abs=1e-5)
    assert scored[0][1] < scored[1][1] <= 2
    relevances = [score for _, score in vectors.similarity_search_with_relevance_scores("apple pie", k=2)]
    assert relevances[0] == pytest.approx(1, abs=1e-5)
    assert all(0 <= score <= 1 for score in relevances)


def test_mmr_prefers_what_is_unlike_what_it_has(vectors: KOVectorStore) -> None:
    vectors.add_texts(["red apple pie", "red apple pie!", "apple tree"], ids=["1", "2", "3"])
    nearest = vectors.similarity_search("red apple pie", k=2)
    assert {d.id for d in nearest} == {"1", "2"}
    varied = vectors.max_marginal_relevance_search("red apple pie", k=2, lambda_mult=0.1)
    assert [d.id for d in varied] == ["1", "3"]
    assert len(vectors.as_retriever(search_type="mmr", search_kwargs={"k": 2}).invoke("red apple")) == 2


def test_search_sees_the_past_on_request(vectors: KOVectorStore) -> None:
    vectors.add_documents([fact_document("Bern", valid_from="2024-01-01T00:00:00+00:00")])
    vectors.add_documents([fact_document("Basel", valid_from="2024-06-01T00:00:00+00:00")])
    [then] = vectors.similarity_search("Alice", as_of=datetime(2024, 3, 1, tzinfo=UTC))
    assert then.metadata["object"] == "Bern"


def test_delete_keeps_history_and_erase_does_not(vectors: KOVectorStore) -> None:
    [slot] = vectors.add_documents([fact_document("Bern")])
    vectors.add_texts(["a", "b"], ids=["1", "2"])
    assert vectors.delete(["1", slot, "unknown"])
    assert vectors.get_by_ids(["1", slot]) == []
    assert [d.page_content for d in vectors.similarity_search("a", k=9)] == ["b"]
    assert len(vectors.history("1")) == 1
    vectors.delete(["2"], erase=True)
    assert vectors.history("2") == []
    vectors.add_texts(["c", "d"])
    vectors.delete()
    assert vectors.similarity_search("c", k=9) == []


def test_a_bad_document_means_that_none_is_stored(vectors: KOVectorStore) -> None:
    for bad in ("nul\0", "lone \ud800"):
        with pytest.raises(InvalidInputError):
            vectors.add_texts(["good", bad])
    with pytest.raises(InvalidInputError, match="metadata"):
        vectors.add_texts(["x"], [{"when": EARLY}])
    with pytest.raises(InvalidInputError, match="ids"):
        vectors.add_texts(["x", "y"], ids=["1"])
    assert vectors.store.count() == 0


def test_the_same_id_twice_in_a_batch_leaves_the_last_and_both_versions(vectors: KOVectorStore) -> None:
    vectors.add_texts(["first", "second"], ids=["x", "x"])
    assert [d.page_content for d in vectors.get_by_ids(["x"])] == ["second"]
    assert [d.page_content for d in vectors.history("x")] == ["first", "second"]


def test_ready_vectors_save_encoding(vectors: KOVectorStore, embedder: Any) -> None:
    vector = embedder.encode(["apple"])[0]
    embedder.calls.clear()
    vectors.add_texts(["something else"], embeddings=[vector.tolist()])
    [(_, distance)] = vectors.similarity_search_with_score("apple")
    assert distance == pytest.approx(0, abs=1e-5)
    assert embedder.calls == [["apple"]]


def test_from_documents_takes_a_store(store: KnowledgeStore) -> None:
    vectors = KOVectorStore.from_documents([fact_document("Bern")], store=store.namespace("a"))
    assert vectors.store.read_exact("Alice", "city").object == "Bern"


def test_from_documents_opens_a_store() -> None:
    from langchain_core.embeddings import DeterministicFakeEmbedding

    vectors = KOVectorStore.from_documents([Document(page_content="a")], DeterministicFakeEmbedding(size=6))
    assert len(vectors.similarity_search("a")) == 1
    vectors.store.close()
    with pytest.raises(InvalidInputError, match="embedding"):
        KOVectorStore.from_texts(["a"])


async def test_async_does_as_sync(vectors: KOVectorStore) -> None:
    ids = await vectors.aadd_texts(["a", "b"], ids=["1", "2"])
    assert ids == ["1", "2"]
    assert len(await vectors.amax_marginal_relevance_search("a", k=2)) == 2
    assert [d.id for d in await vectors.asimilarity_search("b", k=1)] == ["2"]
    await vectors.adelete(["1"])
    assert len(await vectors.aget_by_ids(["1", "2"])) == 1


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).filter(
    str.strip
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(TEXT, TEXT, st.dictionaries(TEXT, st.none() | st.booleans() | st.integers() | TEXT)))
)
def test_documents_round_trip(rows: list[tuple[str, str, dict[str, Any]]]) -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        vectors = KOVectorStore(store=store)
        ids = vectors.add_texts([t for _, t, _ in rows], [m for _, _, m in rows], ids=[i for i, _, _ in rows])
        assert ids == [i for i, _, _ in rows]
        last = {i: (t, m) for i, t, m in rows}
        got = {d.id: (d.page_content, d.metadata) for d in vectors.get_by_ids(list(last))}
        assert got == last


# -- ingestion --------------------------------------------------------------------------------------------------
def test_langchains_index_drops_new_values_and_ours_does_not(vectors: KOVectorStore) -> None:
    """PITFALLS 23."""
    versions = [fact_document("Bern"), fact_document("Basel")]
    records = InMemoryRecordManager("x")
    records.create_schema()
    for document in versions:
        index([document], records, vectors, key_encoder=lambda document: "slot of Alice's city")
    assert [d.metadata["object"] for d in vectors.similarity_search("Alice", k=9)] == ["Bern"]  # theirs
    vectors.delete()
    for document in versions:
        ko_ingest([document], vectors)
    with pytest.raises(InvalidInputError, match=r"^batch_size: "):
        ko_ingest([Document(page_content="x")], vectors, batch_size=0)
    assert [d.metadata["object"] for d in vectors.similarity_search("Alice", k=9)] == ["Basel"]


def test_ingestion_counts_what_it_did(vectors: KOVectorStore) -> None:
    first = ko_ingest([fact_document("Bern"), fact_document("Basel"), Document(page_content="x")], vectors)
    assert (first["num_added"], first["num_updated"], first["num_skipped"]) == (2, 1, 0)
    again = ko_ingest([fact_document("Basel"), Document(page_content="x")], vectors)
    assert (again["num_added"], again["num_updated"], again["num_skipped"]) == (0, 0, 2)
    late = ko_ingest([fact_document("Chur", valid_from="2020-01-01T00:00:00+00:00")], vectors)
    assert late["num_backdated"] == 1
    assert vectors.store.read_exact("Alice", "city").object == "Basel"


@pytest.mark.parametrize(("cleanup", "left"), [(None, 4), ("incremental", 3), ("full", 2)])
def test_clean_up_retracts_what_did_not_come_again(vectors: KOVectorStore, cleanup: Any, left: int) -> None:
    a1, a2, b = (Document(page_content=text, metadata={"source": text[0]}) for text in ("a1", "a2", "b1"))
    ko_ingest([a1, a2, b], vectors)
    vectors.store.update("Alice", "city", "Basel")
    result = ko_ingest([a1], vectors, cleanup=cleanup)
    assert vectors.store.count() == left
    assert result["num_deleted"] == 4 - left
    assert vectors.store.read_exact("Alice", "city") is not None


class Asymmetric:
    """Encodes questions otherwise than documents, as models with a query prompt do."""

    model_id, dimension = "asymmetric", 2

    def encode(self, texts: Any) -> Any:
        return np.array([[1.0, 0.0] if "a" in text else [0.0, 1.0] for text in texts], dtype=np.float32)

    def encode_query(self, text: str) -> Any:
        return np.array([0.0, 1.0], dtype=np.float32)


def test_every_search_encodes_a_question_as_one() -> None:
    with KnowledgeStore.open(":memory:", embedder=Asymmetric()) as store:
        docs = KOVectorStore(store)
        docs.add_texts(["a", "b"], ids=["a", "b"])
        assert docs.embeddings.embed_query("a") == [0.0, 1.0]
        assert docs.similarity_search("a", 1)[0].id == "b"
        assert docs.max_marginal_relevance_search("a", 1)[0].id == "b"


def test_a_filter_must_be_a_mapping(vectors: KOVectorStore) -> None:
    with pytest.raises(InvalidInputError, match="filter: expected a mapping"):
        vectors.similarity_search("x", filter=lambda document: True)

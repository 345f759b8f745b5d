"""`KORetriever` and `FastWeightRetriever`."""

from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from ko_integrations import KnowledgeStore
from ko_integrations.errors import InvalidInputError
from ko_integrations.fast_weight import FastWeightMemory
from ko_integrations.langchain import (
    FastWeightRetriever,
    KOMemoryMiddleware,
    KORetriever,
    KOVectorStore,
    create_ko_chain,
)

QUESTION = "What is Alice's city?"


@pytest.fixture
def filled(store: KnowledgeStore) -> KnowledgeStore:
    store.update("Alice", "city", "Bern", source="a", valid_from=datetime(2024, 1, 1, tzinfo=UTC))
    store.update("Alice", "city", "Basel", source="b", valid_from=datetime(2024, 6, 1, tzinfo=UTC))
    store.update("Alice", "employer", "Acme", metadata={"page": 3})
    store.update("Bob", "city", "Chur")
    return store


def test_the_exact_fact_comes_first_then_current_ones(filled: KnowledgeStore) -> None:
    found = KORetriever(store=filled, k=3).invoke(QUESTION)
    assert [d.metadata["route"] for d in found] == ["exact", "semantic", "semantic"]
    assert found[0].metadata["object"] == "Basel"
    assert "Bern" not in {d.metadata["object"] for d in found}
    assert len({d.metadata["id"] for d in found}) == 3


def test_a_retriever_of_nothing_is_refused(filled: KnowledgeStore) -> None:
    with pytest.raises(InvalidInputError, match="k:"):
        KORetriever(store=filled).invoke(QUESTION, k=0)
    about_bob = KORetriever(store=filled, where={"subject": "Bob"})
    assert {d.metadata["subject"] for d in about_bob.invoke(QUESTION)} == {"Bob"}
    assert {d.metadata["subject"] for d in about_bob.invoke(QUESTION, where={})} == {"Alice", "Bob"}


def test_metadata_says_where_a_fact_comes_from(filled: KnowledgeStore) -> None:
    [found] = KORetriever(store=filled, k=1).invoke(QUESTION)
    ko = filled.read_exact("Alice", "city")
    assert found.id == ko.id
    assert found.metadata["id"] == ko.id
    assert found.metadata["reference"] == ko.reference
    assert found.metadata["version"] == 2
    assert found.metadata["source"] == "b"
    assert found.metadata["valid_from"] == "2024-06-01T00:00:00+00:00"
    assert found.metadata["valid_to"] is None
    assert found.metadata["recorded_at"] == ko.provenance.recorded_at.isoformat()


def test_as_of_where_and_k_per_call(filled: KnowledgeStore) -> None:
    retriever = KORetriever(store=filled, k=5)
    then = retriever.invoke(QUESTION, as_of=datetime(2024, 3, 1, tzinfo=UTC), k=1)
    assert [d.metadata["object"] for d in then] == ["Bern"]
    kept = retriever.invoke(QUESTION, where={"page": 3})
    assert [d.metadata["object"] for d in kept] == ["Acme"]
    with pytest.raises(InvalidInputError):
        retriever.invoke(QUESTION, where={"$bad": 1})


async def test_async_takes_the_same_arguments(filled: KnowledgeStore) -> None:
    found = await KORetriever(store=filled).ainvoke(QUESTION, k=2)
    assert len(found) == 2


def test_documents_come_back_with_their_text(filled: KnowledgeStore) -> None:
    KOVectorStore(store=filled).add_texts(["The lake is cold in May."], [{"page": 9}], ids=["lake"])
    [found] = KORetriever(store=filled, k=1).invoke("The lake is cold in May.")
    assert (found.id, found.page_content, found.metadata["page"]) == ("lake", "The lake is cold in May.", 9)


def test_one_namespace_never_sees_another(filled: KnowledgeStore) -> None:
    other = filled.namespace("bob")
    assert KORetriever(store=other).invoke(QUESTION) == []


def test_the_run_is_visible(filled: KnowledgeStore, runs: Any) -> None:
    KORetriever(store=filled, tags=["memory"]).invoke(QUESTION, {"callbacks": [runs]})
    assert runs.started == [("retriever", "KORetriever")]
    assert "memory" in runs.tags
    assert runs.ended[0][1][0].metadata["object"] == "Basel"


def test_fast_weights_answer_in_the_same_form(embedder: Any) -> None:
    memory = FastWeightMemory(embedder)
    memory.update("Alice", "city", "Basel")
    [found] = FastWeightRetriever(memory=memory, k=1).invoke("What is the city of Alice?")
    assert found.metadata["route"] == "fast_weight"
    assert found.metadata["object"] == "Basel"
    assert -1 <= found.metadata["score"] <= 1.001


@pytest.mark.parametrize("k", [0, -1, True, 2.5])
def test_how_many_is_a_whole_number_from_one(filled, k):
    model = FakeListChatModel(responses=[""])
    for make in (
        lambda: KORetriever(store=filled, k=k),
        lambda: FastWeightRetriever(memory=filled, k=k),
        lambda: create_ko_chain(filled, model, k=k),
        lambda: KOVectorStore(store=filled).max_marginal_relevance_search("desk", k=k),
        lambda: KOVectorStore(store=filled).similarity_search("desk", k=k),
    ):
        with pytest.raises(InvalidInputError, match=r"^k: "):
            make()
    with pytest.raises(InvalidInputError, match=r"^fetch_k: "):
        KOVectorStore(store=filled).max_marginal_relevance_search("desk", fetch_k=k)


@pytest.mark.parametrize("budget", [0, -1, None])
def test_a_budget_has_room(filled, budget):
    model = FakeListChatModel(responses=[""])
    for make in (
        lambda: create_ko_chain(filled, model, token_budget=budget),
        lambda: KOMemoryMiddleware(filled, token_budget=budget),
    ):
        with pytest.raises(InvalidInputError, match=r"^token_budget: "):
            make()
    with pytest.raises(InvalidInputError, match=r"^k: "):
        KOMemoryMiddleware(filled, k=-1)
    KOMemoryMiddleware(filled, k=0)  # the facts of named subjects only


def test_a_path_is_no_store(filled):
    for make in (
        lambda: KORetriever(store="memory/"),
        lambda: create_ko_chain("memory/", FakeListChatModel(responses=[""])),
    ):
        with pytest.raises(InvalidInputError, match=r"^store: "):
            make()

"""`KORetriever`, `KOQueryEngine` and `KOSelector`, with a model and with none."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import CustomQueryEngine, RouterQueryEngine
from llama_index.core.retrievers import RouterRetriever
from llama_index.core.schema import TextNode
from llama_index.core.tools import QueryEngineTool, RetrieverTool, ToolMetadata
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.fast_weight import FastWeightMemory
from ko_integrations.llama_index import (
    FastWeightRetriever,
    KOMemory,
    KOMemoryBlock,
    KOPropertyGraphStore,
    KOQueryEngine,
    KORetriever,
    KOSelector,
    KOToolSpec,
    KOVectorStore,
)
from ko_integrations.router import Router

JANUARY, MARCH, NOVEMBER = (datetime(2025, month, 14, tzinfo=UTC) for month in (1, 3, 11))


@pytest.fixture
def patient() -> Any:
    """The medical example of the main paper, 4.2.9, as facts."""
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOVEMBER) as store:
        for predicate, value in (
            ("age", 67), ("diagnosis", "NSCLC IIB"), ("tumor_size", "3 cm"), ("tumor_location", "right upper lobe"),
        ):  # fmt: skip
            store.update("patient_MR", predicate, value, valid_from=JANUARY, source="January")
        store.update("patient_MR", "tumor_size", "1.2 cm", valid_from=MARCH, source="March")
        store.alias("patient_MR", "M.R.")
        store.update("Alice", "employer", "Acme", valid_from=JANUARY)
        yield store


# -- retriever ----------------------------------------------------------------------------------------------
def test_the_exact_fact_comes_first_then_the_nearest_up_to_k(patient: KnowledgeStore) -> None:
    found = KORetriever(store=patient, k=3).retrieve("What is M.R.'s tumor size?")
    assert len(found) == 3
    first = found[0].metadata
    assert (first["object"], first["route"], first["version"], first["source"]) == (
        "1.2 cm",
        "exact",
        2,
        "March",
    )
    assert found[0].score == 1.0
    assert first["valid_from"] == MARCH.isoformat()
    assert {n.metadata["route"] for n in found[1:]} == {"semantic"}
    assert len({n.metadata["id"] for n in found}) == 3
    assert "3 cm" not in {n.metadata["object"] for n in found}


async def test_a_retriever_of_the_past(patient: KnowledgeStore) -> None:
    early = KORetriever(store=patient, k=1, as_of=datetime(2025, 2, 1, tzinfo=UTC))
    [found] = await early.aretrieve("What is M.R.'s tumor size?")
    assert found.metadata["object"] == "3 cm"
    filtered = KORetriever(store=patient, where={"subject": "Alice"})
    assert [n.metadata["subject"] for n in filtered.retrieve("What is M.R.'s tumor size?")] == ["Alice"]


def test_multi_hop_evidence_comes_in_the_order_of_the_path(store: KnowledgeStore) -> None:
    store.update("Alice", "employer", "Acme")
    store.update("Acme", "headquarters", "Basel")
    found = KORetriever(store=store, k=2).retrieve("Where is the headquarters of Alice's employer?")
    assert [n.metadata["route"] for n in found] == ["multi_hop", "multi_hop"]
    assert [n.metadata["object"] for n in found] == ["Acme", "Basel"]


def test_a_documents_node_keeps_its_own_metadata(store: KnowledgeStore) -> None:
    KOVectorStore(store=store).add(
        [TextNode(id_="n", text="Dogs bark.", metadata={"source": "a.pdf", "subject": 1})]
    )
    [found] = KORetriever(store=store).retrieve("dogs")
    assert (found.node_id, found.metadata["source"], found.metadata["subject"]) == ("n", "a.pdf", 1)
    assert "object" not in found.metadata
    assert found.metadata["route"] == "semantic"


def test_what_a_model_sees_of_a_fact(patient: KnowledgeStore) -> None:
    from llama_index.core.schema import MetadataMode

    [found] = KORetriever(store=patient, k=1).retrieve("What is M.R.'s tumor size?")
    prompt = found.node.get_content(metadata_mode=MetadataMode.LLM)
    assert "1.2 cm" in prompt
    assert "valid_from: 2025-03-14" in prompt
    assert "confidence" not in prompt


def test_the_same_over_fast_weights(store: KnowledgeStore) -> None:
    memory = FastWeightMemory(HashingEmbedder())
    memory.update("Alice", "city", "Bern")
    [found] = FastWeightRetriever(memory, k=1).retrieve("What is the city of Alice?")
    assert (found.metadata["object"], found.metadata["route"]) == ("Bern", "fast_weight")
    assert found.score == pytest.approx(1.0, abs=1e-3)


# -- query engine ---------------------------------------------------------------------------------------------
def test_the_medical_example_without_a_model(patient: KnowledgeStore) -> None:
    """Main paper 4.2.9: the value then, the value now, and how it got there."""
    engine = KOQueryEngine(store=patient)
    assert engine.query("What was M.R.'s tumor size at diagnosis?").metadata["value"] == "3 cm"
    then = engine.query("What was M.R.'s tumor size in January 2025?")
    assert (then.metadata["value"], then.metadata["route"]) == ("3 cm", "temporal")
    assert then.source_nodes[0].metadata["version"] == 1
    now = engine.query("What is M.R.'s tumor size?")
    assert (now.metadata["value"], now.metadata["route"]) == ("1.2 cm", "exact")
    assert "1.2 cm" in str(now)
    assert (
        now.source_nodes[0].metadata["reference"] == patient.read_exact("patient_MR", "tumor_size").reference
    )
    assert engine.query("What is M.R.'s diagnosis?").metadata["value"] == "NSCLC IIB"
    assert engine.query("What is M.R.'s age?").metadata["value"] == 67
    change = engine.query("How has M.R.'s tumor size changed?")
    assert change.metadata["value"] == ["3 cm", "1.2 cm"]
    assert [n.metadata["version"] for n in change.source_nodes[:2]] == [1, 2]
    told = str(engine.query("Summarize M.R.'s treatment trajectory."))
    assert told.index("3 cm") < told.index("1.2 cm")
    assert "right upper lobe" in told
    assert "Acme" not in told


def test_the_medical_example_with_a_model(patient: KnowledgeStore, scripted: Callable[..., Any]) -> None:
    llm = scripted("M.R. presented with 3 cm; after chemotherapy 1.2 cm.")
    response = KOQueryEngine(store=patient, llm=llm).query("Summarize M.R.'s treatment trajectory.")
    assert str(response) == "M.R. presented with 3 cm; after chemotherapy 1.2 cm."
    [prompt] = llm.prompts
    assert prompt.index("3 cm") < prompt.index("1.2 cm")
    assert "2025-01-14" in prompt
    assert "2025-03-14" in prompt
    assert "NSCLC IIB" in prompt
    assert "Acme" not in prompt
    sizes = [n.metadata for n in response.source_nodes if n.metadata["predicate"] == "tumor_size"]
    assert [(m["object"], m["version"], m["valid_to"]) for m in sizes] == [
        ("3 cm", 1, MARCH.isoformat()),
        ("1.2 cm", 2, None),
    ]


async def test_the_model_sees_what_holds_and_nothing_older(
    patient: KnowledgeStore, scripted: Callable[..., Any]
) -> None:
    llm = scripted()
    response = await KOQueryEngine(store=patient, llm=llm).aquery("What is M.R.'s tumor size?")
    assert response.metadata["value"] == "1.2 cm"
    assert "1.2 cm" in llm.prompts[0]
    assert "3 cm" not in llm.prompts[0]


async def test_no_model_is_resolved_where_none_is_given(
    patient: KnowledgeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    response = await KOQueryEngine(store=patient).aquery("Who is Alice's employer?")
    assert response.metadata["value"] == "Acme"
    assert str(await KOQueryEngine(store=patient.namespace("nobody")).aquery("Who is it?")) != ""
    echoed = KOQueryEngine(store=patient, llm=MockLLM()).query("Who is Alice's employer?")
    assert "Acme" in str(echoed)


async def test_a_model_may_answer_as_a_stream(patient: KnowledgeStore, scripted: Callable[..., Any]) -> None:
    engine = KOQueryEngine(store=patient, llm=scripted("At Acme."), streaming=True)
    response = engine.query("Who is Alice's employer?")
    assert isinstance(response, StreamingResponse)
    assert "".join(response.response_gen) == "At Acme."
    assert (response.metadata["value"], response.source_nodes[0].metadata["object"]) == ("Acme", "Acme")
    later = await engine.aquery("Who is Alice's employer?")
    assert later.metadata["value"] == "Acme"


def test_it_abstains_without_evidence(store: KnowledgeStore) -> None:
    response = KOQueryEngine(store=store).query("Who is the king of Norway?")
    assert (response.metadata["value"], response.metadata["route"], response.source_nodes) == (
        None,
        "abstain",
        [],
    )
    with pytest.raises(InvalidInputError, match="store"):
        KOQueryEngine()


def test_a_retriever_and_post_processors_of_ones_own(patient: KnowledgeStore) -> None:
    engine = KOQueryEngine(
        retriever=KORetriever(store=patient, k=4, as_of=datetime(2025, 2, 1, tzinfo=UTC)),
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.99)],
    )
    response = engine.query("What is M.R.'s tumor size?")
    assert response.metadata["value"] == "3 cm"
    assert len(response.source_nodes) == 1


async def test_the_query_engine_runs_on_a_fast_weight_memory(scripted: Any) -> None:
    memory = FastWeightMemory(HashingEmbedder())
    plain = KOQueryEngine(retriever=FastWeightRetriever(memory))
    empty = plain.query("What is the city of Alice?")
    assert (empty.metadata["value"], empty.metadata["route"], empty.source_nodes) == (None, "abstain", [])
    memory.update("Alice", "city", "Basel")
    memory.update("Bob", "employer", "Acme")
    response = await plain.aquery("What is the city of Alice?")
    assert (response.metadata["value"], response.metadata["route"]) == ("Basel", "fast_weight")
    assert response.metadata["confidence"] == response.source_nodes[0].score
    assert "Basel" in str(response)
    written = KOQueryEngine(retriever=FastWeightRetriever(memory), llm=scripted("In Basel."))
    assert str(written.query("What is the city of Alice?")) == "In Basel."
    assert (await written.aquery("What is the city of Alice?")).metadata["value"] == "Basel"


# -- selector -------------------------------------------------------------------------------------------------
class Fuzzy(CustomQueryEngine):
    """Stands for the model that fuzzy questions go to."""

    def custom_query(self, query_str: str) -> str:
        return "A poem."


def engines(store: KnowledgeStore) -> list[QueryEngineTool]:
    return [
        QueryEngineTool(KOQueryEngine(store=store), ToolMetadata(name="facts", description="facts")),
        QueryEngineTool(Fuzzy(), ToolMetadata(name="model", description="anything else")),
    ]


@pytest.mark.parametrize(
    "made", [lambda s: KOSelector(store=s), lambda s: KOSelector(Router()), lambda s: KOSelector()]
)
async def test_factual_questions_go_to_the_facts_and_fuzzy_ones_to_the_model(
    patient: KnowledgeStore, made: Callable[[KnowledgeStore], KOSelector]
) -> None:
    engine = RouterQueryEngine(made(patient), engines(patient), llm=MockLLM())
    factual = engine.query("What is M.R.'s tumor size?")
    assert factual.metadata["value"] == "1.2 cm"
    assert factual.metadata["selector_result"].ind == 0
    fuzzy = await engine.aquery("Write a poem about the sea")
    assert str(fuzzy) == "A poem."
    assert fuzzy.metadata["selector_result"].ind == 1


def test_every_answer_of_a_router_is_current(store: KnowledgeStore) -> None:
    engine = RouterQueryEngine(KOSelector(store=store), engines(store), llm=MockLLM())
    for city in ("Bern", "Basel", "Chur"):
        store.update("Alice", "city", city)
        assert engine.query("Which city does Alice live in?").metadata["value"] == city
    assert [ko.object for ko in store.history("Alice", "city")] == ["Bern", "Basel", "Chur"]


async def test_retrievers_can_be_routed_too(patient: KnowledgeStore) -> None:
    tools = [
        RetrieverTool(KORetriever(store=patient, k=1), ToolMetadata(name="facts", description="facts")),
        RetrieverTool(KORetriever(store=patient.namespace("empty")), ToolMetadata(name="x", description="x")),
    ]
    routed = RouterRetriever(KOSelector(store=patient), tools, llm=MockLLM())
    assert [n.metadata["object"] for n in routed.retrieve("Who is Alice's employer?")] == ["Acme"]
    assert await routed.aretrieve("Write a poem about the sea") == []


@pytest.mark.parametrize("router", [lambda q: "fuzzy", lambda q: False, lambda q: {"label": "fuzzy"}])
def test_the_router_can_be_anything(router: Any) -> None:
    selector = KOSelector(router)
    assert selector.select(["facts", "model"], "What is the capital of France?").ind == 1
    assert KOSelector(router, factual=1, fuzzy=0).select(["model", "facts"], "x").inds == [0]


def test_bad_routes_are_errors() -> None:
    with pytest.raises(InvalidInputError, match="router"):
        KOSelector(lambda q: "maybe").select(["a", "b"], "x")
    with pytest.raises(InvalidInputError, match="choices"):
        KOSelector(lambda q: "fuzzy").select(["a"], "x")
    for no_router in (3, Router):
        with pytest.raises(InvalidInputError, match="router"):
            KOSelector(no_router)


def test_without_an_answer_what_held_and_what_holds_are_told_apart(patient: KnowledgeStore) -> None:
    told = str(KOQueryEngine(store=patient).query("Who is M.R.'s physician?"))
    assert told.startswith("No sure answer. On record:\n")
    assert '"3 cm" (from 2025-01-14 to 2025-03-14)' in told
    assert '"1.2 cm" (since 2025-03-14)' in told


def test_a_path_is_no_store() -> None:
    for adapter in (KOQueryEngine, KORetriever, KOVectorStore, KOSelector):
        with pytest.raises(InvalidInputError, match="open it first"):
            adapter(store="handbook/")


@pytest.mark.parametrize("k", [0, -1, True, 2.5])
def test_how_many_is_a_whole_number_from_one(patient: KnowledgeStore, k: Any) -> None:
    for make in (
        lambda: KORetriever(patient, k=k),
        lambda: KOQueryEngine(patient, k=k),
        lambda: KOToolSpec(patient, k=k),
        lambda: FastWeightRetriever(patient, k=k),
    ):
        with pytest.raises(InvalidInputError, match=r"^k: "):
            make()
    for mode in (VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.MMR):
        query = VectorStoreQuery(query_str="tumor", similarity_top_k=k, mode=mode)
        for store in (KOVectorStore(store=patient), KOPropertyGraphStore(store=patient)):
            search = getattr(store, "vector_query", None) or store.query
            with pytest.raises(InvalidInputError, match=r"^similarity_top_k: "):
                search(query)


@pytest.mark.parametrize("room", [0, -1])
def test_a_block_has_room(patient: KnowledgeStore, room: int) -> None:
    for make in (KOMemoryBlock, KOMemory.from_store):
        with pytest.raises(InvalidInputError, match=r"^facts_token_limit: "):
            make(patient, facts_token_limit=room)
        with pytest.raises(InvalidInputError, match=r"^k: "):
            make(patient, k=-1)
        make(patient, k=0)  # the facts of named subjects only

"""`KOToolSpec`, and the events that the adapters emit."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import TextNode

from ko_integrations import KnowledgeStore
from ko_integrations.llama_index import (
    KOCompilerTransform,
    KOMemoryBlock,
    KOQueryEngine,
    KORetriever,
    KOSelector,
    KOToolSpec,
    KOVectorStore,
    ko_ingest,
)


def tools_of(store: KnowledgeStore, **options: Any) -> dict[str, Any]:
    return {tool.metadata.name: tool for tool in KOToolSpec(store, **options).to_tool_list()}


# -- tools ------------------------------------------------------------------------------------------------------
def test_remember_recall_forget_history(store: KnowledgeStore) -> None:
    tools = tools_of(store, source="agent")
    assert list(tools) == ["remember", "recall", "forget", "history"]
    assert '"Bern"' in str(tools["remember"](subject="user", predicate="city", value="Bern"))
    said = str(tools["remember"](subject="user", predicate="city", value="Basel"))
    assert '"Basel"' in said
    assert "Before" in said
    assert '"Basel"' in str(tools["recall"](query="Which city does the user live in?"))
    told = str(tools["history"](subject="user", predicate="city"))
    assert told.index("Bern") < told.index("Basel")
    assert "Ended" in str(tools["forget"](subject="user", predicate="city"))
    assert store.read_exact("user", "city") is None
    assert store.history("user", "city")[0].provenance.source == "agent"
    tools["forget"](subject="user", predicate="city", erase=True)
    assert store.history("user", "city") == []


async def test_async_tools(store: KnowledgeStore) -> None:
    tools = tools_of(store)
    await tools["remember"].acall(subject="user", predicate="age", value=30)
    assert "30" in str(await tools["recall"].acall(query="How old is the user?"))
    assert "30" in str(await tools["history"].acall(subject="user", predicate="age"))
    assert "Ended" in str(await tools["forget"].acall(subject="user", predicate="age"))


def test_a_model_is_told_what_the_tools_take(store: KnowledgeStore) -> None:
    tools = tools_of(store)
    for tool in tools.values():
        assert len(tool.metadata.description) > 40
    schema = tools["remember"].metadata.get_parameters_dict()
    assert set(schema["required"]) == {"subject", "predicate", "value"}


def test_errors_come_back_as_text(store: KnowledgeStore) -> None:
    tools = tools_of(store)
    said = str(tools["remember"](subject="", predicate="city", value="Bern"))
    assert said.startswith("Refused: subject")
    assert str(tools["recall"](query="nothing of the sort")) == "Nothing on record."
    said = str(tools["remember"](subject="u", predicate="city", value="Bern", valid_from="some day"))
    assert said.startswith("Refused: valid_from")


def test_tools_run_in_parallel(store: KnowledgeStore) -> None:
    remember = tools_of(store)["remember"]
    with ThreadPoolExecutor(8) as executor:
        list(executor.map(lambda i: remember(subject="user", predicate=f"trait {i}", value=i), range(24)))
    assert store.count() == 24


# -- events -------------------------------------------------------------------------------------------------------
def test_supersession_retrieval_and_routing_are_heard(store: KnowledgeStore, heard: Any) -> None:
    vectors = KOVectorStore(store=store)
    for text in ("one", "two"):
        vectors.add([TextNode(id_="a", text=text)])
    vectors.delete_nodes(["a"])
    written = [event for event in heard.events if event.class_name() == "FactWritten"]
    assert [event.outcome for event in written] == ["created", "superseded"]
    assert written[1].previous == written[0].reference
    assert heard.names().count("FactRetracted") == 1
    store.update("Alice", "employer", "Acme")
    heard.events.clear()
    KOQueryEngine(store=store).query("Who is Alice's employer?")
    names = heard.names()
    routed = [event for event in heard.events if event.class_name() == "QuestionRouted"]
    assert [(event.route, event.references) for event in routed] == [
        ("exact", [store.read_exact("Alice", "employer").reference])
    ]
    assert {"QueryStartEvent", "QueryEndEvent", "RetrievalStartEvent", "RetrievalEndEvent"} <= set(names)
    heard.events.clear()
    KORetriever(store=store).retrieve("Who is Alice's employer?")
    assert heard.names() == ["RetrievalStartEvent", "QuestionRouted", "RetrievalEndEvent"]
    heard.events.clear()
    KOSelector(store=store).select(["facts", "model"], "Write a poem")
    assert [(event.route, event.question) for event in heard.events] == [("fuzzy", "Write a poem")]


@pytest.mark.parametrize("again", ["Alice works for Globex.", "Nothing of note."])
def test_ingestion_is_heard_when_it_is_stored(store: KnowledgeStore, heard: Any, again: str) -> None:
    steps = IngestionPipeline(transformations=[KOCompilerTransform(store)])
    for text in ("Alice works for Acme.", again):
        ko_ingest(steps, store, [Document(doc_id="d", text=text)])
    slot = store.update("Alice", "employer", "x").ko.id
    outcomes = [e.outcome for e in heard.events if e.class_name() == "FactWritten" and e.slot == slot]
    retracted = [e for e in heard.events if e.class_name() == "FactRetracted" and e.slot == slot]
    assert outcomes == (["created", "superseded"] if "Globex" in again else ["created"])
    assert len(retracted) == (0 if "Globex" in again else 1)


async def test_what_a_memory_learns_is_heard(store: KnowledgeStore, heard: Any) -> None:
    from llama_index.core.base.llms.types import ChatMessage

    block = KOMemoryBlock(store)
    await block.aput([ChatMessage(role="user", content="I live in Bern.")], session_id="s")
    assert "FactWritten" in heard.names()

"""Pitfalls 33 to 41: what LlamaIndex was seen to do, and what the adapters make of it."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Document, PropertyGraphIndex, Settings, StorageContext, VectorStoreIndex
from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.llms import MockLLM
from llama_index.core.memory import FactExtractionMemoryBlock, Memory, StaticMemoryBlock
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.query_engine import RouterQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import BaseNode, NodeWithScore, TextNode, TransformComponent
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.tools import QueryEngineTool, ToolMetadata
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import VectorStoreQuery

import ko_integrations.llama_index as adapters
from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.llama_index import (
    KOCompilerTransform,
    KOMemory,
    KOMemoryBlock,
    KOPropertyGraphStore,
    KOQueryEngine,
    KOSelector,
    KOVectorStore,
    ko_ingest,
)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


class Fails(TransformComponent):
    broken: bool = False

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        if self.broken:
            raise ConnectionError("out of order")
        return nodes


class Extracting(MockLLM):
    """Gives the facts that a conversation states, as `FactExtractionMemoryBlock` asks for them."""

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        facts = "".join(f"<fact>{m.content}</fact>" for m in messages[:-1] if m.role == "user")
        return ChatResponse(message=ChatMessage(role="assistant", content=f"<facts>{facts}</facts>"))


def test_33_upserts_delete_before_they_transform(store: KnowledgeStore) -> None:
    step, theirs = Fails(), SimpleVectorStore(stores_text=True)
    steps = IngestionPipeline(
        transformations=[SentenceSplitter(), MockEmbedding(embed_dim=4), step],
        docstore=SimpleDocumentStore(),
        vector_store=theirs,
        disable_cache=True,
    )
    steps.run(documents=[Document(doc_id="d", text="Alice works for Acme.")])
    step.broken = True
    edited = Document(doc_id="d", text="Alice works for Globex.")
    with pytest.raises(ConnectionError):
        steps.run(documents=[edited])
    assert theirs.data.embedding_dict == {}  # nothing is left of the document

    step.broken = False
    ours = IngestionPipeline(transformations=[KOCompilerTransform(store), step], disable_cache=True)
    ko_ingest(ours, store, [Document(doc_id="d", text="Alice works for Acme.")])
    step.broken = True
    with pytest.raises(ConnectionError):
        ko_ingest(ours, store, [edited])
    assert store.read_exact("Alice", "employer").object == "Acme"
    assert len(KOVectorStore(store=store).get_nodes()) == 2


def test_33_delete_withdraws_and_the_surviving_version_shows(store: KnowledgeStore) -> None:
    ours = IngestionPipeline(transformations=[KOCompilerTransform(store)])
    for id, firm in (("a", "Acme"), ("b", "Globex")):
        ko_ingest(ours, store, [Document(doc_id=id, text=f"Alice works for {firm}.")])
    vectors = KOVectorStore(store=store)
    for _ in range(2):
        vectors.delete("b")
        assert store.read_exact("Alice", "employer").object == "Acme"


async def test_34_memory_writes_blocks_late_and_a_set_history_never(store: KnowledgeStore) -> None:
    theirs = FactExtractionMemoryBlock(llm=Extracting())
    memory = Memory.from_defaults(session_id="s", memory_blocks=[theirs])
    await memory.aput(user("I live in Bern."))
    await memory.aset([user("I live in Bern.")])
    await memory.aget()
    assert theirs.facts == []
    for memory in (
        Memory.from_defaults(session_id="a", memory_blocks=[KOMemoryBlock(store)]),
        KOMemory.from_store(store, session_id="b"),
    ):
        await memory.aset([user("I live in Bern.")])
        assert "Bern" in str((await memory.aget("Where do I live?"))[0].content)


async def test_34_no_session_sees_the_facts_of_another(store: KnowledgeStore) -> None:
    theirs, ours = FactExtractionMemoryBlock(llm=Extracting()), KOMemoryBlock(store)
    for block in (theirs, ours):
        await block.aput([user("My code is s3cret.")], session_id="alice")
    asked = [user("What is my code?")]
    assert "s3cret" in await theirs.aget(asked, session_id="bob")
    assert await ours.aget(asked, session_id="bob") == ""
    assert "s3cret" in await ours.aget(asked, session_id="alice")


async def test_34_the_session_reaches_a_block_through_the_messages_alone(store: KnowledgeStore) -> None:
    block = KOMemoryBlock(store)
    message = user("I live in Bern.")
    message.additional_kwargs["session_id"] = "alice"
    await block._aput([message])
    assert store.namespaces() == [("alice",)]


async def test_35_fact_extraction_keeps_contradictions() -> None:
    theirs = FactExtractionMemoryBlock(llm=Extracting())
    for text in ("I live in Paris.", "I live in London."):
        await theirs.aput([user(text)])
    assert theirs.facts == ["I live in Paris.", "I live in London."]
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        ours = KOMemoryBlock(store)
        for text in ("I live in Paris.", "I live in London."):
            await ours.aput([user(text)])
        content = await ours.aget([user("Where do I live?")])
        assert "London" in content
        assert "Paris" not in content


async def test_36_priorities(store: KnowledgeStore) -> None:
    """0 is never truncated, 1 goes before 2; ours shortens where others vanish."""
    store.update("user", "residence", "Bern")
    for number in range(12):
        store.update("user", f"hobby {number}", f"thing {number}")
    blocks = [
        StaticMemoryBlock(name=f"p{priority}", priority=priority, static_content=f"word{priority} " * 30)
        for priority in (0, 1, 2)
    ]
    memory = Memory.from_defaults(session_id="s", memory_blocks=list(blocks), token_limit=170)
    await memory.aput(user("Where do I live?"))
    prompt = str((await memory.aget())[0].content)
    assert ("word0" in prompt, "word1" in prompt, "word2" in prompt) == (True, False, True)
    block = KOMemoryBlock(store, shared=True, priority=1)
    memory = Memory.from_defaults(session_id="s", memory_blocks=[blocks[0], block], token_limit=190)
    await memory.aput(user("Where do I live?"))
    prompt = str((await memory.aget())[0].content)
    assert "Bern" in prompt
    assert prompt.count("hobby") < 12


def test_37_selectors_are_called_by_keyword_and_resolve_no_model(
    store: KnowledgeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_model(_: Any) -> Any:
        raise AssertionError("a model was resolved")

    monkeypatch.setattr(type(Settings), "llm", property(no_model))
    store.update("Alice", "employer", "Acme")
    selector: BaseSelector = KOSelector(store=store)
    choices = [ToolMetadata(name="a", description="a"), ToolMetadata(name="b", description="b")]
    assert selector.select(choices=choices, query="Who is Alice's employer?").inds == [0]
    engine = KOQueryEngine(store=store)
    tools = [QueryEngineTool(engine, choice) for choice in choices]
    routed = RouterQueryEngine(selector, tools, llm=MockLLM()).query("Who is Alice's employer?")
    assert routed.metadata["value"] == "Acme"


def test_37_a_response_without_a_model_has_words(
    store: KnowledgeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "_llm", MockLLM())  # "no_text" resolves one though it was given another
    nodes = [NodeWithScore(node=TextNode(text="Acme"), score=1.0)]
    no_text = get_response_synthesizer(llm=MockLLM(), response_mode="no_text")
    assert str(no_text.synthesize("Who?", nodes)) in ("None", "")
    context = get_response_synthesizer(llm=MockLLM(), response_mode="context_only")
    assert str(context.synthesize("Who?", nodes)) == "Acme"
    store.update("Alice", "employer", "Acme")
    assert "Acme" in str(KOQueryEngine(store=store).query("Who is Alice's employer?"))


def test_38_a_cache_knows_a_document_by_its_text_alone(store: KnowledgeStore) -> None:
    class Doing(TransformComponent):
        def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
            return nodes

    theirs = IngestionPipeline(transformations=[Doing()])
    runs = [theirs.run(documents=[Document(doc_id=id, text="Alice works for Acme.")]) for id in ("a", "b")]
    assert [nodes[0].node_id for nodes in runs] == ["a", "a"]  # the second document is taken for the first
    ours = IngestionPipeline(transformations=[KOCompilerTransform(store)])
    for id in ("a", "b"):
        ko_ingest(ours, store, [Document(doc_id=id, text="Alice works for Acme.")])
    assert store.read_exact("Alice", "employer").provenance.sources == ("a", "b")


def test_38_nothing_is_written_inside_a_transform(store: KnowledgeStore) -> None:
    cursor = store.changes_since(0).cursor
    IngestionPipeline(transformations=[KOCompilerTransform(store)]).run(
        documents=[Document(text="Alice is 3.")]
    )
    assert store.changes_since(cursor).items == ()


async def test_39_tool_messages_and_empty_ones_are_not_learnt(store: KnowledgeStore) -> None:
    memory = KOMemory.from_store(store, session_id="s")
    await memory.aput_messages(
        [
            ChatMessage(role="assistant", content=None),
            ChatMessage(role="tool", content="I live in Oslo.", additional_kwargs={"tool_call_id": "1"}),
            user(""),
            user("I live in Bern."),
            ChatMessage(role="assistant", content="My city is Rome."),
        ]
    )
    assert [str(ko) for ko in store.namespace("s").snapshot()] == ["user residence Bern"]
    assert len(await memory.aget_all()) == 5


async def test_39_no_path_starts_an_event_loop(store: KnowledgeStore) -> None:
    with pytest.raises(RuntimeError):  # what LlamaIndex' own index does in Jupyter, unless use_async=False
        PropertyGraphIndex.from_documents(
            [Document(text="x")],
            kg_extractors=[Fails()],
            embed_model=MockEmbedding(embed_dim=4),
            llm=MockLLM(),
        )
    source = Path(str(adapters.__file__)).parent
    used = [path.name for path in source.glob("*.py") if re.search(r"\basyncio\.run\(", path.read_text())]
    assert used == []
    vectors = KOVectorStore(store=store)
    context = StorageContext.from_defaults(vector_store=vectors)
    index = VectorStoreIndex.from_documents(
        [Document(text="Dogs bark.")], storage_context=context, embed_model=vectors.embed_model
    )
    assert len(index.as_retriever().retrieve("dogs")) == 1
    engine, memory = KOQueryEngine(store=store), KOMemory.from_store(store, session_id="s")
    ko_ingest(
        IngestionPipeline(transformations=[KOCompilerTransform(store)]),
        store,
        [Document(text="Ann is 30 years old.")],
    )
    await asyncio.gather(engine.aquery("How old is Ann?"), memory.aput(user("I live in Bern.")))
    assert engine.query("How old is Ann?").metadata["value"] == 30


def test_40_what_is_saved_is_all_that_is_needed(store: KnowledgeStore) -> None:
    view = store.namespace("a", "b")
    made: list[tuple[Any, Callable[[Any], Any]]] = [
        (KOVectorStore(store=view), lambda again: again.client),
        (KOCompilerTransform(view), lambda again: again._store),
        (KOMemory.from_store(view), lambda again: again.facts.view(None)),
    ]
    for component, client in made:
        data = json.loads(json.dumps(component.to_dict()))
        again = type(component).from_dict(data)
        assert (client(again).namespace_path, client(again).handle) == (("a", "b"), store.handle)


def test_41_mocks(store: KnowledgeStore, agent_model: Callable[..., Any]) -> None:
    assert MockLLM().complete("a prompt").text == "a prompt"
    llm, _ = agent_model("scripted")
    assert llm.chat([user("a prompt")]).message.content == "scripted"
    vectors = KOVectorStore(path=":memory:", embedder=MockEmbedding(embed_dim=4))
    vectors.add([TextNode(id_="a", text="one"), TextNode(id_="b", text="two")])
    result = vectors.query(VectorStoreQuery(query_str="anything", similarity_top_k=2))
    assert result.similarities == pytest.approx([1.0, 1.0])
    assert KOPropertyGraphStore(store).get() == []

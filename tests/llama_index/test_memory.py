"""`KOMemoryBlock` in LlamaIndex' `Memory`, and `KOMemory` in agents."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock, Memory, StaticMemoryBlock
from llama_index.core.memory.memory import InsertMethod
from llama_index.core.workflow import Context, JsonSerializer

from ko_integrations import KnowledgeStore
from ko_integrations.compiler import OfflineCompiler
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError, LogUnavailableError
from ko_integrations.llama_index import KOMemory, KOMemoryBlock, KOQueryEngine, KOToolSpec

ASK = "Where do I live?"


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def contents(messages: list[ChatMessage]) -> str:
    return "\n".join(str(message.content) for message in messages)


def residence(view: KnowledgeStore) -> list[Any]:
    return [ko.object for ko in view.history("user", "residence")]


class Breakable(OfflineCompiler):
    broken = False

    def compile(self, text: str, **context: Any) -> Any:
        if self.broken:
            raise LogUnavailableError("locked")
        return super().compile(text, **context)


@pytest.fixture
def compiler() -> Breakable:
    return Breakable()


@pytest.fixture
def store(compiler: Breakable) -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), compiler=compiler) as opened:
        yield opened


# -- the block in LlamaIndex' own memory ------------------------------------------------------------------------
async def test_facts_come_into_the_prompt_without_overflow(store: KnowledgeStore) -> None:
    memory = Memory.from_defaults(session_id="s", memory_blocks=[KOMemoryBlock(store)])
    await memory.aput(user("I live in Bern."))
    await memory.aput(user("I live in Basel now."))
    await memory.aput(user(ASK))
    prompt = (await memory.aget())[0]
    assert prompt.role == "system"
    assert '"Basel"' in str(prompt.content)
    assert "Bern" not in str(prompt.content)
    assert residence(store.namespace("s")) == ["Bern", "Basel"]
    await memory.aget()
    assert residence(store.namespace("s")) == ["Bern", "Basel"]


async def test_overflow_after_a_read_learns_nothing_twice(store: KnowledgeStore) -> None:
    memory = Memory.from_defaults(
        session_id="s", memory_blocks=[KOMemoryBlock(store)], token_limit=120, token_flush_size=40
    )
    for city in ("Bern", "Basel", "Bern", "Basel"):
        await memory.aput(user(f"I live in {city}."))
        await memory.aget()
        for _ in range(3):
            await memory.aput(ChatMessage(role="assistant", content="All right. " * 8))
            await memory.aput(user("Go on, please."))
            await memory.aget()
    assert residence(store.namespace("s")) == ["Bern", "Basel", "Bern", "Basel"]


async def test_a_block_within_its_limit_keeps_what_is_needed(store: KnowledgeStore) -> None:
    for number in range(40):
        store.update("user", f"hobby {number}", f"thing {number}")
    store.update("user", "residence", "Basel")
    block = KOMemoryBlock(store, shared=True, facts_token_limit=80, priority=1)
    content = await block.aget([user(ASK)], session_id="s")
    assert "Basel" in content
    assert len(block.tokenizer_fn(content)) <= 80
    shorter = await block.atruncate(content, 20)
    assert shorter is not None
    assert "Basel" in shorter
    assert len(block.tokenizer_fn(content)) - len(block.tokenizer_fn(shorter)) >= 20
    memory = Memory.from_defaults(
        session_id="s", memory_blocks=[block], token_limit=100, chat_history_token_ratio=0.9
    )
    await memory.aput(user(ASK + " please" * 38))
    assert "Basel" in contents(await memory.aget())


async def test_a_block_as_context_to_the_user_is_not_learnt(store: KnowledgeStore) -> None:
    memory = Memory.from_defaults(
        session_id="s", memory_blocks=[KOMemoryBlock(store)], insert_method=InsertMethod.USER
    )
    await memory.aput(user("I live in Bern."))
    await memory.aput(user(ASK))
    injected = await memory.aget()
    assert "Bern" in str(injected[-1].content)
    await memory.aset(injected)
    await memory.aget()
    assert [str(ko) for ko in store.namespace("s").snapshot()] == ["user residence Bern"]


def test_synchronous_use(store: KnowledgeStore) -> None:
    memory = KOMemory.from_store(store, session_id="s")
    memory.put(user("I live in Bern."))
    memory.set([user("I live in Bern."), user("I live in Basel.")])
    assert "Basel" in contents(memory.get(ASK))


async def test_synchronous_use_inside_a_running_loop(store: KnowledgeStore) -> None:
    memory = KOMemory.from_store(store, session_id="s")
    await memory.aput(user("I live in Bern."))
    assert "Bern" in await KOMemoryBlock(store).aget([user(ASK)], session_id="s")


# -- whose ------------------------------------------------------------------------------------------------------
async def test_sessions_are_apart_unless_they_share(store: KnowledgeStore) -> None:
    block = KOMemoryBlock(store.namespace("alice"))
    await block.aput([user("I live in Bern.")], session_id="monday")
    assert await block.aget([user(ASK)], session_id="tuesday") == ""
    assert await block.aget([user(ASK)]) == ""
    shared = KOMemoryBlock(store.namespace("bob"), shared=True)
    await shared.aput([user("I live in Chur.")], session_id="monday")
    assert "Chur" in await shared.aget([user(ASK)], session_id="tuesday")
    assert store.namespaces() == [("alice", "monday"), ("bob",)]


def test_a_block_needs_a_store() -> None:
    with pytest.raises(InvalidInputError, match="store"):
        KOMemoryBlock()


# -- what fails -------------------------------------------------------------------------------------------------
async def test_a_message_that_failed_is_learnt_later_and_supersedes_nothing_newer(
    store: KnowledgeStore, compiler: Breakable
) -> None:
    memory = KOMemory.from_store(store, session_id="s")
    compiler.broken = True
    await memory.aput(user("I live in Bern."))
    await memory.aput(user("I work for Acme."))
    compiler.broken = False
    await memory.aput(user("I live in Basel."))
    for _ in range(2):
        await memory.aput(user("Go on."))
    view = store.namespace("s")
    assert residence(view) == ["Bern", "Basel"]
    assert view.read_exact("user", "employer").object == "Acme"
    assert len(await memory.aget_all()) == 5
    assert memory.facts is not None
    assert memory.facts.hearings == {}


async def test_what_waits_to_be_learnt_is_saved_with_the_memory(
    store: KnowledgeStore, compiler: Breakable
) -> None:
    memory = KOMemory.from_store(store, session_id="s")
    compiler.broken = True
    await memory.aput(user("I live in Bern."))
    compiler.broken = False
    restored = KOMemory.from_dict(json.loads(json.dumps(memory.to_dict())))
    await restored.aput(user("Go on."))
    assert residence(store.namespace("s")) == ["Bern"]


class Raising(BaseMemoryBlock[str]):
    async def _aget(self, messages: Any = None, **_: Any) -> str:
        return ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        raise ConnectionError("out of order")


async def test_another_block_that_raises_loses_no_message(store: KnowledgeStore) -> None:
    memory = KOMemory.from_store(
        store, session_id="s", token_limit=60, token_flush_size=20, memory_blocks=[Raising(name="other")]
    )
    await memory.aput(user("I live in Bern."))
    for number in range(4):
        await memory.aput_messages(
            [ChatMessage(role="assistant", content="Well. " * 9), user(f"{number} " * 9)]
        )
    assert len(await memory.aget_all()) == 9
    assert residence(store.namespace("s")) == ["Bern"]


class Unreadable(Raising):
    async def _aget(self, messages: Any = None, **_: Any) -> str:
        raise ConnectionError("out of order")


async def test_another_block_that_cannot_be_read_breaks_no_turn(
    store: KnowledgeStore, agent_model: Callable[..., Any]
) -> None:
    llm, prompts = agent_model("All right.")
    blocks = [Unreadable(name="other"), StaticMemoryBlock(name="manners", static_content="Be kind.")]
    memory = KOMemory.from_store(store, session_id="s", memory_blocks=blocks)
    await agent(llm).run(user_msg="I live in Bern.", memory=memory)
    await agent(llm).run(user_msg=ASK, memory=memory)
    assert '"Bern"' in prompts[-1]
    assert "Be kind." in prompts[-1]
    assert len(memory.memory_blocks) == 3


async def test_a_closed_store_breaks_no_turn(compiler: Breakable) -> None:
    store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), compiler=compiler)
    memory = KOMemory.from_store(store, session_id="s")
    store.close()
    await memory.aput(user("I live in Bern."))
    assert contents(await memory.aget()) == "I live in Bern."


async def test_nothing_put_is_no_error(store: KnowledgeStore) -> None:
    memory = KOMemory.from_store(store, session_id="s")
    await memory.aput_messages([])
    await memory.aset([])
    assert await memory.aget_all() == []


# -- again ------------------------------------------------------------------------------------------------------
async def test_setting_a_history_learns_each_message_once(store: KnowledgeStore) -> None:
    memory = KOMemory.from_store(store, session_id="s")
    history = [user("I live in Bern."), user("I live in Basel."), user("I live in Bern.")]
    for _ in range(3):
        await memory.aset(history)
    assert residence(store.namespace("s")) == ["Bern", "Basel", "Bern"]
    await memory.aput(user("I live in Basel."))
    await memory.aset([*history, user("I live in Basel.")])
    assert residence(store.namespace("s")) == ["Bern", "Basel", "Bern", "Basel"]


async def test_what_is_said_again_after_a_reset_counts(store: KnowledgeStore) -> None:
    memory = KOMemory.from_store(store, session_id="s")
    await memory.aput(user("I live in Bern."))
    await memory.aput(user("I live in Basel."))
    await memory.areset()
    await memory.aput(user("I live in Bern."))
    assert residence(store.namespace("s")) == ["Bern", "Basel", "Bern"]


async def test_a_block_among_others_is_found(store: KnowledgeStore) -> None:
    block = KOMemoryBlock(store)
    memory = KOMemory.from_defaults(session_id="s", memory_blocks=[block])
    assert memory.facts is block
    assert KOMemory.from_defaults(session_id="s").facts is None


# -- agents -----------------------------------------------------------------------------------------------------
def agent(llm: Any, store: KnowledgeStore | None = None) -> FunctionAgent:
    tools = [] if store is None else KOToolSpec(store).to_tool_list()
    return FunctionAgent(name="assistant", description="assists", tools=tools, llm=llm)


@pytest.mark.parametrize("workflow", [False, True])
async def test_two_users_two_sessions_and_a_corrected_fact(
    store: KnowledgeStore, agent_model: Callable[..., Any], workflow: bool
) -> None:
    llm, prompts = agent_model("All right.")
    runner = AgentWorkflow(agents=[agent(llm)], root_agent="assistant") if workflow else agent(llm)
    talk = [
        ("alice", "monday", "I live in Bern."),
        ("bob", "monday", "I live in Rome."),
        ("alice", "monday", "Actually, I live in Basel now."),
        ("alice", "tuesday", ASK),
        ("bob", "tuesday", ASK),
    ]
    memories: dict[tuple[str, str], KOMemory] = {}
    for who, session, text in talk:
        memory = memories.setdefault(
            (who, session),
            KOMemory.from_store(store.namespace(who), session_id=f"{who} {session}", shared=True),
        )
        await runner.run(user_msg=text, memory=memory)
    alice, bob = prompts[-2:]
    assert '"Basel"' in alice
    assert "Bern" not in alice
    assert "Rome" not in alice
    assert '"Rome"' in bob
    assert "Basel" not in bob
    assert residence(store.namespace("alice")) == ["Bern", "Basel"]
    assert residence(store.namespace("bob")) == ["Rome"]
    assert [ko.provenance.source for ko in store.namespace("alice").facts("user")] == ["alice monday"]


async def test_an_agent_that_calls_tools_learns_from_people_only(
    store: KnowledgeStore, agent_model: Callable[..., Any]
) -> None:
    view = store.namespace("alice")
    view.update("user", "employer", "Acme")
    llm, prompts = agent_model(
        ("recall", {"query": "Who do I work for?"}),
        ("remember", {"subject": "user", "predicate": "employer", "value": "Globex"}),
        "My city is Oslo. You work for Globex.",
    )
    memory = KOMemory.from_store(view, session_id="s", shared=True)
    await agent(llm, view).run(user_msg="I live in Bern. Who do I work for?", memory=memory)
    assert '"Acme"' in prompts[0]
    assert 'employer: "Acme"' in prompts[1]
    assert sorted(str(ko) for ko in view.snapshot()) == ["user employer Globex", "user residence Bern"]
    roles = [message.role.value for message in await memory.aget_all()]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]


async def test_a_chat_history_given_with_each_turn_is_learnt_once(
    store: KnowledgeStore, agent_model: Callable[..., Any]
) -> None:
    llm, prompts = agent_model("All right.")
    memory = KOMemory.from_store(store, session_id="s")
    history: list[ChatMessage] = []
    for text in ("I live in Bern.", "I live in Basel.", ASK):
        await agent(llm).run(user_msg=text, chat_history=history, memory=memory)
        history += [user(text), ChatMessage(role="assistant", content="All right.")]
    assert residence(store.namespace("s")) == ["Bern", "Basel"]
    assert '"Basel"' in prompts[-1]


async def test_an_agent_goes_on_from_a_saved_context(
    store: KnowledgeStore, agent_model: Callable[..., Any]
) -> None:
    llm, prompts = agent_model("All right.")
    assistant = agent(llm)
    context = Context(assistant)
    await assistant.run(
        user_msg="I live in Bern.", ctx=context, memory=KOMemory.from_store(store, session_id="s")
    )
    saved = json.loads(json.dumps(context.to_dict(serializer=JsonSerializer())))
    again = agent(llm)
    restored = Context.from_dict(again, saved, serializer=JsonSerializer())
    await again.run(user_msg="I live in Basel.", ctx=restored)
    await again.run(user_msg=ASK, ctx=restored)
    assert '"Basel"' in prompts[-1]
    assert "user: I live in Bern." in prompts[-1]
    assert residence(store.namespace("s")) == ["Bern", "Basel"]
    memory = await restored.store.get("memory")
    assert isinstance(memory, KOMemory)
    assert len(await memory.aget_all()) == 6


GO_ON = """
import asyncio, json, sys
from llama_index.core.base.llms.types import ChatMessage
from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.llama_index import KOMemory
store = KnowledgeStore.open("store", embedder=HashingEmbedder())
memory = KOMemory.from_dict(json.loads(sys.argv[1]))
asyncio.run(memory.aput(ChatMessage(role="user", content="She works for Acme.")))
print(store.namespace("s").read_exact("Ann", "employer").object, memory.facts.view("s").handle is store.handle)
"""


def test_a_memory_goes_on_in_another_process_with_the_store_that_is_open_there(tmp_path: Path) -> None:
    with KnowledgeStore.open(tmp_path / "store", embedder=HashingEmbedder()) as opened:
        memory = KOMemory.from_store(opened, session_id="s")
        memory.put(user("My sister Ann lives in Bern."))
        data = json.dumps(memory.to_dict())
    command = [sys.executable, "-c", GO_ON, data]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "Acme True\n"


# -- the main paper's example -----------------------------------------------------------------------------------
async def test_the_medical_example_as_it_is_told(compiler: Breakable) -> None:
    """Main paper 4.2.9, in its words: three sessions, what the patient had at diagnosis, has now, and went through."""
    days = [datetime(2025, month, day, tzinfo=UTC) for month, day in ((1, 10), (3, 15), (11, 3))]
    intake = (
        "Patient M.R., 67-year-old male, presented with persistent cough and 15-pound weight loss. CT scan showed "
        "3cm mass in right upper lobe. Biopsy confirmed non-small cell lung cancer, stage IIB."
    )
    sessions = [
        [intake],
        ["What was M.R.'s tumor size at diagnosis?", "Post-chemo scan shows tumor reduced to 1.2cm."],
    ]
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: days[0]) as store:
        store.alias("Patient M.R.", "M.R.")
        for number, said in enumerate(sessions):
            memory = KOMemory.from_store(store, session_id=str(number), shared=True)
            for text in said:
                await memory.aput(user(text))
            del days[0]
        engine = KOQueryEngine(store=store)
        then, now, age = [
            (await engine.aquery(question)).metadata["value"]
            for question in (
                "What was M.R.'s tumor size at diagnosis?", "What is M.R.'s tumor size?", "How old is M.R.?",
            )
        ]  # fmt: skip
        assert (str(then), str(now), age) == ("3 cm", "1.2 cm", 67)
        told = str(await engine.aquery("Summarize M.R.'s treatment trajectory."))
        assert told.index("3 cm") < told.index("1.2 cm")
        assert "right upper lobe" in told
        sizes = store.history("M.R.", "tumor size")
        assert [(str(ko.object), ko.valid_from.month) for ko in sizes] == [("3 cm", 1), ("1.2 cm", 3)]

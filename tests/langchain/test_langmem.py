"""LangMem's tools and LangGraph's `store=` on `KOLangGraphStore`, unchanged."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langmem")
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langmem import create_manage_memory_tool, create_search_memory_tool

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.langchain import KOLangGraphStore

NAMESPACE = ("memories", "{langgraph_user_id}")


def call(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "args": arguments, "id": f"call-{number}", "type": "tool_call"}


def test_langmems_tools_create_update_search_and_delete(tmp_path: Path, scripted: Any) -> None:
    saver = InMemorySaver()

    def session(user: str, thread: str, *calls: dict[str, Any]) -> list[str]:
        """Run one turn in a process of its own, as far as the memory is concerned."""
        with KnowledgeStore.open(tmp_path / "memory", embedder=HashingEmbedder()) as store:
            agent = create_agent(
                scripted(AIMessage("", tool_calls=list(calls)), AIMessage("done")),
                tools=[create_manage_memory_tool(namespace=NAMESPACE), create_search_memory_tool(namespace=NAMESPACE)],
                store=KOLangGraphStore(store=store), checkpointer=saver,
            )  # fmt: skip
            config = {"configurable": {"thread_id": f"{user}-{thread}", "langgraph_user_id": user}}
            result = agent.invoke({"messages": [HumanMessage("go")]}, config)
            return [message.text for message in result["messages"] if isinstance(message, ToolMessage)]

    [created] = session("alice", "1", call("manage_memory", content="lives in Bern", action="create"))
    session("bob", "1", call("manage_memory", content="lives in Chur", action="create"))
    key = created.rsplit(" ", 1)[-1]
    session("alice", "2", call("manage_memory", content="lives in Basel", action="update", id=key))
    [found] = session("alice", "3", call("search_memory", query="where does she live"))
    assert [item["value"]["content"] for item in json.loads(found)] == ["lives in Basel"]
    with KnowledgeStore.open(tmp_path / "memory", embedder=HashingEmbedder()) as store:
        memory = KOLangGraphStore(store=store)
        versions = [item.value["content"] for item in memory.history(("memories", "alice"), key)]
        assert versions == ["lives in Bern", "lives in Basel"]
    session("alice", "4", call("manage_memory", action="delete", id=key))
    [found] = session("alice", "5", call("search_memory", query="where does she live"))
    assert json.loads(found) == []
    [found] = session("bob", "2", call("search_memory", query="where does he live"))
    assert "Chur" in found


def test_a_graphs_store_is_reached_from_its_tools(scripted: Any) -> None:
    @tool
    def save(city: str, runtime: ToolRuntime) -> str:
        """Save a city."""
        runtime.store.put(("users", "alice"), "city", {"name": city})
        return "saved"

    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        memory = KOLangGraphStore(store=store)
        for number, city in enumerate(["Bern", "Basel"]):
            model = scripted(AIMessage("", tool_calls=[call("save", number, city=city)]), AIMessage("done"))
            create_agent(model, tools=[save], store=memory).invoke({"messages": [HumanMessage("go")]})
        assert memory.get(("users", "alice"), "city").value == {"name": "Basel"}
        assert [item.value["name"] for item in memory.history(("users", "alice"), "city")] == [
            "Bern",
            "Basel",
        ]

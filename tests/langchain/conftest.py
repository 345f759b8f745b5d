"""Stores, a scripted chat model, and an embedder that counts."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph")

import numpy as np
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from numpy.typing import NDArray
from pydantic import Field

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.testing.chroma_server import ChromaServer


class CountingEmbedder:
    """Encodes as `HashingEmbedder` does and notes every call; fails when told to."""

    def __init__(self) -> None:
        self._inner = HashingEmbedder()
        self.model_id, self.dimension = self._inner.model_id, self._inner.dimension
        self.calls: list[list[str]] = []
        self.error: Exception | None = None

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        if self.error is not None:
            raise self.error
        self.calls.append(list(texts))
        return self._inner.encode(texts)


Script = AIMessage | Exception | Callable[[list[BaseMessage]], AIMessage]


class ScriptedModel(BaseChatModel):
    """Gives the scripted replies in order, the last one again and again, and keeps every prompt."""

    script: list[Any]
    prompts: list[list[BaseMessage]] = Field(default_factory=list)
    tools: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        step = self.script[min(len(self.prompts), len(self.script) - 1)]
        self.prompts.append(messages)
        if isinstance(step, Exception):
            raise step
        reply = step if isinstance(step, AIMessage) else step(messages)
        return ChatResult(generations=[ChatGeneration(message=reply.model_copy(update={"id": None}))])

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        self.tools[:] = tools
        return self

    def prompt(self, number: int = -1) -> str:
        """The text of a prompt as the model saw it."""
        return "\n".join(f"{message.type}: {message.text}" for message in self.prompts[number])


class Runs(BaseCallbackHandler):
    """Keeps the names, tags and parents of the runs it hears of."""

    def __init__(self) -> None:
        self.started: list[tuple[str, str]] = []
        self.ended: list[tuple[str, Any]] = []
        self.tags: list[str] = []
        self.parents: dict[str, Any] = {}

    def _start(self, kind: str, serialized: Any, kwargs: dict[str, Any]) -> None:
        name = kwargs.get("name") or (serialized or {}).get("name", "")
        self.started.append((kind, name))
        self.tags += kwargs.get("tags") or []
        self.parents[name] = kwargs.get("parent_run_id")

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self._start("chain", serialized, kwargs)

    def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
        self._start("retriever", serialized, kwargs)

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        self._start("model", serialized, kwargs)

    def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self._start("tool", serialized, kwargs)

    def on_retriever_end(self, documents: Any, **kwargs: Any) -> None:
        self.ended.append(("retriever", documents))

    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        self.ended.append(("chain", outputs))


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def store(embedder: CountingEmbedder) -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=embedder) as opened:
        yield opened


@pytest.fixture
def runs() -> Runs:
    return Runs()


@pytest.fixture
def scripted() -> Callable[..., ScriptedModel]:
    """Make a model from its replies: messages, exceptions to raise, or callables from the prompt."""
    return lambda *script: ScriptedModel(script=list(script))


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chroma server that runs for the session."""
    with ChromaServer(tmp_path_factory.mktemp("chroma")) as server:
        yield server.wait().url

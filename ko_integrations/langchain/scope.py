"""Whose memory a run reads and writes: from the runtime context to a view of the store."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from ko_integrations.errors import InvalidInputError
from ko_integrations.store import KnowledgeStore, expect_store

__all__ = ["Namespacer", "Scope", "thread_of_run"]

Namespacer = Callable[[Any], Sequence[str]]
"""From the runtime context of a run to a namespace below the store's own."""

_FIELDS = ("namespace", "user_id")


class Scope:
    """Chooses the view of a store by the runtime context, and never falls back to somebody else's.

    By default the context's `namespace` (strings) or `user_id`, an attribute or a key, is the namespace below
    the store's own; in a run without context, `user_id` or `langgraph_user_id` among its configurables. A run
    that has neither works on the store as it was given; a run whose context names no one is refused.
    """

    def __init__(self, store: KnowledgeStore, namespace: Namespacer | Sequence[str] | None = None) -> None:
        if isinstance(namespace, str):
            raise InvalidInputError("namespace", "expected separate strings or a callable, got one string")
        self.store = expect_store(store)
        self._namespace = namespace

    def view(self, context: Any) -> KnowledgeStore:
        """Return the view for a run with this context.

        Raises:
            InvalidInputError: the context names no one.
        """
        parts = self.parts(context)
        return self.store.namespace(*parts) if parts else self.store

    def parts(self, context: Any) -> tuple[str, ...]:
        """Return the namespace for a run with this context, below the store's own.

        Raises:
            InvalidInputError: the context names no one.
        """
        if callable(self._namespace):
            return _checked(self._namespace(context))
        if self._namespace is not None:
            return tuple(self._namespace)
        if context is None:
            return _configured()
        for field in _FIELDS:
            found = context.get(field) if isinstance(context, Mapping) else getattr(context, field, None)
            if found is not None:
                return _checked([str(found)] if field == "user_id" else found)
        raise InvalidInputError(
            "context", "has neither user_id nor namespace; pass namespace= to say whose it is"
        )


def thread_of_run() -> tuple[str | None, bool]:
    """Return the thread that this is a run of, if any, and whether it began at a checkpoint of the past."""
    config = _config()
    thread = config.get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread), "checkpoint_id" in config.get("metadata", {})


def _config() -> RunnableConfig:
    try:
        return get_config()
    except RuntimeError:  # not inside a run
        return {}


def _configured() -> tuple[str, ...]:
    configurable = _config().get("configurable", {})
    found = [str(configurable[name]) for name in ("user_id", "langgraph_user_id") if configurable.get(name)]
    return tuple(found[:1])


def _checked(parts: Sequence[str]) -> tuple[str, ...]:
    if isinstance(parts, str):
        raise InvalidInputError("namespace", "expected separate strings, got one string")
    if not all(str(part).strip() for part in parts) or not tuple(parts):
        raise InvalidInputError("namespace", "the context names no one")
    return tuple(parts)

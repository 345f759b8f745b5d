"""`KOToolSpec`: remember, recall, forget and history as tools of an agent."""

import asyncio

from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.core.tools.utils import create_schema_from_function

from ko_integrations.identity import check_count
from ko_integrations.memory import tools
from ko_integrations.store import KnowledgeStore, expect_store

__all__ = ["KOToolSpec"]


class KOToolSpec(BaseToolSpec):
    """Tools over one namespace of a store. Safe to call in parallel; errors come back as text for the model.

    Example:
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> spec = KOToolSpec(KnowledgeStore.open(":memory:", embedder=HashingEmbedder()))
        >>> [tool.metadata.name for tool in spec.to_tool_list()]
        ['remember', 'recall', 'forget', 'history']
    """

    spec_functions: list[SPEC_FUNCTION_TYPE] = [  # noqa: RUF012 - the base class declares it so
        ("remember", "aremember"), ("recall", "arecall"), ("forget", "aforget"), ("history", "ahistory"),
    ]  # fmt: skip

    def __init__(self, store: KnowledgeStore, *, source: str | None = None, k: int = 5) -> None:
        """Work on the namespace of `store`; `source` is named as the source of what is remembered.

        Raises:
            InvalidInputError: `store` is none, or `k` is below 1.
        """
        self.store = expect_store(store)
        self.source = source
        self.k = check_count(k, "k")

    def remember(
        self, subject: str, predicate: str, value: str | int | float | bool, valid_from: str | None = None
    ) -> str:
        """Store one fact and say what that did."""
        return tools.remember(
            self.store, subject, predicate, value, valid_from=valid_from, source=self.source
        )

    def recall(self, query: str) -> str:
        """Say what is on record for a question."""
        return tools.recall(self.store, query, k=self.k)

    def forget(self, subject: str, predicate: str, value: str | None = None, erase: bool = False) -> str:
        """Retract a fact, or erase it with its history, and say what that did."""
        return tools.forget(self.store, subject, predicate, value=value, erase=erase, source=self.source)

    def history(self, subject: str, predicate: str) -> str:
        """Say what values a fact has had, oldest first."""
        return tools.history(self.store, subject, predicate)

    async def aremember(
        self, subject: str, predicate: str, value: str | int | float | bool, valid_from: str | None = None
    ) -> str:
        """Do as `remember` does, without blocking the event loop."""
        return await asyncio.to_thread(self.remember, subject, predicate, value, valid_from)

    async def arecall(self, query: str) -> str:
        """Do as `recall` does, without blocking the event loop."""
        return await asyncio.to_thread(self.recall, query)

    async def aforget(
        self, subject: str, predicate: str, value: str | None = None, erase: bool = False
    ) -> str:
        """Do as `forget` does, without blocking the event loop."""
        return await asyncio.to_thread(self.forget, subject, predicate, value, erase)

    async def ahistory(self, subject: str, predicate: str) -> str:
        """Do as `history` does, without blocking the event loop."""
        return await asyncio.to_thread(self.history, subject, predicate)

    def to_tool_list(
        self,
        spec_functions: list[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: dict[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """Return the tools, described for a model."""
        described = {
            name: ToolMetadata(
                name=name, description=text, fn_schema=create_schema_from_function(name, getattr(self, name))
            )
            for name, text in tools.DESCRIPTIONS.items()
        }
        return super().to_tool_list(spec_functions, {**described, **(func_to_metadata_mapping or {})})

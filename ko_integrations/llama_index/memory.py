"""`KOMemory`: LlamaIndex' `Memory` with facts that are learnt as they are said."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Literal

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, model_serializer, model_validator
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.storage.chat_store.base_db import MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from pydantic import SerializerFunctionWrapHandler

from ko_integrations.llama_index.memory_block import KOMemoryBlock, spoken
from ko_integrations.memory.turns import Survives
from ko_integrations.store import KnowledgeStore

__all__ = ["KOMemory"]

_log = logging.getLogger(__name__)


class KOMemory(Memory):
    """LlamaIndex' `Memory` with a block of facts that are learnt at once, not when the history overflows.

    Every user message is compiled when it is put or set; setting the same history again changes nothing. A
    block that fails, when it is read or when the history overflows, neither loses messages nor breaks the turn.

    It serialises with the messages of its session (where the chat store is LlamaIndex' own, `SQLAlchemyChatStore`)
    and the name of the store: restored, it finds the store open, or opens it. Other blocks are not saved.

    Example:
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())
        >>> memory = KOMemory.from_store(store.namespace("alice"), session_id="monday", shared=True)
    """

    facts: KOMemoryBlock | None = Field(default=None, description="The block of facts.")

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which it is serialised."""
        return "KOMemory"

    @classmethod
    def from_store(
        cls,
        store: KnowledgeStore,
        *,
        session_id: str | None = None,
        shared: bool = False,
        k: int = 8,
        facts_token_limit: int = 400,
        token_limit: int = 30_000,
        memory_blocks: Sequence[BaseMemoryBlock[Any]] = (),
        **options: Any,
    ) -> "KOMemory":
        """Return a memory over `store`; `options` are those of `Memory.from_defaults`.

        Raises:
            InvalidInputError: `store` is none, `k` is below 0 or `facts_token_limit` below 1.
        """
        block = KOMemoryBlock(store, shared=shared, k=k, facts_token_limit=facts_token_limit)
        base = Memory.from_defaults(session_id=session_id, token_limit=token_limit, **options)
        kept = {name: getattr(base, name) for name in Memory.model_fields if name != "memory_blocks"}
        return cls(**kept, facts=block, memory_blocks=[block, *memory_blocks])

    @model_validator(mode="before")
    @classmethod
    def _chat_store_from_data(cls, values: Any) -> Any:
        if isinstance(values, dict) and isinstance(values.get("sql_store"), dict):
            return {**values, "sql_store": SQLAlchemyChatStore(**values["sql_store"])}
        return values

    @model_validator(mode="after")
    def _facts_are_a_block(self) -> "KOMemory":
        """Find the block of facts among the blocks, or put it there; it learns when messages are put, not later."""
        if self.facts is None:
            self.facts = next(
                (block for block in self.memory_blocks if isinstance(block, KOMemoryBlock)), None
            )
        if self.facts is not None:
            self.facts.accept_short_term_memory = False
            self.facts.eager = False
            if all(block is not self.facts for block in self.memory_blocks):
                self.memory_blocks = [self.facts, *self.memory_blocks]
        return self

    @model_serializer(mode="wrap")
    def _saved(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The declared type of the list is abstract: LlamaIndex cannot make its members again from data.
        data: dict[str, Any] = handler(self)
        data["memory_blocks"] = []
        # As JSON in every mode: a saved context serialises what `to_dict` gives, which is Python's.
        data["insert_method"] = self.insert_method.value
        data["facts"] = None if self.facts is None else self.facts.model_dump(mode="json")
        data.pop("memory_blocks_template", None)
        if isinstance(self.sql_store, SQLAlchemyChatStore):
            chats = self.sql_store.model_dump()
            rows = [row for row in chats.pop("db_data", ()) if row["key"] == self.session_id]
            data["sql_store"] = {**chats, "db_data": rows} if rows else chats
        return data | {"class_name": self.class_name()}

    async def aput(self, message: ChatMessage) -> None:
        """Add a message, and store what it states."""
        await self.aput_messages([message])

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Add messages, and store what they state."""
        if messages:
            before: list[ChatMessage] = []
            if spoken(messages):
                before = await self.sql_store.get_messages(self.session_id, status=MessageStatus.ACTIVE)
            await super().aput_messages(messages)
            await self._learn(messages, said="new", before=before)

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Set the history; of its messages those are learnt that were not before."""
        await super().aset(messages)
        await self._learn(messages, said="history")

    async def _manage_queue(self) -> None:
        """Pass what overflows to the other blocks; what one of them raises is logged, the messages are archived."""
        with Survives("writing a memory block") as attempt:
            await super()._manage_queue()
        if attempt.error is not None:
            _log.warning("a memory block failed; the messages are kept: %s", attempt.error)

    async def _get_memory_blocks_content(
        self, chat_history: list[ChatMessage], input: str | ChatMessage | None = None, **options: Any
    ) -> dict[str, Any]:
        """Read the blocks one by one, in order of priority: one that fails takes no other along."""
        contents: dict[str, Any] = {}
        for block in sorted(self.memory_blocks, key=lambda block: -block.priority):
            alone = self.model_copy(update={"memory_blocks": [block]})
            with Survives(f"reading the memory block {block.name!r}") as attempt:
                contents |= await super(KOMemory, alone)._get_memory_blocks_content(
                    chat_history, input=input, **options
                )
            if attempt.error is not None:
                _log.warning("the turn goes on without the memory block %s: %s", block.name, attempt.error)
        return contents

    async def _learn(
        self,
        messages: Sequence[ChatMessage],
        said: Literal["new", "history"],
        before: Sequence[ChatMessage] = (),
    ) -> None:
        if self.facts is not None:
            await asyncio.to_thread(self.facts.learn, self.session_id, messages, said=said, before=before)

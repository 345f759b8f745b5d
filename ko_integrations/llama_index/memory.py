"""`KOMemoryBlock` and `KOMemory`: facts instead of a growing transcript, learnt as they are said."""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field, PrivateAttr, model_serializer, model_validator
from llama_index.core.memory import BaseMemoryBlock, Memory
from pydantic import SerializerFunctionWrapHandler

from ko_integrations.llama_index.events import emit_retracted, emit_writes
from ko_integrations.llama_index.stores import find_store
from ko_integrations.memory.prompt import render_facts
from ko_integrations.memory.recall import recall
from ko_integrations.memory.turns import Learnt, Said, Survives, learn
from ko_integrations.models import count_tokens
from ko_integrations.store import KnowledgeStore

__all__ = ["KOMemory", "KOMemoryBlock"]

_log = logging.getLogger(__name__)


class KOMemoryBlock(BaseMemoryBlock[str]):
    """A memory block of current facts, for LlamaIndex' `Memory`.

    Reading gives the facts that the newest user message calls for, most needed first, within
    `facts_token_limit`; a superseded value never comes along. Writing compiles what users say and stores it.

    Each session has a namespace of its own below that of the store, so that none sees another's facts; with
    `shared=True` all sessions share the store's namespace (give it one for each user then).
    """

    name: str = "facts"
    description: str | None = "Facts on record, as they hold now."
    path: str | None = Field(default=None, description="Where the store is, if none is given.")
    namespace: list[str] = Field(default_factory=list, description="Whose memory it is.")
    shared: bool = Field(default=False, description="All sessions read and write one namespace.")
    k: int = Field(default=8, description="Facts found by meaning at most.")
    facts_token_limit: int = Field(default=400, description="Tokens of the block at most.")
    _store: KnowledgeStore = PrivateAttr()

    def __init__(
        self,
        store: KnowledgeStore | None = None,
        *,
        path: str | None = None,
        namespace: Sequence[str] = (),
        **data: Any,
    ) -> None:
        """Work on a namespace of `store`, or of the one at `path`.

        Raises:
            InvalidInputError: neither a store nor a path.
        """
        view = find_store(store, path, namespace)
        super().__init__(path=view.where, namespace=list(view.namespace_path), **data)
        self._store = view

    def view(self, session_id: str | None) -> KnowledgeStore:
        """Return the view that a session reads and writes."""
        return self._store if self.shared or not session_id else self._store.namespace(session_id)

    def learn(self, session_id: str | None, said: Sequence[Said]) -> Learnt:
        """Store what was said in a session, each message once under its key; report what failed."""
        learnt = learn(self.view(session_id), said)
        for report in learnt.reports:
            emit_writes(report.results)
            emit_retracted(report.retracted)
        return learnt

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **_: Any
    ) -> str:
        asked = [message for message in messages or [] if message.role is MessageRole.USER]
        text = (asked[-1].content or "") if asked else ""
        found = await asyncio.to_thread(recall, self.view(session_id), text, k=self.k)
        if found.error:
            _log.warning("facts were read by subject only: %s", found.error)
        return render_facts(found.facts, budget=self.facts_token_limit).text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        by_session: dict[str | None, list[Said]] = {}
        for message in _spoken(messages):
            session = message.additional_kwargs.get("session_id")
            by_session.setdefault(session, []).append(Said(message.content or "", source=session))
        for session, said in by_session.items():
            await asyncio.to_thread(self.learn, session, said)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Drop the least needed facts until so many tokens are saved; None when none is left."""
        opening, *lines, closing = content.splitlines()
        header, facts = lines[0], lines[1:]
        saved = 0
        while facts and saved < tokens_to_truncate:
            saved += count_tokens(facts.pop())
        return "\n".join([opening, header, *facts, closing]) if facts else None


class KOMemory(Memory):
    """LlamaIndex' `Memory` with a block of facts that are learnt at once, not when the history overflows.

    Every user message is compiled when it is put or set, once for its place in the conversation: setting the
    same history again changes nothing. A block that fails neither loses messages nor breaks the turn. It
    serialises without the store: restored, it finds the store open at its path, or opens it.

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
        """Return a memory over `store`; `options` are those of `Memory.from_defaults`."""
        block = KOMemoryBlock(store, shared=shared, k=k, facts_token_limit=facts_token_limit)
        base = Memory.from_defaults(session_id=session_id, token_limit=token_limit, **options)
        kept = {name: getattr(base, name) for name in Memory.model_fields if name != "memory_blocks"}
        return cls(**kept, facts=block, memory_blocks=[block, *memory_blocks])

    @model_validator(mode="after")
    def _facts_are_a_block(self) -> "KOMemory":
        """Find the block of facts among the blocks, or put it there; the overflow need not write it again."""
        if self.facts is None:
            self.facts = next(
                (block for block in self.memory_blocks if isinstance(block, KOMemoryBlock)), None
            )
        if self.facts is not None:
            self.facts.accept_short_term_memory = False
            if all(block is not self.facts for block in self.memory_blocks):
                self.memory_blocks = [self.facts, *self.memory_blocks]
        return self

    @model_serializer(mode="wrap")
    def _without_blocks(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The declared type of the list is abstract: LlamaIndex cannot make its members again from data.
        data: dict[str, Any] = handler(self)
        data["memory_blocks"] = []
        data.pop("memory_blocks_template", None)
        return data | {"class_name": self.class_name()}

    async def aput(self, message: ChatMessage) -> None:
        """Add a message, and store what it states."""
        await self.aput_messages([message])

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Add messages, and store what they state."""
        before = await self.aget_all()
        with Survives() as attempt:
            await super().aput_messages(messages)
        if attempt.error is not None:
            _log.warning("a memory block failed; the messages are kept: %s", attempt.error)
        await self._learn(before, messages)

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Set the history; of its messages those are learnt that were not before."""
        await super().aset(messages)
        await self._learn([], messages)

    async def _learn(self, before: Sequence[ChatMessage], new: Sequence[ChatMessage]) -> None:
        """Learn new messages, each under a key that names it by its words and how often they came before."""
        if self.facts is None:
            return
        seen = Counter(message.content for message in _spoken(before))
        said = []
        for message in _spoken(new):
            seen[message.content] += 1
            text = message.content or ""
            digest = sha256(text.encode()).hexdigest()
            key = f"session {self.session_id} message {digest} {seen[message.content]}"
            said.append(Said(text, key=key, source=self.session_id))
        await asyncio.to_thread(self.facts.learn, self.session_id, said)


def _spoken(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return what people said: no answers, tool results or empty messages."""
    return [
        message
        for message in messages
        if message.role is MessageRole.USER and (message.content or "").strip()
    ]

"""`KOMemoryBlock`: current facts, learnt as they are said."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Literal

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer

from ko_integrations.errors import KOError
from ko_integrations.identity import check_count
from ko_integrations.llama_index.events import emit_retracted, emit_writes
from ko_integrations.llama_index.stores import find_store, name_of
from ko_integrations.memory.hearing import Hearing
from ko_integrations.memory.prompt import MEMORY_HEADER, render_facts
from ko_integrations.memory.recall import recall
from ko_integrations.memory.turns import Learnt
from ko_integrations.store import KnowledgeStore

__all__ = ["KOMemoryBlock", "spoken"]

_log = logging.getLogger(__name__)


class KOMemoryBlock(BaseMemoryBlock[str]):
    """A memory block of current facts, for LlamaIndex' `Memory`.

    Reading gives the facts that the newest user message calls for, most needed first, within
    `facts_token_limit`; a superseded value never comes along. What users say is compiled and stored, once a
    message: when it is put, and with `eager` also when it is first seen in the history that a read brings,
    for `Memory` writes its blocks only when the history overflows. A message that could not be stored is tried
    again with the next; nothing of the store's makes a read or a write fail.

    Each session has a namespace of its own below that of the store, so that none sees another's facts; with
    `shared=True` all sessions share the store's namespace (give it one for each user then).
    """

    name: str = "facts"
    description: str | None = "Facts on record, as they hold now."
    path: str | None = Field(default=None, description="Where the store is, if none is given.")
    namespace: list[str] = Field(default_factory=list, description="Whose memory it is.")
    shared: bool = Field(default=False, description="All sessions read and write one namespace.")
    eager: bool = Field(default=True, description="Learn from the history that a read brings.")
    k: int = Field(default=8, description="Facts found by meaning at most.")
    facts_token_limit: int = Field(default=400, description="Tokens of the block at most.")
    hearings: dict[str, Hearing] = Field(
        default_factory=dict, description="What is to be tried again, by session."
    )
    tokenizer_fn: Callable[[str], list[Any]] = Field(default_factory=get_tokenizer, exclude=True)
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
            InvalidInputError: neither a store nor a path, `k` is below 0 or `facts_token_limit` below 1.
        """
        for name, least in (("k", 0), ("facts_token_limit", 1)):
            if name in data:
                check_count(data[name], name, least)
        view = find_store(store, path, namespace)
        super().__init__(path=name_of(view), namespace=list(view.namespace_path), **data)
        self._store = view

    def view(self, session_id: str | None) -> KnowledgeStore:
        """Return the view that a session reads and writes."""
        return self._store if self.shared or not session_id else self._store.namespace(session_id)

    def learn(
        self,
        session_id: str | None,
        messages: Sequence[ChatMessage],
        *,
        said: Literal["new", "history", "left"] = "new",
        before: Sequence[ChatMessage] = (),
    ) -> Learnt:
        """Store what users state in some messages, each once; report what failed.

        `said` tells what they are: said just now, a history, or what leaves it at its beginning. `before` is what
        was said before them.
        """
        texts = spoken(messages)
        session = session_id or ""
        hearing = self.hearings.pop(session, None) or Hearing(session or "conversation")
        try:
            learnt: Learnt = getattr(hearing, said)(self.view(session_id), texts, spoken(before))
        except KOError as error:  # the store is closed, or of another process
            _log.warning("nothing was learnt from this turn: %s", error)
            learnt = Learnt(errors=tuple((None, str(error)) for _ in texts))
        if hearing.unlearnt and (kept := self.hearings.setdefault(session, hearing)) is not hearing:
            kept.unlearnt += hearing.unlearnt  # another thread heard the same session meanwhile
        for report in learnt.reports:
            emit_writes(report.results)
            emit_retracted(report.retracted)
        return learnt

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **_: Any
    ) -> str:
        return await asyncio.to_thread(self._read, messages or [], session_id)

    def _read(self, messages: list[ChatMessage], session_id: str | None) -> str:
        if self.eager:
            self.learn(session_id, messages, said="history")
        texts = spoken(messages)
        try:
            found = recall(self.view(session_id), texts[-1] if texts else "", k=self.k)
        except KOError as error:
            _log.warning("no facts were read for this turn: %s", error)
            return ""
        if found.error:
            _log.warning("facts were read by subject only: %s", found.error)
        return render_facts(found.facts, budget=self.facts_token_limit, count=self._count).text

    async def aput(
        self,
        messages: list[ChatMessage],
        from_short_term_memory: bool = False,
        session_id: str | None = None,
    ) -> None:
        """Store what users state in messages: said just now, or, from `Memory`, leaving its history."""
        if from_short_term_memory and not self.accept_short_term_memory:
            return
        by_session: dict[str | None, list[ChatMessage]] = {}
        for message in messages:
            session = session_id or message.additional_kwargs.get("session_id")
            by_session.setdefault(session, []).append(message)
        for session, said in by_session.items():
            kind: Literal["new", "left"] = "left" if from_short_term_memory else "new"
            await asyncio.to_thread(self.learn, session, said, said=kind)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self.aput(messages)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Drop the least needed facts until so many tokens are saved; None when none is left."""
        opening, header, *facts, closing = content.splitlines()
        limit = self._count(content) - tokens_to_truncate
        while facts and self._count(shorter := "\n".join([opening, header, *facts, closing])) > limit:
            facts.pop()
        return shorter if facts else None

    def _count(self, text: str) -> int:
        return len(self.tokenizer_fn(text))


def spoken(messages: Sequence[ChatMessage]) -> list[str]:
    """Return what people said: no answers, tool results or empty messages, and no facts of this memory.

    `Memory` with `insert_method="user"` puts its blocks into the user's message; who sets that as history again
    must not teach the memory its own words.
    """
    texts = (
        "\n".join(
            block.text
            for block in message.blocks
            if isinstance(block, TextBlock) and MEMORY_HEADER not in block.text
        )
        for message in messages
        if message.role is MessageRole.USER
    )
    return [text for text in texts if text.strip()]

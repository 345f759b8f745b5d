"""LlamaIndex's `VectorMemoryBlock` over its Chroma vector store: one block a tenant, one collection."""

import asyncio
from pathlib import Path
from typing import Any

import chromadb
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import VectorMemoryBlock
from llama_index.vector_stores.chroma import ChromaVectorStore

from ko_integrations.bench.rivals.contestant import TOP, Contestant
from ko_integrations.bench.rivals.workload import Slot, Statement
from ko_integrations.llama_index.embedding import StoreEmbedding
from ko_integrations.protocols import Embedder

__all__ = ["CONTESTANTS"]


class VectorBlock(Contestant):
    """Statements are messages flushed to the block; the tenant is the session.

    A block shared by two sessions keeps the first one's filter (llama_index issue 22701), so each tenant has
    its own. What is erased is looked up among the session's nodes by its text: the block gives no ids.
    """

    name = "LlamaIndex VectorMemoryBlock"
    distribution = "llama-index-core"
    on_disk = True

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._client: Any = chromadb.PersistentClient(str(folder))  # its type does not know `close`
        self._collection = self._client.get_or_create_collection("memories")
        self._vectors = ChromaVectorStore(chroma_collection=self._collection)
        self._embedding = StoreEmbedding(embedder)
        self._blocks: dict[str, VectorMemoryBlock] = {}
        self._loop = asyncio.new_event_loop()

    def write(self, statement: Statement) -> None:
        tenant = statement.slot.tenant
        message = ChatMessage(role="user", content=statement.text, additional_kwargs={"session_id": tenant})
        block = self._block(tenant)
        self._loop.run_until_complete(block.aput([message], from_short_term_memory=True, session_id=tenant))

    def search(self, tenant: str, question: str) -> list[str]:
        asked = [ChatMessage(role="user", content=question)]
        found = self._loop.run_until_complete(self._block(tenant).aget(asked, session_id=tenant))
        return found.split("\n\n") if found else []

    def erase(self, slot: Slot) -> None:
        stored = self._collection.get(where={"session_id": slot.tenant}, include=["documents"])
        said = [Statement(slot, value, moment).text for moment, value in slot.versions]
        texts = zip(stored["ids"], stored["documents"] or [], strict=True)
        self._vectors.delete_nodes([node for node, text in texts if any(each in text for each in said)])

    def close(self) -> None:
        self._loop.close()
        self._client.close()

    def _block(self, tenant: str) -> VectorMemoryBlock:
        if tenant not in self._blocks:
            self._blocks[tenant] = VectorMemoryBlock(
                vector_store=self._vectors, embed_model=self._embedding, similarity_top_k=TOP
            )
        return self._blocks[tenant]


CONTESTANTS: tuple[type[Contestant], ...] = (VectorBlock,)

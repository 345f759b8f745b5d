"""A store's embedder as a LlamaIndex embedding model."""

import asyncio
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from ko_integrations.memory.encoding import encode_query, encode_texts
from ko_integrations.protocols import Embedder

__all__ = ["StoreEmbedding"]


class StoreEmbedding(BaseEmbedding):
    """Encodes for an index as the store does, so that both have one geometry. Vectors have length 1."""

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: Embedder, **data: Any) -> None:
        """Encode with `embedder`."""
        super().__init__(**{"model_name": embedder.model_id, **data})
        self._embedder = embedder

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which it is serialised."""
        return "StoreEmbedding"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return encode_texts(self._embedder, texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return encode_query(self._embedder, query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

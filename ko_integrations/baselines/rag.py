"""Append-only retrieval on Chroma: what the paper compares the store with (sections 4.2.1 and 5.3)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ko_integrations.baselines.documents import Statements, as_document
from ko_integrations.embeddings import as_embedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import check_text
from ko_integrations.protocols import Embedder
from ko_integrations.types import Fact, Hit, KnowledgeObject

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

__all__ = ["AppendOnlyRAG"]


class AppendOnlyRAG(Statements):
    """Statements are appended to a Chroma collection and found by cosine; nothing is ever replaced.

    `ingestion="batch"` keeps new statements in a queue until `reindex()`, as asynchronous pipelines do;
    `"realtime"` indexes them at once. Either way an old statement stays beside the one that corrects it: a
    statement has no address.

    >>> from ko_integrations.embeddings import HashingEmbedder
    >>> rag = AppendOnlyRAG(HashingEmbedder(), ingestion="realtime")
    >>> rag.add(["My phone is 555-1111.", "My phone changed to 555-2222."])
    >>> len(rag.read("What is my phone?", k=2))
    2
    """

    def __init__(
        self,
        embedder: Any,
        *,
        ingestion: Literal["batch", "realtime"] = "batch",
        client: "ClientAPI | None" = None,
        collection: str | None = None,
    ) -> None:
        """Make a new, empty collection.

        Args:
            embedder: encodes statements and queries: ours, a framework's, or a callable.
            ingestion: when a statement becomes searchable.
            client: a Chroma client; default one in memory.
            collection: its name; default a fresh one, since clients in memory share their collections.

        Raises:
            InvalidInputError: another `ingestion`, or `embedder` is none.
        """
        if ingestion not in ("batch", "realtime"):
            raise InvalidInputError("ingestion", f"expected 'batch' or 'realtime', got {ingestion!r}")
        self.embedder: Embedder = as_embedder(embedder)
        self.ingestion = ingestion
        self._client = client or _memory_client()
        self._collection = self._client.create_collection(
            collection or f"rag-{uuid4().hex}",
            configuration={"hnsw": {"space": "cosine"}},
            embedding_function=None,
        )
        self._documents: dict[str, KnowledgeObject] = {}
        self._queue: list[str] = []

    @property
    def pending(self) -> int:
        """How many statements wait to become searchable."""
        return len(self._queue)

    def update_many(self, facts: Iterable[Fact]) -> None:
        """Append facts as statements, in order.

        Raises:
            InvalidInputError: a blank subject or predicate, or no value; nothing was appended.
        """
        start = len(self._documents)
        rows = [as_document(fact, start + i + 1) for i, fact in enumerate(facts)]
        for document in rows:
            name = f"doc-{len(self._documents):08d}"
            self._documents[name] = document
            self._queue.append(name)
        if self.ingestion == "realtime":
            self.reindex()

    def reindex(self) -> int:
        """Make every waiting statement searchable; return how many there were. Where it fails, the rest waits on."""
        waiting = len(self._queue)
        largest = self._client.get_max_batch_size()
        while self._queue:
            batch = self._queue[:largest]
            texts = [self._documents[name].text for name in batch]
            vectors: NDArray[np.float32] = self.embedder.encode(texts)
            self._collection.add(ids=batch, embeddings=vectors, documents=texts)
            del self._queue[: len(batch)]
        return waiting

    def read(self, query: str, k: int = 5) -> list[Hit]:
        """Return the k searchable statements of highest cosine, best first.

        Raises:
            InvalidInputError: `k` is below 1, or the query is blank.
        """
        check_text(query, "query")
        if k < 1:
            raise InvalidInputError("k", f"expected at least 1, got {k}")
        searchable = len(self._documents) - len(self._queue)
        if not searchable:
            return []
        found = self._collection.query(
            query_embeddings=self.embedder.encode([query]),
            n_results=min(k, searchable),
            include=["distances"],
        )
        distances = (found["distances"] or [[]])[0]
        return [
            Hit(ko=self._documents[name], score=1 - distance)
            for name, distance in zip(found["ids"][0], distances, strict=True)
        ]

    def close(self) -> None:
        """Drop the collection."""
        self._client.delete_collection(self._collection.name)


def _memory_client() -> "ClientAPI":
    import chromadb
    from chromadb.config import Settings

    return chromadb.EphemeralClient(settings=Settings(anonymized_telemetry=False))

"""Retrievers: exact facts first, then the nearest; and the same over a fast-weight memory."""

from typing import Any, Protocol

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from pydantic import ConfigDict, Field, StrictInt

from ko_integrations.memory.documents import to_document
from ko_integrations.memory.evidence import Evidence, evidence_metadata, gather
from ko_integrations.store import KnowledgeStore
from ko_integrations.times import Moment
from ko_integrations.types import Checked, Hit

__all__ = ["FastWeightRetriever", "KORetriever"]


class KORetriever(Checked, BaseRetriever):
    """Facts for a question: those that answer it first, then the nearest current ones, k in all.

    Each document's metadata is the caller's and, over it: `id` (of the slot), `reference` (of the version),
    `version`, `route` (how it was found: `exact`, `temporal`, `multi_hop` or `semantic`), `subject`,
    `predicate`, `object`, `source`, `sources`, `confidence`, `score` (of a semantic hit), and `valid_from`,
    `valid_to`, `recorded_at` as ISO 8601.

    `invoke` takes `k`, `as_of`, `known_at` and `where` per call; `as_of` asks what held then.

    Raises:
        InvalidInputError: `store` is none, or `k` below 1.

    Example:
        >>> from ko_integrations import KnowledgeStore
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())
        >>> _ = store.update("Alice", "city", "Bern"), store.update("Alice", "city", "Basel")
        >>> [found] = KORetriever(store=store).invoke("Which city does Alice live in?")
        >>> found.metadata["object"], found.metadata["version"]
        ('Basel', 2)
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: KnowledgeStore
    k: StrictInt = Field(default=5, ge=1)
    where: dict[str, Any] | None = None

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the name is the contract
        k: int | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        where: dict[str, Any] | None = None,
    ) -> list[Document]:
        found = gather(
            self.store,
            query,
            self.k if k is None else k,
            where=self.where if where is None else where,
            as_of=as_of,
            known_at=known_at,
        )
        return [evidence_document(piece) for piece in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return await run_in_executor(
            None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **kwargs
        )


class ReadsHits(Protocol):
    """A memory that ranks facts for a text, as the fast-weight memories and the store do."""

    def read(self, query: str, k: int = 5) -> list[Hit]:
        """Return the k nearest, best first."""
        ...


class FastWeightRetriever(Checked, BaseRetriever):
    """The same documents from a fast-weight memory (`ko_integrations.fast_weight`), for comparison.

    `route` is `fast_weight` and `score` the cosine between the recalled vector and the stored value. The
    memory has no slots, versions or times to go by: what it names beside the value is where the value was
    last written, not where it came from.

    Raises:
        InvalidInputError: `k` is below 1.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Any
    k: StrictInt = Field(default=5, ge=1)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the name is the contract
        k: int | None = None,
    ) -> list[Document]:
        memory: ReadsHits = self.memory
        hits = memory.read(query, self.k if k is None else k)
        return [evidence_document(Evidence(hit.ko, "fast_weight", hit.score)) for hit in hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return await run_in_executor(
            None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **kwargs
        )


def evidence_document(piece: Evidence) -> Document:
    """Return a piece of evidence as a LangChain document."""
    found = to_document(piece.ko)
    return Document(
        id=found.id, page_content=found.text, metadata={**found.metadata, **evidence_metadata(piece)}
    )

"""Retrievers: the facts that answer a question first, then the nearest; and the same over a fast-weight memory."""

import asyncio
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle

from ko_integrations.filters import Where
from ko_integrations.identity import check_count
from ko_integrations.llama_index.events import QuestionRouted, dispatcher
from ko_integrations.llama_index.nodes import to_scored_node
from ko_integrations.memory.evidence import Evidence, gather
from ko_integrations.store import KnowledgeStore, expect_store
from ko_integrations.times import Moment
from ko_integrations.types import Answer

__all__ = ["AskedBundle", "FastWeightRetriever", "KORetriever"]


@dataclass
class AskedBundle(QueryBundle):
    """A question with the answer of `ask`, which saves asking again."""

    answer: Answer | None = None


class KORetriever(BaseRetriever):
    """Facts for a question: those that answer it (exact, temporal, multi-hop), then the nearest, k in all.

    Each node's metadata says `id` (of the slot), `reference` and `version`, `route`, `subject`, `predicate`,
    `object`, `source`, `confidence` and the times; what answers exactly has score 1. `as_of` and `known_at`
    ask what held, and was known, then. With `chains` a question that has no sure answer and names stored
    subjects ("how did it develop?") brings every version of their facts instead.

    Example:
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())
        >>> _ = store.update("Alice", "city", "Bern"), store.update("Alice", "city", "Basel")
        >>> [found] = KORetriever(store=store).retrieve("Which city does Alice live in?")
        >>> found.metadata["object"], found.metadata["version"]
        ('Basel', 2)
    """

    def __init__(
        self,
        store: KnowledgeStore,
        *,
        k: int = 5,
        where: Where | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        chains: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Read the namespace that `store` is bound to.

        Raises:
            InvalidInputError: `store` is none, or `k` is below 1.
        """
        self.store = expect_store(store)
        self.k = check_count(k, "k")
        self.where = where
        self.as_of = as_of
        self.known_at = known_at
        self.chains = chains
        super().__init__(callback_manager=callback_manager)

    def answer(self, question: str) -> Answer:
        """Return what `ask` finds, at this retriever's moment, and say so in an event."""
        answer = self.store.ask(question, now=self.as_of, known_at=self.known_at)
        dispatcher.event(
            QuestionRouted(
                question=question,
                route=answer.route,
                probability=answer.confidence,
                references=[ko.reference for ko in answer.facts],
            )
        )
        return answer

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = query_bundle.query_str
        given = query_bundle.answer if isinstance(query_bundle, AskedBundle) else None
        found = gather(
            self.store, question, self.k, where=self.where, as_of=self.as_of, known_at=self.known_at,
            answer=given or self.answer(question), chains=self.chains,
        )  # fmt: skip
        return [to_scored_node(piece) for piece in found]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class FastWeightRetriever(BaseRetriever):
    """The same nodes from a fast-weight memory (`ko_integrations.fast_weight`), for comparison.

    `route` is `fast_weight`, the score the cosine between the recalled vector and the stored value.
    """

    def __init__(self, memory: Any, *, k: int = 5, callback_manager: CallbackManager | None = None) -> None:
        """Read from `memory`, which has `read(query, k)` as the store does.

        Raises:
            InvalidInputError: `k` is below 1.
        """
        self.memory = memory
        self.k = check_count(k, "k")
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self.memory.read(query_bundle.query_str, self.k)
        return [to_scored_node(Evidence(hit.ko, "fast_weight", hit.score)) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

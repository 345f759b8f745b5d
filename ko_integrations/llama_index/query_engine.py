"""`KOQueryEngine`: questions answered from stored facts, with a model or with none."""

import asyncio
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer, get_response_synthesizer
from llama_index.core.schema import QueryBundle

from ko_integrations.llama_index.events import dispatcher
from ko_integrations.llama_index.retriever import KORetriever
from ko_integrations.store import KnowledgeStore

__all__ = ["KOQueryEngine"]

NOTHING = "Nothing is on record that answers this."


class KOQueryEngine(RetrieverQueryEngine):
    """A `RetrieverQueryEngine` over the facts of a store.

    With `llm` (or a `response_synthesizer`) the model writes the response from the facts; with neither, it is
    the sentence of `ask`, and no model is called. `response.source_nodes` carry slot, version and times;
    `response.metadata` has `value`, `route`, `confidence` and `path`.

    Example:
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())
        >>> _ = store.update("Alice", "employer", "Acme")
        >>> KOQueryEngine(store=store).query("Who is Alice's employer?").metadata["value"]
        'Acme'
    """

    def __init__(
        self,
        store: KnowledgeStore | None = None,
        *,
        retriever: KORetriever | None = None,
        llm: LLM | None = None,
        response_synthesizer: BaseSynthesizer | None = None,
        k: int = 5,
        **options: Any,
    ) -> None:
        """Answer from `store`, or through a `retriever` of one's own.

        `options` are those of `RetrieverQueryEngine` (`node_postprocessors`, `callback_manager`).

        Raises:
            ValueError: neither a store nor a retriever.
        """
        if retriever is None:
            if store is None:
                raise ValueError("pass store= or retriever=")
            retriever = KORetriever(store, k=k)
        self._facts = retriever
        self._writes = llm is not None or response_synthesizer is not None
        # Given explicitly: the base class would resolve Settings.llm, and with it an API key, for nothing.
        synthesizer = response_synthesizer or get_response_synthesizer(llm=llm or MockLLM())
        super().__init__(retriever=retriever, response_synthesizer=synthesizer, **options)

    @dispatcher.span
    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        """Answer a question."""
        with self.callback_manager.event(
            CBEventType.QUERY, payload={EventPayload.QUERY_STR: query_bundle.query_str}
        ) as event:
            answer = self._facts.answer(query_bundle.query_str)
            nodes = self._apply_node_postprocessors(
                self._facts.nodes_for(query_bundle.query_str, answer), query_bundle
            )
            if self._writes:
                response: RESPONSE_TYPE = self._response_synthesizer.synthesize(
                    query=query_bundle, nodes=nodes
                )
            else:
                response = Response(response=answer.text or NOTHING, source_nodes=nodes)
            response.metadata = {
                **(response.metadata or {}), "value": answer.value, "route": answer.route,
                "confidence": answer.confidence, "path": answer.path,
            }  # fmt: skip
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    @dispatcher.span
    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        """Do as `_query` does, without blocking the event loop."""
        return await asyncio.to_thread(self._query, query_bundle)

"""`KOQueryEngine`: questions answered from stored facts, with a model or with none."""

import asyncio
from typing import Any

from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer, get_response_synthesizer
from llama_index.core.schema import QueryBundle

from ko_integrations.errors import InvalidInputError
from ko_integrations.llama_index.events import dispatcher
from ko_integrations.llama_index.retriever import AskedBundle, KORetriever
from ko_integrations.store import KnowledgeStore
from ko_integrations.types import Answer

__all__ = ["KOQueryEngine"]

NOTHING = "Nothing is on record that answers this."


class KOQueryEngine(RetrieverQueryEngine):
    """A `RetrieverQueryEngine` over the facts of a store.

    With `llm` (or a `response_synthesizer`) the model writes the response from the facts; with neither, it is
    the sentence of `ask`, and no model is called. A question that names stored subjects and has no sure answer,
    such as one for a development, is answered from the version chains of their facts (main paper 4.2.9).
    `response.source_nodes` carry slot, version and times;
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
        streaming: bool = False,
        k: int = 5,
        **options: Any,
    ) -> None:
        """Answer from `store`, or through a `retriever` of one's own; `streaming` lets `llm` answer as a stream.

        `options` are those of `RetrieverQueryEngine` (`node_postprocessors`, `callback_manager`).

        Raises:
            InvalidInputError: neither a store nor a retriever.
        """
        if retriever is None:
            if store is None:
                raise InvalidInputError("store", "pass store= or retriever=")
            retriever = KORetriever(store, k=k, chains=True)
        self._facts = retriever
        self._writes = llm is not None or response_synthesizer is not None
        # Given explicitly: the base class would resolve Settings.llm, and with it an API key, for nothing.
        synthesizer = response_synthesizer or get_response_synthesizer(
            llm=llm or MockLLM(), streaming=streaming
        )
        super().__init__(retriever=retriever, response_synthesizer=synthesizer, **options)

    @dispatcher.span
    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        """Answer a question."""
        asked = _asked(query_bundle, self._facts.answer(query_bundle.query_str))
        return _with_answer(super()._query(asked) if self._writes else self._plain(asked), asked)

    @dispatcher.span
    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        """Do as `_query` does, without blocking the event loop."""
        asked = _asked(query_bundle, await asyncio.to_thread(self._facts.answer, query_bundle.query_str))
        if self._writes:
            return _with_answer(await super()._aquery(asked), asked)
        return _with_answer(await asyncio.to_thread(self._plain, asked), asked)

    def _plain(self, asked: AskedBundle) -> RESPONSE_TYPE:
        """Answer with the sentence of `ask`; where it has none, with the chains that were found, as lines."""
        with self.callback_manager.event(
            CBEventType.QUERY, payload={EventPayload.QUERY_STR: asked.query_str}
        ) as event:
            nodes = self.retrieve(asked)
            told = [node.text for node in nodes if node.metadata.get("route") == "subject"]
            text = "\n".join(told) or (asked.answer.text if asked.answer else "") or NOTHING
            response = Response(response=text, source_nodes=nodes)
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response


def _asked(bundle: QueryBundle, answer: Answer) -> AskedBundle:
    return AskedBundle(
        bundle.query_str, bundle.image_path, bundle.custom_embedding_strs, bundle.embedding, answer=answer
    )


def _with_answer(response: RESPONSE_TYPE, asked: AskedBundle) -> RESPONSE_TYPE:
    answer = asked.answer
    assert answer is not None  # `_asked` puts one there
    response.metadata = {
        **(response.metadata or {}), "value": answer.value, "route": answer.route,
        "confidence": answer.confidence, "path": answer.path,
    }  # fmt: skip
    return response

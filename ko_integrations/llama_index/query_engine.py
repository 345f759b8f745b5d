"""`KOQueryEngine`: questions answered from stored facts, with a model or with none."""

import asyncio
from collections.abc import Callable
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer, get_response_synthesizer
from llama_index.core.schema import QueryBundle

from ko_integrations.errors import InvalidInputError
from ko_integrations.llama_index.events import dispatcher
from ko_integrations.llama_index.retriever import AskedBundle, KORetriever
from ko_integrations.memory.prompt import told_line
from ko_integrations.store import KnowledgeStore
from ko_integrations.types import Answer

__all__ = ["KOQueryEngine"]

UNSURE = "No sure answer. On record:"
NOTHING = "Nothing is on record that answers this."


class KOQueryEngine(RetrieverQueryEngine):
    """A `RetrieverQueryEngine` over the facts of a store.

    With `llm` (or a `response_synthesizer`) the model writes the response from the facts; with neither, it is
    the sentence of `ask`, and no model is called. A question that names stored subjects and has no sure answer,
    such as one for a development, is answered from the version chains of their facts (main paper 4.2.9).
    `response.source_nodes` carry slot, version and times;
    `response.metadata` has `value`, `route`, `confidence` and `path`. Any retriever can stand in for the store's,
    as `FastWeightRetriever`: one that does not `answer` speaks with its first node.

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
        retriever: BaseRetriever | None = None,
        llm: LLM | None = None,
        response_synthesizer: BaseSynthesizer | None = None,
        streaming: bool = False,
        k: int = 5,
        **options: Any,
    ) -> None:
        """Answer from `store`, or through a `retriever` of one's own; `streaming` lets `llm` answer as a stream.

        `options` are those of `RetrieverQueryEngine` (`node_postprocessors`, `callback_manager`).

        Raises:
            InvalidInputError: neither a store nor a retriever, or `k` is below 1.
        """
        if retriever is None:
            if store is None:
                raise InvalidInputError("store", "pass store= or retriever=")
            retriever = KORetriever(store, k=k, chains=True)
        self._answer: Callable[[str], Answer] | None = getattr(retriever, "answer", None)
        self._writes = llm is not None or response_synthesizer is not None
        # Given explicitly: the base class would resolve Settings.llm, and with it an API key, for nothing.
        synthesizer = response_synthesizer or get_response_synthesizer(
            llm=llm or MockLLM(), streaming=streaming
        )
        super().__init__(retriever=retriever, response_synthesizer=synthesizer, **options)

    @dispatcher.span
    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        """Answer a question."""
        asked = self._asked(query_bundle)
        return _described(super()._query(asked) if self._writes else self._plain(asked), asked.answer)

    @dispatcher.span
    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        """Do as `_query` does, without blocking the event loop."""
        asked = await asyncio.to_thread(self._asked, query_bundle)
        if self._writes:
            return _described(await super()._aquery(asked), asked.answer)
        return _described(await asyncio.to_thread(self._plain, asked), asked.answer)

    def _asked(self, bundle: QueryBundle) -> AskedBundle:
        answer = None if self._answer is None else self._answer(bundle.query_str)
        return AskedBundle(
            bundle.query_str, bundle.image_path, bundle.custom_embedding_strs, bundle.embedding, answer=answer
        )

    def _plain(self, asked: AskedBundle) -> RESPONSE_TYPE:
        """Answer with the sentence of `ask`; where it has none, with the chains that were found, as lines."""
        with self.callback_manager.event(
            CBEventType.QUERY, payload={EventPayload.QUERY_STR: asked.query_str}
        ) as event:
            nodes = self.retrieve(asked)
            told = [told_line(node.metadata) for node in nodes if node.metadata.get("route") == "subject"]
            first = nodes[0].text if nodes and asked.answer is None else ""
            said = asked.answer.text if asked.answer else first
            text = "\n".join([UNSURE, *told]) if told else said or NOTHING
            response = Response(response=text, source_nodes=nodes)
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response


def _described(response: RESPONSE_TYPE, answer: Answer | None) -> RESPONSE_TYPE:
    """Put what the response rests on into its metadata: the answer of `ask`, else the first node."""
    said = {
        "value": answer.value, "route": answer.route, "confidence": answer.confidence, "path": answer.path,
    } if answer is not None else _first(response)  # fmt: skip
    response.metadata = {**(response.metadata or {}), **said}
    return response


def _first(response: RESPONSE_TYPE) -> dict[str, Any]:
    if not response.source_nodes:
        return {"value": None, "route": "abstain", "confidence": 0.0, "path": ()}
    node = response.source_nodes[0]
    of = node.metadata
    return {"value": of.get("object"), "route": of.get("route"), "confidence": node.score, "path": ()}

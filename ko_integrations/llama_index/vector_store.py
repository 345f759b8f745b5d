"""`KOVectorStore`: a LlamaIndex vector store in which a changed node supersedes its older self."""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.indices.query.embedding_utils import get_top_k_mmr_embeddings
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)

from ko_integrations.errors import InvalidInputError
from ko_integrations.filters import compile_where
from ko_integrations.identity import check_count
from ko_integrations.llama_index.embedding import StoreEmbedding
from ko_integrations.llama_index.events import emit_retracted, emit_writes
from ko_integrations.llama_index.nodes import DOC_ID, NODE_ID, node_fact, to_node, to_where
from ko_integrations.llama_index.stores import find_store, name_of
from ko_integrations.memory.documents import DOCUMENT, end_fact, fact_history, key_id
from ko_integrations.memory.sources import resume
from ko_integrations.store import KnowledgeStore
from ko_integrations.times import Moment
from ko_integrations.types import Hit, KnowledgeObject

__all__ = ["KOVectorStore"]


class KOVectorStore(BasePydanticVectorStore):
    """A vector store over one namespace of a `KnowledgeStore`, for `VectorStoreIndex`.

    A node goes in the slot that `subject` and `predicate` in its metadata name, else under its own id; a
    second node there supersedes the first, and `history` keeps both. `delete(ref_doc_id)` withdraws what that
    document asserted: where another document asserts a slot too, its version shows again. Similarities are
    cosines.

    Open it on a store, or by `path` (a folder, `":memory:"`, a database URL), so that `to_dict` and
    `from_dict` find it again; pass the embedding model of the index as `embedder`.

    Example:
        >>> from ko_integrations import KnowledgeStore
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> from llama_index.core.schema import TextNode
        >>> vectors = KOVectorStore(store=KnowledgeStore.open(":memory:", embedder=HashingEmbedder()))
        >>> _ = vectors.add([TextNode(id_="office", text="The office is in Bern.")])
        >>> _ = vectors.add([TextNode(id_="office", text="The office is in Basel.")])
        >>> [node.text for node in vectors.get_nodes()]
        ['The office is in Basel.']
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    stores_text: bool = True
    is_embedding_query: bool = True
    path: str | None = Field(default=None, description="Where to open the store, if none is given.")
    namespace: list[str] = Field(default_factory=list, description="Whose memory it is.")
    collection: str = "knowledge_objects"
    index_url: str | None = Field(default=None, description="A Chroma server to index in.")
    _store: KnowledgeStore = PrivateAttr()

    def __init__(
        self,
        store: KnowledgeStore | None = None,
        *,
        path: str | None = None,
        namespace: Sequence[str] = (),
        collection: str = "knowledge_objects",
        index_url: str | None = None,
        embedder: Any = None,
        **data: Any,
    ) -> None:
        """Work on a namespace of `store`, or of the store opened at `path`.

        Raises:
            InvalidInputError: neither a store nor a path.
        """
        data.pop("class_name", None)
        view = find_store(store, path, namespace, embedder=embedder, collection=collection, index=index_url)
        fields = {"path": name_of(view), "namespace": list(view.namespace_path), "collection": collection}
        super().__init__(**fields, index_url=index_url, **data)
        self._store = view

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which it is serialised."""
        return "KOVectorStore"

    @property
    def client(self) -> KnowledgeStore:
        """The view of the store."""
        return self._store

    @property
    def embed_model(self) -> StoreEmbedding:
        """The store's embedder, for the index: `VectorStoreIndex.from_vector_store(v, embed_model=v.embed_model)`."""
        return StoreEmbedding(self._store.embedder)

    # -- writing ------------------------------------------------------------------------------------------
    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Store nodes, all or none, and return their ids; embeddings they bring are used.

        A document that was deleted and comes again was edited: its nodes go on from their versions before.

        Raises:
            InvalidInputError: a node cannot be stored, or its embedding has another dimension.
        """
        emit_writes(resume(self._store, [node_fact(node) for node in nodes]))
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Withdraw what a document asserted; what survives it shows. Twice does no harm."""
        emit_retracted(self._store.withdraw_source(ref_doc_id))

    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **_: Any
    ) -> None:
        """Retract nodes; their history stays. Unknown ids are no error, and without ids or filters none is meant."""
        if node_ids is None and filters is None:
            return
        with self._store.batch():
            ended = [each for ko in self._select(node_ids, filters) for each in end_fact(self._store, ko)]
        emit_retracted(ended)

    def clear(self) -> None:
        """Erase everything in this namespace, history too."""
        self._store.erase_namespace()

    # -- reading ------------------------------------------------------------------------------------------
    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Return the nodes that hold, in the order of `node_ids` where given, missing ones left out."""
        return [to_node(ko) for ko in self._select(node_ids, filters)]

    def history(self, node_id: str) -> list[BaseNode]:
        """Return every version of a node, oldest first."""
        chain = self._store.history(node_id, DOCUMENT, verbatim=True)
        if not chain and (found := self._select([node_id], None)):
            chain = fact_history(self._store, found[0])
        return [to_node(ko) for ko in chain]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """Return the nearest nodes that hold, best first; `as_of=` and `known_at=` search the past.

        With mode `mmr`, `mmr_threshold=` (0 to 1, or in the query) weighs nearness against being unlike the others.

        Raises:
            InvalidInputError: neither vector nor text, or a mode other than `default` and `mmr`.
        """
        hits = self._hits(query, **kwargs)
        nodes = [to_node(hit.ko) for hit in hits]
        return VectorStoreQueryResult(
            nodes=nodes, similarities=[hit.score for hit in hits], ids=[node.node_id for node in nodes]
        )

    # -- the same, without blocking the event loop -----------------------------------------------------------
    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Do as `add` does, without blocking the event loop."""
        return await asyncio.to_thread(self.add, nodes, **kwargs)

    async def adelete(self, ref_doc_id: str, **kwargs: Any) -> None:
        """Do as `delete` does, without blocking the event loop."""
        await asyncio.to_thread(self.delete, ref_doc_id, **kwargs)

    async def adelete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **kwargs: Any
    ) -> None:
        """Do as `delete_nodes` does, without blocking the event loop."""
        await asyncio.to_thread(self.delete_nodes, node_ids, filters, **kwargs)

    async def aclear(self) -> None:
        """Do as `clear` does, without blocking the event loop."""
        await asyncio.to_thread(self.clear)

    async def aget_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Do as `get_nodes` does, without blocking the event loop."""
        return await asyncio.to_thread(self.get_nodes, node_ids, filters)

    async def aquery(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """Do as `query` does, without blocking the event loop."""
        return await asyncio.to_thread(self.query, query, **kwargs)

    def _hits(
        self,
        query: VectorStoreQuery,
        *,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        mmr_threshold: float | None = None,
        **_: Any,
    ) -> list[Hit]:
        wanted = query.query_embedding if query.query_embedding is not None else query.query_str
        if wanted is None:
            raise InvalidInputError("query", "neither query_embedding nor query_str")
        if query.mode not in (VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.MMR):
            raise InvalidInputError("mode", f"{query.mode.value!r}; this store has 'default' and 'mmr'")
        where = to_where(query.filters, **{DOC_ID: query.doc_ids, NODE_ID: query.node_ids})
        k = check_count(query.similarity_top_k, "similarity_top_k")
        if query.mode is VectorStoreQueryMode.DEFAULT:
            return self._store.read(wanted, k, where=where, as_of=as_of, known_at=known_at)
        hits = self._store.read(wanted, max(20, 4 * k), where=where, as_of=as_of, known_at=known_at)
        return self._diverse(wanted, hits, k, query.mmr_threshold if mmr_threshold is None else mmr_threshold)

    def _diverse(
        self, wanted: str | list[float], hits: list[Hit], k: int, threshold: float | None
    ) -> list[Hit]:
        """Choose k hits that are near to the query and unlike each other, best first."""
        vector = self._store.encode_query(wanted).tolist() if isinstance(wanted, str) else wanted
        vectors = [row.tolist() for row in self._store.vectors_of([hit.ko for hit in hits])]
        _, rows = get_top_k_mmr_embeddings(
            vector, vectors, similarity_top_k=k, embedding_ids=list(range(len(hits))), mmr_threshold=threshold
        )
        # With the cosines, not with the scores of the choice, which compare with nothing.
        return [hits[row] for row in rows]

    def _select(self, node_ids: list[str] | None, filters: MetadataFilters | None) -> list[KnowledgeObject]:
        condition = compile_where(to_where(filters))
        if node_ids is None:
            found = list(self._store.snapshot())
        else:
            own = self._store.get_many([key_id(self._store, id_, DOCUMENT) for id_ in node_ids])
            by_id = {id_: ko for id_, ko in zip(node_ids, own, strict=True) if ko is not None}
            if missing := set(node_ids) - by_id.keys():
                by_id |= self._in_slots(missing)
            found = [by_id[id_] for id_ in node_ids if id_ in by_id]
        return [ko for ko in found if condition is None or condition(ko)]

    def _in_slots(self, node_ids: set[str]) -> dict[str, KnowledgeObject]:
        """Return the nodes among `node_ids` that stand in a fact's slot: their ids are not their addresses."""
        facts = (
            (ko.provenance.metadata or {}, ko) for ko in self._store.snapshot() if ko.predicate != DOCUMENT
        )
        return {str(metadata[NODE_ID]): ko for metadata, ko in facts if metadata.get(NODE_ID) in node_ids}

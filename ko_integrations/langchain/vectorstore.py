"""`KOVectorStore`: a LangChain vector store in which a changed document supersedes its older self."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from numpy.typing import NDArray

from ko_integrations.errors import InvalidInputError
from ko_integrations.filters import Where, compile_where
from ko_integrations.identity import check_count
from ko_integrations.memory.documents import (
    StoredDocument,
    document_history,
    document_where,
    get_documents,
    put_documents,
    remove_documents,
    to_document,
)
from ko_integrations.memory.encoding import encode_query, encode_texts
from ko_integrations.protocols import Embedder
from ko_integrations.store import KnowledgeStore, expect_store
from ko_integrations.times import Moment
from ko_integrations.types import Hit, WriteResult

__all__ = ["KOVectorStore"]


class StoreEmbeddings(Embeddings):
    """A store's embedder as LangChain `Embeddings`."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector a text, each of length 1."""
        return encode_texts(self.embedder, texts)

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query."""
        return encode_query(self.embedder, text)


class KOVectorStore(VectorStore):
    """A vector store over one namespace of a `KnowledgeStore`, where `langchain_chroma.Chroma` stood.

    A document's id is the one given; else that of the slot that `subject` and `predicate` in its metadata
    name; else a hash of its content. A second document under an id supersedes the first, and `history`
    keeps both; search sees what holds only. Metadata comes back as it went in, JSON of any depth.
    Scores of `similarity_search_with_score` are cosine distances (0 to 2, less is nearer), as Chroma's are;
    relevance scores are cosines, from 0 to 1.

    Every search takes `filter` (the mapping form, as Chroma's `where`), `where_document`
    (`{"$contains": ...}`), and `as_of` and `known_at` to search the past.

    Example:
        >>> from ko_integrations import KnowledgeStore
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> docs = KOVectorStore(store=KnowledgeStore.open(":memory:", embedder=HashingEmbedder()))
        >>> _ = docs.add_texts(["The office is in Bern."], ids=["office"])
        >>> _ = docs.add_texts(["The office is in Basel."], ids=["office"])
        >>> [document.page_content for document in docs.similarity_search("office")]
        ['The office is in Basel.']
    """

    def __init__(self, store: KnowledgeStore) -> None:
        """Work on the namespace that `store` is bound to."""
        self.store = expect_store(store)

    @property
    def embeddings(self) -> Embeddings:
        """The store's embedder."""
        return StoreEmbeddings(self.store.embedder)

    # -- writing ------------------------------------------------------------------------------------------
    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: Sequence[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        embeddings: Sequence[Sequence[float]] | None = None,
        **_: Any,
    ) -> list[str]:
        """Store texts, all or none, and return their ids in order; `embeddings` saves encoding them.

        Raises:
            InvalidInputError: lists of different lengths, or a text, id or metadata that cannot be stored.
        """
        results = self.write(texts, metadatas, ids=ids, embeddings=embeddings)
        return [str(to_document(result.ko).id) for result in results if result.ko is not None]

    def write(
        self,
        texts: Iterable[str],
        metadatas: Sequence[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        embeddings: Sequence[Sequence[float]] | None = None,
    ) -> list[WriteResult]:
        """Store texts as `add_texts` does, and return what each one did."""
        rows = list(texts)
        for name, column in (("metadatas", metadatas), ("ids", ids), ("embeddings", embeddings)):
            if column is not None and len(column) != len(rows):
                raise InvalidInputError(name, f"{len(column)} for {len(rows)} texts")
        return put_documents(
            self.store,
            [
                StoredDocument(
                    text=text,
                    metadata=(metadatas[row] if metadatas is not None else None) or {},
                    id=ids[row] if ids is not None else None,
                    vector=embeddings[row] if embeddings is not None else None,
                )
                for row, text in enumerate(rows)
            ],
        )

    def update_documents(self, ids: list[str], documents: list[Document]) -> None:
        """Supersede documents by id."""
        self.add_documents(documents, ids=ids)

    def update_document(self, document_id: str, document: Document) -> None:
        """Supersede one document."""
        self.update_documents([document_id], [document])

    def delete(self, ids: list[str] | None = None, *, erase: bool = False, **_: Any) -> bool:
        """Retract documents, `None` for all; their history stays unless `erase`. Unknown ids are no error."""
        if ids is None:
            if erase:
                return self.store.erase_namespace().complete
            ids = [str(to_document(ko).id) for ko in self.store.snapshot()]
        remove_documents(self.store, ids, erase=erase)
        return True

    # -- reading by id ------------------------------------------------------------------------------------
    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents that hold under these ids, in the order asked, missing ones left out."""
        return [_to_langchain(found) for found in get_documents(self.store, ids)]

    def get(
        self,
        ids: Sequence[str] | None = None,
        where: dict[str, Any] | None = None,
        limit: int | None = None,
        offset: int = 0,
        where_document: dict[str, Any] | None = None,
    ) -> dict[str, list[Any]]:
        """Return what holds, as Chroma's `get` does: `ids`, `documents` and `metadatas`, three lists in step."""
        condition = compile_where(_where(where, where_document))
        found = get_documents(self.store, ids) if ids is not None else map(to_document, self.store.snapshot())
        kept = [each for each in found if condition is None or (each.ko is not None and condition(each.ko))]
        page = kept[offset : None if limit is None else offset + limit]
        return {
            "ids": [each.id for each in page],
            "documents": [each.text for each in page],
            "metadatas": [dict(each.metadata) for each in page],
        }

    def history(self, id: str) -> list[Document]:
        """Return every version of a document, oldest first."""
        return [_to_langchain(version) for version in document_history(self.store, id)]

    # -- searching ----------------------------------------------------------------------------------------
    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Return the k documents nearest to a text, best first."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, **kwargs: Any
    ) -> list[Document]:
        """Return the k documents nearest to a vector, best first."""
        return [_to_langchain(to_document(hit.ko)) for hit in self._hits(embedding, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the k nearest documents with their cosine distances (less is nearer)."""
        return [
            (_to_langchain(to_document(hit.ko)), 1.0 - hit.score) for hit in self._hits(query, k, **kwargs)
        ]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Return k documents near to a text and unlike each other; `lambda_mult` 1 weighs nearness only."""
        check_count(k, "k")
        vector = self.embeddings.embed_query(query)
        return self.max_marginal_relevance_search_by_vector(vector, k, fetch_k, lambda_mult, **kwargs)

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """Return k documents near to a vector and unlike each other, chosen among the `fetch_k` nearest."""
        check_count(k, "k")
        check_count(fetch_k, "fetch_k")
        found = [hit.ko for hit in self._hits(embedding, max(k, fetch_k), **kwargs)]
        vectors: NDArray[np.float32] = self.store.vectors_of(found)
        query = np.asarray(embedding, dtype=np.float32)
        chosen = maximal_marginal_relevance(query, list(vectors), lambda_mult, k)
        return [_to_langchain(to_document(found[row])) for row in chosen]

    def _hits(
        self,
        query: str | Sequence[float],
        k: int,
        *,
        filter: dict[str, Any] | None = None,
        where_document: dict[str, Any] | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> list[Hit]:
        where = _where(filter, where_document)
        return self.store.read(query, k, where=where, as_of=as_of, known_at=known_at)

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda distance: min(1.0, max(0.0, 1.0 - distance))

    # -- opening ------------------------------------------------------------------------------------------
    @classmethod
    def from_documents(
        cls, documents: list[Document], embedding: Embeddings | None = None, **options: Any
    ) -> "KOVectorStore":
        """Store documents as `from_texts` stores texts; a `store` that is given needs no `embedding`."""
        return super().from_documents(documents, embedding, **options)  # type: ignore[arg-type]

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        store: KnowledgeStore | None = None,
        persist_directory: str = ":memory:",
        **options: Any,
    ) -> "KOVectorStore":
        """Store texts in `store`, or in one opened at `persist_directory` with `embedding` and `options`.

        Raises:
            InvalidInputError: neither a store nor an embedding.
        """
        if store is None and embedding is None:
            raise InvalidInputError("embedding", "needed to open a store; or pass store=")
        vectorstore = cls(store or KnowledgeStore.open(persist_directory, embedder=embedding, **options))
        vectorstore.add_texts(texts, metadatas, ids=ids)
        return vectorstore


def _where(filter: dict[str, Any] | None, where_document: dict[str, Any] | None) -> Where | None:
    clauses = [clause for clause in (document_where(filter), _text_clause(where_document)) if clause]
    return {"$and": clauses} if clauses else None


def _text_clause(where_document: dict[str, Any] | None) -> dict[str, Any] | None:
    if not where_document:
        return None
    if branches := [key for key in where_document if key in ("$and", "$or")]:
        key = branches[0]
        return {key: [_text_clause(branch) or {} for branch in where_document[key]]}
    if "$not_contains" in where_document:
        return {"$not": {"text": {"$contains": where_document["$not_contains"]}}}
    return {"text": where_document}


def _to_langchain(found: StoredDocument) -> Document:
    return Document(id=found.id, page_content=found.text, metadata=dict(found.metadata))

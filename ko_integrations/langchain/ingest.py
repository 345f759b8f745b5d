"""`ko_ingest`: documents into a store, superseding what changed.

`langchain_core.indexing.index` cannot do this: it decides by a hash whether a document is new, so that under
a slot's id a new value is skipped as a duplicate, and with `force_update` the first of a batch is kept.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypedDict

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import check_count
from ko_integrations.langchain.vectorstore import KOVectorStore
from ko_integrations.memory.documents import StoredDocument, put_documents, remove_documents, to_document
from ko_integrations.types import WriteResult

__all__ = ["IngestResult", "ko_ingest"]


class IngestResult(TypedDict):
    """What an ingestion did: documents by outcome, and the ids in the order they came.

    `num_added` were new, `num_updated` superseded an older version, `num_skipped` were known already,
    `num_backdated` took an older place in time, `num_deleted` were retracted by the clean-up.
    """

    num_added: int
    num_updated: int
    num_skipped: int
    num_backdated: int
    num_deleted: int
    ids: list[str]


_COUNTED = {
    "created": "num_added",
    "superseded": "num_updated",
    "confirmed": "num_skipped",
    "backdated": "num_backdated",
}


def ko_ingest(
    documents: BaseLoader | Iterable[Document],
    vectorstore: KOVectorStore,
    *,
    cleanup: Literal["incremental", "full"] | None = None,
    source_id_key: str | Callable[[Document], str] = "source",
    batch_size: int = 500,
) -> IngestResult:
    """Store documents in order, each superseding what its id held, and return what that did.

    `cleanup="incremental"` retracts, of the sources seen in this run, the documents that did not come again;
    `"full"` those of every source. History stays in either case. Batches are stored as they come, each all or
    nothing: an ingestion that fails half way is continued by running it again.

    Args:
        documents: a loader, or documents.
        vectorstore: where to.
        cleanup: what to retract afterwards.
        source_id_key: the metadata key, or a callable, that names a document's source.
        batch_size: documents in one transaction.

    Raises:
        InvalidInputError: a document cannot be stored, and its batch was not; `batch_size` is below 1.
    """
    check_count(batch_size, "batch_size")
    if cleanup not in (None, "incremental", "full"):
        raise InvalidInputError("cleanup", f"expected 'incremental', 'full' or None, got {cleanup!r}")
    given = documents.lazy_load() if isinstance(documents, BaseLoader) else documents
    outcome = IngestResult(num_added=0, num_updated=0, num_skipped=0, num_backdated=0, num_deleted=0, ids=[])
    sources: set[str] = set()
    for batch in _batches(given, batch_size):
        results = put_documents(vectorstore.store, [_stored(document) for document in batch])
        _count(outcome, results)
        sources.update(source for document in batch if (source := _source(document, source_id_key)))
    if cleanup is not None:
        outcome["num_deleted"] = _clean(vectorstore, set(outcome["ids"]), sources, cleanup, source_id_key)
    return outcome


def _stored(document: Document) -> StoredDocument:
    return StoredDocument(document.page_content, document.metadata, document.id)


def _count(outcome: IngestResult, results: list[WriteResult]) -> None:
    for result in results:
        if result.ko is not None:
            outcome[_COUNTED[result.outcome]] += 1  # type: ignore[literal-required]
            outcome["ids"].append(str(to_document(result.ko).id))


def _batches(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _source(document: Document, key: str | Callable[[Document], str]) -> str | None:
    found = key(document) if callable(key) else document.metadata.get(key)
    return None if found is None else str(found)


def _clean(
    vectorstore: KOVectorStore,
    kept: set[str],
    sources: set[str],
    cleanup: Literal["incremental", "full"],
    key: str | Callable[[Document], str],
) -> int:
    """Retract the documents that did not come again; return how many. What has no source is left alone."""
    gone = []
    for ko in vectorstore.store.snapshot():
        found = to_document(ko)
        document = Document(id=found.id, page_content=found.text, metadata=dict(found.metadata))
        source = _source(document, key)
        mine = source is not None if cleanup == "full" else source in sources
        if mine and found.id not in kept:
            gone.append(str(found.id))
    return remove_documents(vectorstore.store, gone)

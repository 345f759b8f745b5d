"""Documents to facts: a transform that compiles nodes, and an ingestion that supersedes what changed."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode, Document, MetadataMode, TransformComponent
from pydantic import BaseModel, ConfigDict

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import decode_value, encode_value
from ko_integrations.llama_index.events import emit_writes
from ko_integrations.llama_index.nodes import node_fact
from ko_integrations.memory.documents import content_id
from ko_integrations.protocols import Extraction
from ko_integrations.store import KnowledgeStore
from ko_integrations.types import Fact

__all__ = ["FACTS", "IngestReport", "KOCompilerTransform", "ko_ingest"]

FACTS = "ko_facts"
"""Metadata key under which the transform leaves the statements of a node."""


class KOCompilerTransform(TransformComponent):
    """Compiles each node's text and leaves the statements in its metadata; stores nothing.

    `ko_ingest` stores them with the node's document as their source. Keeping the two apart makes the
    transform repeatable: a pipeline may cache it, and a later step that fails has stored nothing.
    """

    _store: KnowledgeStore = PrivateAttr()

    def __init__(self, store: KnowledgeStore, **data: Any) -> None:
        """Compile with the compiler, vocabulary and known subjects of `store`."""
        super().__init__(**data)
        self._store = store

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which it is serialised."""
        return "KOCompilerTransform"

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Return the nodes with the statements of each in its metadata."""
        for node in nodes:
            compiled = self._store.compile(node.get_content(metadata_mode=MetadataMode.NONE))
            node.metadata[FACTS] = [
                # Values as the log writes them: a node's metadata is JSON, which knows no dates or units.
                statement.model_dump(mode="json", exclude={"object"})
                | {"object": encode_value(statement.object)}
                for statement in compiled.extractions
                if statement.kind == "assert"
            ]
            for keys in (node.excluded_embed_metadata_keys, node.excluded_llm_metadata_keys):
                if FACTS not in keys:
                    keys.append(FACTS)
        return nodes


class IngestReport(BaseModel):
    """What an ingestion did, in facts (nodes count too): stated anew or changed, kept, withdrawn."""

    model_config = ConfigDict(frozen=True)

    changed: int = 0
    kept: int = 0
    withdrawn: int = 0


def ko_ingest(
    pipeline: IngestionPipeline, store: KnowledgeStore, documents: Sequence[Document]
) -> IngestReport:
    """Run a pipeline over documents and store its nodes and their statements, each document as a source.

    Ingested again, a document supersedes what changed in it, withdraws what vanished, and leaves the rest
    untouched, so that its versions keep their times. Everything is transformed before anything is
    stored, and stored in one transaction: a step that fails loses nothing.

    Raises:
        InvalidInputError: the pipeline has a vector store or docstore of its own (they delete before they
            transform), or a node cannot be stored.
    """
    if pipeline.vector_store is not None or pipeline.docstore is not None:
        raise InvalidInputError(
            "pipeline", "give it no vector_store and no docstore; the store takes their place"
        )
    by_document: dict[str, list[Fact]] = {document.doc_id: [] for document in documents}
    for node in pipeline.run(documents=list(documents), in_place=False):
        source = node.ref_doc_id or node.node_id
        by_document.setdefault(source, []).extend(_facts_of(node, source))
    counts = {"changed": 0, "kept": 0, "withdrawn": 0}
    with store.batch():
        for source, facts in by_document.items():
            results = store.update_many(facts)
            emit_writes(results)
            gone = store.withdraw_source(source, keep=[result.ko.id for result in results if result.ko])
            kept = sum(result.outcome == "confirmed" for result in results)
            counts["withdrawn"] += len(gone)
            counts["kept"] += kept
            counts["changed"] += len(results) - kept
    return IngestReport(**counts)


def _facts_of(node: BaseNode, source: str) -> list[Fact]:
    """Return a node and its statements as facts that `source` asserts.

    The node's address is its document and its words, not its id, which a pipeline makes anew at every run: a
    chunk that did not change is the same fact.
    """
    statements = [
        Extraction.model_validate(statement | {"object": decode_value(*statement["object"])})
        for statement in node.metadata.pop(FACTS, [])
    ]
    chunk = node_fact(node)
    if chunk.verbatim:
        chunk = chunk.model_copy(update={"subject": content_id(chunk.text or "", {"document": source})})
    facts = [chunk.model_copy(update={"source": source})]
    for each in statements:
        facts.append(
            Fact(
                subject=each.subject, predicate=each.predicate, object=each.object, source=source,
                confidence=each.confidence, valid_from=each.valid_from, valid_to=each.valid_to,
                metadata={"statement": each.text, "ref_doc_id": source},
            )
        )  # fmt: skip
    return facts

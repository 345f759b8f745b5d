"""Documents to facts: a transform that compiles nodes, and an ingestion that supersedes what changed."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode, Document, MetadataMode, RelatedNodeInfo, TransformComponent
from pydantic import BaseModel, ConfigDict

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import decode_value, encode_value
from ko_integrations.llama_index.events import emit_retracted, emit_writes
from ko_integrations.llama_index.nodes import node_fact
from ko_integrations.llama_index.stores import find_store, name_of
from ko_integrations.memory.documents import content_id
from ko_integrations.memory.sources import Restated, Saying, restate
from ko_integrations.memory.turns import context
from ko_integrations.protocols import Extraction
from ko_integrations.store import KnowledgeStore, expect_store
from ko_integrations.times import parse_moment

__all__ = ["FACTS", "SOURCE", "IngestReport", "KOCompilerTransform", "ko_ingest"]

FACTS = "ko_facts"
"""Metadata key under which the transform leaves the statements of a node."""

SOURCE = "ko_source"
"""Metadata key under which `ko_ingest` names a node's document: a cache tells documents apart by their text alone."""


class KOCompilerTransform(TransformComponent):
    """Compiles each node's text and leaves the statements in its metadata; stores nothing.

    `ko_ingest` stores them with the node's document as their source. Keeping the two apart makes the
    transform repeatable: a pipeline may cache it, and a later step that fails has stored nothing.

    Relative dates count from the moment under `said_at_key` in a node's metadata (ISO 8601), else from now.
    """

    path: str | None = Field(default=None, description="Where the store is, if none is given.")
    namespace: list[str] = Field(default_factory=list, description="Whose facts are known.")
    said_at_key: str = Field(default="said_at", description="Metadata key of when a text was said.")
    compiled_by: str = Field(default="", description="Compiler and vocabulary, for the cache of a pipeline.")
    _store: KnowledgeStore = PrivateAttr()

    def __init__(
        self,
        store: KnowledgeStore | None = None,
        *,
        path: str | None = None,
        namespace: Sequence[str] = (),
        **data: Any,
    ) -> None:
        """Compile with the compiler, vocabulary and known subjects of `store`, or of the one at `path`.

        Raises:
            InvalidInputError: neither a store nor a path.
        """
        view = find_store(store, path, namespace)
        data["compiled_by"] = _compiled_by(view)
        super().__init__(path=name_of(view), namespace=list(view.namespace_path), **data)
        self._store = view

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which it is serialised."""
        return "KOCompilerTransform"

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Return the nodes with the statements of each in its metadata.

        A pronoun may mean whom the chunk before it names.

        Raises:
            InvalidInputError: a node's `said_at` is no moment.
        """
        before: dict[str, str] = {}
        for node in nodes:
            when = node.metadata.get(self.said_at_key)
            said_at = None if when is None else parse_moment(str(when), f"metadata.{self.said_at_key}")
            text = node.get_content(metadata_mode=MetadataMode.NONE)
            document = node.ref_doc_id or node.node_id
            earlier = context([before.get(document, "")])
            found = (
                self._store.compile(text, said_at=said_at, before=earlier).extractions if text.strip() else ()
            )
            before[document] = text
            node.metadata[FACTS] = [_to_data(statement) for statement in found]
            _hide(node, FACTS)
        return nodes

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Do as a call does, without blocking the event loop."""
        return await asyncio.to_thread(self, nodes, **kwargs)


class IngestReport(BaseModel):
    """What an ingestion did, in facts; a node counts as one.

    Attributes:
        changed: stated anew, or with another value.
        kept: said before already.
        withdrawn: that no document of these says any more.
        retracted: that a document says ended.
    """

    model_config = ConfigDict(frozen=True)

    changed: int = 0
    kept: int = 0
    withdrawn: int = 0
    retracted: int = 0


def ko_ingest(
    pipeline: IngestionPipeline, store: KnowledgeStore, documents: Sequence[Document]
) -> IngestReport:
    """Run a pipeline over documents and store its nodes and their statements, each document as a source.

    Ingested again, a document supersedes what changed in it, withdraws what vanished, and leaves the rest
    untouched: what it merely repeats neither gets a new version nor outvotes what others said since.
    Everything is transformed before anything is stored, and stored in one transaction: a step that fails
    loses nothing.

    Raises:
        InvalidInputError: the pipeline has a vector store or docstore of its own (they delete before they
            transform), or a node cannot be stored.
    """
    expect_store(store)
    if not isinstance(pipeline, IngestionPipeline):
        raise InvalidInputError("pipeline", f"expected an IngestionPipeline, got {type(pipeline).__name__}")
    if isinstance(documents, Document) or not all(isinstance(document, Document) for document in documents):
        raise InvalidInputError("documents", "expected a sequence of Documents")
    if pipeline.vector_store is not None or pipeline.docstore is not None:
        raise InvalidInputError(
            "pipeline", "give it no vector_store and no docstore; the store takes their place"
        )
    sayings: dict[str, list[Saying]] = {document.doc_id: [] for document in documents}
    for node in pipeline.run(documents=[_named(document) for document in documents], in_place=False):
        source, saying = _saying(node)
        sayings.setdefault(source, []).append(saying)
    with store.batch():
        done = [restate(store, source, said) for source, said in sayings.items()]
    for restated in done:
        emit_writes(restated.results)
        emit_retracted([*restated.withdrawn, *restated.retracted])
    return _report(done)


def _report(done: Sequence[Restated]) -> IngestReport:
    confirmed = sum(result.outcome == "confirmed" for restated in done for result in restated.results)
    return IngestReport(
        changed=sum(len(restated.results) for restated in done) - confirmed,
        kept=sum(restated.kept for restated in done) + confirmed,
        withdrawn=sum(len(restated.withdrawn) for restated in done),
        retracted=sum(len(restated.retracted) for restated in done),
    )


def _named(document: Document) -> Document:
    """Return a copy of a document that its nodes name as their source."""
    copy = document.model_copy(deep=True)
    copy.metadata[SOURCE] = document.doc_id
    _hide(copy, SOURCE)
    return copy


def _saying(node: BaseNode) -> tuple[str, Saying]:
    """Return a node's document, and the node with its statements as facts that the document asserts.

    The node's id becomes its document and its words: a pipeline makes ids anew at every run, and a chunk that did
    not change is the same fact.
    """
    statements = [_from_data(data) for data in node.metadata.pop(FACTS, [])]
    source = str(node.metadata.pop(SOURCE, None) or node.ref_doc_id or node.node_id)
    _forget_keys(node)
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    node.node_id = content_id(text or node.hash, {"document": source})
    return source, Saying(node_fact(node).model_copy(update={"source": source}), statements)


def _hide(node: BaseNode, key: str) -> None:
    for hidden in (node.excluded_embed_metadata_keys, node.excluded_llm_metadata_keys):
        if key not in hidden:
            hidden.append(key)


def _forget_keys(node: BaseNode) -> None:
    """Take what the ingestion added to a node out of it again."""
    keys = {FACTS, SOURCE}
    node.excluded_embed_metadata_keys = [key for key in node.excluded_embed_metadata_keys if key not in keys]
    node.excluded_llm_metadata_keys = [key for key in node.excluded_llm_metadata_keys if key not in keys]
    for related in node.relationships.values():
        for each in [related] if isinstance(related, RelatedNodeInfo) else related:
            for key in keys:
                each.metadata.pop(key, None)


def _to_data(statement: Extraction) -> dict[str, Any]:
    """Return a statement as JSON, its value as the log writes it: JSON knows no dates or units."""
    value = None if statement.object is None else encode_value(statement.object)
    return statement.model_dump(mode="json", exclude={"object"}) | {"object": value}


def _from_data(data: Mapping[str, Any]) -> Extraction:
    value = None if data["object"] is None else decode_value(*data["object"])
    return Extraction.model_validate({**data, "object": value})


def _compiled_by(store: KnowledgeStore) -> str:
    """Name what a compilation depends on besides its text: two stores that compile alike share a cache."""
    compiler = type(store.handle.compiler)
    vocabulary = json.dumps(store.vocabulary.to_dict(), sort_keys=True, default=str)
    return f"{compiler.__module__}.{compiler.__qualname__} {sha256(vocabulary.encode()).hexdigest()[:16]}"

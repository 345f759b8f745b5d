"""LlamaIndex nodes and filters as the store's facts and conditions, and back."""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict

from ko_integrations.errors import InvalidInputError
from ko_integrations.filters import Where
from ko_integrations.memory.documents import DOCUMENT, document_where, latest_metadata, stated_fact
from ko_integrations.memory.evidence import Evidence, evidence_metadata
from ko_integrations.memory.sources import PRINT
from ko_integrations.types import Fact, KnowledgeObject

__all__ = ["DOC_ID", "NODE_ID", "node_fact", "to_node", "to_scored_node", "to_where"]

NODE_ID = "_node_id"
DOC_ID = "ref_doc_id"

_TRIPLE = ("subject", "predicate", "object")
_TIMES = ("valid_from", "valid_to")

_PLAIN = {
    FilterOperator.EQ: "$eq",
    FilterOperator.NE: "$ne",
    FilterOperator.GT: "$gt",
    FilterOperator.GTE: "$gte",
    FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
    FilterOperator.IN: "$in",
    FilterOperator.NIN: "$nin",
    FilterOperator.CONTAINS: "$contains",
    FilterOperator.TEXT_MATCH: "$contains",
    FilterOperator.TEXT_MATCH_INSENSITIVE: "$icontains",
}


def node_fact(node: BaseNode) -> Fact:
    """Return a node as a fact whose source is its document.

    In the slot that `subject` and `predicate` in its metadata name (see `stated_fact`), so that a second node
    about the same fact supersedes the first; else under the node's own id.

    Raises:
        InvalidInputError: its metadata gives a time that is none.
    """
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    metadata = {**node_to_metadata_dict(node, remove_text=True), NODE_ID: node.node_id, PRINT: node.hash}
    stated = stated_fact(text, node.metadata)
    if stated is None:
        held = {"text": text, "hash": node.hash}
        stated = Fact(subject=node.node_id, predicate=DOCUMENT, object=held, text=text, verbatim=True)
    return stated.model_copy(
        update={"source": node.ref_doc_id, "metadata": metadata, "vector": node.embedding}
    )


def to_node(ko: KnowledgeObject) -> BaseNode:
    """Return the node that a version was stored from; of a plain fact, a node that states it."""
    metadata = latest_metadata(ko)
    if "_node_content" in metadata:
        return metadata_dict_to_node(metadata, text=ko.text)
    return TextNode(
        id_=ko.id, text=ko.text, metadata={"subject": ko.subject, "predicate": ko.predicate, **metadata}
    )


def to_scored_node(piece: Evidence) -> NodeWithScore:
    """Return a piece of evidence as a node; its metadata says id, version, route, source and times.

    What answers the question exactly has score 1. Of the metadata a model sees when a fact holds, and of a
    document's node what it saw before.
    """
    node = to_node(piece.ko)
    own, facts = node.metadata, evidence_metadata(piece)
    if piece.ko.predicate == DOCUMENT:
        node.metadata = {**{key: facts[key] for key in facts if key not in _TRIPLE}, **own}
        hidden = [*node.excluded_llm_metadata_keys, *(key for key in facts if key not in own)]
    else:
        if node.node_id == piece.ko.id:  # of two versions of a slot, LlamaIndex would drop one as a duplicate
            node.node_id = piece.ko.reference
        node.metadata = {**own, **facts}
        hidden = [key for key in node.metadata if key not in _TIMES or node.metadata[key] is None]
    node.excluded_llm_metadata_keys = list(dict.fromkeys(hidden))
    node.excluded_embed_metadata_keys = sorted(node.metadata)
    return NodeWithScore(node=node, score=1.0 if piece.score is None else piece.score)


def to_where(filters: MetadataFilters | None, **among: Sequence[str] | None) -> Where | None:
    """Return LlamaIndex filters, and lists that metadata keys must be among, as one condition.

    Raises:
        InvalidInputError: an operator that this store does not know.
    """
    # An index that keeps no ids of its own asks for an empty list of them, and means all.
    clauses = [_among(key, list(values)) for key, values in among.items() if values]
    if filters is not None:
        clauses.append(_group(filters))
    clauses = [clause for clause in clauses if clause]
    return {"$and": clauses} if clauses else None


def _among(key: str, values: list[str]) -> Mapping[str, Any]:
    own = {key: {"$in": values}}
    # Of two documents that state the same fact the later one's metadata show; the first is its source still.
    return {"$or": [own, {"source": {"$in": values}}]} if key == DOC_ID else own


def _group(filters: MetadataFilters) -> Mapping[str, Any]:
    parts = (_group(each) if isinstance(each, MetadataFilters) else _one(each) for each in filters.filters)
    clauses = [part for part in parts if part]
    if not clauses:  # a group of nothing restricts nothing, whatever joins it
        return {}
    match filters.condition:
        case FilterCondition.OR:
            return {"$or": clauses}
        case FilterCondition.NOT:
            return {"$not": {"$or": clauses}}
    return {"$and": clauses}


def _one(each: MetadataFilter) -> Mapping[str, Any]:
    key, value = each.key, each.value
    values = value if isinstance(value, list) else [value]
    match each.operator:
        case FilterOperator.IS_EMPTY:
            absent: list[Mapping[str, Any]] = [{key: {"$exists": False}}, {key: {"$in": [None, "", []]}}]
            return {"$or": [document_where(clause) or {} for clause in absent]}
        case FilterOperator.ANY:
            return {"$or": [document_where({key: {"$contains": item}}) or {} for item in values]}
        case FilterOperator.ALL:
            return {"$and": [document_where({key: {"$contains": item}}) or {} for item in values]}
    name = _PLAIN.get(each.operator)
    if name is None:
        raise InvalidInputError("filters", f"unknown operator {each.operator!r}")
    return document_where({key: {name: value}}) or {}

"""Nodes and relations of a property graph as facts, and back."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    EntityNode,
    LabelledNode,
    Relation,
    Triplet,
)

from ko_integrations.llama_index.nodes import DOC_ID
from ko_integrations.memory.documents import INTERNAL, latest_metadata
from ko_integrations.types import Fact, KnowledgeObject
from ko_integrations.vocabulary import Vocabulary

__all__ = [
    "KIND",
    "NODE",
    "edge_target",
    "is_edge",
    "matches",
    "node_fact",
    "relation_fact",
    "to_node",
    "to_relation",
]

NODE = f"{INTERNAL}graph-node"
EDGE = f"{INTERNAL}graph-edge"

KIND = "_kind"


def node_fact(node: LabelledNode) -> Fact:
    """Return a node as a fact under its own id; its source is the chunk or document it was found in."""
    data = {**node.model_dump(mode="json", exclude={"embedding"}), "kind": type(node).__name__}
    found_in = node.properties.get(TRIPLET_SOURCE_KEY) or node.properties.get(DOC_ID)
    return Fact(
        subject=node.id, predicate=NODE, object=data,
        metadata={**data["properties"], KIND: data["kind"]}, text=str(node), vector=node.embedding, verbatim=True,
        source=found_in if found_in != "None" else None,  # how LlamaIndex writes that there is no document
    )  # fmt: skip


def to_node(ko: KnowledgeObject) -> LabelledNode:
    """Return the node that a fact was stored from."""
    data = dict(ko.object)
    kind = ChunkNode if data.pop("kind") == "ChunkNode" else EntityNode
    return kind.model_validate(data)


def relation_fact(relation: Relation, vocabulary: Vocabulary) -> Fact:
    """Return a relation as a plain fact where the vocabulary declares its label, else as an edge of its own."""
    source, label, target = relation.source_id, relation.label, relation.target_id
    found_in = relation.properties.get(TRIPLET_SOURCE_KEY)
    # A chunk's own neighbours (LlamaIndex draws PARENT and CHILD between chunks) are no facts of the world.
    declared = label in vocabulary and found_in != source
    return Fact(
        subject=source,
        # The label is framed by its length, so that no other label and target make the same address.
        predicate=label if declared else f"{EDGE}:{len(label)}:{label}:{target}",
        object=target if declared else edge_target(target),
        source=found_in,
        metadata=relation.model_dump(mode="json"),
        text=f"{source} {label} {target}",
        verbatim=not declared,
    )


def edge_target(name: str) -> str:
    """Return the object of the edges that end at a node: what the inverse look-up finds them by, and no fact."""
    return f"{EDGE}:{name}"


def is_edge(ko: KnowledgeObject) -> bool:
    """Tell whether a fact is an edge whose label the vocabulary did not declare."""
    return ko.predicate.startswith(EDGE)


def to_relation(ko: KnowledgeObject) -> Relation | None:
    """Return a fact as a relation: one that was stored as such, or a plain fact between two names."""
    if ko.predicate.startswith(INTERNAL) and not is_edge(ko):
        return None
    stored = latest_metadata(ko)
    if "source_id" in stored and "target_id" in stored:
        return Relation.model_validate(stored)
    if isinstance(ko.object, str):
        return Relation(label=ko.predicate, source_id=ko.subject, target_id=ko.object)
    return None


def matches(
    triplet: Triplet,
    entity_names: Sequence[str] | None,
    relation_names: Sequence[str] | None,
    properties: dict[str, Any] | None,
    ids: Sequence[str] | None,
) -> bool:
    """Tell whether a triple matches every list given; of the properties one is enough, on any of its parts."""
    source, relation, target = triplet
    ends = {source.id, target.id, relation.source_id, relation.target_id}
    return (
        (not entity_names or not ends.isdisjoint(entity_names))
        and (not relation_names or relation.id in relation_names)
        and (not ids or not ends.isdisjoint(ids))
        and (not properties or any(
            part.properties.get(key) == value for part in triplet for key, value in properties.items()
        ))
    )  # fmt: skip

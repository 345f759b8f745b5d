"""`KOPropertyGraphStore`: triples as a graph, in which functional relations supersede."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from llama_index.core.graph_stores.types import (
    ChunkNode,
    EntityNode,
    LabelledNode,
    PropertyGraphStore,
    Relation,
    Triplet,
)
from llama_index.core.vector_stores.types import VectorStoreQuery

from ko_integrations.errors import InvalidInputError
from ko_integrations.llama_index.events import emit_retracted, emit_writes
from ko_integrations.llama_index.nodes import to_where
from ko_integrations.memory.documents import key_id
from ko_integrations.memory.recall import INTERNAL
from ko_integrations.store import KnowledgeStore
from ko_integrations.types import Fact, KnowledgeObject

__all__ = ["KOPropertyGraphStore"]

NODE = "ko:graph-node"
EDGE = "ko:graph-edge"


class KOPropertyGraphStore(PropertyGraphStore):
    """A property graph over one namespace of a `KnowledgeStore`, for `PropertyGraphIndex`.

    A relation whose label the store's vocabulary declares is a fact of the store: a single-valued one
    supersedes (a new `capital` takes the place of the old), a set-valued one keeps its members, and `ask`
    answers from both. Any other label keeps every edge, as graphs do. Facts that were stored by other ways
    show as triples too. Deleting retracts: history stays.

    Example:
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> graph = KOPropertyGraphStore(KnowledgeStore.open(":memory:", embedder=HashingEmbedder()))
        >>> graph.upsert_nodes([EntityNode(name="Kazakhstan"), EntityNode(name="Almaty"), EntityNode(name="Astana")])
        >>> for city in ("Almaty", "Astana"):
        ...     graph.upsert_relations([Relation(label="CAPITAL", source_id="Kazakhstan", target_id=city)])
        >>> [str(target) for _, _, target in graph.get_triplets(entity_names=["Kazakhstan"])]
        ['Astana']
    """

    supports_structured_queries = False
    supports_vector_queries = True

    def __init__(self, store: KnowledgeStore) -> None:
        """Work on the namespace that `store` is bound to."""
        self._store = store

    @property
    def client(self) -> KnowledgeStore:
        """The view of the store."""
        return self._store

    # -- writing ------------------------------------------------------------------------------------------
    def upsert_nodes(self, nodes: Sequence[LabelledNode]) -> None:
        """Store nodes, all or none; one with a known id supersedes it."""
        emit_writes(self._store.update_many([_node_fact(node) for node in nodes]))

    def upsert_relations(self, relations: list[Relation]) -> None:
        """Store relations, all or none; their ends become nodes where they are not yet."""
        ends = {end for relation in relations for end in (relation.source_id, relation.target_id)}
        absent = ends - self._nodes(ends).keys()
        facts = [_node_fact(EntityNode(name=name)) for name in sorted(absent)]
        emit_writes(self._store.update_many([*facts, *(self._relation_fact(each) for each in relations)]))

    def _relation_fact(self, relation: Relation) -> Fact:
        source, label, target = relation.source_id, relation.label, relation.target_id
        metadata = {
            "label": label,
            "source_id": source,
            "target_id": target,
            "properties": relation.properties,
        }
        text = f"{source} {label} {target}"
        origin = relation.properties.get("triplet_source_id")
        if label in self._store.vocabulary:
            return Fact(
                subject=source, predicate=label, object=target, source=origin, metadata=metadata, text=text
            )
        return Fact(
            subject=f"{len(source)}:{source}{len(label)}:{label}{target}", predicate=EDGE, object=metadata,
            source=origin, metadata=metadata, text=text, verbatim=True,
        )  # fmt: skip

    def delete(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> None:
        """Retract the triples that `get_triplets` finds, and the nodes that are named or match."""
        with self._store.batch():
            if entity_names or relation_names or properties or ids:
                for ko, triplet in self._edges():
                    if _matches(triplet, entity_names, relation_names, properties, ids):
                        self._retract(ko)
            named = [*(ids or ()), *(entity_names or ())]
            for node in self.get(properties=properties, ids=named or None) if named or properties else []:
                emit_retracted(self._store.retract(node.id, NODE, verbatim=True))

    def _retract(self, ko: KnowledgeObject) -> None:
        verbatim = ko.predicate == EDGE
        is_set = not verbatim and self._store.vocabulary.cardinality(ko.predicate) == "set"
        emit_retracted(
            self._store.retract(ko.subject, ko.predicate, ko.object if is_set else None, verbatim=verbatim)
        )

    # -- reading ------------------------------------------------------------------------------------------
    def get(
        self, properties: dict[str, Any] | None = None, ids: list[str] | None = None
    ) -> list[LabelledNode]:
        """Return the nodes with one of `ids` and all of `properties`; every node without either."""
        nodes = self._nodes(ids).values() if ids is not None else self._all_nodes()
        wanted = (properties or {}).items()
        return [node for node in nodes if all(node.properties.get(key) == value for key, value in wanted)]

    def get_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Triplet]:
        """Return the triples that hold and match every list given; none without any."""
        if not (entity_names or relation_names or properties or ids):
            return []
        triplets = (triplet for _, triplet in self._edges())
        return [each for each in triplets if _matches(each, entity_names, relation_names, properties, ids)]

    def get_rel_map(
        self,
        graph_nodes: list[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Triplet]:
        """Return the triples within `depth` steps of some nodes, nearest first, each once."""
        edges = [triplet for _, triplet in self._edges() if triplet[1].id not in (ignore_rels or ())]
        frontier, found = {node.id for node in graph_nodes}, list[Triplet]()
        for _ in range(depth):
            step = [each for each in edges if each[0].id in frontier or each[2].id in frontier]
            edges = [each for each in edges if each not in step]
            found += step
            frontier = {end.id for source, _, target in step for end in (source, target)}
        return found[:limit]

    def vector_query(self, query: VectorStoreQuery, **_: Any) -> tuple[list[LabelledNode], list[float]]:
        """Return the nearest nodes and their cosines, best first.

        Raises:
            InvalidInputError: neither vector nor text.
        """
        wanted = query.query_embedding if query.query_embedding is not None else query.query_str
        if wanted is None:
            raise InvalidInputError("query", "neither query_embedding nor query_str")
        clauses = [clause for clause in ({"predicate": NODE}, to_where(query.filters)) if clause]
        hits = self._store.read(wanted, query.similarity_top_k, where={"$and": clauses})
        return [_to_node(hit.ko) for hit in hits], [hit.score for hit in hits]

    def structured_query(self, query: str, param_map: dict[str, Any] | None = None) -> Any:
        """Refuse: this store has no query language.

        Raises:
            InvalidInputError: always.
        """
        raise InvalidInputError(
            "query", "this store has no query language (supports_structured_queries is False)"
        )

    def get_schema(self, refresh: bool = False) -> dict[str, list[str]]:  # noqa: ARG002 - read anew at each call
        """Return the labels of nodes and relations in use."""
        labels = {node.label for node in self._all_nodes()}
        relations = {triplet[1].label for _, triplet in self._edges()}
        return {"nodes": sorted(labels), "relations": sorted(relations)}

    def _nodes(self, ids: Iterable[str]) -> dict[str, LabelledNode]:
        wanted = list(dict.fromkeys(ids))
        heads = self._store.get_many([key_id(self._store, name, NODE) for name in wanted])
        found = {name: _to_node(ko) for name, ko in zip(wanted, heads, strict=True) if ko is not None}
        # A subject of plain facts is a node, though nobody stored it as one.
        plain = self._store.find_subjects([name for name in wanted if name not in found])
        return found | {name: EntityNode(name=subject) for name, subject in plain.items()}

    def _all_nodes(self) -> list[LabelledNode]:
        return [_to_node(ko) for ko in self._store.snapshot() if ko.predicate == NODE]

    def _edges(self) -> Iterator[tuple[KnowledgeObject, Triplet]]:
        """Yield every fact between two names, with the triple it is, oldest first."""
        kos = list(self._store.snapshot())
        nodes = {ko.subject: _to_node(ko) for ko in kos if ko.predicate == NODE}
        kos.sort(key=lambda ko: ko.provenance.sequence)
        for ko in kos:
            relation = _to_relation(ko)
            if relation is not None:
                ends = [
                    nodes.get(end) or EntityNode(name=end) for end in (relation.source_id, relation.target_id)
                ]
                yield ko, (ends[0], relation, ends[1])


def _node_fact(node: LabelledNode) -> Fact:
    data = node.model_dump(mode="json", exclude={"embedding"})
    return Fact(
        subject=node.id, predicate=NODE, object=data | {"kind": type(node).__name__},
        metadata=dict(node.properties), text=str(node), vector=node.embedding, verbatim=True,
        source=node.properties.get("triplet_source_id") or node.properties.get("ref_doc_id"),
    )  # fmt: skip


def _to_node(ko: KnowledgeObject) -> LabelledNode:
    data = dict(ko.object)
    kind = ChunkNode if data.pop("kind") == "ChunkNode" else EntityNode
    return kind.model_validate(data)


def _to_relation(ko: KnowledgeObject) -> Relation | None:
    """Return a fact as a relation: one that was stored as such, or a plain fact between two names."""
    stored = ko.provenance.metadata or {}
    if "source_id" in stored and "target_id" in stored:
        return Relation.model_validate(stored)
    if isinstance(ko.object, str) and not ko.predicate.startswith(INTERNAL):
        return Relation(label=ko.predicate, source_id=ko.subject, target_id=ko.object)
    return None


def _matches(
    triplet: Triplet,
    entity_names: Sequence[str] | None,
    relation_names: Sequence[str] | None,
    properties: dict[str, Any] | None,
    ids: Sequence[str] | None,
) -> bool:
    source, relation, target = triplet
    ends = {source.id, target.id}
    return (
        (not entity_names or not ends.isdisjoint(entity_names))
        and (not relation_names or relation.id in relation_names)
        and (not ids or not ends.isdisjoint(ids))
        and (not properties or any(
            part.properties.get(key) == value for part in triplet for key, value in properties.items()
        ))
    )  # fmt: skip

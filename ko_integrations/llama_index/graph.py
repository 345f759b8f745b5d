"""`KOPropertyGraphStore`: triples as a graph, in which functional relations supersede."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from llama_index.core.graph_stores.types import (
    EntityNode,
    LabelledNode,
    PropertyGraphStore,
    Relation,
    Triplet,
)
from llama_index.core.vector_stores.types import VectorStoreQuery

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import check_count
from ko_integrations.llama_index.events import emit_retracted, emit_writes
from ko_integrations.llama_index.graph_facts import (
    KIND,
    NODE,
    edge_target,
    is_edge,
    matches,
    node_fact,
    relation_fact,
    to_node,
    to_relation,
)
from ko_integrations.llama_index.nodes import DOC_ID, to_where
from ko_integrations.memory.documents import end_fact, key_id
from ko_integrations.store import KnowledgeStore, expect_store
from ko_integrations.types import KnowledgeObject

__all__ = ["KOPropertyGraphStore"]

_MANY = 100_000


class KOPropertyGraphStore(PropertyGraphStore):
    """A property graph over one namespace of a `KnowledgeStore`, for `PropertyGraphIndex`.

    A relation whose label the store's vocabulary declares is a fact of the store: a single-valued one
    supersedes (a new `capital` takes the place of the old), a set-valued one keeps its members, and `ask`
    answers from both. Any other label keeps every edge, as graphs do. Facts that were stored by other ways
    show as triples too. Deleting retracts: history stays.

    Example:
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> graph = KOPropertyGraphStore(KnowledgeStore.open(":memory:", embedder=HashingEmbedder()))
        >>> for city in ("Almaty", "Astana"):
        ...     graph.upsert_relations([Relation(label="CAPITAL", source_id="Kazakhstan", target_id=city)])
        >>> [str(target) for _, _, target in graph.get_triplets(entity_names=["Kazakhstan"])]
        ['Astana']
    """

    supports_structured_queries = False
    supports_vector_queries = True

    def __init__(self, store: KnowledgeStore) -> None:
        """Work on the namespace that `store` is bound to.

        Raises:
            InvalidInputError: `store` is none.
        """
        self._store = expect_store(store)

    @property
    def client(self) -> KnowledgeStore:
        """The view of the store."""
        return self._store

    # -- writing ------------------------------------------------------------------------------------------
    def upsert_nodes(self, nodes: Sequence[LabelledNode]) -> None:
        """Store nodes, all or none; one with a known id supersedes it."""
        emit_writes(self._store.update_many([node_fact(node) for node in nodes]))

    def upsert_relations(self, relations: list[Relation]) -> None:
        """Store relations, all or none; their ends become nodes where they are not yet."""
        ends = {end for relation in relations for end in (relation.source_id, relation.target_id)}
        absent = ends - self._nodes(ends).keys()
        facts = [node_fact(EntityNode(name=name)) for name in sorted(absent)]
        facts += [relation_fact(relation, self._store.vocabulary) for relation in relations]
        emit_writes(self._store.update_many(facts))

    def delete(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> None:
        """Retract the triples that match every list given, and, unless relations are named, their nodes.

        The nodes are those named, or with these properties; a node at the other end of a triple stays.
        """
        given = (entity_names, relation_names, properties, ids)
        with self._store.batch():
            ended = [each for ko, _ in self._found(*given) for each in end_fact(self._store, ko)]
            named = [*(ids or ()), *(entity_names or ())]
            nodes = self.get(properties=properties, ids=named or None) if named or properties else []
            for node in nodes if not relation_names else ():
                ended += self._store.retract(node.id, NODE, verbatim=True)
        emit_retracted(ended)

    def delete_llama_nodes(
        self, node_ids: list[str] | None = None, ref_doc_ids: list[str] | None = None
    ) -> None:
        """Take back what chunks, or all chunks of documents, asserted; what others assert too stays.

        A superseded value whose successor goes shows again.
        """
        chunks = list(node_ids or ())
        for document in ref_doc_ids or ():
            chunks += [node.id for node in self.get(properties={DOC_ID: document})]
        with self._store.batch():
            sources = dict.fromkeys([*chunks, *(ref_doc_ids or ())])
            ended: list[KnowledgeObject | str] = [
                slot for source in sources for slot in self._store.withdraw_source(source)
            ]
            for chunk in chunks:
                ended += self._store.retract(chunk, NODE, verbatim=True)
        emit_retracted(ended)

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
        """Return the triples that hold and match every list given, oldest first; none without any."""
        return [triplet for _, triplet in self._found(entity_names, relation_names, properties, ids)]

    def get_rel_map(
        self,
        graph_nodes: list[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Triplet]:
        """Return up to `limit` triples within `depth` steps of some nodes, nearest first, each once.

        Raises:
            InvalidInputError: `depth` or `limit` is below 0.
        """
        check_count(depth, "depth", 0)
        check_count(limit, "limit", 0)
        frontier, reached = {node.id for node in graph_nodes}, set[str]()
        found: dict[str, KnowledgeObject] = {}
        for _ in range(depth):
            reached |= frontier
            step = {ko.reference: ko for ko in self._touching(frontier) if ko.reference not in found}
            kept = {
                reference: ko for reference, ko in step.items()
                if (relation := to_relation(ko)) is not None and relation.id not in (ignore_rels or ())
            }  # fmt: skip
            found |= kept
            ends = (end for ko in kept.values() for end in _ends(ko))
            frontier = {end for end in ends if end not in reached}
            if not frontier or len(found) >= limit:
                break
        return [triplet for _, triplet in self._triplets(list(found.values())[:limit])]

    def vector_query(self, query: VectorStoreQuery, **_: Any) -> tuple[list[LabelledNode], list[float]]:
        """Return the nearest entities and their cosines, best first; chunks are no entities.

        Raises:
            InvalidInputError: neither vector nor text, or `similarity_top_k` is below 1.
        """
        wanted = query.query_embedding if query.query_embedding is not None else query.query_str
        if wanted is None:
            raise InvalidInputError("query", "neither query_embedding nor query_str")
        clauses = [
            clause for clause in ({"predicate": NODE, KIND: "EntityNode"}, to_where(query.filters)) if clause
        ]
        k = check_count(query.similarity_top_k, "similarity_top_k")
        hits = self._store.read(wanted, k, where={"$and": clauses})
        return [to_node(hit.ko) for hit in hits], [hit.score for hit in hits]

    def structured_query(self, query: str, param_map: dict[str, Any] | None = None) -> Any:  # noqa: ARG002
        """Refuse: this store has no query language.

        Raises:
            InvalidInputError: always.
        """
        reason = "this store has no query language (supports_structured_queries is False)"
        raise InvalidInputError("query", reason)

    def get_schema(self, refresh: bool = False) -> dict[str, list[str]]:  # noqa: ARG002 - read anew at each call
        """Return the labels of nodes and relations in use."""
        kos = list(self._store.snapshot())
        relations = (to_relation(ko) for ko in kos)
        return {
            "nodes": sorted({to_node(ko).label for ko in kos if ko.predicate == NODE}),
            "relations": sorted({relation.label for relation in relations if relation is not None}),
        }

    # -- looking up ---------------------------------------------------------------------------------------
    def _nodes(self, ids: Iterable[str]) -> dict[str, LabelledNode]:
        """Return nodes by id: stored ones, and those that only plain facts name."""
        wanted = list(dict.fromkeys(ids))
        heads = self._store.get_many([key_id(self._store, name, NODE) for name in wanted])
        found = {name: to_node(ko) for name, ko in zip(wanted, heads, strict=True) if ko is not None}
        plain = self._store.find_subjects([name for name in wanted if name not in found])
        found |= {
            name: EntityNode(name=subject) for name, subject in plain.items() if self._store.facts(subject)
        }
        for name in (name for name in wanted if name not in found):
            if naming := [ko for ko in self._store.facts_naming(name, limit=1) if to_relation(ko)]:
                found[name] = EntityNode(name=str(naming[0].object))
        return found

    def _all_nodes(self) -> list[LabelledNode]:
        return [to_node(ko) for ko in self._store.snapshot() if ko.predicate == NODE]

    def _found(
        self,
        entity_names: Sequence[str] | None,
        relation_names: Sequence[str] | None,
        properties: dict[str, Any] | None,
        ids: Sequence[str] | None,
    ) -> list[tuple[KnowledgeObject, Triplet]]:
        if not (entity_names or relation_names or properties or ids):
            return []
        names = entity_names or ids
        kos = self._touching(names) if names else self._store.snapshot()
        given = (entity_names, relation_names, properties, ids)
        return [(ko, triplet) for ko, triplet in self._triplets(kos) if matches(triplet, *given)]

    def _touching(self, names: Iterable[str]) -> Iterator[KnowledgeObject]:
        """Yield the edges that start or end at some nodes: four look-ups a node, however big the graph is."""
        for name in names:
            yield from (ko for ko in self._store.facts(name) if to_relation(ko))
            yield from (ko for ko in self._store.facts(name, verbatim=True) if is_edge(ko))
            yield from (ko for ko in self._store.facts_naming(name, limit=_MANY) if to_relation(ko))
            ending = self._store.facts_naming(edge_target(name), limit=_MANY)
            yield from (ko for ko in ending if ko.object == edge_target(name))

    def _triplets(self, kos: Iterable[KnowledgeObject]) -> list[tuple[KnowledgeObject, Triplet]]:
        """Return the edges among facts with the triples they are, each once, oldest first."""
        edges = {ko.reference: (ko, relation) for ko in kos if (relation := to_relation(ko)) is not None}
        names = {end for _, relation in edges.values() for end in (relation.source_id, relation.target_id)}
        nodes = self._nodes(names)
        return [
            (ko, (_node(nodes, relation.source_id), relation, _node(nodes, relation.target_id)))
            for ko, relation in sorted(edges.values(), key=lambda edge: edge[0].provenance.sequence)
        ]

    # -- the same, without blocking the event loop ----------------------------------------------------------
    async def aupsert_nodes(self, nodes: list[LabelledNode]) -> None:
        """Do as `upsert_nodes` does, without blocking the event loop."""
        await asyncio.to_thread(self.upsert_nodes, nodes)

    async def aupsert_relations(self, relations: list[Relation]) -> None:
        """Do as `upsert_relations` does, without blocking the event loop."""
        await asyncio.to_thread(self.upsert_relations, relations)

    async def adelete(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> None:
        """Do as `delete` does, without blocking the event loop."""
        await asyncio.to_thread(self.delete, entity_names, relation_names, properties, ids)

    async def adelete_llama_nodes(
        self, node_ids: list[str] | None = None, ref_doc_ids: list[str] | None = None
    ) -> None:
        """Do as `delete_llama_nodes` does, without blocking the event loop."""
        await asyncio.to_thread(self.delete_llama_nodes, node_ids, ref_doc_ids)

    async def aget(
        self, properties: dict[str, Any] | None = None, ids: list[str] | None = None
    ) -> list[LabelledNode]:
        """Do as `get` does, without blocking the event loop."""
        return await asyncio.to_thread(self.get, properties, ids)

    async def aget_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Triplet]:
        """Do as `get_triplets` does, without blocking the event loop."""
        return await asyncio.to_thread(self.get_triplets, entity_names, relation_names, properties, ids)

    async def aget_rel_map(
        self,
        graph_nodes: list[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Triplet]:
        """Do as `get_rel_map` does, without blocking the event loop."""
        return await asyncio.to_thread(self.get_rel_map, graph_nodes, depth, limit, ignore_rels)

    async def avector_query(
        self, query: VectorStoreQuery, **kwargs: Any
    ) -> tuple[list[LabelledNode], list[float]]:
        """Do as `vector_query` does, without blocking the event loop."""
        return await asyncio.to_thread(self.vector_query, query, **kwargs)


def _node(nodes: dict[str, LabelledNode], name: str) -> LabelledNode:
    return nodes.get(name) or EntityNode(name=name)


def _ends(ko: KnowledgeObject) -> tuple[str, ...]:
    relation = to_relation(ko)
    return () if relation is None else (relation.source_id, relation.target_id)

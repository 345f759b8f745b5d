"""LlamaIndex adapters. Each translates in, makes one call of the core, and translates out."""

from typing import TYPE_CHECKING, Any

from ko_integrations.lazy import load

if TYPE_CHECKING:
    from ko_integrations.llama_index.graph import KOPropertyGraphStore
    from ko_integrations.llama_index.ingest import KOCompilerTransform, ko_ingest
    from ko_integrations.llama_index.memory import KOMemory
    from ko_integrations.llama_index.memory_block import KOMemoryBlock
    from ko_integrations.llama_index.query_engine import KOQueryEngine
    from ko_integrations.llama_index.retriever import FastWeightRetriever, KORetriever
    from ko_integrations.llama_index.selector import KOSelector
    from ko_integrations.llama_index.tools import KOToolSpec
    from ko_integrations.llama_index.vector_store import KOVectorStore

_HOMES = {
    "FastWeightRetriever": "retriever",
    "KOCompilerTransform": "ingest",
    "KOMemory": "memory",
    "KOMemoryBlock": "memory_block",
    "KOPropertyGraphStore": "graph",
    "KOQueryEngine": "query_engine",
    "KORetriever": "retriever",
    "KOSelector": "selector",
    "KOToolSpec": "tools",
    "KOVectorStore": "vector_store",
    "ko_ingest": "ingest",
}
_NEEDS = {"llama_index": ("llama-index-core", "llama-index")}

__all__ = [
    "FastWeightRetriever",
    "KOCompilerTransform",
    "KOMemory",
    "KOMemoryBlock",
    "KOPropertyGraphStore",
    "KOQueryEngine",
    "KORetriever",
    "KOSelector",
    "KOToolSpec",
    "KOVectorStore",
    "ko_ingest",
]


def __getattr__(name: str) -> Any:
    return load(__name__, name, _HOMES, _NEEDS)

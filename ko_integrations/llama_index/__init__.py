"""LlamaIndex adapters. Each translates in, makes one call of the core, and translates out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ko_integrations.errors import MissingExtraError

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
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{home}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "llama_index":
            raise
        raise MissingExtraError("llama-index-core", "llama-index") from error
    return getattr(module, name)

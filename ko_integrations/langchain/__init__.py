"""LangChain and LangGraph adapters. Each translates in, makes one call of the core, and translates out."""

from typing import TYPE_CHECKING, Any

from ko_integrations.lazy import load

if TYPE_CHECKING:
    from ko_integrations.langchain.chain import create_ko_chain
    from ko_integrations.langchain.compiler import create_ko_compiler, create_ko_parser
    from ko_integrations.langchain.conversation import KOConversationMemory as KOConversationMemory
    from ko_integrations.langchain.graph_store import KOLangGraphStore
    from ko_integrations.langchain.ingest import ko_ingest
    from ko_integrations.langchain.middleware import KOMemoryMiddleware
    from ko_integrations.langchain.retriever import FastWeightRetriever, KORetriever
    from ko_integrations.langchain.router import create_ko_router
    from ko_integrations.langchain.tools import create_ko_tools
    from ko_integrations.langchain.vectorstore import KOVectorStore

_HOMES = {
    "FastWeightRetriever": "retriever",
    "KOConversationMemory": "conversation",
    "KOLangGraphStore": "graph_store",
    "KOMemoryMiddleware": "middleware",
    "KORetriever": "retriever",
    "KOVectorStore": "vectorstore",
    "create_ko_chain": "chain",
    "create_ko_compiler": "compiler",
    "create_ko_parser": "compiler",
    "create_ko_router": "router",
    "create_ko_tools": "tools",
    "ko_ingest": "ingest",
}
_NEEDS = {
    "langchain": ("langchain", "langchain"),
    "langchain_classic": ("langchain-classic", "langchain-classic"),
    "langchain_core": ("langchain-core", "langchain"),
    "langgraph": ("langgraph", "langchain"),
}

# Not `KOConversationMemory`, which needs an extra of its own: `import *` must work without.
__all__ = [
    "FastWeightRetriever",
    "KOLangGraphStore",
    "KOMemoryMiddleware",
    "KORetriever",
    "KOVectorStore",
    "create_ko_chain",
    "create_ko_compiler",
    "create_ko_parser",
    "create_ko_router",
    "create_ko_tools",
    "ko_ingest",
]


def __getattr__(name: str) -> Any:
    return load(__name__, name, _HOMES, _NEEDS)

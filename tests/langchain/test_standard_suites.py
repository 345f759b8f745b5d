"""The standard suites of langchain-tests, with no xfail and no override (PITFALLS 24, 25, 28)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    ToolsIntegrationTests,
    VectorStoreIntegrationTests,
)
from langchain_tests.unit_tests import ToolsUnitTests

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.fast_weight import FastWeightMemory
from ko_integrations.langchain import FastWeightRetriever, KORetriever, KOVectorStore, create_ko_tools


class TestInMemory(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[VectorStore]:
        with KnowledgeStore.open(":memory:", embedder=self.get_embeddings()) as store:
            yield KOVectorStore(store=store)


class TestEmbeddedChroma(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[VectorStore]:
        with KnowledgeStore.open(tmp_path / "memory", embedder=self.get_embeddings()) as store:
            yield KOVectorStore(store=store)


class TestChromaServer(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path, chroma_server: str) -> Iterator[VectorStore]:
        store = KnowledgeStore.open(
            tmp_path / "memory", embedder=self.get_embeddings(), index=chroma_server,
            collection=f"suite-{tmp_path.name}"[:60],
        )  # fmt: skip
        with store:
            yield KOVectorStore(store=store)


@pytest.mark.parametrize("place", ["embedded", "server"])
def test_the_suites_above_write_to_chroma(place: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A small store is read from the log's vectors; that the index got the documents too is checked here."""
    index = None if place == "embedded" else request.getfixturevalue("chroma_server")
    embedding = DeterministicFakeEmbedding(size=6)
    with KnowledgeStore.open(tmp_path / "m", embedder=embedding, index=index, collection="written") as store:
        KOVectorStore(store=store).add_texts(["foo", "bar"])
        store.drain()
        assert store.stats().degraded is None
        assert store.verify().ok


def filled_store() -> KnowledgeStore:
    store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())
    for name, city in [("Alice", "Bern"), ("Bob", "Basel"), ("Carol", "Chur"), ("Dan", "Davos")]:
        store.update(name, "city", city)
    return store


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return KORetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"store": filled_store()}

    @property
    def retriever_query_example(self) -> str:
        return "Which city does Alice live in?"


class TestFastWeightRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return FastWeightRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        memory = FastWeightMemory(HashingEmbedder())
        for name, city in [("Alice", "Bern"), ("Bob", "Basel"), ("Carol", "Chur"), ("Dan", "Davos")]:
            memory.update(name, "city", city)
        return {"memory": memory}

    @property
    def retriever_query_example(self) -> str:
        return "What is the city of Alice?"


class _Example:
    """A tool and arguments for it."""

    name = ""
    params: dict[str, Any] = {}  # noqa: RUF012 - read only

    @property
    def tool_constructor(self) -> BaseTool:
        return {tool.name: tool for tool in create_ko_tools(filled_store())}[self.name]

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return self.params


class _Remember(_Example):
    name, params = "remember", {"subject": "user", "predicate": "city", "value": "Basel"}


class _Recall(_Example):
    name, params = "recall", {"query": "Where does Alice live?"}


class _Forget(_Example):
    name, params = "forget", {"subject": "Alice", "predicate": "city"}


class _History(_Example):
    name, params = "history", {"subject": "Alice", "predicate": "city"}


class TestRememberUnit(_Remember, ToolsUnitTests): ...


class TestRememberIntegration(_Remember, ToolsIntegrationTests): ...


class TestRecallUnit(_Recall, ToolsUnitTests): ...


class TestRecallIntegration(_Recall, ToolsIntegrationTests): ...


class TestForgetUnit(_Forget, ToolsUnitTests): ...


class TestForgetIntegration(_Forget, ToolsIntegrationTests): ...


class TestHistoryUnit(_History, ToolsUnitTests): ...


class TestHistoryIntegration(_History, ToolsIntegrationTests): ...

"""The suites on our backends and on those of LlamaIndex that they stand in for; `llama_index_report` runs them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.llms import MockLLM
from llama_index.core.memory import BaseMemoryBlock, FactExtractionMemoryBlock
from llama_index.core.vector_stores.types import BasePydanticVectorStore

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import LogUnavailableError
from ko_integrations.llama_index import KOMemoryBlock, KOPropertyGraphStore, KOVectorStore
from ko_integrations.protocols import Compilation
from ko_integrations.testing.llama_index_suite import (
    DIMENSION,
    GraphStoreSuite,
    MemoryBlockSuite,
    VectorStoreSuite,
)


@pytest.fixture
def store() -> Iterator[KnowledgeStore]:
    """Return an empty store in memory."""
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(DIMENSION), compiler=Failing()) as opened:
        yield opened


class Failing:
    """The offline compiler, which fails while `broken` is set."""

    broken = False

    def compile(self, text: str, **context: Any) -> Compilation:
        """Compile, or fail as a log that is locked does."""
        from ko_integrations.compiler import OfflineCompiler

        if self.broken:
            raise LogUnavailableError("out of order")
        return OfflineCompiler().compile(text, **context)


class TestKOVectorStore(VectorStoreSuite):
    @pytest.fixture
    def vector_store(self, store: KnowledgeStore) -> BasePydanticVectorStore:
        return KOVectorStore(store=store)

    @pytest.fixture
    def reopen(self) -> Callable[[BasePydanticVectorStore], BasePydanticVectorStore]:
        return lambda old: KOVectorStore.from_dict(old.to_dict())


class TestChromaVectorStore(VectorStoreSuite):
    @pytest.fixture
    def vector_store(self, tmp_path: Path) -> BasePydanticVectorStore:
        from llama_index.vector_stores.chroma import ChromaVectorStore

        cosine = {"metadata": {"hnsw:space": "cosine"}}
        return ChromaVectorStore.from_params("suite", persist_dir=str(tmp_path), collection_kwargs=cosine)

    @pytest.fixture
    def reopen(self) -> Callable[[BasePydanticVectorStore], BasePydanticVectorStore]:
        return lambda old: type(old).from_dict(old.to_dict())


class TestKOMemoryBlock(MemoryBlockSuite):
    @pytest.fixture
    def block(self, store: KnowledgeStore) -> BaseMemoryBlock[str]:
        return KOMemoryBlock(store)

    @pytest.fixture
    def restore(self) -> Callable[[dict[str, Any]], BaseMemoryBlock[str]]:
        return KOMemoryBlock.model_validate

    @pytest.fixture
    def failing(
        self, store: KnowledgeStore
    ) -> Callable[[BaseMemoryBlock[str]], AbstractContextManager[None]]:
        @contextmanager
        def broken(_: BaseMemoryBlock[str]) -> Iterator[None]:
            compiler = store.handle.compiler
            assert isinstance(compiler, Failing)
            compiler.broken = True
            yield
            compiler.broken = False

        return broken


class Extracting(MockLLM):
    """A model that does what the prompt of `FactExtractionMemoryBlock` asks, as well as can be.

    It gives back each sentence of the conversation that states a fact of the user, and none of other roles.
    """

    broken: bool = False

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """Return the facts in the asked form, or fail."""
        if self.broken:
            raise ConnectionError("out of order")
        said = [message.content or "" for message in messages[:-1] if message.role == "user"]
        facts = [fact for text in said for fact in re.findall(r"(?:I|My)\b[^.]*\.", text, re.DOTALL)]
        content = "".join(f"<fact>{fact}</fact>" for fact in facts)
        return ChatResponse(message=ChatMessage(role="assistant", content=f"<facts>{content}</facts>"))


class TestFactExtractionMemoryBlock(MemoryBlockSuite):
    @pytest.fixture
    def block(self) -> BaseMemoryBlock[str]:
        return FactExtractionMemoryBlock(llm=Extracting(max_tokens=None))

    @pytest.fixture
    def restore(self) -> Callable[[dict[str, Any]], BaseMemoryBlock[str]]:
        return lambda data: FactExtractionMemoryBlock(llm=Extracting(max_tokens=None), facts=data["facts"])

    @pytest.fixture
    def failing(self) -> Callable[[BaseMemoryBlock[str]], AbstractContextManager[None]]:
        @contextmanager
        def broken(block: BaseMemoryBlock[str]) -> Iterator[None]:
            assert isinstance(block, FactExtractionMemoryBlock)
            assert isinstance(block.llm, Extracting)
            block.llm.broken = True
            yield
            block.llm.broken = False

        return broken


class TestKOPropertyGraphStore(GraphStoreSuite):
    @pytest.fixture
    def graph_store(self, store: KnowledgeStore) -> PropertyGraphStore:
        return KOPropertyGraphStore(store)


class TestSimplePropertyGraphStore(GraphStoreSuite):
    @pytest.fixture
    def graph_store(self) -> PropertyGraphStore:
        return SimplePropertyGraphStore()

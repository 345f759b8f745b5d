"""Our adapters pass the shipped suites, on a store in memory and on one in a folder."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.llama_index import KOMemoryBlock, KOPropertyGraphStore, KOVectorStore
from ko_integrations.testing.llama_index_suite import (
    DIMENSION,
    GraphStoreSuite,
    MemoryBlockSuite,
    VectorStoreSuite,
)

DOCS = Path(__file__).parents[2] / "docs" / "llama_index.md"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(tmp_path / "store", embedder=HashingEmbedder(DIMENSION)) as opened:
        yield opened


class TestVectorStore(VectorStoreSuite):
    @pytest.fixture
    def vector_store(self, folder: KnowledgeStore) -> KOVectorStore:
        return KOVectorStore(store=folder.namespace("a", "b"))

    @pytest.fixture
    def reopen(self) -> Callable[[Any], KOVectorStore]:
        return lambda old: KOVectorStore.from_dict(old.to_dict())


class TestMemoryBlock(MemoryBlockSuite):
    @pytest.fixture
    def block(self, folder: KnowledgeStore) -> KOMemoryBlock:
        return KOMemoryBlock(folder.namespace("a"))

    @pytest.fixture
    def restore(self) -> Callable[[dict[str, Any]], KOMemoryBlock]:
        return KOMemoryBlock.model_validate


class TestGraphStore(GraphStoreSuite):
    @pytest.fixture
    def graph_store(self, folder: KnowledgeStore) -> KOPropertyGraphStore:
        return KOPropertyGraphStore(folder.namespace("a"))


@pytest.mark.slow
def test_the_report_is_what_the_documentation_shows() -> None:
    """A measurement of LlamaIndex' own backends, not a requirement of them."""
    command = [sys.executable, "-m", "ko_integrations.testing.llama_index_report"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for ours in ("KOVectorStore", "KOMemoryBlock", "KOPropertyGraphStore"):
        [(met, of)] = re.findall(rf"\| {ours} and .*\n.*\n\| requirements met \| (\d+) of (\d+)", printed)
        assert met == of
    shown = DOCS.read_text()
    packages = ("llama-index-core", "llama-index-vector-stores-chroma", "chromadb")
    measured = ", ".join(f"{package} {version(package)}" for package in packages)
    if measured not in shown:
        pytest.skip(f"the documentation shows other versions than {measured}")
    assert printed.strip() in shown

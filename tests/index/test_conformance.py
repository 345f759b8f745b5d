"""Every index we ship passes the suite that we ship."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import chromadb
import pytest
from chromadb.config import Settings

from ko_integrations.index.chroma import ChromaIndex
from ko_integrations.index.exact import ExactIndex
from ko_integrations.testing.chroma_server import ChromaServer
from ko_integrations.testing.index_suite import DIMENSION, SemanticIndexSuite


class TestExact(SemanticIndexSuite):
    @pytest.fixture
    def index(self) -> Iterator[ExactIndex]:
        index = ExactIndex(dimension=DIMENSION)
        yield index
        index.close()


class TestEmbeddedChroma(SemanticIndexSuite):
    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[ChromaIndex]:
        index = ChromaIndex.open(tmp_path / "chroma", name="suite", dimension=DIMENSION)
        yield index
        index.close()


class TestChromaServer(SemanticIndexSuite):
    @pytest.fixture
    def index(self, chroma_server: ChromaServer) -> Iterator[ChromaIndex]:
        index = ChromaIndex.open(chroma_server.url, name=uuid4().hex, dimension=DIMENSION, patience=30)
        yield index
        index.close()


class TestCallersClient(SemanticIndexSuite):
    @pytest.fixture
    def index(self) -> Iterator[ChromaIndex]:
        client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
        index = ChromaIndex.open(client, name=uuid4().hex, dimension=DIMENSION)
        yield index
        index.close()


class TestCallersCollection(SemanticIndexSuite):
    """The collection holds records of somebody else, too."""

    @pytest.fixture
    def index(self) -> Iterator[ChromaIndex]:
        client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
        collection = client.create_collection(
            uuid4().hex, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        collection.add(
            ids=["theirs"], embeddings=[[1.0] * DIMENSION], documents=["theirs"], metadatas=[{"x": 1}]
        )
        index = ChromaIndex.open(collection, name="suite", dimension=DIMENSION)
        yield index
        index.close()
        assert collection.get()["ids"].count("theirs") == 1

"""One Chroma server for all tests of the index; each test has its own store name on it."""

from collections.abc import Iterator

import pytest

from ko_integrations.testing.chroma_server import ChromaServer


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("chroma-server")) as server:
        yield server.wait()

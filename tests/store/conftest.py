"""A store with a clock that the test turns, on each backend."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder


class Clock:
    """Stands still until told otherwise."""

    def __init__(self) -> None:
        self.now = datetime(2025, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def tick(self, **amount: float) -> datetime:
        self.now += timedelta(**(amount or {"seconds": 1}))
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


Opener = Callable[..., KnowledgeStore]


@pytest.fixture(params=["memory", "folder", "postgres"])
def open_store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock, embedder: HashingEmbedder
) -> Iterator[Opener]:
    """Open the same store again and again: in memory (one only), in a folder with Chroma, on PostgreSQL."""
    where: object = ":memory:"
    if request.param == "folder":
        where = tmp_path / "memory"
    elif request.param == "postgres":
        where = request.getfixturevalue("postgres_url")
    opened: list[KnowledgeStore] = []

    def opener(**options: object) -> KnowledgeStore:
        store = KnowledgeStore.open(where, **({"embedder": embedder, "clock": clock} | options))  # type: ignore[arg-type]
        opened.append(store)
        return store

    yield opener
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Opener) -> KnowledgeStore:
    return open_store()

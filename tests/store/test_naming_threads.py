"""Threads that bring names the log has not seen."""

from concurrent.futures import ThreadPoolExecutor

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder


def test_writers_of_new_names_do_not_wait_for_each_other_for_ever() -> None:
    """A writer holds the lock of a log in memory and reads names: who reads names must not hold theirs meanwhile."""
    store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())

    def write(number: int) -> None:
        with store.batch():
            store.update("user", f"trait {number}", number)

    executor = ThreadPoolExecutor(8)
    list(executor.map(write, range(100), timeout=60))
    executor.shutdown()
    assert store.count() == 100
    store.close()

"""mem0 without a model (`infer=False`): its own Qdrant in a folder, our embedder through its LangChain provider."""

from pathlib import Path

from langchain_core.language_models import FakeListChatModel
from mem0 import Memory

from ko_integrations.bench.rivals.contestant import TOP, Contestant
from ko_integrations.bench.rivals.workload import Slot, Statement
from ko_integrations.langchain.vectorstore import StoreEmbeddings
from ko_integrations.protocols import Embedder

__all__ = ["CONTESTANTS"]


class Mem0(Contestant):
    """`add`, `search` with its own threshold, `delete`; a user a tenant. Its history is of a memory, not a slot."""

    name = "mem0, infer=False"
    distribution = "mem0ai"
    abstains = True
    on_disk = True

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        vectors = {
            "path": str(folder / "qdrant"),
            "on_disk": True,
            "embedding_model_dims": embedder.dimension,
        }
        model = FakeListChatModel(responses=["never asked"])
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": vectors},
                "embedder": {"provider": "langchain", "config": {"model": StoreEmbeddings(embedder)}},
                "llm": {"provider": "langchain", "config": {"model": model}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._ids: dict[tuple[str, str, str], list[str]] = {}

    def write(self, statement: Statement) -> None:
        slot = statement.slot
        metadata = {
            "subject": slot.subject,
            "predicate": slot.predicate,
            "valid_from": statement.valid_from.isoformat(),
        }
        added = self._memory.add(statement.text, user_id=slot.tenant, metadata=metadata, infer=False)
        self._ids.setdefault(slot.key, []).extend(each["id"] for each in added["results"])

    def search(self, tenant: str, question: str) -> list[str]:
        found = self._memory.search(question, top_k=TOP, filters={"user_id": tenant})
        return [each["memory"] for each in found["results"]]

    def erase(self, slot: Slot) -> None:
        for name in self._ids[slot.key]:
            self._memory.delete(name)

    def close(self) -> None:
        self._memory.close()
        self._memory.vector_store.client.close()


CONTESTANTS: tuple[type[Contestant], ...] = (Mem0,)

"""LangChain's and LangGraph's memories: Chroma (appended, upserted), InMemoryStore, LangMem's tools."""

import json
import uuid
from abc import abstractmethod
from pathlib import Path

from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings
from langgraph.store.memory import InMemoryStore
from langmem import create_manage_memory_tool, create_search_memory_tool

from ko_integrations.bench.rivals.contestant import TOP, Contestant
from ko_integrations.bench.rivals.workload import Slot, Statement
from ko_integrations.langchain.vectorstore import StoreEmbeddings
from ko_integrations.protocols import Embedder

__all__ = ["CONTESTANTS"]


def slot_key(statement: Statement) -> str:
    """Return the id that a careful caller makes: of the slot, of the member for what a person has several of."""
    slot = statement.slot
    member = (statement.value,) if slot.template.many else ()
    return "|".join((slot.subject, slot.predicate, *member))


class _Chroma(Contestant):
    """One collection, the tenant in the metadata, every search filtered by it."""

    distribution = "langchain-chroma"
    on_disk = True

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._chroma = Chroma("memories", StoreEmbeddings(embedder), persist_directory=str(folder))
        self._ids: dict[tuple[str, str, str], list[str]] = {}

    @abstractmethod
    def _id(self, statement: Statement) -> str:
        """Return the id under which a statement is stored."""

    def write(self, statement: Statement) -> None:
        slot = statement.slot
        metadata = {
            "tenant": slot.tenant,
            "subject": slot.subject,
            "predicate": slot.predicate,
            "valid_from": statement.valid_from.isoformat(),
        }
        ids = self._chroma.add_texts([statement.text], [metadata], ids=[self._id(statement)])
        self._ids.setdefault(slot.key, []).extend(ids)

    def search(self, tenant: str, question: str) -> list[str]:
        found = self._chroma.similarity_search(question, k=TOP, filter={"tenant": tenant})
        return [document.page_content for document in found]

    def erase(self, slot: Slot) -> None:
        self._chroma.delete(list(dict.fromkeys(self._ids[slot.key])))

    def close(self) -> None:
        self._chroma._client.close()  # it offers no way of its own


class ChromaAppend(_Chroma):
    """`add_texts` under new ids."""

    name = "langchain-chroma, append"

    def _id(self, statement: Statement) -> str:  # noqa: ARG002 - a new one each time is the point
        return str(uuid.uuid4())


class ChromaUpsert(_Chroma):
    """`add_texts` under ids that the caller makes of the slot."""

    name = "langchain-chroma, upsert"

    def _id(self, statement: Statement) -> str:
        return f"{statement.slot.tenant}|{slot_key(statement)}"


class LangGraphStore(Contestant):
    """`InMemoryStore` with an index; a namespace a tenant, keys that the caller makes of the slot."""

    name = "LangGraph InMemoryStore"
    distribution = "langgraph"

    def __init__(self, folder: Path, embedder: Embedder) -> None:  # noqa: ARG002 - it keeps no files
        self._store = _in_memory(StoreEmbeddings(embedder), embedder.dimension, "text")
        self._keys: dict[tuple[str, str, str], list[str]] = {}

    def write(self, statement: Statement) -> None:
        key = slot_key(statement)
        self._store.put((statement.slot.tenant, "memories"), key, {"text": statement.text})
        self._keys.setdefault(statement.slot.key, []).append(key)

    def search(self, tenant: str, question: str) -> list[str]:
        found = self._store.search((tenant, "memories"), query=question, limit=TOP)
        return [item.value["text"] for item in found]

    def erase(self, slot: Slot) -> None:
        for key in dict.fromkeys(self._keys[slot.key]):
            self._store.delete((slot.tenant, "memories"), key)


class _LangMem(Contestant):
    """LangMem's tools over an `InMemoryStore`, called as an agent calls them."""

    distribution = "langmem"
    updates = False

    def __init__(self, folder: Path, embedder: Embedder) -> None:  # noqa: ARG002 - it keeps no files
        store = _in_memory(StoreEmbeddings(embedder), embedder.dimension, "content")
        namespace = ("memories", "{langgraph_user_id}")
        self._manage = create_manage_memory_tool(namespace, store=store)
        self._search = create_search_memory_tool(namespace, store=store)
        self._ids: dict[tuple[str, str, str], list[str]] = {}

    def write(self, statement: Statement) -> None:
        slot = statement.slot
        known = self._ids.setdefault(slot.key, [])
        arguments = {"content": statement.text, "action": "create"}
        if self.updates and known and not slot.template.many:
            arguments |= {"action": "update", "id": known[0]}
        said = self._manage.invoke(arguments, config=_user(slot.tenant))
        known.append(said.rsplit(" ", 1)[-1])

    def search(self, tenant: str, question: str) -> list[str]:
        found = json.loads(self._search.invoke({"query": question, "limit": TOP}, config=_user(tenant)))
        return [item["value"]["content"] for item in found]

    def erase(self, slot: Slot) -> None:
        for name in dict.fromkeys(self._ids[slot.key]):
            self._manage.invoke({"action": "delete", "id": name}, config=_user(slot.tenant))


class LangMemCreate(_LangMem):
    """Every statement is created."""

    name = "LangMem tools, create"


class LangMemUpdate(_LangMem):
    """A changed value updates the memory it changes: an agent that never picks the wrong id."""

    name = "LangMem tools, update by id"
    updates = True


def _in_memory(embeddings: Embeddings, dimension: int, field: str) -> InMemoryStore:
    return InMemoryStore(index={"dims": dimension, "embed": embeddings, "fields": [field]})


def _user(tenant: str) -> dict[str, dict[str, str]]:
    return {"configurable": {"langgraph_user_id": tenant}}


CONTESTANTS: tuple[type[Contestant], ...] = (
    ChromaAppend,
    ChromaUpsert,
    LangGraphStore,
    LangMemCreate,
    LangMemUpdate,
)

"""`KOLangGraphStore`: LangGraph's long-term memory, with the versions of every item kept."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from ko_integrations.embeddings import as_embedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.langchain.items import StoredItem, delete_item, item_history, put_item, touch_item
from ko_integrations.langchain.search_items import list_namespaces, read_item, search_items
from ko_integrations.store import KnowledgeStore, expect_store
from ko_integrations.times import Moment
from ko_integrations.types import EraseReport

__all__ = ["KOLangGraphStore"]

_Key = tuple[tuple[str, ...], str]


class KOLangGraphStore(BaseStore):
    """A LangGraph `BaseStore` over a `KnowledgeStore`: an overwritten item is superseded, not lost.

    Keys and namespaces are verbatim and round-trip. A search below a prefix respects whole segments. In a
    batch, reads see the state before it, and its puts are stored together or not at all, each one a
    version. Items are indexed by the store's own embedder. A time to live (minutes) ends an item by itself
    and starts anew when the item is read, unless told otherwise; an ended item is never returned.

    Beyond `BaseStore`: `history`, `as_of` on `get` and `search`, and `erase`.

    Example:
        >>> from ko_integrations import KnowledgeStore
        >>> from ko_integrations.embeddings import HashingEmbedder
        >>> memory = KOLangGraphStore(store=KnowledgeStore.open(":memory:", embedder=HashingEmbedder()))
        >>> memory.put(("alice",), "profile", {"city": "Bern"})
        >>> memory.put(("alice",), "profile", {"city": "Basel"})
        >>> memory.get(("alice",), "profile").value
        {'city': 'Basel'}
        >>> [item.value["city"] for item in memory.history(("alice",), "profile")]
        ['Bern', 'Basel']
    """

    supports_ttl = True

    __slots__ = ("_paths", "index_config", "store", "ttl_config")

    def __init__(
        self,
        store: KnowledgeStore,
        *,
        index: IndexConfig | Literal[False] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        """Work below the namespace of `store`, a root handle.

        Args:
            store: as `KnowledgeStore.open` gives it; its embedder encodes items and queries.
            index: `fields` to index (default: the whole item, `["$"]`), `False` to index nothing. `dims` and
                `embed` may be given, and must be those of the store.
            ttl: `default_ttl` and `refresh_on_read`; expired items are omitted in any case.

        Raises:
            InvalidInputError: `index` names another model than the store's.
        """
        self.store = expect_store(store)
        self.ttl_config = ttl
        self.index_config = index or None
        self._paths: list[tuple[str, Any]] | None = None
        if index is not False:
            _check_model(store, index or {})
            fields = (index or {}).get("fields") or ["$"]
            self._paths = [(path, "$" if path == "$" else tokenize_path(path)) for path in fields]

    # -- the contract -------------------------------------------------------------------------------------
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads against the state before the batch, then all puts in one transaction.

        Raises:
            InvalidNamespaceError: a namespace has an empty label or one with a period.
            InvalidInputError: a key or value cannot be stored; nothing of the batch was.
        """
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
            for field in ("namespace", "namespace_prefix"):
                if isinstance(getattr(op, field, ()), str):
                    raise InvalidInputError(field, "expected a tuple of strings, got one string")
        timed: dict[_Key, StoredItem] = {}
        results = [self._read(op, timed) for op in listed]
        self._write([op for op in listed if isinstance(op, PutOp)], list(timed.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations as `batch` does, without blocking the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op, timed: dict[_Key, StoredItem]) -> Result:
        """Return the result of one operation, and note the items whose time to live it starts anew."""
        if isinstance(op, GetOp):
            item = read_item(self.store, op.namespace, op.key)
            if item is not None:
                _note(timed, op, item)
            return None if item is None else item.to_item()
        if isinstance(op, SearchOp):
            found = search_items(self.store, op, semantic=self._paths is not None)
            _note(timed, op, *(item for item, _ in found))
            return [item.to_search_item(score) for item, score in found]
        if isinstance(op, ListNamespacesOp):
            return list_namespaces(self.store, op)
        if isinstance(op, PutOp):
            return None
        raise InvalidInputError("ops", f"unknown operation {type(op).__name__}")

    def _write(self, puts: Sequence[PutOp], timed: Sequence[StoredItem]) -> None:
        if not puts and not timed:
            return
        now = self.store.now()
        with self.store.batch():
            for item in timed:
                touch_item(self.store.namespace(*item.namespace), item.ko.subject, now)
            for op in puts:
                view = self.store.namespace(*op.namespace)
                if op.value is None:
                    delete_item(view, op.key)
                else:
                    put_item(view, op.key, op.value, self._texts(op), op.ttl, now)

    def _texts(self, op: PutOp) -> list[str]:
        """Return the texts that an item is indexed by: the store's fields, or those the put names."""
        if self._paths is None or op.index is False or not isinstance(op.value, Mapping):
            return []
        paths = self._paths if op.index is None else [(path, tokenize_path(path)) for path in op.index]
        return [text for _, path in paths for text in get_text_at_path(dict(op.value), path)]

    # -- beyond the contract ------------------------------------------------------------------------------
    def get(  # the contract's, with as_of
        self,
        namespace: tuple[str, ...],
        key: str,
        *,
        refresh_ttl: bool | None = None,
        as_of: Moment | None = None,
    ) -> Item | None:
        """Return an item, or the version of it that held at `as_of`."""
        if as_of is None:
            return super().get(namespace, key, refresh_ttl=refresh_ttl)
        found = read_item(self.store, namespace, str(key), as_of=as_of)
        return None if found is None else found.to_item()

    def search(  # the contract's, with as_of
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
        as_of: Moment | None = None,
    ) -> list[SearchItem]:
        """Return items below a prefix, nearest to `query` first, or the versions that held at `as_of`."""
        if as_of is None:
            return super().search(
                namespace_prefix, query=query, filter=filter, limit=limit, offset=offset, refresh_ttl=refresh_ttl
            )  # fmt: skip
        op = SearchOp(namespace_prefix, filter, limit, offset, query)
        validate_op_namespace(op)
        found = search_items(self.store, op, semantic=self._paths is not None, as_of=as_of)
        return [item.to_search_item(score) for item, score in found]

    def history(self, namespace: tuple[str, ...], key: str) -> list[Item]:
        """Return every version of an item, oldest first; `updated_at` says when each was put."""
        view = self.store.namespace(*namespace)
        return [StoredItem(ko, namespace).to_item() for ko in item_history(view, str(key))]

    def erase(self, namespace: tuple[str, ...], key: str) -> EraseReport:
        """Leave nothing of an item, its history included."""
        return self.store.namespace(*namespace).erase(str(key), verbatim=True)

    async def aget(
        self,
        namespace: tuple[str, ...],
        key: str,
        *,
        refresh_ttl: bool | None = None,
        as_of: Moment | None = None,
    ) -> Item | None:
        """Do as `get` does, without blocking the event loop."""
        return await asyncio.to_thread(self.get, namespace, key, refresh_ttl=refresh_ttl, as_of=as_of)

    async def asearch(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
        as_of: Moment | None = None,
    ) -> list[SearchItem]:
        """Do as `search` does, without blocking the event loop."""
        return await asyncio.to_thread(
            self.search, namespace_prefix, query=query, filter=filter, limit=limit, offset=offset,
            refresh_ttl=refresh_ttl, as_of=as_of,
        )  # fmt: skip

    async def ahistory(self, namespace: tuple[str, ...], key: str) -> list[Item]:
        """Do as `history` does, without blocking the event loop."""
        return await asyncio.to_thread(self.history, namespace, key)

    async def aerase(self, namespace: tuple[str, ...], key: str) -> EraseReport:
        """Do as `erase` does, without blocking the event loop."""
        return await asyncio.to_thread(self.erase, namespace, key)


def _check_model(store: KnowledgeStore, index: IndexConfig) -> None:
    """Refuse an index configuration that names another model than the store's vectors were made with."""
    dims, embed = index.get("dims"), index.get("embed")
    if dims is not None and dims != store.embedder.dimension:
        raise InvalidInputError("index.dims", f"{dims}; this store's vectors have {store.embedder.dimension}")
    if embed is not None and as_embedder(ensure_embeddings(embed)).model_id != store.embedder.model_id:
        raise InvalidInputError("index.embed", "not the embedder that the store was opened with")


def _note(timed: dict[_Key, StoredItem], op: GetOp | SearchOp, *items: StoredItem) -> None:
    if op.refresh_ttl:
        timed.update(
            {(item.namespace, item.ko.subject): item for item in items if item.ko.valid_to is not None}
        )

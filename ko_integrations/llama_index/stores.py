"""Finding a store again after serialisation: by name, the one that is open in this process first."""

from collections.abc import Sequence
from typing import Any

from ko_integrations.errors import InvalidInputError
from ko_integrations.handle import MEMORY, opened_at
from ko_integrations.store import KnowledgeStore, expect_store

__all__ = ["find_store", "name_of"]


def name_of(store: KnowledgeStore) -> str:
    """Return the name under which `find_store` finds the store of a view again.

    A folder's is its full path and a database's its URL, in any process; a store in memory has a name of its own,
    which is good as long as it is open.
    """
    return expect_store(store).handle.place


def find_store(
    store: KnowledgeStore | None, name: str | None, namespace: Sequence[str] = (), **options: Any
) -> KnowledgeStore:
    """Return a view: of `store`, of the one open under `name`, or of one opened there with `options`.

    `namespace` is below that of `store`, and absolute where the store is found by name.

    Raises:
        InvalidInputError: neither a store nor a name, or a store in memory that is gone.
    """
    if store is not None:
        expect_store(store)
        return store.namespace(*namespace) if namespace else store
    if name is None:
        raise InvalidInputError("store", "pass store=, or path= to open one")
    if (handle := opened_at(name)) is not None:
        return KnowledgeStore(handle, tuple(namespace))
    if name.startswith(MEMORY) and name != MEMORY:
        raise InvalidInputError("path", "it names a store in memory, which is gone")
    opened = KnowledgeStore.open(name, **options)
    return opened.namespace(*namespace) if namespace else opened

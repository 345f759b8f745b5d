"""Finding a store again after serialisation: by name, the one that is open in this process first."""

import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from ko_integrations.errors import InvalidInputError
from ko_integrations.handle import Handle
from ko_integrations.store import KnowledgeStore

__all__ = ["find_store", "name_of"]

MEMORY = ":memory:"

# Components are saved as plain data (`to_dict`), which names the store; who restores one in a process where that
# store is open means the open one.
_open: "weakref.WeakValueDictionary[str, Handle]" = weakref.WeakValueDictionary()


def name_of(store: KnowledgeStore) -> str:
    """Return the name under which `find_store` finds the store of a view again.

    A folder's is its full path and a database's its URL, in any process; a store in memory has a name of its own,
    which is good as long as it is open.
    """
    for name, handle in _open.items():
        if handle is store.handle:
            return name
    name = f"{MEMORY}{uuid4().hex}" if store.where == MEMORY else _resolved(store.where)
    _open[name] = store.handle
    return name


def find_store(
    store: KnowledgeStore | None, name: str | None, namespace: Sequence[str] = (), **options: Any
) -> KnowledgeStore:
    """Return a view: of `store`, of the one open under `name`, or of one opened there with `options`.

    `namespace` is below that of `store`, and absolute where the store is found by name.

    Raises:
        InvalidInputError: neither a store nor a name, or a store in memory that is gone.
    """
    if store is not None:
        name_of(store)
        return store.namespace(*namespace) if namespace else store
    if name is None:
        raise InvalidInputError("store", "pass store=, or path= to open one")
    handle = _open.get(_resolved(name))
    if handle is not None and not handle.closed:
        return KnowledgeStore(handle, tuple(namespace))
    if name.startswith(MEMORY) and name != MEMORY:
        raise InvalidInputError("path", "it names a store in memory, which is gone")
    opened = KnowledgeStore.open(name, **options)
    name_of(opened)
    return opened.namespace(*namespace) if namespace else opened


def _resolved(name: str) -> str:
    return name if name.startswith(MEMORY) or "://" in name else str(Path(name).resolve())

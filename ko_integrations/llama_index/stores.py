"""Finding a store again after serialisation: by the path it was opened at, the open one first."""

import weakref
from collections.abc import Sequence
from typing import Any

from ko_integrations.errors import InvalidInputError
from ko_integrations.store import KnowledgeStore

__all__ = ["find_store"]

# Components are saved as plain data (`to_dict`), which names the store by path; who restores one in a process
# where that store is open means the open one.
_open: "weakref.WeakValueDictionary[str, KnowledgeStore]" = weakref.WeakValueDictionary()


def find_store(
    store: KnowledgeStore | None, path: str | None, namespace: Sequence[str] = (), **options: Any
) -> KnowledgeStore:
    """Return the view of `store`, of the one open at `path`, or of one opened there with `options`.

    `namespace` is below that of `store`, and absolute where the store is found by path.

    Raises:
        InvalidInputError: neither a store nor a path.
    """
    if store is not None:
        _open[store.where] = store.root
        return store.namespace(*namespace) if namespace else store
    if path is None:
        raise InvalidInputError("store", "pass store=, or path= to open one")
    root = _open.get(path)
    if root is None or root.closed:
        root = KnowledgeStore.open(path, **options)
        _open[path] = root
    return root.namespace(*namespace) if namespace else root

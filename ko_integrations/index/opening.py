"""From the `index=` option of a store to something that opens generations of its semantic index."""

import os
from pathlib import Path
from typing import Any, Protocol

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import check_text
from ko_integrations.index.contract import SemanticIndex

__all__ = ["IndexOpener", "index_opener"]


class IndexOpener(Protocol):
    """Opens, makes anew and drops the generations of one store's index. Numbers start at 0."""

    def open(self, generation: int, dimension: int) -> SemanticIndex:
        """Open a generation for vectors of `dimension`.

        Raises:
            IndexMismatchError, IndexOwnedError, IndexUnavailableError: it cannot be had now.
        """
        ...

    def fresh(self, generation: int, dimension: int) -> SemanticIndex:
        """Open a generation empty, whatever state its files are in."""
        ...

    def drop(self, index: SemanticIndex, generation: int) -> None:
        """Delete a generation other than that of `index`, if it exists."""
        ...


class ChromaOpener:
    """Opens Chroma collections in a folder, on a server, or in what the caller has."""

    def __init__(self, where: Any, collection: str) -> None:
        self._where = where
        self._collection = collection

    def open(self, generation: int, dimension: int) -> SemanticIndex:
        """Open a generation."""
        from ko_integrations.index.chroma import ChromaIndex

        return ChromaIndex.open(
            self._where, name=self._collection, generation=generation, dimension=dimension
        )

    def fresh(self, generation: int, dimension: int) -> SemanticIndex:
        """Open a generation empty."""
        from ko_integrations.index.chroma import ChromaIndex

        return ChromaIndex.salvage(
            self._where, name=self._collection, generation=generation, dimension=dimension
        )

    def drop(self, index: SemanticIndex, generation: int) -> None:
        """Drop the collection of another generation."""
        from ko_integrations.index.chroma import ChromaIndex

        assert isinstance(index, ChromaIndex)  # `open` and `fresh` give nothing else
        index.drop_generation(generation)


class GivenOpener:
    """Hands out an index that the caller made; it has one generation, emptied for a rebuild."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def open(self, generation: int, dimension: int) -> SemanticIndex:  # noqa: ARG002 - one fits all
        """Return the caller's index."""
        return self._index

    def fresh(self, generation: int, dimension: int) -> SemanticIndex:  # noqa: ARG002
        """Return the caller's index, emptied."""
        self._index.delete(list(self._index.ids()))
        return self._index

    def drop(self, index: SemanticIndex, generation: int) -> None:
        """Do nothing: there is no other generation."""


def index_opener(index: Any, folder: Path | None, collection: str) -> IndexOpener | None:
    """Return what opens the index that the `index=` option of a store names.

    Raises:
        InvalidInputError: the option is none of: None, False, a folder, a URL, a Chroma client or
            collection, a `SemanticIndex`.
    """
    if index is False:
        return None
    if index is None:
        return None if folder is None else ChromaOpener(folder, collection)
    if isinstance(index, str | os.PathLike):
        return ChromaOpener(check_text(os.fspath(index), "index"), collection)
    if all(hasattr(index, name) for name in ("upsert", "query", "scrub", "ids")):
        return GivenOpener(index)
    if hasattr(index, "get_or_create_collection") or hasattr(index, "upsert"):
        return ChromaOpener(index, collection)
    raise InvalidInputError("index", f"expected a folder, URL, Chroma client or collection, got {index!r}")

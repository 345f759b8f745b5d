"""From the `index=` option of a store to something that opens generations of its semantic index."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from ko_integrations.errors import IndexDamagedError, InvalidInputError
from ko_integrations.identity import check_text
from ko_integrations.index.contract import SemanticIndex

__all__ = ["IndexOpener", "index_opener"]

FIRST_PATIENCE = 10.0  # seconds
LATER_PATIENCE = 1.0


class IndexOpener(Protocol):
    """Opens, makes anew and drops the generations of one store's index. Numbers start at 0.

    Attributes:
        in_place: there is one generation only, which `fresh` empties.
    """

    in_place: bool

    def obstacle(self) -> str | None:
        """Return why the index cannot be had now, as far as that shows without taking it; None if nothing does."""
        ...

    def open(self, generation: int, dimension: int) -> SemanticIndex:
        """Open a generation for vectors of `dimension`, and drop what killed rebuilds left of older ones.

        Raises:
            IndexMismatchError, IndexOwnedError, IndexUnavailableError: it cannot be had now.
        """
        ...

    def fresh(self, generation: int, dimension: int) -> SemanticIndex:
        """Open a generation empty, whatever state its files are in."""
        ...

    def drop_older(self, index: SemanticIndex) -> None:
        """Delete the generations before that of `index`."""
        ...

    def leave(self) -> None:
        """Give up what the store had under its old id: clear it in the store's own folder, leave it elsewhere.

        Raises:
            IndexOwnedError, IndexUnavailableError: it cannot be cleared.
        """
        ...


class ChromaOpener:
    """Opens Chroma collections in a folder, on a server, or in what the caller has."""

    def __init__(
        self, where: Any, collection: str, owner: Callable[[], str], *, own_folder: bool = False
    ) -> None:
        self._where = where
        self._own_folder = own_folder
        self._collection = collection
        self._owner = owner
        self._patience = FIRST_PATIENCE
        self.in_place = hasattr(where, "upsert")

    def obstacle(self) -> str | None:
        """Return why the index cannot be had now."""
        from ko_integrations.index.chroma import ChromaIndex

        return ChromaIndex.obstacle(self._where)

    def open(self, generation: int, dimension: int) -> SemanticIndex:
        """Open a generation."""
        from ko_integrations.index.chroma import ChromaIndex

        # A server may be starting with us; later on a read must not wait for one that is gone.
        patience, self._patience = self._patience, LATER_PATIENCE
        try:
            index: SemanticIndex = ChromaIndex.open(
                self._where, name=self._collection, generation=generation, dimension=dimension, owner=self._owner(),
                patience=patience,
            )  # fmt: skip
        except IndexDamagedError:
            # Chroma does not save its files atomically: what a kill tears is made anew, and all of it becomes due.
            index = self.fresh(generation, dimension)
        try:
            self.drop_older(index)
        except BaseException:
            index.close()
            raise
        return index

    def fresh(self, generation: int, dimension: int) -> SemanticIndex:
        """Open a generation empty."""
        from ko_integrations.index.chroma import ChromaIndex

        return ChromaIndex.salvage(
            self._where,
            name=self._collection,
            generation=generation,
            dimension=dimension,
            owner=self._owner(),
        )

    def drop_older(self, index: SemanticIndex) -> None:
        """Drop the collections of the generations before that of `index`."""
        from ko_integrations.index.chroma import ChromaIndex

        assert isinstance(index, ChromaIndex)  # `open` and `fresh` give nothing else
        for generation in index.generations():
            if generation < index.generation:
                index.drop_generation(generation)

    def leave(self) -> None:
        """Clear the store's own folder; what is elsewhere is the original's."""
        from ko_integrations.index.chroma_source import clear

        if self._own_folder:
            clear(self._where)


class GivenOpener:
    """Hands out an index that the caller made; it has one generation, emptied for a rebuild."""

    in_place = True

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def obstacle(self) -> str | None:
        """Return None: the index is at hand."""
        return None

    def open(self, generation: int, dimension: int) -> SemanticIndex:  # noqa: ARG002 - one fits all
        """Return the caller's index."""
        return self._index

    def fresh(self, generation: int, dimension: int) -> SemanticIndex:  # noqa: ARG002
        """Return the caller's index, emptied."""
        self._index.delete(list(self._index.ids()))
        return self._index

    def drop_older(self, index: SemanticIndex) -> None:
        """Do nothing: there is no other generation."""

    def leave(self) -> None:
        """Do nothing: whose it is, the caller knows."""


def index_opener(
    index: Any, folder: Path | None, collection: str, owner: Callable[[], str]
) -> IndexOpener | None:
    """Return what opens the index that the `index=` option of a store names; `owner` gives the id of the store.

    Raises:
        InvalidInputError: the option is none of: None, False, a folder, a URL, a Chroma client or
            collection, a `SemanticIndex`.
    """
    if index is False:
        return None
    if index is None:
        return None if folder is None else ChromaOpener(folder, collection, owner, own_folder=True)
    if isinstance(index, str | os.PathLike):
        return ChromaOpener(check_text(os.fspath(index), "index"), collection, owner)
    if all(hasattr(index, name) for name in ("identity", "upsert", "query", "scrub", "ids", "unreachable")):
        return GivenOpener(index)
    if hasattr(index, "get_or_create_collection") or hasattr(index, "upsert"):
        return ChromaOpener(index, collection, owner)
    raise InvalidInputError("index", f"expected a folder, URL, Chroma client or collection, got {index!r}")

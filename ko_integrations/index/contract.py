"""What a semantic index does: nearest slots of a namespace by cosine. A cache of the log, never the truth."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Namespace = tuple[str, ...]


class SemanticIndex(Protocol):
    """Heads only, one record a slot id (64 hex digits).

    Every method may raise IndexUnavailableError; nothing else of the backend comes through.
    """

    @property
    def identity(self) -> str:
        """Return a name that no other index has, and that changes when this one is made anew."""
        ...

    def upsert(
        self,
        namespaces: Sequence[Namespace],
        ids: Sequence[str],
        vectors: "NDArray[np.float32]",
        texts: Sequence[str],
    ) -> None:
        """Set records (ids distinct), in batches of the backend's own maximum."""
        ...

    def delete(self, ids: Sequence[str]) -> None:
        """Remove records; ids it does not have do not matter."""
        ...

    def query(
        self, vector: "NDArray[np.float32]", k: int, namespace: Namespace | None
    ) -> list[tuple[str, float]]:
        """Return up to k (id, cosine similarity), best first; `namespace` None searches all records."""
        ...

    def ids(self) -> Iterator[str]:
        """Yield every id it holds, once."""
        ...

    def unreachable(self, ids: Sequence[str], vectors: "NDArray[np.float32]") -> list[str]:
        """Return the ids that a search by their own vector (row by row) does not find; in few calls."""
        ...

    def scrub(self, ids: Sequence[str]) -> str | None:
        """Delete records so that no byte of them is left; None when done, else where bytes may live on."""
        ...

    def close(self) -> None:
        """Flush and release."""
        ...

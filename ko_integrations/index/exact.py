"""Exact search in memory: the oracle for every other index, and the index of stores that live in memory."""

from collections.abc import Iterator, Sequence
from threading import RLock
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from ko_integrations.index.contract import Namespace
from ko_integrations.vectors import as_rows, normalize, top_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ExactIndex"]

_FIRST_CAPACITY = 64


class ExactIndex:
    """A `SemanticIndex` in one numpy matrix: exact, thread-safe, gone with the process.

    Memory is 4 bytes a dimension and record, and a query costs one pass over the namespace's rows.

    >>> index = ExactIndex(dimension=2)
    >>> index.upsert([("a",)], ["0" * 64], np.array([[1, 0]], dtype=np.float32), ["a fact"])
    >>> index.query(np.array([1, 0], dtype=np.float32), 1, ("a",))[0][1]
    1.0
    """

    def __init__(self, *, dimension: int) -> None:
        self.dimension = dimension
        self.identity = uuid4().hex
        self._lock = RLock()
        self._matrix = np.empty((_FIRST_CAPACITY, dimension), dtype=np.float32)
        self._spaces = np.empty(_FIRST_CAPACITY, dtype=np.int64)
        self._space_codes: dict[Namespace, int] = {}
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}

    def upsert(
        self,
        namespaces: Sequence[Namespace],
        ids: Sequence[str],
        vectors: "NDArray[np.float32]",
        texts: Sequence[str],
    ) -> None:
        """Set records; of an id that comes twice the last one counts. Texts are not kept.

        Raises:
            InvalidInputError: `vectors` of another shape, or NaN or infinity in it.
        """
        rows = normalize(as_rows(vectors, len(ids), self.dimension))
        with self._lock:
            for namespace, id_, vector, _ in zip(namespaces, ids, rows, texts, strict=True):
                row = self._rows.setdefault(id_, len(self._ids))
                if row == len(self._ids):
                    self._append(id_)
                self._matrix[row] = vector
                self._spaces[row] = self._space_codes.setdefault(namespace, len(self._space_codes))

    def delete(self, ids: Sequence[str]) -> None:
        """Remove records; the last row moves into the gap."""
        with self._lock:
            for id_ in ids:
                row = self._rows.pop(id_, None)
                if row is None:
                    continue
                last = len(self._ids) - 1
                moved = self._ids.pop()
                if row != last:
                    self._ids[row] = moved
                    self._rows[moved] = row
                    self._matrix[row] = self._matrix[last]
                    self._spaces[row] = self._spaces[last]
                self._matrix[last] = 0

    def query(
        self, vector: "NDArray[np.float32]", k: int, namespace: Namespace | None
    ) -> list[tuple[str, float]]:
        """Return the k nearest (id, cosine), best first."""
        query = normalize(as_rows(np.reshape(vector, (1, -1)), 1, self.dimension))[0]
        with self._lock:
            count = len(self._ids)
            if namespace is None:
                numbers, scores = top_k(self._matrix[:count], query, k)
            else:
                code = self._space_codes.get(namespace, -1)
                within = np.flatnonzero(self._spaces[:count] == code)
                chosen, scores = top_k(self._matrix[within], query, k)
                numbers = within[chosen]
            return [(self._ids[row], float(score)) for row, score in zip(numbers, scores, strict=True)]

    def ids(self) -> Iterator[str]:
        """Yield every id, as of the call."""
        with self._lock:
            return iter(list(self._ids))

    def count(self) -> int:
        """Return the number of records."""
        with self._lock:
            return len(self._ids)

    def unreachable(self, ids: Sequence[str], vectors: "NDArray[np.float32]") -> list[str]:
        """Return the ids whose record is missing or has another vector than its row of `vectors`."""
        rows = normalize(as_rows(vectors, len(ids), self.dimension))
        with self._lock:
            return [
                id_
                for id_, vector in zip(ids, rows, strict=True)
                if id_ not in self._rows or not np.allclose(self._matrix[self._rows[id_]], vector, atol=1e-5)
            ]

    def scrub(self, ids: Sequence[str]) -> str | None:
        """Delete records and overwrite their rows."""
        self.delete(ids)
        return None

    def reset(self) -> None:
        """Remove every record."""
        self.delete(list(self.ids()))

    def close(self) -> None:
        """Nothing to flush."""

    def _append(self, id_: str) -> None:
        self._ids.append(id_)
        if len(self._ids) > len(self._matrix):
            self._matrix = np.resize(self._matrix, (2 * len(self._matrix), self.dimension))
            self._spaces = np.resize(self._spaces, 2 * len(self._spaces))

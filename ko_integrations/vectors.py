"""Pure functions on vectors of float32: checked, of length 1, the nearest ones by cosine.

Rows are of length 1, so that cosine is the inner product.
"""

from typing import TYPE_CHECKING

import numpy as np

from ko_integrations.errors import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["as_rows", "normalize", "top_k", "unit_vector"]


def as_rows(vectors: "ArrayLike", count: int, dimension: int) -> "NDArray[np.float32]":
    """Return `vectors` as float32 of shape (count, dimension).

    Raises:
        InvalidInputError: another shape, or NaN or infinity among the numbers.
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if rows.shape != (count, dimension):
        raise InvalidInputError("vectors", f"shape {rows.shape}, expected ({count}, {dimension})")
    if not np.isfinite(rows).all():
        raise InvalidInputError("vectors", "NaN or infinity")
    return rows


def normalize(rows: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return rows scaled to length 1; a zero row stays zero."""
    # Two steps, so that neither the squares of very large numbers nor those of very small ones leave float32.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(scaled, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


def unit_vector(values: object, dimension: int, field: str) -> "NDArray[np.float32]":
    """Return a caller's vector as float32 of length 1 (a zero vector stays zero).

    Raises:
        InvalidInputError: another dimension, NaN or infinity.
    """
    try:
        vector = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(field, f"not a vector of numbers: {error}") from error
    if vector.shape != (dimension,):
        raise InvalidInputError(
            field, f"shape {vector.shape}, this store's vectors have shape ({dimension},)"
        )
    if not np.isfinite(vector).all():
        raise InvalidInputError(field, "contains NaN or infinity")
    unit: NDArray[np.float32] = normalize(vector.reshape(1, -1))[0]
    return unit


def top_k(
    matrix: "NDArray[np.float32]", query: "NDArray[np.float32]", k: int
) -> tuple["NDArray[np.intp]", "NDArray[np.float32]"]:
    """Return (row numbers, cosines) of the k rows nearest to `query`, best first, ties by row number.

    `matrix` has shape (n, d) and `query` shape (d,), both of length 1. Linear in n: a partition, then a
    sort of what is left.

    >>> top_k(np.eye(3, dtype=np.float32), np.array([0, 1, 0], dtype=np.float32), 1)[0].tolist()
    [1]
    """
    if k <= 0 or not len(matrix):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
    scores = matrix @ query
    if k < len(scores):
        # Every row as good as the k-th is a candidate, so that ties at the edge fall the same way each time.
        edge = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= edge)
    else:
        candidates = np.arange(len(scores))
    order = candidates[np.lexsort((candidates, -scores[candidates]))][:k]
    return order, scores[order]

"""Exact search by cosine over rows of float32, and the form in which the log keeps a vector.

Everything here is a pure function. Rows are of length 1, so that cosine is the inner product.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ko_integrations.errors import InvalidInputError, LogCorruptError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["as_rows", "decode", "encode", "normalize", "top_k", "top_k_of_chunks"]

Key = TypeVar("Key")

_FLOAT = np.dtype("<f4")


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


def encode(rows: "NDArray[np.float32]") -> list[bytes]:
    """Return each row as little-endian float32 bytes, the form in which the log keeps it."""
    data = np.ascontiguousarray(rows, dtype=_FLOAT).tobytes()
    width = rows.shape[1] * _FLOAT.itemsize
    return [data[start : start + width] for start in range(0, len(data), width)]


def decode(blobs: Sequence[bytes], dimension: int) -> "NDArray[np.float32]":
    """Return the rows that `encode` wrote, shape (len(blobs), dimension), read-only; one copy of the bytes.

    Raises:
        LogCorruptError: a blob of another length.
    """
    data = b"".join(blobs)
    width = dimension * _FLOAT.itemsize
    if len(data) != len(blobs) * width or any(len(blob) != width for blob in blobs):
        raise LogCorruptError(f"a stored vector is not {dimension} float32 numbers")
    return np.frombuffer(data, dtype=_FLOAT).reshape(len(blobs), dimension)


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


def top_k_of_chunks(
    chunks: Iterable[tuple[Sequence[Key], "NDArray[np.float32]"]], query: "NDArray[np.float32]", k: int
) -> list[tuple[Key, float]]:
    """Return the k best (key, cosine) over chunks of (keys, rows), best first, earlier first among equals.

    Holds one chunk and 2 k pairs at a time, however many rows there are.
    """
    best: list[tuple[Key, float]] = []
    for keys, matrix in chunks:
        rows, scores = top_k(matrix, query, k)
        best += [(keys[row], float(score)) for row, score in zip(rows, scores, strict=True)]
        best.sort(key=lambda pair: -pair[1])
        del best[k:]
    return best

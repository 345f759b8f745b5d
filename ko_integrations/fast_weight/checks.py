"""What the rules, the memory and the measures ask of their input."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ko_integrations.errors import InvalidInputError

__all__ = ["Matrix", "as_pairs", "as_rows", "check_range"]

Matrix = NDArray[np.float32]

_LARGEST = float(np.finfo(np.float32).max)


def as_rows(field: str, vectors: ArrayLike, dimension: int | None = None) -> Matrix:
    """Return `vectors` as float32 of shape (n, d); d is `dimension` where that is known.

    Raises:
        InvalidInputError: another shape, no numbers, or not finite (in float32).
    """
    try:
        with np.errstate(over="ignore"):
            rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(field, "expected vectors of numbers, all of one length") from error
    if rows.ndim != 2 or (dimension is not None and rows.shape[1] != dimension):
        expected = f"(n, {'d' if dimension is None else dimension})"
        raise InvalidInputError(field, f"expected an array of shape {expected}, got shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise InvalidInputError(field, "NaN or infinity in a vector")
    return rows


def as_pairs(
    keys: ArrayLike, values: ArrayLike, shape: tuple[int, ...] | None = None
) -> tuple[Matrix, Matrix]:
    """Return keys and values as rows, one value a key; `shape` is (d_v, d_k) of what was written before.

    Raises:
        InvalidInputError: different counts, or bad vectors.
    """
    k = as_rows("keys", keys, None if shape is None else shape[1])
    v = as_rows("values", values, None if shape is None else shape[0])
    if len(k) != len(v):
        raise InvalidInputError("values", f"expected {len(k)}, one a key, got {len(v)}")
    return k, v


def check_range(field: str, value: Any, low: float, high: float) -> None:
    """Raise `InvalidInputError` unless `value` is a number, finite in float32, and `low <= value <= high`."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not low <= value <= min(high, _LARGEST):
        raise InvalidInputError(field, f"expected a number from {low} to {high}, got {value!r}")

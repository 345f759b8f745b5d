"""An embedder for tests of an index: every text has a direction of its own."""

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ScatteredEmbedder"]


class ScatteredEmbedder:
    """Gives each text a random direction, the same every time; equal texts are near, all others far apart.

    HNSW graphs of crowded vectors leave records that no query finds; what tests damage must not be mistaken for that.

    >>> ScatteredEmbedder().encode(["a fact"]).shape
    (1, 64)
    """

    def __init__(self, dimension: int = 64, model_id: str = "scattered") -> None:
        self.dimension = dimension
        self.model_id = model_id

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (len(texts), dimension), rows of length 1."""
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = int.from_bytes(sha256(f"{self.model_id}\n{text}".encode()).digest()[:8])
            row[:] = np.random.default_rng(seed).normal(size=self.dimension)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

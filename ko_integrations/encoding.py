"""The vectors of versions: encoded once, kept in the log, all of one model."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ko_integrations.embeddings import ModelErrors, query_rows, unit_rows
from ko_integrations.errors import IndexMismatchError
from ko_integrations.log.contract import Version, VersionLog
from ko_integrations.protocols import Embedder
from ko_integrations.records import version_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BATCH", "Encoding"]

BATCH = 256


class Encoding:
    """Gives the vectors of versions; what was never encoded is encoded then. One a store handle; thread-safe."""

    def __init__(self, log: VersionLog, embedder: Embedder) -> None:
        self._log = log
        self._embedder = embedder

    @property
    def embedder(self) -> Embedder:
        """The embedder, checked against the model that the stored vectors were made with.

        Raises:
            IndexMismatchError: another model made them.
        """
        recorded = self._log.get_state("model")
        if recorded is None:
            self.record(self._embedder)
        elif recorded != self._embedder.model_id:
            raise IndexMismatchError(
                f"this store's vectors were made by {recorded!r}, the embedder is {self._embedder.model_id!r}",
                "encode",
            )
        return self._embedder

    @property
    def dimension(self) -> int:
        """Length of the vectors of this store."""
        recorded = self._log.get_state("dimension")
        return int(recorded) if recorded else self.embedder.dimension

    def record(self, embedder: Embedder) -> None:
        """Put `embedder` in force, and record it as what this store's vectors are made with."""
        self._log.set_state({"model": embedder.model_id, "dimension": str(embedder.dimension)})
        self._embedder = embedder

    def vectors_of(self, versions: Sequence[Version]) -> "NDArray[np.float32]":
        """Return the vectors of versions, shape (n, dimension); what was never encoded is encoded now, and kept."""
        return self.vectors_at(
            [version.first.sequence for version in versions], lambda row: version_text(versions[row])
        )

    def vectors_at(self, sequences: Sequence[int], text_of: Callable[[int], str]) -> "NDArray[np.float32]":
        """Return the vectors of versions by record sequence; `text_of` gives a row's text, should it need encoding."""
        import numpy as np

        matrix = np.zeros((len(sequences), self.dimension), dtype=np.float32)
        stored = self._log.vectors(sequences)
        missing = []
        for row, sequence in enumerate(sequences):
            blob = stored.get(sequence)
            if blob is None or len(blob) != matrix.shape[1] * 4:
                missing.append(row)
            else:
                matrix[row] = np.frombuffer(blob, dtype="<f4")
        for start in range(0, len(missing), BATCH):
            rows = missing[start : start + BATCH]
            encoded = self.encode([text_of(row) for row in rows])
            matrix[rows] = encoded
            self._log.put_vectors(
                {sequences[row]: vector.astype("<f4").tobytes()
                 for row, vector in zip(rows, encoded, strict=True)}
            )  # fmt: skip
        return matrix

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the vectors of texts, shape (n, dimension).

        Raises:
            EmbedderError: the embedder raised, or gave another shape.
        """
        embedder = self.embedder
        with ModelErrors(embedder.model_id):
            vectors = embedder.encode(texts)
        return unit_rows(vectors, len(texts), self.dimension, embedder.model_id)

    def encode_query(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a query, shape (dimension,): other than `encode` for models that encode queries apart.

        Raises:
            EmbedderError: the embedder raised.
            IndexMismatchError: its dimension is not that of the stored vectors.
        """
        embedder = self.embedder
        with ModelErrors(embedder.model_id):
            rows = query_rows(embedder, text)
        vector: NDArray[np.float32] = unit_rows(rows, 1, None, embedder.model_id)[0]
        if len(vector) != self.dimension:
            raise IndexMismatchError(
                f"the embedder gives vectors of dimension {len(vector)}, this store's have {self.dimension}",
                "encode",
            )
        return vector

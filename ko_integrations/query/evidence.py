"""Nearness in meaning of a question to paths of predicates: soft evidence beside the words."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from ko_integrations.protocols import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Nearness"]

_CACHED = 4_096
_PROBE, _ALIKE, _OTHER, _TELLING = "wife or husband", "spouse", "shoes", 0.2


class Nearness:
    """Cosine similarities of short texts. Labels of predicates and paths are encoded once (bounded LRU)."""

    def __init__(self, size: int = _CACHED) -> None:
        self._size = size
        self._vectors: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
        self._meaning: dict[str, bool] = {}
        self._lock = Lock()

    def tells_meaning(self, embedder: Embedder) -> bool:
        """Tell whether an embedder joins words of like meaning, not only of like letters (asked once)."""
        with self._lock:
            known = self._meaning.get(embedder.model_id)
        if known is None:
            alike, other = self.between(embedder, [_PROBE], [_ALIKE, _OTHER])[0]
            known = alike - other > _TELLING
            with self._lock:
                self._meaning[embedder.model_id] = known
        return known

    def between(self, embedder: Embedder, texts: Sequence[str], labels: Sequence[str]) -> list[list[float]]:
        """Return, of each text, its similarity to each label (-1 to 1), with at most one encoder call."""
        known = self._known(embedder.model_id, labels)
        missing = [label for label in dict.fromkeys(labels) if label not in known]
        encoded = embedder.encode([*texts, *missing])
        asked, fresh = encoded[: len(texts)], encoded[len(texts) :]
        known.update(zip(missing, fresh, strict=True))
        self._keep(embedder.model_id, zip(missing, fresh, strict=True))
        return [[float(vector @ known[label]) for label in labels] for vector in asked]

    def _known(self, model: str, labels: Iterable[str]) -> "dict[str, NDArray[np.float32]]":
        known = {}
        with self._lock:
            for label in labels:
                vector = self._vectors.get((model, label))
                if vector is not None:
                    self._vectors.move_to_end((model, label))
                    known[label] = vector
        return known

    def _keep(self, model: str, pairs: "Iterable[tuple[str, NDArray[np.float32]]]") -> None:
        with self._lock:
            for label, vector in pairs:
                self._vectors[model, label] = vector.copy()  # a row alone, not the whole batch
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)

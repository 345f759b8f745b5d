"""Nearness in meaning of a question to paths of predicates: soft evidence beside the words."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from ko_integrations.protocols import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Near", "Nearness"]

_CACHED = 4_096
_PROBE, _ALIKE, _OTHER, _TELLING = "wife or husband", "spouse", "shoes", 0.2


@dataclass(frozen=True, slots=True)
class Near:
    """Vectors of length 1 of some texts and labels, to be compared."""

    vectors: "dict[str, NDArray[np.float32]]"

    def label(self, text: str, label: str) -> float:
        """Return the cosine similarity of a text to the name of a predicate."""
        return float(self.vectors[text] @ self.vectors[label])

    def path(self, text: str, labels: Sequence[str]) -> float:
        """Return the similarity of a question to a path: to "the LABEL of X" of all its predicates together.

        The encoders in use average over words, so that the direction of the sum is near that of "the capital
        of the country of X" itself, which need not be encoded.
        """
        total = sum((self.vectors[_of_x(label)] for label in labels[1:]), self.vectors[_of_x(labels[0])])
        length = float(total @ total) ** 0.5
        return float(self.vectors[text] @ total) / length if length else 0.0


class Nearness:
    """Vectors of short texts. The names of predicates are encoded once (bounded LRU)."""

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
            near = self.of(embedder, [_PROBE], [_ALIKE, _OTHER])
            known = near.label(_PROBE, _ALIKE) - near.label(_PROBE, _OTHER) > _TELLING
            with self._lock:
                self._meaning[embedder.model_id] = known
        return known

    def of(self, embedder: Embedder, texts: Sequence[str], labels: Sequence[str]) -> Near:
        """Return the vectors of questions and of names of predicates, with at most one encoder call."""
        wanted = dict.fromkeys([*texts, *labels, *map(_of_x, labels)])
        vectors = self._known(embedder.model_id, wanted)
        missing = [text for text in wanted if text not in vectors]
        if missing:
            fresh = dict(zip(missing, embedder.encode(missing), strict=True))
            vectors.update(fresh)
            self._keep(embedder.model_id, fresh)
        return Near(vectors)

    def _known(self, model: str, texts: Iterable[str]) -> "dict[str, NDArray[np.float32]]":
        known = {}
        with self._lock:
            for text in texts:
                vector = self._vectors.get((model, text))
                if vector is not None:
                    self._vectors.move_to_end((model, text))
                    known[text] = vector
        return known

    def _keep(self, model: str, fresh: "dict[str, NDArray[np.float32]]") -> None:
        with self._lock:
            for text, vector in fresh.items():
                self._vectors[model, text] = vector.copy()  # a row alone, not the whole batch
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)


def _of_x(label: str) -> str:
    return f"the {label} of X"

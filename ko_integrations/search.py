"""Semantic reads: candidates by meaning, verified against the heads, scored from the log's vectors.

Small namespaces are searched exactly over the log's vectors (a filtered index query over a small tenant
costs many times more), large ones through the semantic index. Either way what comes out is a head at
the moment of the read, and `where` is decided by the log's rows.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ko_integrations.errors import IndexBehind, IndexUnavailableError
from ko_integrations.filters import Condition
from ko_integrations.log.contract import LAST, Namespace, Scope, Version, VersionLog
from ko_integrations.log.fold import head_at
from ko_integrations.log.pages import each_chain
from ko_integrations.records import to_knowledge_object
from ko_integrations.sync import Synchroniser
from ko_integrations.types import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Searcher"]


EXACT_LIMIT = 10_000  # facts of a namespace that are searched exactly
BACKLOG = 2_000  # waiting slots that a read drains only with wait=True
INDEX_LIMIT = 1_000  # candidates that the index is asked for at most, before the search is exact
CACHE_BYTES = 256 << 20  # of vectors searched exactly: 160,000 of MiniLM's
CHUNK = 64  # candidates that are verified at once
SPARE = (
    3  # candidates verified beyond the k that are asked for: seldom was one of the best superseded just now
)


@dataclass(frozen=True)
class _Matrix:
    """The vectors of a namespace's heads as they were at one record sequence."""

    slots: list[bytes]
    sequences: list[int]
    vectors: "NDArray[np.float32]"
    as_of_sequence: int
    due: int | None

    @property
    def size(self) -> int:
        """Bytes held, about."""
        return int(self.vectors.nbytes) + 100 * len(self.slots)


class Searcher:
    """Answers semantic reads of one store handle. Thread-safe; its memory is bounded."""

    def __init__(self, log: VersionLog, sync: Synchroniser, now: Callable[[], int]) -> None:
        self._log = log
        self._sync = sync
        self._encoding = sync.encoding
        self._now = now
        self._lock = threading.Lock()
        self._matrices: OrderedDict[Namespace, _Matrix] = OrderedDict()
        self._counts: OrderedDict[Namespace, tuple[int, int]] = OrderedDict()

    def read(
        self, namespace: Namespace, query: object, k: int, condition: Condition | None, *, wait: bool = True
    ) -> list[Hit]:
        """Return the k nearest heads, best first.

        Raises:
            IndexBehind: many slots wait and `wait` is false.
            EmbedderError, IndexMismatchError: the query cannot be encoded as the store's vectors were.
        """
        by_index = self._sync.indexed and not self._sync.in_batch() and self._is_large(namespace)
        if by_index:
            self._sync.index()  # opened first: one that is not what the log remembers makes everything due
        pending = self._log.pending(namespace)
        if pending > BACKLOG and not wait:
            raise IndexBehind(pending)
        if pending or self._is_due(namespace):
            self._sync.drain(namespace)
        vector = self.encode_query(query)
        if by_index:
            hits = self._through_index(namespace, vector, k, condition)
            if hits is not None:
                return hits
        matrix = self._matrix(namespace)
        scores = matrix.vectors @ vector
        return self._verified(matrix.slots, matrix.sequences, scores, k, condition)

    def read_past(
        self, namespace: Namespace, query: object, k: int, condition: Condition | None, as_of: int,
        known_at: int | None,
    ) -> list[Hit]:  # fmt: skip
        """Return the k nearest of the versions that held at `as_of`, as known at `known_at`; exact search."""
        versions = list(self._held(namespace, as_of, known_at))
        if not versions:
            return []
        return self._ranked(versions, self.encode_query(query), k, condition)

    def encode_query(self, query: object) -> "NDArray[np.float32]":
        """Return the unit vector of a query, shape (dimension,); a vector is taken as it is, scaled to length 1.

        Raises:
            IndexMismatchError: the embedder's dimension is not that of the stored vectors.
            InvalidInputError: a vector of another dimension, or with NaN or infinity.
        """
        if isinstance(query, str):
            return self._encoding.encode_query(query)
        from ko_integrations.vectors import unit_vector

        return unit_vector(query, self._encoding.dimension, "query")

    def forget(self) -> None:
        """Drop the vectors kept for exact search (they were made by another model)."""
        with self._lock:
            self._matrices.clear()

    # -- exactly --------------------------------------------------------------------------------------------
    def _matrix(self, namespace: Namespace) -> _Matrix:
        sequence, now = self._log.sequence_at(LAST), self._now()
        if self._sync.in_batch():
            return self._load(namespace, sequence, now)  # not kept: it may be rolled back
        with self._lock:
            cached = self._matrices.get(namespace)
            if cached and cached.as_of_sequence == sequence and (cached.due is None or now < cached.due):
                self._matrices.move_to_end(namespace)
                return cached
        fresh = self._load(namespace, sequence, now)
        with self._lock:
            self._matrices[namespace] = fresh
            self._matrices.move_to_end(namespace)
            while sum(matrix.size for matrix in self._matrices.values()) > CACHE_BYTES:
                self._matrices.popitem(last=False)
        return fresh

    def _load(self, namespace: Namespace, sequence: int, now: int) -> _Matrix:
        import numpy as np

        rows = list(self._log.head_vectors(namespace, now))
        size = self._encoding.dimension * 4
        if any(blob is None or len(blob) != size for _, _, blob in rows):
            missing = [slot for slot, _, blob in rows if blob is None or len(blob) != size]
            for start in range(0, len(missing), 1_000):
                self._encoding.vectors_of(list(self._log.heads(missing[start : start + 1_000], now).values()))
            rows = [
                row
                for row in self._log.head_vectors(namespace, now)
                if row[2] is not None and len(row[2]) == size
            ]
        data = b"".join(blob for _, _, blob in rows if blob is not None)
        vectors = np.frombuffer(data, dtype="<f4").reshape(len(rows), self._encoding.dimension)
        slots, sequences = [slot for slot, _, _ in rows], [first for _, first, _ in rows]
        return _Matrix(slots, sequences, vectors, sequence, self._log.next_due(namespace))

    def _verified(
        self, slots: Sequence[bytes], sequences: Sequence[int], scores: "NDArray[np.float32]", k: int,
        condition: Condition | None,
    ) -> list[Hit]:  # fmt: skip
        """Return the best k that are heads still, taking candidates in order of score."""
        import numpy as np

        hits: list[Hit] = []
        reach = len(scores) if condition else min(len(scores), 2 * k + CHUNK)
        while True:
            best = (
                np.argpartition(-scores, reach - 1)[:reach]
                if 0 < reach < len(scores)
                else np.arange(len(scores))
            )
            best = best[np.argsort(-scores[best], kind="stable")]
            hits.clear()
            start, size = 0, max(k, CHUNK) if condition else k + SPARE
            while start < len(best):
                rows = best[start : start + size]
                start, size = start + size, max(k, CHUNK)
                heads = self._log.heads([slots[row] for row in rows], self._now())
                for row in rows:
                    head = heads.get(slots[row])
                    # Another version than the one scored: superseded since the vectors were read.
                    if head is None or head.first.sequence != sequences[row]:
                        continue
                    ko = to_knowledge_object(head)
                    if condition is None or condition(ko):
                        hits.append(Hit.model_construct(ko=ko, score=float(scores[row])))
                        if len(hits) == k:
                            return hits
            if reach >= len(scores):
                return hits
            reach = len(scores)

    # -- through the index ------------------------------------------------------------------------------------
    def _through_index(
        self, namespace: Namespace, vector: "NDArray[np.float32]", k: int, condition: Condition | None
    ) -> list[Hit] | None:
        """Return hits by way of the index, asking for more while too few survive; None to search exactly.

        The index is asked without a filter and what belongs to others is dropped here: Chroma takes a
        time in proportion to the namespace for the filter (0.5 s at 100,000 records, against 4 ms without
        and 40 ms for an exact search).
        """
        wanted = 2 * k + 8
        while wanted <= INDEX_LIMIT:
            index = self._sync.index()
            if index is None:
                return None
            try:
                found = index.query(vector, wanted, None)
            except IndexUnavailableError as error:
                self._sync.lost(error)
                return None
            hits = self._rescored([bytes.fromhex(name) for name, _ in found], namespace, vector, k, condition)
            if len(hits) == k:
                return hits
            wanted *= 4
        return None

    def _rescored(
        self, slots: Sequence[bytes], namespace: Namespace, vector: "NDArray[np.float32]", k: int,
        condition: Condition | None,
    ) -> list[Hit]:  # fmt: skip
        found = self._log.heads(slots, self._now()).values()
        heads = [head for head in found if head.first.address.namespace == namespace]
        return self._ranked(heads, vector, k, condition) if heads else []

    def _ranked(
        self, versions: Sequence[Version], vector: "NDArray[np.float32]", k: int, condition: Condition | None
    ) -> list[Hit]:
        """Return the k versions nearest to a vector that satisfy a condition, best first."""
        scores = self._encoding.vectors_of(versions) @ vector
        hits: list[Hit] = []
        for row in (-scores).argsort(kind="stable"):
            ko = to_knowledge_object(versions[row])
            if condition is None or condition(ko):
                hits.append(Hit.model_construct(ko=ko, score=float(scores[row])))
                if len(hits) == k:
                    break
        return hits

    # -- helpers ------------------------------------------------------------------------------------------------
    def _held(self, namespace: Namespace, as_of: int, known_at: int | None) -> Iterator[Version]:
        for _, chain in each_chain(self._log, Scope(namespace), known_at):
            if (version := head_at(chain, as_of)) is not None:
                yield version

    def _is_due(self, namespace: Namespace) -> bool:
        due = self._log.next_due(namespace)
        return due is not None and due <= self._now()

    def _is_large(self, namespace: Namespace) -> bool:
        """Tell whether a namespace has more heads than are searched exactly, counting seldom.

        A write changes the count by one at most, so an old count bounds today's.
        """
        sequence = self._log.sequence_at(LAST)
        with self._lock:
            count, counted_at = self._counts.get(namespace, (0, -EXACT_LIMIT - 1))
        slack = sequence - counted_at
        if count + slack > EXACT_LIMIT >= count - slack:
            count = self._log.count(Scope(namespace))
            with self._lock:
                self._counts[namespace] = (count, sequence)
                while len(self._counts) > 10_000:
                    self._counts.popitem(last=False)
        return count > EXACT_LIMIT

"""A memory that superposes facts in shared weights, searched the way the store is searched."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ko_integrations.embeddings import as_embedder
from ko_integrations.embeddings import unit_rows as embedded_rows
from ko_integrations.errors import InvalidInputError
from ko_integrations.fast_weight.checks import Matrix
from ko_integrations.fast_weight.geometry import unit_rows
from ko_integrations.fast_weight.rules import LinearRule, Rule
from ko_integrations.identity import check_count, check_text, encode_value
from ko_integrations.protocols import Embedder
from ko_integrations.records import unstored_object
from ko_integrations.types import Fact, Hit, KnowledgeObject

__all__ = ["FastWeightMemory", "nearest_values", "question_form"]


def question_form(subject: str, predicate: str) -> str:
    """Return the key text of a triple: the paper's template of section 5.1.

    >>> question_form("Customer_042", "account_status")
    'What is the account status of Customer_042?'
    """
    return f"What is the {predicate.replace('_', ' ')} of {subject}?"


def nearest_values(reads: Matrix, values: Matrix, k: int = 1) -> tuple[NDArray[np.intp], Matrix]:
    """Decode recalled vectors (eq. 2): the k stored values of highest cosine (main paper, section 4.1).

    Returns indices and cosines, both of shape (m, min(k, n)), best first; equal cosines keep the older value
    first. `reads` is (m, d_v), `values` (n, d_v); the length of a read does not matter.

    Raises:
        InvalidInputError: shapes do not fit, NaN or infinity, or `k` is below 1.
    """
    check_count(k, "k")
    stored = unit_rows(values, "values")
    cosines = unit_rows(reads, "reads", stored.shape[1]) @ stored.T
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return best, np.take_along_axis(cosines, best, axis=1)


class FastWeightMemory:
    """Facts in fast weights: keys and values are encoded, written by a `Rule`, decoded by the nearest value.

    It takes facts as the store does (`update`, `update_many`) or as key texts and values (`write`), and
    `read(query, k)` ranks hits as the store does. A hit carries the fact last written with the decoded
    value: the weights return a value, and nothing in them names the slot it came from. A value that was
    replaced stays a candidate for ever, as it does in the weights. Values of two types that read alike, such
    as 7 and "7", have one vector: both are hits, at the same score. Calls from several threads are serialised.

    >>> from ko_integrations.embeddings import HashingEmbedder
    >>> memory = FastWeightMemory(HashingEmbedder())
    >>> memory.update("France", "capital", "Paris")
    >>> memory.read("What is the capital of France?", k=1)[0].ko.object
    'Paris'

    Source: main paper, sections 4.1 and 5, eq. 1, 2 and 5.
    """

    def __init__(
        self,
        embedder: Any,
        *,
        rule: Rule | None = None,
        key_text: Callable[[str, str], str] = question_form,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Start empty.

        Args:
            embedder: encodes keys, values and queries: ours, a framework's, or a callable.
            rule: how to write and read; default `LinearRule()` with decay 0.99 and rate 0.1.
            key_text: (subject, predicate) to the text whose vector is the key.
            clock: gives the record time of a write, aware.

        Raises:
            InvalidInputError: `embedder` is none.
        """
        self.embedder: Embedder = as_embedder(embedder)
        self.rule: Rule = LinearRule() if rule is None else rule
        self._key_text = key_text
        self._clock = clock
        self._lock = RLock()
        # By the text that was encoded, then by the type of the value.
        self._latest: dict[str, dict[str, KnowledgeObject]] = {}
        self._values: list[Matrix] = []
        self._count = 0

    def __len__(self) -> int:
        """Return how many writes went in."""
        return self._count

    def update(self, subject: str, predicate: str, object: object) -> None:
        """Write one fact; an older value of the slot is not removed, the weights hold both.

        Raises:
            InvalidInputError: a blank subject or predicate, or no value (see `identity.encode_value`).
        """
        self.update_many([Fact(subject=subject, predicate=predicate, object=object)])

    def update_many(self, facts: Iterable[Fact]) -> None:
        """Write facts, in order, in one batch.

        Raises:
            InvalidInputError: a bad fact; nothing was written.
        """
        rows = list(facts)
        self._store([self._key_text(fact.subject, fact.predicate) for fact in rows], rows)

    def write(self, keys: Sequence[str], values: Sequence[object]) -> None:
        """Write pairs of a key text (a question, a sentence) and its value, in order, in one batch.

        Raises:
            InvalidInputError: different counts, a blank key or no value; nothing was written.
        """
        if len(keys) != len(values):
            raise InvalidInputError("values", f"expected {len(keys)}, one a key, got {len(values)}")
        pairs = zip(keys, values, strict=True)
        self._store(keys, [Fact(subject=k, predicate="value", object=v, text=f"{k} {v}") for k, v in pairs])

    def read(self, query: str, k: int = 5) -> list[Hit]:
        """Return the facts of the k values nearest to what the weights recall, best first.

        `score` is the cosine between the recalled vector and the value. Nothing written: no hit.
        """
        return self.read_many([query], k)[0]

    def read_many(self, queries: Sequence[str], k: int = 5) -> list[list[Hit]]:
        """Return `read` for each query, in one batch.

        Raises:
            InvalidInputError: `k` is below 1, or a query is blank.
        """
        check_count(k, "k")
        for query in queries:
            check_text(query, "query")
        with self._lock:
            if not self._latest or not queries:
                return [[] for _ in queries]
            reads = self.rule.read(self._encode(queries))
            facts = [list(alike.values()) for alike in self._latest.values()]
            best, cosines = nearest_values(reads, np.concatenate(self._values), k)
        return [
            [Hit(ko=ko, score=float(s)) for i, s in zip(row, scores, strict=True) for ko in facts[i]][:k]
            for row, scores in zip(best, cosines, strict=True)
        ]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self.rule.clear()
            self._latest, self._values, self._count = {}, [], 0

    def _store(self, keys: Sequence[str], facts: Sequence[Fact]) -> None:
        if not facts:
            return
        texts = [str(fact.object) for fact in facts]
        with self._lock:
            now = self._clock()
            # What can fail comes first: nothing could be taken out of the weights again.
            objects = [unstored_object(fact, self._count + i, now) for i, fact in enumerate(facts, start=1)]
            encoded = self._encode([*keys, *texts])
            self.rule.write(encoded[: len(keys)], encoded[len(keys) :])
            for text, vector, ko in zip(texts, encoded[len(keys) :], objects, strict=True):
                if text not in self._latest:
                    self._values.append(vector[None, :])
                # Assigning to a known key keeps its place, so that values and facts stay in step.
                self._latest.setdefault(text, {})[encode_value(ko.object)[0]] = ko
            self._count += len(facts)

    def _encode(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors as checked unit rows, which an embedder of one's own need not give."""
        embedder = self.embedder
        return embedded_rows(embedder.encode(texts), len(texts), embedder.dimension, embedder.model_id)

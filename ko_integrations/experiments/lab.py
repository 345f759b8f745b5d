"""What every experiment is given: an embedder that encodes each text once, seeds, progress, a store."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress

from ko_integrations.baselines import CostModel
from ko_integrations.errors import InvalidInputError
from ko_integrations.experiments.corpora import Corpus, Item
from ko_integrations.experiments.report import Card, listed
from ko_integrations.fast_weight import Rule, nearest_values, semantic_density
from ko_integrations.protocols import Embedder, TextModel
from ko_integrations.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = ["COST_OPTIONS", "CachedEmbedder", "Lab", "exact_recall", "percent", "semantic_recall"]

T = TypeVar("T")
_BATCH = 256
_PROBE = "Where is it?"
COST_OPTIONS = tuple(each.name for each in fields(CostModel))
"""What a bill rests on."""

_MINILM = "all-MiniLM-L6-v2"
_TRIALS = 5


class CachedEmbedder:
    """An embedder that remembers the vector of every text it has seen, for as long as it lives."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.model_id = inner.model_id
        self.dimension = inner.dimension
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._queries: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors, shape (len(texts), dimension), encoding only what is new."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            self._vectors.update(zip(batch, self.inner.encode(batch), strict=True))
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a query, shape (dimension,)."""
        if self._has_query_prompt:
            if text not in self._queries:
                self._queries[text] = self.inner.encode_query(text)  # type: ignore[attr-defined]
            return self._queries[text]
        vector: NDArray[np.float32] = self.encode([text])[0]
        return vector

    @cached_property
    def _has_query_prompt(self) -> bool:
        """Whether queries get other vectors than texts; where not, they share the cache, filled in batches."""
        encode_query = getattr(self.inner, "encode_query", None)
        if encode_query is None:
            return False
        return not np.allclose(encode_query(_PROBE), self.encode([_PROBE])[0], atol=1e-4)


@dataclass
class Lab:
    """The means of an experiment.

    Attributes:
        embedder: caches across experiments.
        seeds: number of independent trials; trial s uses seed s.
        out: folder of the figures.
        model: a language model for the experiments that need one, or None.
        data: a file with real facts, or None.
        questions: a file of NF-CATS, or None.
        cost: prices and sizes of prompts.
        sizes: numbers of facts, for the experiments that vary them, or None for the paper's.
        model_name: what the reports call the model.
        progress: where progress bars are drawn.
    """

    embedder: CachedEmbedder
    seeds: int
    out: Path
    model: TextModel | None = None
    data: Path | None = None
    questions: Path | None = None
    cost: CostModel = field(default_factory=CostModel)
    sizes: tuple[int, ...] | None = None
    model_name: str = "none"
    progress: Progress = field(default_factory=lambda: Progress(disable=True))

    @property
    def settings(self) -> dict[str, Any]:
        """What every report publishes."""
        given = {} if self.sizes is None else {"sizes": listed(self.sizes, "")}
        return {
            "seeds": self.seeds,
            "embedder": self.embedder.model_id,
            "d": self.embedder.dimension,
            **given,
        }

    def unlike(self, *options: str) -> str:
        """Return which of these options are not the paper's, in words; "" if all are.

        What is said of the paper's figures, a target or an explanation, names the options that it rests on.

        Args:
            options: of "embedder", "seeds", "sizes", and of `COST_OPTIONS`.
        """
        paper = CostModel()
        other = {
            "embedder": ("embedder", self.embedder.model_id.rpartition(":")[2].rpartition("/")[2] != _MINILM),
            "seeds": ("number of trials", self.seeds < _TRIALS),  # more trials only make a mean surer
            "sizes": ("sizes", self.sizes is not None),
            **{
                name: (name.replace("_", " "), getattr(self.cost, name) != getattr(paper, name))
                for name in COST_OPTIONS
            },
        }
        named = [words for words, differs in map(other.__getitem__, options) if differs]
        return f"other {', '.join(named)} than the paper's" if named else ""

    def numbers(self, default: tuple[int, ...], largest: int) -> tuple[int, ...]:
        """Return the numbers of facts asked for.

        Raises:
            InvalidInputError: more than the corpus has.
        """
        sizes = self.sizes or default
        if max(sizes) > largest:
            raise InvalidInputError(
                "sizes", f"the corpus has {largest:,} facts, {max(sizes):,} were asked for"
            )
        return sizes

    def card(self, corpus: Corpus, facts: int) -> Card:
        """Describe a corpus by its samples of so many facts; `density` is their mean rho (main paper, eq. 3)."""
        samples = [corpus.sample(facts, seed) for seed in range(self.seeds)]
        rho = [self.rho([item.question for item in items]) for items in samples]
        first = samples[0][0]
        return Card(corpus.name, corpus.keys, corpus.values, facts, round(float(np.mean(rho)), 3),
                    f"{first.question} -> {first.value}")  # fmt: skip

    def rho(self, texts: Sequence[str]) -> float:
        """Return the density of texts (main paper, eq. 3), rounded as it is published."""
        return round(semantic_density(self.embedder.encode(texts)), 3)

    def track(self, steps: Iterable[T], description: str, total: int) -> Generator[T, None, None]:
        """Yield `steps` with a progress bar."""
        task = self.progress.add_task(description, total=total)
        try:
            for step in steps:
                yield step
                self.progress.advance(task)
        finally:
            self.progress.remove_task(task)

    @contextmanager
    def store(self, vocabulary: Vocabulary | None = None) -> Iterator["KnowledgeStore"]:
        """Open an empty store in memory; by default every predicate is single-valued, as in the paper."""
        from ko_integrations.store import KnowledgeStore

        names = Vocabulary() if vocabulary is None else vocabulary
        with KnowledgeStore.open(":memory:", embedder=self.embedder, vocabulary=names) as store:
            yield store

    def recall(self, rule: Rule, items: Sequence[Item], *, reworded: bool = False) -> float:
        """Write all facts with `rule`, ask for each, and return the percentage that decodes to its value."""
        values = [item.value for item in items]
        encoded = self.embedder.encode(values)
        keys = self.embedder.encode([item.question for item in items])
        rule.write(keys, encoded)
        asked = self.embedder.encode([item.reworded for item in items]) if reworded else keys
        best, _ = nearest_values(rule.read(asked), encoded)
        return percent(values[i] == item.value for i, item in zip(best[:, 0], items, strict=True))


def percent(outcomes: Iterable[bool]) -> float:
    """Return how many of the outcomes are true, in percent; 0 of none."""
    flags = [bool(outcome) for outcome in outcomes]
    return 100 * sum(flags) / len(flags) if flags else 0.0


def exact_recall(store: "KnowledgeStore", items: Sequence[Item]) -> float:
    """Return the percentage of facts that an exact read returns with their value."""
    found = (store.read_exact(item.subject, item.predicate) for item in items)
    return percent(ko is not None and ko.object == item.value for ko, item in zip(found, items, strict=True))


def semantic_recall(store: "KnowledgeStore", items: Sequence[Item], *, reworded: bool = False) -> float:
    """Return the percentage of questions whose nearest fact by meaning is the asked one."""
    questions = [item.reworded if reworded else item.question for item in items]
    store.embedder.encode(questions)  # one batch for the cache, instead of one call a read
    hits = (store.read(question, k=1) for question in questions)
    return percent(
        bool(found) and found[0].ko.object == item.value for found, item in zip(hits, items, strict=True)
    )

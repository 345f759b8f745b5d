"""The static threshold against the learned router, by number of stored facts (main paper, section 4.3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from ko_integrations.baselines import StaticThreshold
from ko_integrations.experiments.corpora import CORPORA, Corpus, Item
from ko_integrations.experiments.lab import Lab, percent
from ko_integrations.experiments.report import Stat, stat
from ko_integrations.fast_weight import FastWeightMemory, LinearRule
from ko_integrations.router import RouteDecision, Router

__all__ = ["CORPUS", "FAMILIES", "LoadRow", "measure_load"]

SIZES = (5, 20, 75, 150)
FAMILIES = ("Value_NNN", "ordinary words")
CORPUS = CORPORA["products"]
_ASKED = 20
_FUZZY = (
    "Write a poem about {s} and its {p}.",
    "Explain why the {p} of something like {s} matters to a buyer.",
    "Suggest three slogans for {s} that play with its {p}.",
    "How should I present the {p} of {s} to a sceptical client?",
)


@dataclass(frozen=True)
class LoadRow:
    """At one number of facts: percentages of queries routed rightly, and the mean best similarity."""

    values: str
    n: int
    router: Stat
    store_right: Stat
    store_factual: Stat
    store_fuzzy: Stat
    weights_factual: Stat
    factual_similarity: Stat
    fuzzy_similarity: Stat


class _Classifier(Protocol):
    def classify(self, query: str) -> RouteDecision: ...


def measure_load(lab: Lab, tau: float = 0.75) -> list[LoadRow]:
    """Ask for stored facts, and for things to make of them, at each number of stored facts."""
    router = Router()
    steps = [
        (CORPUS.with_values(values), n) for values in FAMILIES for n in lab.numbers(SIZES, CORPUS.largest)
    ]
    return [
        _row(lab, router, corpus, n, tau)
        for corpus, n in lab.track(steps, "threshold under load", len(steps))
    ]


def _row(lab: Lab, router: Router, corpus: Corpus, n: int, tau: float) -> LoadRow:
    figures: list[tuple[float, ...]] = []
    for seed in range(lab.seeds):
        items = corpus.sample(n, seed)
        factual = [item.question for item in items[:_ASKED]]
        fuzzy = [_FUZZY[i % len(_FUZZY)].format(**_names(item)) for i, item in enumerate(items[:_ASKED])]
        weights = FastWeightMemory(lab.embedder, rule=LinearRule(decay=1, rate=1))
        weights.update_many(item.fact for item in items)
        with lab.store() as store:
            store.update_many(item.fact for item in items)
            threshold = StaticThreshold(store, tau=tau)
            yes, no = _share(threshold, factual, "factual"), _share(threshold, fuzzy, "fuzzy")
            near = [
                fmean(store.read(query, k=1)[0].score for query in queries) for queries in (factual, fuzzy)
            ]
        learned = (_share(router, factual, "factual") + _share(router, fuzzy, "fuzzy")) / 2
        by_weights = _share(StaticThreshold(weights, tau=tau), factual, "factual")
        figures.append((learned, (yes + no) / 2, yes, no, by_weights, 100 * near[0], 100 * near[1]))
    return LoadRow(corpus.values, n, *(stat(column) for column in zip(*figures, strict=True)))


def _names(item: Item) -> dict[str, str]:
    return {"s": item.subject, "p": item.predicate.replace("_", " ")}


def _share(classifier: _Classifier, queries: Sequence[str], label: str) -> float:
    return percent(classifier.classify(query).label == label for query in queries)

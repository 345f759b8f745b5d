"""Measure the router: table 6 of the main paper, its ablation and learning curve, and sets never trained on.

Every function returns plain dataclasses; `as_dict` of each is JSON. Table 6, the ablation and the curve run on the
packaged set `held_out` (half factual, half fuzzy), which no router is fitted to beforehand.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ko_integrations.embeddings import as_embedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.router.datasets import Queries, Set, packaged
from ko_integrations.router.prior import read_nfcats
from ko_integrations.router.router import CLASSIFIERS, Router
from ko_integrations.router.surface import SURFACE_FEATURES
from ko_integrations.router.writing import hurried

__all__ = [
    "Accuracy",
    "Cost",
    "Dropped",
    "LearningPoint",
    "Score",
    "ablation",
    "adversarial",
    "cost_ratio",
    "cross_validate",
    "learning_curve",
    "nfcats",
    "score",
    "table6",
    "unseen_sources",
]


@dataclass(frozen=True, slots=True)
class _Figure:
    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Accuracy(_Figure):
    """Cross-validated accuracy, over all folds of all shuffles.

    `low` and `high` bound the mean at 95 % (Student's t, within 0 to 1). The folds share training queries, so the
    variance is corrected as by Nadeau and Bengio, "Inference for the generalization error", 2003, section 3.
    """

    features: str
    classifier: str
    mean: float
    low: float
    high: float
    folds: tuple[float, ...]
    queries: int


@dataclass(frozen=True, slots=True)
class Score(_Figure):
    """How a fitted router does on labelled queries. `errors` are those it got wrong, with their true label."""

    name: str
    queries: int
    accuracy: float
    balanced_accuracy: float
    macro_f1: float
    errors: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Dropped(_Figure):
    """Accuracy without one surface feature; `loss` is in percentage points of the full set's accuracy."""

    feature: str
    accuracy: float
    loss: float


@dataclass(frozen=True, slots=True)
class LearningPoint(_Figure):
    """Accuracy on the rest of the set after learning from `examples` of it, over `repeats` draws."""

    examples: int
    mean: float
    deviation: float
    repeats: int


@dataclass(frozen=True, slots=True)
class Cost(_Figure):
    """Median times of one query side by side, in milliseconds, and their ratio."""

    classify_ms: float
    encode_ms: float
    ratio: float


def _folds(queries: Queries, folds: int, seeds: int) -> Iterable[tuple[Any, Any]]:
    from sklearn.model_selection import RepeatedStratifiedKFold

    if folds < 2 or len(queries) < 2 * folds:
        raise InvalidInputError("folds", f"{folds} folds of {len(queries)} queries")
    if seeds < 1:
        raise InvalidInputError("seeds", f"expected at least 1, got {seeds}")
    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=seeds, random_state=0)
    splits: Iterable[tuple[Any, Any]] = splitter.split(np.zeros(len(queries)), queries.labels)
    return splits


def cross_validate(
    router: Callable[[], Router], queries: Queries | None = None, *, folds: int = 10, seeds: int = 5
) -> Accuracy:
    """Fit a fresh router to each training fold alone (no packaged query, no prior counted in) and test it on the rest.

    Args:
        router: makes an unfitted router. For a figure that owes nothing to NF-CATS give it `prior=False`.
        queries: default `packaged("held_out")`.
        folds: stratified.
        seeds: how often the queries are shuffled and folded anew.

    Raises:
        InvalidInputError: too few queries for so many folds, or no shuffle.
    """
    from scipy.stats import t

    queries = packaged("held_out") if queries is None else queries
    accuracies = []
    for train, test in _folds(queries, folds, seeds):
        fitted = router().fit(
            [queries.texts[i] for i in train], [queries.labels[i] for i in train], packaged_too=False
        )
        found = fitted.predict([queries.texts[i] for i in test])
        accuracies.append(float(np.mean([a == queries.labels[i] for a, i in zip(found, test, strict=True)])))
    mean, runs = float(np.mean(accuracies)), folds * seeds
    variance = float(np.var(accuracies, ddof=1)) * (1 / runs + 1 / (folds - 1))
    half = float(t.ppf(0.975, runs - 1)) * variance**0.5
    made = router()
    return Accuracy(
        made.features,
        made.classifier,
        mean,
        max(0.0, mean - half),
        min(1.0, mean + half),
        tuple(accuracies),
        len(queries),
    )


def table6(
    *, features: str = "surface", embedder: Any = None, folds: int = 10, seeds: int = 5
) -> tuple[Accuracy, ...]:
    """Return the four classifiers of table 6 by cross-validation on the packaged held-out set.

    Beside those on the surface features stand, last, two on the default router's own features without the prior.

    Raises:
        InvalidInputError: unknown features, or no embedder for the embedding ones.
    """
    if embedder is not None:
        embedder = _encoded(packaged("held_out").texts, embedder)
    rows = [(features, name) for name in CLASSIFIERS]
    if features == "surface":
        rows += ("default", "logistic_regression"), ("default", "linear_svm")
    return tuple(
        cross_validate(partial(Router, seen, name, prior=False, embedder=embedder), folds=folds, seeds=seeds)
        for seen, name in rows
    )


def _encoded(texts: Sequence[str], embedder: Any) -> Callable[[list[str]], list[Any]]:
    """Return an embedder that looks up `texts`: each is encoded once, however many folds it is in."""
    vectors = dict(zip(texts, as_embedder(embedder).encode(list(texts)), strict=True))
    return lambda asked: [vectors[text] for text in asked]


def ablation(*, folds: int = 10, seeds: int = 5) -> tuple[Dropped, ...]:
    """Return what leaving out each surface feature costs logistic regression, the dearest first.

    The paper names "when" (4.6 points), "is the" and "my" (3.5 each).
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from ko_integrations.router.pipelines import SurfaceFeatures

    queries = packaged("held_out")
    rows = SurfaceFeatures().transform(queries.texts)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000))

    def accuracy(columns: list[int]) -> float:
        scores = [
            cross_val_score(
                model,
                rows[:, columns],
                queries.labels,
                cv=StratifiedKFold(folds, shuffle=True, random_state=seed),
            )
            for seed in range(seeds)
        ]
        return float(np.mean(scores))

    everything = list(range(len(SURFACE_FEATURES)))
    full = accuracy(everything)
    dropped = []
    for number, name in enumerate(SURFACE_FEATURES):
        left = accuracy([column for column in everything if column != number])
        dropped.append(Dropped(name, left, 100 * (full - left)))
    return tuple(sorted(dropped, key=lambda entry: -entry.loss))


def learning_curve(
    sizes: Sequence[int] = (10, 20, 30, 40, 50, 75, 100),
    *,
    features: str = "surface",
    classifier: str = "logistic_regression",
    repeats: int = 20,
    embedder: Any = None,
) -> tuple[LearningPoint, ...]:
    """Return the accuracy after learning from so many queries of the held-out set, tested on all its others.

    Raises:
        InvalidInputError: a size does not fit the set, or a name is unknown.
    """
    from sklearn.model_selection import StratifiedShuffleSplit

    queries = packaged("held_out")
    points = []
    for size in sizes:
        if not 2 <= size <= len(queries) - 2:
            raise InvalidInputError("sizes", f"expected 2 to {len(queries) - 2}, got {size}")
        splitter = StratifiedShuffleSplit(repeats, train_size=size, random_state=0)
        accuracies = []
        for train, test in splitter.split(np.zeros(len(queries)), queries.labels):
            router = Router(features, classifier, prior=False, embedder=embedder)
            router.fit(
                [queries.texts[i] for i in train], [queries.labels[i] for i in train], packaged_too=False
            )
            found = router.predict([queries.texts[i] for i in test])
            accuracies.append(np.mean([a == queries.labels[i] for a, i in zip(found, test, strict=True)]))
        points.append(LearningPoint(size, float(np.mean(accuracies)), float(np.std(accuracies)), repeats))
    return tuple(points)


def score(router: Router, queries: Queries, name: str = "") -> Score:
    """Return how a fitted router does on labelled queries it has not seen."""
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

    found = router.predict(queries.texts)
    errors = tuple(
        (text, label)
        for text, label, got in zip(queries.texts, queries.labels, found, strict=True)
        if got != label
    )
    return Score(
        name,
        len(queries),
        float(accuracy_score(queries.labels, found)),
        float(balanced_accuracy_score(queries.labels, found)),
        float(f1_score(queries.labels, found, average="macro", zero_division=0)),
        errors,
    )


def adversarial(router: Router | None = None) -> tuple[Score, ...]:
    """Return the scores on the adversarial set: all of it, then each of its rounds.

    The rounds were written one after another, each before the router had been tried on it; after a round its kinds of
    error got training queries of their own. So the last round alone was never answered to.
    """
    router = router or Router()
    queries = packaged("adversarial")
    rounds = [_only(queries, style) for style in dict.fromkeys(queries.styles)]
    return (
        score(router, queries, "adversarial"),
        *(score(router, part, f"adversarial, {part.styles[0]} round") for part in rounds),
    )


def unseen_sources(router: Router | None = None) -> tuple[Score, ...]:
    """Return the scores on packaged queries in styles the router was not fitted to, as written and hurried.

    Hurried is lower case without the final mark. The errors of "many styles, seen" were looked at while the training
    queries were written, those of "many styles" and "people" never.
    """
    router = router or Router()
    scores = [score(router, packaged("held_out"), "held out")]
    titles: dict[Set, str] = {
        "other_styles": "other styles",
        "many_styles": "many styles",
        "many_styles_seen": "many styles, seen",
        "people": "people",
    }
    for name, title in titles.items():
        queries = packaged(name)
        in_a_hurry = Queries(tuple(map(hurried, queries.texts)), queries.labels, queries.styles)
        scores += score(router, queries, title), score(router, in_a_hurry, f"{title}, hurried")
    return tuple(scores)


def nfcats(path: str | Path, router: Router | None = None) -> Score:
    """Return the score on an NF-CATS file without NOT-A-QUESTION; FACTOID is factual.

    The default router's prior was learnt from its training part: give the validation part here.

    Raises:
        InvalidInputError: the file cannot be read.
    """
    return score(router or Router(), read_nfcats(path), Path(path).name)


def cost_ratio(embedder: Any, *, router: Router | None = None, repeats: int = 200) -> Cost:
    """Return the median time of one `classify` and of one encoder call, taken in turns over the same queries."""
    router, embedder = router or Router(), as_embedder(embedder)
    texts = packaged("held_out").texts
    router.classify(texts[0])
    embedder.encode([texts[0]])
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(repeats):
        text = texts[number % len(texts)]
        start = perf_counter()
        router.classify(text)
        between = perf_counter()
        embedder.encode([text])
        times[0].append(between - start)
        times[1].append(perf_counter() - between)
    classify, encode = (1_000 * float(np.median(series)) for series in times)
    return Cost(classify, encode, classify / encode)


def _only(queries: Queries, style: str) -> Queries:
    rows = [row for row in zip(queries.texts, queries.labels, queries.styles, strict=True) if row[2] == style]
    return Queries(
        tuple(row[0] for row in rows), tuple(row[1] for row in rows), tuple(row[2] for row in rows)
    )

"""The router: fit on first use, classify, say why, save and load without pickle."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Final, Self, get_args

from ko_integrations.embeddings import as_embedder
from ko_integrations.errors import InvalidInputError, MissingExtraError
from ko_integrations.router.datasets import LABELS, Label, Link, packaged, packaged_links
from ko_integrations.router.files import read, write
from ko_integrations.router.links import SubjectLinker
from ko_integrations.router.reasons import (
    RouteDecision,
    Weighed,
    decide,
    default_reasons,
    log_odds,
    surface_reasons,
)
from ko_integrations.router.request import without_marks, words_of
from ko_integrations.router.writing import written_otherwise

__all__ = ["CLASSIFIERS", "FEATURES", "Router"]

FEATURES: Final = ("default", "surface", "embedding")
CLASSIFIERS: Final = ("logistic_regression", "random_forest", "linear_svm", "gradient_boosting")
_LINKS: Final = (
    "names a stored subject",
    "names a stored subject and its predicate",
    "names a stored subject, its predicate and hardly anything else",
)
_HARDLY_ANYTHING_ELSE: Final = 3


class Router:
    """Tell queries that ask for a value a fact store could hold from those that ask to create, explain or advise.

    Factual: who, what, when, where, which, how many; yes or no about a stored attribute; "tell me Bob's email". Fuzzy:
    to create, explain, define a concept, advise, compare, plan, summarise, argue.

    The model is fitted from the packaged queries on the first call, which takes some seconds, and kept for the
    process; a router that was saved loads at once. The default also starts from coefficients learnt on the training
    part of NF-CATS (`prior=False` leaves them out). Classifying is safe from any thread.

    Args:
        features: "default" (cues and word pieces), "surface" (the paper's hand-made features) or "embedding".
        classifier: one of `CLASSIFIERS`.
        prior: start the default features' logistic regression from the packaged coefficients.
        subject_linker: says whether a query names a stored subject and one of its predicates; see `StoreLinker`.
        embedder: of the embedding features; ours, a framework's, or a callable.
        seed: of the forests, 0 to 2^32 - 1.

    Raises:
        InvalidInputError: an unknown name, no embedder where one is needed, or an argument that cannot be used.

    Source: main paper, section 4.3.3 and table 6.

    Example:
        >>> decision = Router().classify("Write a poem about Paris")
        >>> decision.label
        'fuzzy'
    """

    def __init__(
        self,
        features: str = "default",
        classifier: str = "logistic_regression",
        *,
        prior: bool = True,
        subject_linker: SubjectLinker | None = None,
        embedder: Any = None,
        seed: int = 0,
    ) -> None:
        if features not in FEATURES:
            raise InvalidInputError("features", f"expected one of {', '.join(FEATURES)}, got {features!r}")
        if classifier not in CLASSIFIERS:
            raise InvalidInputError(
                "classifier", f"expected one of {', '.join(CLASSIFIERS)}, got {classifier!r}"
            )
        if not isinstance(prior, bool):
            raise InvalidInputError("prior", f"expected True or False, got {prior!r}")
        if subject_linker is not None and not callable(subject_linker):
            raise InvalidInputError(
                "subject_linker", f"expected a callable, got {type(subject_linker).__name__}"
            )
        if features == "embedding" and embedder is None:
            raise InvalidInputError("embedder", "the embedding features need one")
        if embedder is not None:
            as_embedder(embedder)
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
            raise InvalidInputError("seed", f"expected a whole number from 0 to 2^32 - 1, got {seed!r}")
        self.features = features
        self.classifier = classifier
        self.prior = prior
        self.subject_linker = subject_linker
        self.embedder = embedder
        self.seed = seed
        self._pipeline: Any = None
        self._link_weights: list[float] | None = None
        self._lock = Lock()

    # Classifying ---------------------------------------------------------------------------------

    def classify(self, query: str) -> RouteDecision:
        """Return where `query` goes, how sure that is, and why.

        Raises:
            InvalidInputError: `query` is empty or no string.
            MissingExtraError: scikit-learn is not installed.
        """
        return self.classify_many([query])[0]

    def classify_many(self, queries: Iterable[str]) -> list[RouteDecision]:
        """Return the decision for each query, in one pass.

        Raises:
            InvalidInputError: a query is empty or no string.
            MissingExtraError: scikit-learn is not installed.
        """
        texts = _checked(queries)
        if not texts:
            return []
        pipeline = self._fitted()
        odds = log_odds(pipeline[-1], pipeline[:-1].transform(texts))
        decisions = []
        for number, query in enumerate(texts):
            value = float(odds[number])
            reasons = self._reasons(pipeline, query)
            if self.subject_linker is not None:
                value, said = self._linked(value, query, self.subject_linker(query))
                reasons = said + reasons
            decisions.append(decide(value, reasons))
        return decisions

    def predict(self, queries: Iterable[str]) -> list[Label]:
        """Return the labels alone, without the reasons.

        Raises:
            InvalidInputError: a query is empty or no string.
            MissingExtraError: scikit-learn is not installed.
        """
        texts = _checked(queries)
        if not texts:
            return []
        pipeline = self._fitted()
        odds = log_odds(pipeline[-1], pipeline[:-1].transform(texts)).tolist()
        if self.subject_linker is not None:
            odds = [
                self._linked(value, query, self.subject_linker(query))[0]
                for value, query in zip(odds, texts, strict=True)
            ]
        return ["factual" if value > 0 else "fuzzy" for value in odds]

    # Learning ------------------------------------------------------------------------------------

    def fit(self, queries: Iterable[str], labels: Iterable[str], *, packaged_too: bool = True) -> Self:
        """Learn from your own labelled queries; return the router.

        Args:
            queries: at least one of each label, the packaged ones counted.
            labels: "factual" or "fuzzy", one a query.
            packaged_too: learn from the packaged queries as well.

        Raises:
            InvalidInputError: lengths differ, a label is unknown or missing.
            MissingExtraError: scikit-learn is not installed.
        """
        texts, own = _checked(queries), _listed("labels", labels)
        if len(texts) != len(own):
            raise InvalidInputError("labels", f"{len(own)} labels for {len(texts)} queries")
        for label in own:
            if label not in LABELS:
                raise InvalidInputError("labels", f"expected 'factual' or 'fuzzy', got {label!r}")
        if packaged_too:
            texts.extend(packaged().texts)
            own.extend(packaged().labels)
        if len(set(own)) < 2:
            raise InvalidInputError("labels", "both labels must occur")
        pipeline = self._unfitted()
        try:
            _fit(pipeline, self.features, texts, own)
        except ValueError as exc:
            raise InvalidInputError("queries", f"{self.classifier} cannot be fitted to them: {exc}") from exc
        with self._lock:
            self._pipeline, self._link_weights = pipeline, None
        return self

    def _unfitted(self) -> Any:
        try:
            from ko_integrations.router.pipelines import build_pipeline
        except ModuleNotFoundError as exc:
            raise MissingExtraError(exc.name or "scikit-learn", "router") from exc
        return build_pipeline(
            self.features, self.classifier, prior=self.prior, embedder=self.embedder, seed=self.seed
        )

    def _fitted(self) -> Any:
        if self._pipeline is None:
            with self._lock:
                if self._pipeline is None:
                    if self.features == "embedding":
                        self._pipeline = self._unfitted()
                        _fit(self._pipeline, self.features, packaged().texts, packaged().labels)
                    else:
                        self._pipeline = _packaged_pipeline(
                            self.features, self.classifier, self.prior, self.seed
                        )
        return self._pipeline

    # The store's word ----------------------------------------------------------------------------

    def _linked(self, value: float, query: str, link: Link) -> tuple[float, list[Weighed]]:
        """Return the log-odds with what the store says, and that as a reason."""
        if link not in get_args(Link):
            raise InvalidInputError("subject_linker", f"expected 'slot', 'subject' or 'none', got {link!r}")
        if link == "none":
            return value, []
        if self._link_weights is None:
            self._link_weights = self._fit_links()
        said = [
            (weight, name)
            for weight, name, holds in zip(self._link_weights, _LINKS, _signs(query, link), strict=True)
            if holds
        ]
        return value + sum(weight for weight, _ in said), said

    def _fit_links(self) -> list[float]:
        """Learn how much a link counts beside the text, from packaged queries whose links are written down.

        Returns the log-odds of each of `_LINKS`, on the scale of the text's own.
        """
        from sklearn.linear_model import LogisticRegression

        rows = packaged_links()
        pipeline = self._fitted()
        odds = log_odds(pipeline[-1], pipeline[:-1].transform([query for query, _, _ in rows]))
        columns = [
            [float(value), *map(float, _signs(query, link))]
            for value, (query, _, link) in zip(odds, rows, strict=True)
        ]
        model = LogisticRegression().fit(columns, [label == "factual" for _, label, _ in rows])
        scale, *weights = model.coef_[0].tolist()
        return [weight / max(scale, 0.1) for weight in weights]

    # Saying why ----------------------------------------------------------------------------------

    def _reasons(self, pipeline: Any, query: str) -> list[Weighed]:
        if self.features == "embedding":
            return []
        if self.features == "surface":
            return surface_reasons(pipeline, query)
        return default_reasons(pipeline[-1], query)

    # Files ---------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the fitted router to `path` with skops: no pickle; of an embedder only its name is in it.

        Raises:
            RouterFileError: the file cannot be written.
            MissingExtraError: skops or scikit-learn is not installed.
        """
        pipeline = self._fitted()
        if self.features == "embedding":
            pipeline = type(pipeline)([("features", type(pipeline[0])()), *pipeline.steps[1:]])
        content = {
            "features": self.features,
            "classifier": self.classifier,
            "prior": self.prior,
            "seed": self.seed,
            "embedder": None if self.embedder is None else as_embedder(self.embedder).model_id,
            "pipeline": pipeline,
        }
        write(content, path)

    @classmethod
    def load(
        cls, path: str | Path, *, subject_linker: SubjectLinker | None = None, embedder: Any = None
    ) -> "Router":
        """Return the router saved at `path`. Only the types a router consists of are built.

        Raises:
            InvalidInputError: the router needs an embedder, and none or another one is given.
            RouterFileError: the file is missing, damaged, of another format or holds other types.
            MissingExtraError: skops or scikit-learn is not installed.
        """
        content = read(path)
        router = cls(
            content["features"],
            content["classifier"],
            prior=content["prior"],
            subject_linker=subject_linker,
            embedder=embedder,
            seed=content["seed"],
        )
        if router.features == "embedding":
            _check_embedder(content, embedder)
            content["pipeline"].set_params(features__embedder=embedder)
        router._pipeline = content["pipeline"]
        return router


def _signs(query: str, link: Link) -> tuple[bool, bool, bool]:
    """Return which of `_LINKS` hold. A bare "Bob's boss" is a look-up where the store knows both; a toast is not."""
    slot = link == "slot"
    words = without_marks(words_of(query))
    return link == "subject", slot, slot and len(words) <= _HARDLY_ANYTHING_ELSE


@lru_cache
def _packaged_pipeline(features: str, classifier: str, prior: bool, seed: int) -> Any:
    """Return the pipeline fitted to the packaged queries, once a process."""
    pipeline = Router(features, classifier, prior=prior, seed=seed)._unfitted()
    _fit(pipeline, features, packaged().texts, packaged().labels)
    return pipeline


def _fit(pipeline: Any, features: str, texts: Sequence[str], labels: Sequence[str]) -> None:
    """Fit; the default features also see each query as others would write it."""
    if features != "default":
        pipeline.fit(list(texts), list(labels))
        return
    rows = written_otherwise(texts, labels, share=0.5, yes_no_share=0.1, one_in=2)
    pipeline.fit(rows.texts, rows.labels, classifier__sample_weight=rows.weights)


def _check_embedder(content: dict[str, Any], embedder: Any) -> None:
    """Raise `InvalidInputError` unless it is the one that the saved router was fitted to."""
    given = as_embedder(embedder)
    name, dimension = content.get("embedder") or given.model_id, content["pipeline"][-1].n_features_in_
    if (name, dimension) != (given.model_id, given.dimension):
        raise InvalidInputError(
            "embedder",
            f"the router was fitted to {name} of {dimension}, got {given.model_id} of {given.dimension}",
        )


def _checked(queries: Iterable[str]) -> list[str]:
    texts = _listed("queries", queries)
    for query in texts:
        if not isinstance(query, str):
            raise InvalidInputError("query", f"expected a string, got {type(query).__name__}")
        if not query.strip():
            raise InvalidInputError("query", "is empty")
    return texts


def _listed(field: str, strings: Iterable[str]) -> list[str]:
    if isinstance(strings, str) or not isinstance(strings, Iterable):
        raise InvalidInputError(field, f"expected a sequence of strings, got {type(strings).__name__}")
    return list(strings)

"""The router's scikit-learn parts: three ways to see a query, four classifiers (main paper, 4.3.3 and table 6).

This module imports scikit-learn; `Router` imports it on first use.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ko_integrations.embeddings import as_embedder
from ko_integrations.router.features import feature_rows
from ko_integrations.router.surface import surface_features

__all__ = [
    "EmbeddingFeatures",
    "HashedFeatures",
    "PriorLogisticRegression",
    "SurfaceFeatures",
    "build_pipeline",
    "load_prior",
]

# A finer search changes no decision that the training queries do not leave open.
_SEARCH: Final = {"maxiter": 200, "gtol": 0.5}


class _Stateless(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, queries: Sequence[str], labels: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Do nothing: there is nothing to learn."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True


class SurfaceFeatures(_Stateless):
    """Queries to the paper's surface features, shape (n, len(SURFACE_FEATURES))."""

    def transform(self, queries: Sequence[str]) -> NDArray[np.float64]:
        """Return the features."""
        return np.array([surface_features(query) for query in queries])


class HashedFeatures(_Stateless):
    """Queries to the default features, hashed: a sparse matrix of shape (n, COLUMNS)."""

    def transform(self, queries: Sequence[str]) -> sp.csr_matrix:
        """Return the features."""
        return feature_rows(queries)


class EmbeddingFeatures(_Stateless):
    """Queries to their vectors: the paper's first variant (384 values with all-MiniLM-L6-v2)."""

    def __init__(self, embedder: Any = None) -> None:
        self.embedder = embedder

    def transform(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors."""
        return as_embedder(self.embedder).encode(list(queries))


@lru_cache
def load_prior() -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return the packaged coefficients, the precision of each, and the intercept.

    They were learnt from the training part of NF-CATS (`ko_integrations.router.prior` makes them). Columns are
    hashes: no sentence or word of it is in the file.
    """
    with (
        files("ko_integrations.router").joinpath("data", "prior.npz").open("rb") as file,
        np.load(file) as arrays,
    ):
        return (
            arrays["coefficients"].astype(np.float64),
            arrays["precision"].astype(np.float64),
            float(arrays["intercept"]),
        )


class PriorLogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression whose coefficients are pulled to those learnt before, each as firmly as it was known.

    The penalty is the Laplace approximation of the earlier posterior: half of `strength` times the curvature of the
    earlier loss at its minimum, times the squared distance from it; `l2` is the ridge of both. With
    `prior=None` it is ridge-penalised logistic regression.

    Args:
        prior: "packaged", or None.
        strength: how much the earlier data weigh.
        l2: ridge penalty.
        min_rows: a column that fewer rows hold is left at its prior value: it would only be learnt by heart.
    """

    def __init__(
        self,
        prior: Literal["packaged"] | None = "packaged",
        strength: float = 50.0,
        l2: float = 0.05,
        min_rows: int = 3,
    ) -> None:
        self.prior = prior
        self.strength = strength
        self.l2 = l2
        self.min_rows = min_rows

    def fit(self, X: Any, y: Sequence[str], sample_weight: Any = None) -> Self:  # noqa: N803 - scikit-learn's
        """Fit to the rows of a sparse matrix; `y` holds two classes, `sample_weight` how much each row counts."""
        rows = sp.csr_matrix(X)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"expected two classes, got {list(self.classes_)}")
        self.n_features_in_ = rows.shape[1]
        start, precision, intercept = self._prior_of(rows.shape[1])
        used = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]) >= self.min_rows)
        with_ones = sp.hstack([rows[:, used], np.ones((rows.shape[0], 1))]).tocsr()
        centre = np.append(start[used], intercept)
        scale = 1.0 / np.sqrt(np.append(precision[used], 0.0) * self.strength + self.l2)
        weights = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        moved = _minimise(with_ones, np.where(codes == 1, 1.0, -1.0), weights, centre, scale)
        coefficients = start.copy()
        coefficients[used] = moved[:-1]
        self.coef_ = coefficients[None, :]
        self.intercept_ = moved[-1:]
        return self

    def _prior_of(self, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        if self.prior is None:
            return np.zeros(columns), np.zeros(columns), 0.0
        coefficients, precision, intercept = load_prior()
        # The sign is that of "factual" against "fuzzy"; classes are in alphabetic order.
        return -coefficients, precision, -intercept

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the log-odds of the second class."""
        scores: NDArray[np.float64] = np.asarray(X @ self.coef_[0]) + self.intercept_[0]
        return scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return probabilities in the order of `classes_`."""
        second = 1.0 / (1.0 + np.exp(-np.clip(self.decision_function(X), -500, 500)))
        return np.column_stack([1.0 - second, second])

    def predict(self, X: Any) -> NDArray[np.str_]:  # noqa: N803
        """Return classes."""
        labels: NDArray[np.str_] = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return labels


def _minimise(
    rows: sp.csr_matrix,
    signs: NDArray[np.float64],
    weights: NDArray[np.float64],
    centre: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the coefficients of least penalised logistic loss.

    The search runs over the distance from `centre` in units of `scale`, where the penalty is a plain square:
    that takes a tenth of the steps.
    """
    scaled = rows.multiply(scale[None, :]).tocsr()
    across = scaled.T.tocsr()
    offset = rows @ centre

    def loss(distance: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (offset + scaled @ distance)
        pull = -weights * signs / (1.0 + np.exp(np.clip(margins, -500, 500)))
        value = weights @ np.logaddexp(0.0, -margins) + 0.5 * distance @ distance
        return float(value), across @ pull + distance

    with threadpool_limits(1):  # the vectors are short: threads would only wait for each other
        found = minimize(loss, np.zeros(len(centre)), jac=True, method="L-BFGS-B", options=_SEARCH)
    result: NDArray[np.float64] = centre + scale * found.x
    return result


def build_pipeline(features: str, classifier: str, *, prior: bool, embedder: Any, seed: int) -> Pipeline:
    """Return an unfitted pipeline; `Router` checks the names."""
    seen: Any = HashedFeatures()
    if features == "surface":
        seen = SurfaceFeatures()
    elif features == "embedding":
        seen = EmbeddingFeatures(embedder)
    steps: list[tuple[str, Any]] = [("features", seen)]
    if features == "surface" and classifier in ("logistic_regression", "linear_svm"):
        steps.append(("scale", StandardScaler()))
    if features == "default" and classifier == "logistic_regression":
        steps.append(("classifier", PriorLogisticRegression(prior="packaged" if prior else None)))
    else:
        steps.append(("classifier", _classifier(classifier, seed)))
    return Pipeline(steps)


def _classifier(name: str, seed: int) -> Any:
    """Return one of the four of table 6."""
    if name == "random_forest":
        return RandomForestClassifier(n_estimators=100, random_state=seed, n_jobs=1)
    if name == "gradient_boosting":
        return GradientBoostingClassifier(random_state=seed)
    if name == "linear_svm":
        # Margins are no probabilities: a sigmoid fitted on held-out folds makes them so.
        return CalibratedClassifierCV(LinearSVC(C=1.0), ensemble=False, cv=5)
    return LogisticRegression(max_iter=2_000, C=1.0)

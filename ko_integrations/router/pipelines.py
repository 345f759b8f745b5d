"""The router's scikit-learn parts: three ways to see a query, four classifiers (main paper, 4.3.3 and table 6).

This module imports scikit-learn; `Router` imports it on first use.
"""

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ko_integrations.embeddings import as_embedder
from ko_integrations.router.features import feature_rows
from ko_integrations.router.regression import PriorLogisticRegression, QuestionsApart
from ko_integrations.router.surface import surface_features

__all__ = [
    "EmbeddingFeatures",
    "HashedFeatures",
    "SurfaceFeatures",
    "build_pipeline",
]


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
    """Queries to the default features, hashed: a sparse matrix of shape (n, COLUMNS); see `feature_rows`."""

    def __init__(self, in_context: bool = True) -> None:
        self.in_context = in_context

    def transform(self, queries: Sequence[str]) -> sp.csr_matrix:
        """Return the features."""
        return feature_rows(queries, in_context=self.in_context)


class EmbeddingFeatures(_Stateless):
    """Queries to their vectors: the paper's first variant (384 values with all-MiniLM-L6-v2)."""

    def __init__(self, embedder: Any = None) -> None:
        self.embedder = embedder

    def transform(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors."""
        return as_embedder(self.embedder).encode(list(queries))


_SELECTED: Final = 2_000


def build_pipeline(features: str, classifier: str, *, prior: bool, embedder: Any, seed: int) -> Pipeline:
    """Return an unfitted pipeline; `Router` checks the names."""
    if features == "default" and classifier == "logistic_regression":
        model = QuestionsApart() if prior else PriorLogisticRegression(prior=None)
        return Pipeline([("features", HashedFeatures()), ("classifier", model)])
    seen: Any = EmbeddingFeatures(embedder)
    if features == "surface":
        seen = SurfaceFeatures()
    elif features == "default":
        # Words in context are half a million columns more: scikit-learn's solvers take a minute over them.
        seen = HashedFeatures(in_context=False)
    steps: list[tuple[str, Any]] = [("features", seen)]
    if features == "surface" and classifier in ("logistic_regression", "linear_svm"):
        steps.append(("scale", StandardScaler()))
    if features == "default" and classifier in ("random_forest", "gradient_boosting"):
        steps.append(("select", SelectKBest(chi2, k=_SELECTED)))
    return Pipeline([*steps, ("classifier", _classifier(classifier, seed))])


def _classifier(name: str, seed: int) -> Any:
    """Return one of the four of table 6."""
    if name == "random_forest":
        return RandomForestClassifier(n_estimators=100, random_state=seed, n_jobs=1)
    if name == "gradient_boosting":
        return GradientBoostingClassifier(random_state=seed)
    if name == "linear_svm":
        # Margins are no probabilities: a sigmoid fitted on held-out folds makes them so.
        return CalibratedClassifierCV(LinearSVC(C=1.0, tol=1e-2), ensemble=False, cv=5)
    return LogisticRegression(max_iter=2_000, C=1.0)

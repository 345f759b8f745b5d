"""Logistic regression that starts from what other data taught, more firmly for questions than for the rest."""

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ko_integrations.router.cues import QUESTION
from ko_integrations.router.features import column_of

__all__ = ["PriorLogisticRegression", "QuestionsApart", "load_prior"]

# The search ends where no coefficient would gain a row more than this: finer ones change no decision.
_GAIN: Final = 2e-5


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


class _ByLogOdds(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of two classes that its `decision_function` makes: the log-odds of the second."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return probabilities in the order of `classes_`."""
        second = 1.0 / (1.0 + np.exp(-np.clip(self.decision_function(X), -500, 500)))
        return np.column_stack([1.0 - second, second])

    def predict(self, X: Any) -> NDArray[np.str_]:  # noqa: N803
        """Return classes."""
        labels: NDArray[np.str_] = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return labels


class PriorLogisticRegression(_ByLogOdds):
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
        strength: float = 70.0,
        l2: float = 0.05,
        min_rows: int = 4,
    ) -> None:
        self.prior = prior
        self.strength = strength
        self.l2 = l2
        self.min_rows = min_rows

    def fit(self, X: Any, y: Sequence[str], sample_weight: Any = None) -> Self:  # noqa: N803 - scikit-learn's
        """Fit to the rows of a sparse matrix; `y` holds two classes, `sample_weight` how much each row counts."""
        return self._fit(_design(X, y, sample_weight, self.min_rows))

    def _fit(self, design: "_Design") -> Self:
        self.classes_, self.n_features_in_ = design.classes, design.columns
        start, precision, intercept = self._prior_of(design.columns)
        used = design.used
        centre = np.append(start[used], intercept)
        scale = 1.0 / np.sqrt(np.append(precision[used], 0.0) * self.strength + self.l2)
        moved = _minimise(design, centre, scale)
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


class QuestionsApart(_ByLogOdds):
    """Two regressions on the same rows: one decides on questions, the other on what is put otherwise.

    The prior was learnt from questions. On commands, clues, claims and noun phrases it would speak from their topics
    alone, so there it weighs little.

    Args:
        questions: strength of the prior for rows with the feature `QUESTION`.
        others: its strength for all other rows.
    """

    def __init__(self, questions: float = 70.0, others: float = 3.0) -> None:
        self.questions = questions
        self.others = others

    def fit(self, X: Any, y: Sequence[str], sample_weight: Any = None) -> Self:  # noqa: N803 - scikit-learn's
        """Fit both to the rows of a sparse matrix; `y` holds two classes, `sample_weight` how much each row counts."""
        parts = [PriorLogisticRegression(strength=strength) for strength in (self.others, self.questions)]
        design = _design(X, y, sample_weight, parts[0].min_rows)
        self.parts_ = [part._fit(design) for part in parts]
        self.classes_, self.n_features_in_ = design.classes, design.columns
        return self

    def part_for(self, question: bool) -> PriorLogisticRegression:
        """Return the regression that decides on questions, or the one for the rest."""
        return self.parts_[question]

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the log-odds of the second class."""
        others, questions = (part.decision_function(X) for part in self.parts_)
        return np.where(_are_questions(sp.csr_matrix(X)), questions, others)


def _are_questions(rows: sp.csr_matrix) -> NDArray[np.bool_]:
    # Taking a column of a CSR matrix costs time for all its columns, and there are a million.
    entries = np.flatnonzero(rows.indices == column_of(QUESTION))
    found = np.zeros(rows.shape[0], dtype=bool)
    found[np.searchsorted(rows.indptr, entries, side="right") - 1] = True
    return found


class _Design(NamedTuple):
    """Rows made ready for a fit: the columns worth a coefficient and one of ones, for classes -1 and 1."""

    rows: sp.csr_matrix
    used: NDArray[np.intp]
    columns: int
    classes: NDArray[np.str_]
    signs: NDArray[np.float64]
    weights: NDArray[np.float64]


def _design(X: Any, y: Sequence[str], sample_weight: Any, min_rows: int) -> _Design:  # noqa: N803
    rows = sp.csr_matrix(X)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"expected two classes, got {list(classes)}")
    used = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]) >= min_rows)
    with_ones = sp.hstack([rows[:, used], np.ones((rows.shape[0], 1))]).tocsr()
    weights = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return _Design(with_ones, used, rows.shape[1], classes, np.where(codes == 1, 1.0, -1.0), weights)


def _minimise(
    design: _Design, centre: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the coefficients of least penalised logistic loss.

    The search runs over the distance from `centre` in units of `scale`, where the penalty is a plain square:
    that takes a tenth of the steps.
    """
    rows, signs, weights = design.rows, design.signs, design.weights
    scaled = rows.multiply(scale[None, :]).tocsr()
    across = scaled.T.tocsr()
    offset = rows @ centre

    def loss(distance: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (offset + scaled @ distance)
        pull = -weights * signs / (1.0 + np.exp(np.clip(margins, -500, 500)))
        value = weights @ np.logaddexp(0.0, -margins) + 0.5 * distance @ distance
        return float(value), across @ pull + distance

    with threadpool_limits(1):  # the vectors are short: threads would only wait for each other
        found = minimize(
            loss, np.zeros(len(centre)), jac=True, method="L-BFGS-B", options={"gtol": _GAIN * len(signs)}
        )
    result: NDArray[np.float64] = centre + scale * found.x
    return result

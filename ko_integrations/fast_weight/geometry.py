"""How crowded a set of keys is, and what superposition makes of it (main paper, section 3)."""

from dataclasses import dataclass
from math import exp, inf

import numpy as np
from numpy.typing import ArrayLike

from ko_integrations.errors import InvalidInputError
from ko_integrations.fast_weight.checks import Matrix, as_rows, check_range
from ko_integrations.identity import check_count

__all__ = [
    "Interference",
    "classical_hopfield_capacity",
    "collapse_estimate",
    "density_spread",
    "expected_interference",
    "interference",
    "johnson_lindenstrauss_capacity",
    "semantic_density",
    "unit_rows",
]


def unit_rows(vectors: ArrayLike, field: str = "keys", dimension: int | None = None) -> Matrix:
    """Return `vectors` as a float32 array of shape (n, d) whose rows have length 1; a zero row stays zero.

    Raises:
        InvalidInputError: not two-dimensional, d is not `dimension`, no numbers, or not finite.
    """
    rows = as_rows(field, vectors, dimension)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    units: Matrix = rows / lengths
    return units


def semantic_density(keys: ArrayLike) -> float:
    """Return the mean cosine between two different keys, rho (main paper, eq. 3); 0 for fewer than two.

    Costs O(N d): the sum over all pairs is the squared length of the sum of the unit keys, less N. The
    sums run in float64, because that difference cancels.

    >>> semantic_density([[1, 0], [0, 1]])
    0.0
    """
    rows = unit_rows(keys)
    n = len(rows)
    if n < 2:
        return 0.0
    total = rows.sum(axis=0, dtype=np.float64)
    own = np.square(rows, dtype=np.float64).sum()
    # Rounding takes the density of equal keys past 1.
    return min(max(float((total @ total - own) / (n * (n - 1))), -1.0), 1.0)


def density_spread(keys: ArrayLike) -> float:
    """Return the standard deviation of the cosine between two different keys, the paper's sigma_rho.

    Costs O(N d^2): the sum of the squared cosines is the squared Frobenius norm of the d x d Gram matrix.
    """
    rows = unit_rows(keys).astype(np.float64)
    n = len(rows)
    if n < 2:
        return 0.0
    gram = rows.T @ rows
    own = np.square((rows * rows).sum(axis=1)).sum()
    mean_square = (np.square(gram).sum() - own) / (n * (n - 1))
    return float(np.sqrt(max(mean_square - semantic_density(rows) ** 2, 0.0)))


@dataclass(frozen=True)
class Interference:
    """What a plain linear memory gives back for each of its own keys (main paper, eq. 2).

    Attributes:
        signal: length of the part that belongs to the asked fact, shape (n,).
        crosstalk: length of the sum of all other facts' parts, shape (n,).
    """

    signal: Matrix
    crosstalk: Matrix

    @property
    def ratio(self) -> float:
        """Mean crosstalk over mean signal; above 1 the other facts are louder than the asked one."""
        return float(self.crosstalk.mean() / self.signal.mean())


def interference(keys: ArrayLike, values: ArrayLike) -> Interference:
    """Split what `M k_j` returns into signal and crosstalk, for every stored fact (main paper, eq. 2).

    `keys` (n, d_k) and `values` (n, d_v) are taken as unit rows. Costs O(N d_k d_v).

    Raises:
        InvalidInputError: shapes do not fit, or there is no fact.
    """
    k, v = paired(keys, values)
    own = (k * k).sum(axis=1, keepdims=True) * v
    read = k @ (v.T @ k).T
    return Interference(np.linalg.norm(own, axis=1), np.linalg.norm(read - own, axis=1))


def expected_interference(n: int, density: float) -> float:
    """Return the crosstalk the paper expects, relative to the signal: N rho, of N - 1 others (section 3).

    Raises:
        InvalidInputError: `n` is no count, or `density` no cosine.
    """
    check_count(n, "n", 0)
    check_range("density", density, -1, 1)
    return max(n - 1, 0) * density


def johnson_lindenstrauss_capacity(dimension: int, epsilon: float) -> float:
    """Return how many vectors fit with no cosine above `epsilon`: exp(epsilon^2 d / 4) (main paper, eq. 4).

    It bounds what geometry allows, not what an embedding model does: text embeddings never use this room.

    Infinity where the number is too large for a float.

    Raises:
        InvalidInputError: `dimension` is no count from 1, or `epsilon` not from 0 to 1.

    >>> round(johnson_lindenstrauss_capacity(7000, 0.1) / 1e7, 1)
    4.0
    """
    check_count(dimension, "dimension")
    check_range("epsilon", epsilon, 0, 1)
    try:
        return exp(epsilon**2 * dimension / 4)
    except OverflowError:
        return inf


def classical_hopfield_capacity(dimension: int) -> float:
    """Return 0.14 d, the load at which a classical Hopfield network of random patterns fails (section 3).

    Raises:
        InvalidInputError: `dimension` is no count from 1.
    """
    check_count(dimension, "dimension")
    return 0.14 * dimension


def collapse_estimate(keys: ArrayLike, values: ArrayLike) -> float:
    """Return the number of facts at which a linear memory over such keys and values starts to answer wrongly.

    With every two keys at cosine rho, the read of fact j prefers its own value over another by
    (1 - rho)(1 - rho_v) and is pulled towards the most central value by rho times the difference of the
    summed cosines of the two values, which grows as N times their spread. Both are equal at

        N = (1 - rho)(1 - rho_v) / (rho * spread),

    where rho_v is the density of the values and spread the deviation over values of their mean cosine to
    the others. It explains why the same keys last longer with dissimilar values. Our derivation; the
    paper's section 3 has only O(N rho). Infinity where nothing pulls.

    Raises:
        InvalidInputError: shapes do not fit, or fewer than three facts.
    """
    k, v = paired(keys, values)
    if len(k) < 3:
        raise InvalidInputError("keys", "at least three facts are needed")
    density, value_density = max(semantic_density(k), 0.0), semantic_density(v)
    centrality = (v @ v.sum(axis=0) - 1) / (len(v) - 1)
    pull = density * float(centrality.std())
    return inf if pull == 0 else (1 - density) * (1 - value_density) / pull


def paired(keys: ArrayLike, values: ArrayLike) -> tuple[Matrix, Matrix]:
    """Return keys and values as unit rows, checked to be as many.

    Raises:
        InvalidInputError: different counts, none, or bad vectors.
    """
    k, v = unit_rows(keys), unit_rows(values, "values")
    if len(k) != len(v) or not len(k):
        raise InvalidInputError(
            "values", f"expected one value a key, at least one, got {len(k)} for {len(v)}"
        )
    return k, v

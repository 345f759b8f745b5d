"""Ways to write key-value pairs into shared weights and to read them back.

Keys and values are float32 arrays of unit rows, shapes (n, d_k) and (n, d_v); other numbers are cast. A rule
only maps vectors to vectors; `FastWeightMemory` encodes texts and decodes the nearest stored value. What does
not fit raises `InvalidInputError` and changes nothing.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ko_integrations.errors import InvalidInputError
from ko_integrations.fast_weight.checks import Matrix, as_pairs, as_rows, check_range

__all__ = ["DeltaRule", "GatedRule", "HopfieldRule", "LeastSquaresRule", "LinearRule", "Rule"]

_CHUNK = 64
"""Rows of one exact block update: n x n systems stay small and the products stay large."""


class Rule(Protocol):
    """What a fast-weight memory asks of its write and read rule."""

    def write(self, keys: Matrix, values: Matrix) -> None:
        """Store pairs, in order; later ones are newer.

        Raises:
            InvalidInputError: not as many keys as values, another length than before, NaN or infinity.
        """
        ...

    def read(self, queries: Matrix) -> Matrix:
        """Return the recalled value vectors, shape (m, d_v), for queries of shape (m, d_k).

        Raises:
            InvalidInputError: nothing was written yet, or queries of another length than the keys.
        """
        ...

    def clear(self) -> None:
        """Forget everything."""
        ...


class _MatrixRule:
    """A rule whose whole state is the d_v x d_k matrix M, read as M q."""

    def __init__(self) -> None:
        self._matrix: Matrix | None = None

    @property
    def matrix(self) -> Matrix:
        """The weights, shape (d_v, d_k).

        Raises:
            InvalidInputError: nothing was written yet.
        """
        if self._matrix is None:
            raise InvalidInputError("queries", "nothing was written to this memory")
        return self._matrix

    def read(self, queries: Matrix) -> Matrix:
        return as_rows("queries", queries, self.matrix.shape[1]) @ self.matrix.T

    def clear(self) -> None:
        self._matrix = None

    def _start(self, keys: Matrix, values: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        keys, values = as_pairs(keys, values, None if self._matrix is None else self._matrix.shape)
        if self._matrix is None:
            self._matrix = np.zeros((values.shape[1], keys.shape[1]), dtype=np.float32)
        return self._matrix, keys, values


class LinearRule(_MatrixRule):
    """Add outer products: `M <- decay M + rate v k^T` (main paper, eq. 5).

    The defaults are those of section 4.1. `decay=1, rate=1` is the plain memory of eq. 1 and section 5.
    """

    def __init__(self, *, decay: float = 0.99, rate: float = 0.1) -> None:
        super().__init__()
        check_range("decay", decay, 0, 1)
        check_range("rate", rate, 0, np.inf)
        self.decay, self.rate = decay, rate

    def write(self, keys: Matrix, values: Matrix) -> None:
        matrix, keys, values = self._start(keys, values)
        n = len(keys)
        # All n steps at once: pair i is decayed by the n - 1 - i writes that follow it.
        weights = (self.rate * self.decay ** np.arange(n - 1, -1, -1)).astype(np.float32)
        matrix *= np.float32(self.decay**n)
        matrix += (values * weights[:, None]).T @ keys


class DeltaRule(_MatrixRule):
    """Write only what the memory does not say yet: `M <- decay M + rate (v - M k) k^T`.

    The Widrow-Hoff rule of fast-weight programmers (Schlag et al. 2021). With rate 1 and unit keys the
    newest pair is recalled exactly; older ones suffer where keys overlap.
    """

    def __init__(self, *, rate: float = 1.0, decay: float = 1.0) -> None:
        super().__init__()
        check_range("rate", rate, 0, 2)
        check_range("decay", decay, 0, 1)
        self.rate, self.decay = rate, decay

    def write(self, keys: Matrix, values: Matrix) -> None:
        matrix, keys, values = self._start(keys, values)
        for start in range(0, len(keys), _CHUNK):
            self._write_block(matrix, keys[start : start + _CHUNK], values[start : start + _CHUNK])

    def _write_block(self, matrix: Matrix, keys: Matrix, values: Matrix) -> None:
        """Apply n sequential steps exactly, by one n x n triangular system.

        Step i adds u_i k_i^T with u_i = rate (v_i - M_i k_i); M_i holds decay^i M_0 and, for j < i,
        decay^(i-1-j) u_j k_j^T. So the u's solve (I + rate L) U = rate (V - decay^i K M_0^T) with L strictly
        lower triangular.
        """
        n = len(keys)
        steps = np.arange(n)
        ages = np.maximum(steps[:, None] - steps[None, :] - 1, 0)
        lower = np.tril(keys @ keys.T * np.power(self.decay, ages, dtype=np.float32), -1)
        before = (keys @ matrix.T) * np.power(self.decay, steps, dtype=np.float32)[:, None]
        system = np.eye(n, dtype=np.float32) + np.float32(self.rate) * lower
        errors = np.linalg.solve(system, np.float32(self.rate) * (values - before))
        weights = np.power(self.decay, n - 1 - steps, dtype=np.float32)
        matrix *= np.float32(self.decay**n)
        matrix += (errors * weights[:, None]).T @ keys


class GatedRule(_MatrixRule):
    """Follow the gradient of the recall error with momentum and forgetting, in the manner of Titans.

    `S <- momentum S - rate (M k - v) k^T`, then `M <- (1 - forget) M + S` (Behrouz et al. 2024). Titans
    learns the three gates from the input; here they are constants, as no training takes place.
    """

    def __init__(self, *, rate: float = 0.5, momentum: float = 0.5, forget: float = 0.01) -> None:
        super().__init__()
        check_range("rate", rate, 0, 2)
        check_range("momentum", momentum, 0, 1)
        check_range("forget", forget, 0, 1)
        self.rate, self.momentum, self.forget = rate, momentum, forget
        self._surprise: Matrix | None = None

    def write(self, keys: Matrix, values: Matrix) -> None:
        matrix, keys, values = self._start(keys, values)
        if self._surprise is None:
            self._surprise = np.zeros_like(matrix)
        for key, value in zip(keys, values, strict=True):
            error = matrix @ key - value
            self._surprise *= np.float32(self.momentum)
            self._surprise -= np.outer(np.float32(self.rate) * error, key)
            matrix *= np.float32(1 - self.forget)
            matrix += self._surprise

    def clear(self) -> None:
        super().clear()
        self._surprise = None


class LeastSquaresRule(_MatrixRule):
    """Keep the ridge-regression solution over all pairs, updated by recursive least squares.

    It undoes the overlap of the keys as it writes: the explicit orthogonalisation that section 7 of the main
    paper names as an exception. Its state has a second, d_k x d_k matrix. Recall of its own keys is exact up
    to about d_k independent keys; `ridge` trades that for stability.
    """

    def __init__(self, *, ridge: float = 0.01) -> None:
        super().__init__()
        check_range("ridge", ridge, float(np.finfo(np.float32).eps), np.inf)
        self.ridge = ridge
        self._inverse: NDArray[np.float64] | None = None

    def write(self, keys: Matrix, values: Matrix) -> None:
        matrix, keys, values = self._start(keys, values)
        if self._inverse is None:
            self._inverse = np.eye(keys.shape[1]) / self.ridge
        for start in range(0, len(keys), _CHUNK):
            # The inverse runs in float64: its updates subtract nearly equal numbers.
            block = keys[start : start + _CHUNK].astype(np.float64)
            spread = self._inverse @ block.T
            gain = np.linalg.solve(np.eye(len(block)) + block @ spread, spread.T).T
            errors = values[start : start + _CHUNK] - block @ matrix.T
            matrix += (errors.T @ gain.T).astype(np.float32)
            self._inverse -= gain @ spread.T

    def clear(self) -> None:
        super().clear()
        self._inverse = None


class HopfieldRule:
    """Keep every pair and read by attention: `softmax(beta K q)` over the stored values.

    The retrieval of modern Hopfield networks (Ramsauer et al. 2021). It does not superpose at write time and
    its state grows with every pair. At small `beta` it averages, at large `beta` it is nearest-key look-up.
    """

    def __init__(self, *, beta: float = 32.0) -> None:
        check_range("beta", beta, 0, np.inf)
        self.beta = beta
        self._keys: list[Matrix] = []
        self._values: list[Matrix] = []

    def write(self, keys: Matrix, values: Matrix) -> None:
        shape = (self._values[0].shape[1], self._keys[0].shape[1]) if self._keys else None
        keys, values = as_pairs(keys, values, shape)
        if len(keys):
            self._keys.append(keys)
            self._values.append(values)

    def read(self, queries: Matrix) -> Matrix:
        if not self._keys:
            raise InvalidInputError("queries", "nothing was written to this memory")
        queries = as_rows("queries", queries, self._keys[0].shape[1])
        if len(self._keys) > 1:
            self._keys, self._values = [np.concatenate(self._keys)], [np.concatenate(self._values)]
        scores = np.float32(self.beta) * (queries @ self._keys[0].T)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        recalled: Matrix = (weights / weights.sum(axis=1, keepdims=True)) @ self._values[0]
        return recalled

    def clear(self) -> None:
        self._keys, self._values = [], []

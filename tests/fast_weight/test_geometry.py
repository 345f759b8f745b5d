"""Density, interference and capacity: main paper, section 3."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ko_integrations import KOError
from ko_integrations.errors import InvalidInputError
from ko_integrations.fast_weight import (
    LinearRule,
    classical_hopfield_capacity,
    collapse_estimate,
    density_spread,
    expected_interference,
    interference,
    johnson_lindenstrauss_capacity,
    semantic_density,
)
from ko_integrations.fast_weight.geometry import unit_rows

vectors = st.integers(2, 12).flatmap(
    lambda n: arrays(np.float32, (n, 6), elements=st.floats(-1, 1, width=32)).filter(
        lambda rows: bool((np.linalg.norm(rows, axis=1) > 0.1).all())
    )
)


def pairwise(keys: np.ndarray) -> np.ndarray:
    cosines = unit_rows(keys) @ unit_rows(keys).T
    return cosines[~np.eye(len(keys), dtype=bool)]


@given(vectors)
@settings(deadline=None)
def test_density_is_the_mean_over_all_pairs(keys: np.ndarray) -> None:
    assert semantic_density(keys) == pytest.approx(pairwise(keys).mean(), abs=1e-5)


@given(vectors)
@settings(deadline=None)
def test_spread_is_the_deviation_over_all_pairs(keys: np.ndarray) -> None:
    assert density_spread(keys) == pytest.approx(pairwise(keys).std(), abs=1e-3)


def test_density_of_special_sets() -> None:
    assert semantic_density(np.eye(5)) == pytest.approx(0)
    assert semantic_density(np.ones((4, 3))) == pytest.approx(1)
    assert semantic_density(np.ones((1, 3))) == 0
    assert semantic_density([[2.0, 0.0], [-3.0, 0.0]]) == pytest.approx(-1)


def test_interference_splits_what_a_plain_memory_returns() -> None:
    rng = np.random.default_rng(0)
    keys, values = unit_rows(rng.normal(size=(20, 16))), unit_rows(rng.normal(size=(20, 16)))
    rule = LinearRule(decay=1, rate=1)
    rule.write(keys, values)
    parts = interference(keys, values)
    assert parts.signal == pytest.approx(np.ones(20), abs=1e-5)
    assert parts.crosstalk == pytest.approx(np.linalg.norm(rule.read(keys) - values, axis=1), abs=1e-5)


def test_orthogonal_keys_do_not_interfere() -> None:
    parts = interference(np.eye(6), np.eye(6))
    assert parts.ratio == pytest.approx(0, abs=1e-6)


def test_crosstalk_grows_with_the_number_of_facts_at_the_rate_of_the_density() -> None:
    # Equal values and keys at one common cosine: the N rho of the paper is exact.
    rho, n = 0.7, 30
    keys = np.sqrt(1 - rho) * np.eye(n, n + 1) + np.sqrt(rho) * np.eye(1, n + 1, n)
    values = np.ones((n, 4))
    assert interference(keys, values).ratio == pytest.approx(expected_interference(n, rho), rel=1e-4)


def test_paper_capacities() -> None:
    assert johnson_lindenstrauss_capacity(7000, 0.1) == pytest.approx(4e7, rel=0.01)
    assert classical_hopfield_capacity(384) == pytest.approx(54, abs=0.5)
    assert johnson_lindenstrauss_capacity(100_000, 0.9) == float("inf")


def test_collapse_estimate_falls_with_density_and_with_alike_values() -> None:
    rng = np.random.default_rng(1)
    common, noise, others = rng.normal(size=64), rng.normal(size=(40, 64)), rng.normal(size=(40, 64))
    sparse, dense = noise + 0.5 * common, noise + 3 * common
    assert collapse_estimate(dense, others) < collapse_estimate(sparse, others)
    alike = others + 3 * rng.normal(size=64)
    assert collapse_estimate(dense, alike) < collapse_estimate(dense, others)
    assert collapse_estimate(np.ones((40, 3)), others) == 0


@pytest.mark.parametrize("bad", [np.ones(3), [[np.nan, 1.0]], [[1.0], [1.0, 2.0]], ["a", "b"]])
def test_bad_vectors_are_refused(bad: object) -> None:
    with pytest.raises(KOError):
        semantic_density(bad)  # type: ignore[arg-type]


def test_counts_must_match() -> None:
    with pytest.raises(KOError, match="one value a key"):
        interference(np.eye(3), np.eye(2))


def test_estimates_refuse_what_is_no_count_or_no_cosine() -> None:
    for call, field in (
        (lambda: johnson_lindenstrauss_capacity(-5, 0.1), "dimension"),
        (lambda: johnson_lindenstrauss_capacity(384, -1), "epsilon"),
        (lambda: johnson_lindenstrauss_capacity(384, float("nan")), "epsilon"),
        (lambda: classical_hopfield_capacity(-1), "dimension"),
        (lambda: expected_interference(-3, 0.5), "n"),
        (lambda: expected_interference(10, float("nan")), "density"),
    ):
        with pytest.raises(InvalidInputError) as caught:
            call()
        assert caught.value.field == field


def test_the_density_of_equal_keys_is_no_more_than_1() -> None:
    for n in range(2, 60):
        keys = np.tile(np.random.default_rng(n).normal(size=7), (n, 1))
        assert expected_interference(n, semantic_density(keys)) <= n - 1

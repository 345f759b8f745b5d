"""Each rule against its definition, one step at a time."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ko_integrations import KOError
from ko_integrations.fast_weight import (
    DeltaRule,
    GatedRule,
    HopfieldRule,
    LeastSquaresRule,
    LinearRule,
    Rule,
)
from ko_integrations.fast_weight.geometry import unit_rows

RULES: list[Callable[[], Rule]] = [LinearRule, DeltaRule, GatedRule, LeastSquaresRule, HopfieldRule]


def pairs(n: int, seed: int = 0, overlap: float = 0.0, d: int = 24) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    keys = rng.normal(size=(n, d)) + overlap * rng.normal(size=d)
    return unit_rows(keys), unit_rows(rng.normal(size=(n, d + 3)))


@pytest.mark.parametrize("make", RULES)
@given(n=st.integers(1, 150), cut=st.integers(0, 150), overlap=st.floats(0, 3))
@settings(deadline=None, max_examples=15)
def test_batches_do_not_change_what_is_stored(
    make: Callable[[], Rule], n: int, cut: int, overlap: float
) -> None:
    keys, values = pairs(n, overlap=overlap)
    whole, parts = make(), make()
    whole.write(keys, values)
    for block in (slice(0, min(cut, n)), slice(min(cut, n), n)):
        if len(keys[block]):
            parts.write(keys[block], values[block])
    assert parts.read(keys) == pytest.approx(whole.read(keys), abs=2e-3)


@pytest.mark.parametrize("make", RULES)
def test_one_pair_comes_back(make: Callable[[], Rule]) -> None:
    keys, values = pairs(1)
    rule = make()
    rule.write(keys, values)
    assert unit_rows(rule.read(keys)) == pytest.approx(values, abs=1e-4)
    rule.clear()
    with pytest.raises(KOError):
        rule.read(keys)


@pytest.mark.parametrize(("decay", "rate"), [(0.99, 0.1), (1.0, 1.0), (0.5, 2.0)])
def test_linear_rule_is_equation_5(decay: float, rate: float) -> None:
    keys, values = pairs(30, overlap=1)
    matrix = np.zeros((values.shape[1], keys.shape[1]))
    for key, value in zip(keys, values, strict=True):
        matrix = decay * matrix + rate * np.outer(value, key)
    rule = LinearRule(decay=decay, rate=rate)
    rule.write(keys, values)
    assert rule.matrix == pytest.approx(matrix, abs=1e-4)
    assert rule.matrix.dtype == np.float32


@pytest.mark.parametrize(("decay", "rate"), [(1.0, 1.0), (0.95, 0.5)])
def test_delta_rule_is_its_sequential_form(decay: float, rate: float) -> None:
    keys, values = pairs(150, overlap=1)
    matrix = np.zeros((values.shape[1], keys.shape[1]))
    for key, value in zip(keys, values, strict=True):
        matrix = decay * matrix + rate * np.outer(value - matrix @ key, key)
    rule = DeltaRule(rate=rate, decay=decay)
    rule.write(keys, values)
    assert rule.matrix == pytest.approx(matrix, abs=1e-3)


def test_delta_rule_recalls_the_newest_pair_exactly() -> None:
    keys, values = pairs(100, overlap=3)
    rule = DeltaRule()
    rule.write(keys, values)
    assert rule.read(keys[-1:]) == pytest.approx(values[-1:], abs=1e-3)


def test_gated_rule_without_momentum_or_forgetting_is_the_delta_rule() -> None:
    keys, values = pairs(40, overlap=2)
    gated, delta = GatedRule(rate=0.7, momentum=0, forget=0), DeltaRule(rate=0.7)
    gated.write(keys, values)
    delta.write(keys, values)
    assert gated.read(keys) == pytest.approx(delta.read(keys), abs=1e-3)


def test_least_squares_is_ridge_regression() -> None:
    keys, values = pairs(90, overlap=2)
    rule = LeastSquaresRule(ridge=0.1)
    rule.write(keys, values)
    solution = np.linalg.solve(keys.T @ keys + 0.1 * np.eye(keys.shape[1]), keys.T @ values).T
    assert rule.matrix == pytest.approx(solution, abs=1e-3)


def test_hopfield_averages_at_beta_0_and_looks_up_at_large_beta() -> None:
    keys, values = pairs(30, overlap=2)
    average, look_up = HopfieldRule(beta=0), HopfieldRule(beta=1e4)
    for rule in (average, look_up):
        rule.write(keys, values)
    assert average.read(keys) == pytest.approx(np.tile(values.mean(axis=0), (30, 1)), abs=1e-5)
    assert look_up.read(keys) == pytest.approx(values, abs=1e-4)


def test_options_out_of_range_are_refused() -> None:
    for make in (
        lambda: LinearRule(decay=1.5),
        lambda: DeltaRule(rate=-1),
        lambda: GatedRule(momentum=2),
        lambda: HopfieldRule(beta=-1),
        lambda: LeastSquaresRule(ridge=0),
        lambda: LinearRule(rate=float("nan")),
        lambda: LinearRule(rate=float("inf")),
        lambda: HopfieldRule(beta=float("inf")),
        lambda: LinearRule(decay="x"),  # type: ignore[arg-type]
        lambda: HopfieldRule(beta=None),  # type: ignore[arg-type]
    ):
        with pytest.raises(KOError, match="expected"):
            make()


@pytest.mark.parametrize("make", RULES)
def test_what_does_not_fit_is_refused_and_changes_nothing(make: Callable[[], Rule]) -> None:
    keys, values = pairs(6)
    rule = make()
    rule.write(keys, values)
    before = rule.read(keys)
    for call in (
        lambda: rule.write(keys[:3], values[:2]),
        lambda: rule.write(keys[:, :4], values),
        lambda: rule.write(keys, values[:, :4]),
        lambda: rule.write(keys * np.float32("nan"), values),
        lambda: rule.write(keys[0], values[0]),
        lambda: rule.read(keys[:, :4]),
        lambda: rule.read(keys[0]),
    ):
        with pytest.raises(KOError, match=r"keys|values|queries"):
            call()
    assert np.array_equal(rule.read(keys), before)
    rule.write(keys[:0], values[:0])
    assert rule.read(keys) == pytest.approx(before)


@pytest.mark.parametrize("make", RULES)
def test_other_numbers_are_cast_to_float32(make: Callable[[], Rule]) -> None:
    keys, values = pairs(6)
    single, double, lists = make(), make(), make()
    single.write(keys, values)
    double.write(keys.astype(np.float64), values.astype(np.float64))
    lists.write(keys.tolist(), values.tolist())
    for rule in (double, lists):
        read = rule.read(keys.astype(np.float64))
        assert read.dtype == np.float32
        assert np.array_equal(read, single.read(keys))
    with pytest.raises(KOError, match="keys"):
        make().write([["a"]], [[1.0]])  # type: ignore[arg-type]

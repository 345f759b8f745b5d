"""Checked rows, length 1, and exact search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations.errors import InvalidInputError
from ko_integrations.testing.index_suite import unit_vectors
from ko_integrations.vectors import as_rows, normalize, top_k, unit_vector


@given(count=st.integers(0, 60), k=st.integers(0, 70), seed=st.integers(0, 1_000), repeats=st.integers(1, 3))
def test_top_k_is_a_full_sort_cut_short(count: int, k: int, seed: int, repeats: int) -> None:
    rows = np.tile(unit_vectors(count, seed=seed), (repeats, 1))
    query = unit_vectors(1, seed=seed + 1)[0]
    numbers, scores = top_k(rows, query, k)
    expected = np.argsort(-(rows @ query), kind="stable")[:k]
    assert numbers.tolist() == expected.tolist()
    assert scores.tolist() == (rows @ query)[expected].tolist()


@pytest.mark.parametrize("scale", [1e-38, 1e-20, 1.0, 1e20, 1e38])
def test_normalize_reaches_length_one_from_any_scale(scale: float) -> None:
    rows = np.array([[0.6, -0.8, 0.0], [0.0, 0.0, 0.0]], dtype=np.float32) * np.float32(scale)
    assert normalize(rows)[0] == pytest.approx([0.6, -0.8, 0.0], abs=1e-5)
    assert normalize(rows)[1].tolist() == [0.0, 0.0, 0.0]
    assert normalize(rows[:0]).shape == (0, 3)


@pytest.mark.parametrize(
    "vectors",
    [np.zeros(4), np.zeros((1, 3)), np.full((1, 2), np.nan), np.full((1, 2), -np.inf), np.zeros((2, 2))],
)
def test_rows_of_another_shape_name_the_field(vectors: np.ndarray) -> None:
    with pytest.raises(InvalidInputError, match=r"^vectors: "):
        as_rows(vectors, 1, 2)


def test_a_callers_vector_is_scaled_or_refused_by_name() -> None:
    assert unit_vector([3, 4], 2, "query").tolist() == pytest.approx([0.6, 0.8])
    assert unit_vector([3e38, 0], 2, "query").tolist() == [1.0, 0.0]
    assert unit_vector([0, 0], 2, "query").tolist() == [0.0, 0.0]
    for bad in ([1], ["x", 1], [float("inf"), 1], 5, [[1, 2]]):
        with pytest.raises(InvalidInputError, match=r"^query: "):
            unit_vector(bad, 2, "query")

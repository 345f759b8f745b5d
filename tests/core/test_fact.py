"""A fact takes vectors as embedders and Chroma give them."""

import numpy as np
import pytest

from ko_integrations import Fact


@pytest.mark.parametrize(
    "vector", [[0.5, 1.0], (0.5, 1.0), np.array([0.5, 1.0]), np.array([0.5, 1.0], dtype=np.float32)]
)
def test_a_vector_may_be_any_row_of_numbers(vector):
    assert list(Fact(subject="s", predicate="p", object="o", vector=vector).vector) == [0.5, 1.0]

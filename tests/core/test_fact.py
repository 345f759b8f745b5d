"""What callers make themselves: facts with vectors as embedders and Chroma give them, and what is refused."""

import numpy as np
import pytest

from ko_integrations import Fact
from ko_integrations.errors import InvalidInputError
from ko_integrations.protocols import Compilation, Extraction
from ko_integrations.types import Quantity


@pytest.mark.parametrize(
    "vector", [[0.5, 1.0], (0.5, 1.0), np.array([0.5, 1.0]), np.array([0.5, 1.0], dtype=np.float32)]
)
def test_a_vector_may_be_any_row_of_numbers(vector):
    assert list(Fact(subject="s", predicate="p", object="o", vector=vector).vector) == [0.5, 1.0]


@pytest.mark.parametrize(
    ("make", "field", "reason"),
    [
        (lambda: Fact(subject="s"), "predicate", "required"),
        (lambda: Fact(subject="s", predicate="p", object=1, confidence="0.5"), "confidence", "number"),
        (lambda: Quantity("many", "cm"), "value", "number"),
        (lambda: Quantity(float("nan"), "cm"), "value", "finite"),
        (lambda: Quantity(3, " "), "unit", "a unit is a non-blank string"),
        (lambda: Extraction(subject="s"), "predicate", "required"),
        (lambda: Extraction(subject="s", predicate="p", kind="erase"), "kind", "'assert' or 'retract'"),
        (lambda: Compilation(facts=()), "facts", "not permitted"),
    ],
)
def test_what_callers_make_is_refused_by_field(make, field, reason):
    with pytest.raises(InvalidInputError) as raised:
        make()
    assert raised.value.field == field
    assert reason in raised.value.reason
    assert "Value error" not in raised.value.reason

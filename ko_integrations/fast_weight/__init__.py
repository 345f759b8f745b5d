"""Fast-weight memories: facts superposed in shared weights, to compare with discrete addresses.

The linear associative memory of the main paper (section 4.1) and its kin, behind the same search call as
the store, and measures of how crowded a set of keys is (section 3).
"""

from ko_integrations.fast_weight.geometry import (
    Interference,
    classical_hopfield_capacity,
    collapse_estimate,
    density_spread,
    expected_interference,
    interference,
    johnson_lindenstrauss_capacity,
    semantic_density,
)
from ko_integrations.fast_weight.memory import FastWeightMemory, nearest_values, question_form
from ko_integrations.fast_weight.rules import (
    DeltaRule,
    GatedRule,
    HopfieldRule,
    LeastSquaresRule,
    LinearRule,
    Rule,
)

__all__ = [
    "DeltaRule",
    "FastWeightMemory",
    "GatedRule",
    "HopfieldRule",
    "Interference",
    "LeastSquaresRule",
    "LinearRule",
    "Rule",
    "classical_hopfield_capacity",
    "collapse_estimate",
    "density_spread",
    "expected_interference",
    "interference",
    "johnson_lindenstrauss_capacity",
    "nearest_values",
    "question_form",
    "semantic_density",
]

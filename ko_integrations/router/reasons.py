"""A decision and its reasons, from whatever classifier made it."""

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any, Final, cast

from ko_integrations.router.cues import QUESTION
from ko_integrations.router.datasets import Label
from ko_integrations.router.surface import SURFACE_FEATURES, surface_features

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["RouteDecision", "Weighed", "decide", "default_reasons", "log_odds", "surface_reasons"]

Weighed = tuple[float, str]
"""A share of the log-odds of "factual", and the name of what it comes from."""

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """Where a query goes.

    Attributes:
        label: "factual" (ask the store) or "fuzzy" (ask the model).
        probability: of that label, 0.5 to 1.
        why: the few features that weighed most, with their share of the log-odds.
    """

    label: Label
    probability: float
    why: str


def log_odds(model: Any, rows: Any) -> "NDArray[np.float64]":
    """Return the log-odds of "factual" by whatever classifier."""
    import numpy as np

    if hasattr(model, "decision_function"):
        odds: NDArray[np.float64] = np.asarray(model.decision_function(rows))
        # Classes are in alphabetic order, so scores speak for "fuzzy".
        return -odds
    chance = np.clip(model.predict_proba(rows)[:, list(model.classes_).index("factual")], 1e-6, 1 - 1e-6)
    return cast("NDArray[np.float64]", np.log(chance / (1 - chance)))


def decide(odds: float, reasons: list[Weighed]) -> RouteDecision:
    """Return the decision; of the reasons, those that speak for it come first."""
    label: Label = "factual" if odds > 0 else "fuzzy"
    ordered = sorted(reasons, key=lambda reason: ((reason[0] > 0) != (odds > 0), -abs(reason[0])))
    why = [
        f"{name} ({'factual' if weight > 0 else 'fuzzy'} {abs(weight):.1f})"
        for weight, name in ordered[:_SHOWN]
        if abs(weight) >= 0.05
    ]
    probability = 1.0 / (1.0 + exp(-min(abs(odds), 500.0)))
    return RouteDecision(label, probability, "; ".join(why) or "the query as a whole")


def default_reasons(model: Any, query: str) -> list[Weighed]:
    """Return what each cue, with the words beside it, and each run of words adds to the log-odds.

    Pairs of cues and runs of letters are left out: their names would explain nothing.
    """
    from ko_integrations.router.features import column_of, context_of, see

    seen = see(query)
    if hasattr(model, "part_for"):
        model = model.part_for(QUESTION in seen.named)
    if not hasattr(model, "coef_"):
        return []
    coefficients = model.coef_[0]  # of "fuzzy"
    beside = {
        cue: float(coefficients[columns].sum()) * value for cue, (columns, value) in context_of(seen).items()
    }
    return [
        (-float(coefficients[column_of(name)]) * value - beside.get(name, 0.0), _readable(name))
        for name, value in seen.named.items()
        if ", " not in name
    ]


def _readable(name: str) -> str:
    """Return the name of a feature as `why` shows it."""
    if not name.startswith("word "):
        return name
    words = name.removeprefix("word ")
    if words.startswith("^ "):
        return f"opens '{words[2:]}'"
    return f"ends '{words[:-2]}'" if words.endswith(" $") else f"'{words}'"


def surface_reasons(pipeline: Any, query: str) -> list[Weighed]:
    """Return by how much the log-odds fall without each surface feature: this holds for any classifier."""
    import numpy as np

    row = np.array([surface_features(query)])
    present = np.flatnonzero(row[0])
    without = np.repeat(row, len(present) + 1, axis=0)
    without[np.arange(len(present)), present] = 0.0
    odds = log_odds(pipeline[1:], without)
    return [
        (float(odds[-1] - odds[number]), SURFACE_FEATURES[column]) for number, column in enumerate(present)
    ]

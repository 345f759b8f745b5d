"""Which way a question goes: to the facts, or to the model alone. Any router's word, as one of two labels."""

from collections.abc import Mapping
from typing import Any, Literal

from ko_integrations.errors import InvalidInputError
from ko_integrations.types import Answer

__all__ = ["SURE", "Label", "is_sure", "label_of", "routed_by"]

Label = Literal["factual", "fuzzy"]

SURE = 0.5
"""The confidence of `ask` from which a question is called factual where no router was given."""


def is_sure(answer: Answer) -> bool:
    """Tell whether `ask` found an answer that it vouches for: what a factual question has."""
    return answer.value is not None and answer.confidence >= SURE


def routed_by(router: Any, question: str) -> Label:
    """Return what a router (a callable, or an object with `classify`) says of a question.

    Raises:
        InvalidInputError: it says neither `factual` nor `fuzzy`.
    """
    return label_of((router.classify if hasattr(router, "classify") else router)(question))


def label_of(decision: Any) -> Label:
    """Return the label in whatever a router said: a string, a bool (factual), something with a `label`.

    Raises:
        InvalidInputError: there is none.
    """
    if isinstance(decision, Mapping):
        decision = decision.get("label")
    decision = getattr(decision, "label", decision)
    if isinstance(decision, bool):
        return "factual" if decision else "fuzzy"
    text = str(getattr(decision, "content", decision)).strip().lower()
    if text not in ("factual", "fuzzy"):
        raise InvalidInputError("router", f"expected 'factual' or 'fuzzy', got {text!r}")
    return "factual" if text == "factual" else "fuzzy"

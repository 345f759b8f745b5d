"""Which way a question goes: to the facts, or to the model alone. Any router's word, as one of two labels."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from ko_integrations.errors import InvalidInputError
from ko_integrations.router import RouteDecision
from ko_integrations.types import Answer

__all__ = ["SURE", "Label", "classifier_of", "is_sure", "label_of", "routed_by"]

Label = Literal["factual", "fuzzy"]

SURE = 0.5
"""The confidence of `ask` from which a question is called factual where no router was given."""


def is_sure(answer: Answer) -> bool:
    """Tell whether `ask` found an answer that it vouches for: what a factual question has."""
    return answer.value is not None and answer.confidence >= SURE


def classifier_of(router: Any) -> Callable[[str], Any]:
    """Return what a router is asked with: its `classify`, its `invoke` (LangChain's Runnables), or the callable itself.

    Raises:
        InvalidInputError: it has none of them.
    """
    # Of a class the methods could be found, but not called.
    if not isinstance(router, type):
        asked: tuple[Callable[[str], Any] | None, ...]
        asked = (getattr(router, "classify", None), getattr(router, "invoke", None), router)
        for call in asked:
            if callable(call):
                return call
    raise InvalidInputError(
        "router", f"expected an object with `classify`, a Runnable or a callable, got {router!r}"
    )


def routed_by(router: Any, question: str) -> RouteDecision:
    """Return what a router says of a question; probability 1 where it gives none.

    Raises:
        InvalidInputError: it is no router, or says neither `factual` nor `fuzzy`.
    """
    said = classifier_of(router)(question)
    return RouteDecision(
        label=label_of(said),
        probability=float(getattr(said, "probability", 1.0)),
        why=str(getattr(said, "why", "router")),
    )


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

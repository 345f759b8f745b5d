"""`create_ko_router`: the learned router, or any other, as a Runnable."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda

from ko_integrations.errors import InvalidInputError
from ko_integrations.memory.routing import classifier_of, routed_by
from ko_integrations.router import RouteDecision, Router

__all__ = ["create_ko_router", "question_of"]


def create_ko_router(router: Any = None) -> Runnable[str | Mapping[str, Any], RouteDecision]:
    """Return a Runnable from a question (a string, or `{"question": ...}`) to where it goes, how surely, and why.

    It goes into chains of one's own (`RunnableBranch`), and as `router=` into `create_ko_chain` and
    `KOMemoryMiddleware`, where it is then a run of its own in callbacks and traces.

    Args:
        router: what `create_ko_chain` takes as one. Default: the learned `Router()`.

    Raises:
        InvalidInputError: `router` is none.

    Example:
        >>> create_ko_router().invoke("Tell me Bob's email").label
        'factual'
    """
    chosen = Router() if router is None else router
    classifier_of(chosen)

    def decide(given: str | Mapping[str, Any]) -> RouteDecision:
        return routed_by(chosen, question_of(given))

    return RunnableLambda(decide, name="ko_router")


def question_of(given: str | Mapping[str, Any]) -> str:
    """Return the question in what a chain is invoked with.

    Raises:
        InvalidInputError: there is none.
    """
    question = given.get("question") if isinstance(given, Mapping) else given
    if not isinstance(question, str) or not question.strip():
        raise InvalidInputError("question", "expected a string, or a mapping with one under 'question'")
    return question

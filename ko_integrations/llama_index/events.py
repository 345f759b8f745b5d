"""Instrumentation events: what was superseded, and by which route a question was answered."""

from collections.abc import Iterable

from llama_index.core.instrumentation.events import BaseEvent
from llama_index_instrumentation import get_dispatcher

from ko_integrations.types import KnowledgeObject, WriteResult

__all__ = ["FactRetracted", "FactWritten", "QuestionRouted", "dispatcher", "emit_retracted", "emit_writes"]

dispatcher = get_dispatcher("ko_integrations.llama_index")


class FactWritten(BaseEvent):
    """A fact was stated: `outcome` is `created`, `superseded`, `confirmed` or `backdated`."""

    outcome: str
    slot: str
    reference: str
    previous: str | None

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the event."""
        return "FactWritten"


class FactRetracted(BaseEvent):
    """A fact was ended, or withdrawn with its source."""

    slot: str

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the event."""
        return "FactRetracted"


class QuestionRouted(BaseEvent):
    """A question went a route (`exact`, `temporal`, `multi_hop`, `semantic`, `abstain`, or a selector's)."""

    question: str
    route: str
    probability: float
    references: list[str]

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the event."""
        return "QuestionRouted"


def emit_writes(results: Iterable[WriteResult]) -> None:
    """Emit an event for each stored statement."""
    for result in results:
        if result.ko is not None:
            previous = None if result.previous is None else result.previous.reference
            dispatcher.event(
                FactWritten(
                    outcome=result.outcome,
                    slot=result.ko.id,
                    reference=result.ko.reference,
                    previous=previous,
                )
            )


def emit_retracted(ended: Iterable[KnowledgeObject | str]) -> None:
    """Emit an event for each fact that ended, or slot (by id) that a source no longer asserts."""
    for each in ended:
        dispatcher.event(FactRetracted(slot=each if isinstance(each, str) else each.id))

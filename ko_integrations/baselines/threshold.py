"""The static similarity threshold that the learned router replaces (main paper, section 4.3.2)."""

from typing import Protocol

from ko_integrations.errors import InvalidInputError
from ko_integrations.router import RouteDecision
from ko_integrations.types import Hit

__all__ = ["SearchMemory", "StaticThreshold"]


class SearchMemory(Protocol):
    """Anything searched as the store is: the store, a fast-weight memory, a baseline."""

    def read(self, query: str, k: int = 5) -> list[Hit]:
        """Return ranked hits."""
        ...


class StaticThreshold:
    """Call a query factual when the best hit's similarity reaches `tau`, fuzzy otherwise.

    It is used as a router is. The cosine between a question and its fact says how alike their wording is, not
    whether the question asks for a fact; the experiment `router` shows what that costs.
    """

    def __init__(self, memory: SearchMemory, *, tau: float = 0.75) -> None:
        """Route over `memory`.

        Raises:
            InvalidInputError: `tau` is not a cosine.
        """
        if not -1 <= tau <= 1:
            raise InvalidInputError("tau", f"expected -1 to 1, got {tau}")
        self.memory = memory
        self.tau = tau

    def classify(self, query: str) -> RouteDecision:
        """Return the route; `probability` is 1, as a threshold gives none."""
        hits = self.memory.read(query, k=1)
        best = hits[0].score if hits else -1.0
        why = f"best similarity {best:.2f}, tau {self.tau}"
        return RouteDecision(label="factual" if best >= self.tau else "fuzzy", probability=1.0, why=why)

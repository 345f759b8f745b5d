"""What a prompt costs: tokens, prices, and the paper's cost model (main paper, section 5.6)."""

from dataclasses import dataclass
from math import isfinite

from ko_integrations.errors import InvalidInputError

__all__ = ["CostModel", "Prices", "Usage"]


def _check(figures: object, *names: str) -> None:
    for name in names:
        value = getattr(figures, name)
        if not (isfinite(value) and value >= 0):
            raise InvalidInputError(name, f"expected a finite number from 0 on, got {value}")


@dataclass(frozen=True)
class Prices:
    """Dollars for a million tokens. The defaults are those of the paper (section 5.6).

    Raises:
        InvalidInputError: a price is negative, NaN or infinite.
    """

    input: float = 3.0
    output: float = 15.0

    def __post_init__(self) -> None:
        _check(self, "input", "output")


@dataclass(frozen=True)
class Usage:
    """Tokens of one or several calls."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)

    def cost(self, prices: Prices = Prices()) -> float:
        """Return dollars."""
        return (self.input_tokens * prices.input + self.output_tokens * prices.output) / 1e6


@dataclass(frozen=True)
class CostModel:
    """Tokens and dollars of a query, with every fact in the prompt or only the k retrieved ones (tables 7, 9, 10).

    Attributes:
        tokens_per_fact: 13 in table 7, 25 reproduces tables 9 and 10.
        k: facts that selective retrieval puts in the prompt.
        system_tokens: fixed prompt around the facts.
        question_tokens: the question itself.
        output_tokens: of an answer.
        days: in a month.

    Raises:
        InvalidInputError: one of them is negative, NaN or infinite.

    Example:
        >>> round(CostModel().monthly(1_000, 100))
        120
    """

    tokens_per_fact: float = 13
    k: int = 10
    system_tokens: int = 100
    question_tokens: int = 20
    output_tokens: int = 50
    days: int = 30
    prices: Prices = Prices()

    def __post_init__(self) -> None:
        _check(self, "tokens_per_fact", "k", "system_tokens", "question_tokens", "output_tokens", "days")

    def context_usage(self, n: int) -> Usage:
        """Return the tokens of one query with all `n` facts in the prompt."""
        return self._usage(n)

    def retrieval_usage(self, n: int) -> Usage:
        """Return the tokens of one query with the k nearest of `n` facts in the prompt."""
        return self._usage(min(n, self.k))

    def monthly(self, n: int, queries_per_day: float, *, retrieval: bool = False) -> float:
        """Return dollars a month."""
        usage = self.retrieval_usage(n) if retrieval else self.context_usage(n)
        return usage.cost(self.prices) * queries_per_day * self.days

    def _usage(self, facts: int) -> Usage:
        prompt = self.system_tokens + round(facts * self.tokens_per_fact) + self.question_tokens
        return Usage(prompt, self.output_tokens)

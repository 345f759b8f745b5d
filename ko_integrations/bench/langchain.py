"""`ko bench langchain`: what the memory middleware adds to a turn of an agent, beside the bare agent.

The model answers at once, so that everything else shows. The bare agent does the same turn without memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from ko_integrations.bench.measure import side_by_side
from ko_integrations.bench.report import Figure, Report
from ko_integrations.embeddings import HashingEmbedder, SentenceTransformerEmbedder
from ko_integrations.errors import MissingExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ko_integrations.protocols import Embedder
    from ko_integrations.store import KnowledgeStore

__all__ = ["run"]

FACTS = 1_000
SHORT, LONG, LONGER = 2, 50, 200
ROUNDS = 7


@dataclass
class _Counting:
    """An embedder that counts the calls that reach it."""

    inner: "Embedder"
    calls: int = 0

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        self.calls += 1
        return self.inner.encode(texts)


class _Counted:
    """A turn that notes the most encoder calls it made."""

    def __init__(self, turn: Callable[[int], None], embedder: _Counting) -> None:
        self._turn, self._embedder, self.most = turn, embedder, 0

    def __call__(self, number: int) -> None:
        before = self._embedder.calls
        self._turn(number)
        self.most = max(self.most, self._embedder.calls - before)


def run() -> Report:
    """Measure turns of threads of 2, 50 and 200 messages over a memory of 1,000 facts."""
    from ko_integrations.langchain import KOMemoryMiddleware
    from ko_integrations.store import KnowledgeStore

    embedder, named = _embedder()
    figures: list[Figure] = []
    with KnowledgeStore.open(":memory:", embedder=embedder) as store:
        _fill(store)
        bare, remembering = _agent(()), _agent([KOMemoryMiddleware(store)])
        _turn(remembering, SHORT)(-1)  # what is stored is encoded once, in the first turn
        turns = {n: _Counted(_turn(remembering, n), embedder) for n in (SHORT, LONG, LONGER)}
        for length, turn in turns.items():
            ratio = side_by_side(turn, _turn(bare, length), rounds=ROUNDS, calls=5)
            name = f"of a thread of {length} messages"
            figures.append(Figure(f"turn {name}, to the bare agent", ratio.ratio, note=ratio.note()))
            figures.append(
                Figure(f"encoder calls of a turn {name}", turn.most, 2, unit="calls", note="the most")
            )
        growth = side_by_side(turns[LONGER], turns[LONG], rounds=ROUNDS, calls=5)
        name = f"turn with memory, {LONGER} messages to {LONG}"
        figures.append(Figure(name, growth.ratio, 1.25, note=growth.note()))
    return Report("langchain", figures, {"facts": FACTS, "embedder": named, "rounds": ROUNDS})


def _embedder() -> tuple[_Counting, str]:
    embedder: Embedder = SentenceTransformerEmbedder()
    try:
        embedder.encode(["warm up"])
    except MissingExtraError:
        embedder = HashingEmbedder()
    return _Counting(embedder), embedder.model_id


def _fill(store: "KnowledgeStore") -> None:
    from ko_integrations.types import Fact

    store.update_many(Fact(subject=f"person {n}", predicate="city", object=f"town {n}") for n in range(FACTS))
    store.update("user", "city", "Basel")
    store.drain()


def _agent(middleware: Sequence[Any]) -> Any:
    from langchain.agents import create_agent
    from langchain_core.language_models import FakeListChatModel

    class Instant(FakeListChatModel):
        """Answers at once; an agent with tools binds them and never calls one."""

        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

    return create_agent(Instant(responses=["Noted."]), middleware=middleware)


def _turn(agent: Any, length: int) -> Callable[[int], None]:
    """Return a turn: the last of `length` messages states something new."""
    from langchain_core.messages import AIMessage, HumanMessage

    towns = count(1_000_000 * length)  # another one each time: a new statement, and nothing cached helps
    older = [(HumanMessage, AIMessage)[n % 2](f"message {n}") for n in range(length - 1 - (length - 1) % 2)]

    def turn(_: int) -> None:
        text = f"I live in Town {next(towns)}. Where does person 7 live?"
        agent.invoke({"messages": [*older, HumanMessage(text)]})

    return turn

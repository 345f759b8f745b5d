"""What a system must do to be measured, and which systems are."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from ko_integrations.bench.rivals.workload import Slot, Statement
from ko_integrations.protocols import Embedder

__all__ = ["TOP", "AnswersItself", "Contestant", "KeepsHistory", "ReadsThePast"]

TOP = 5


class Contestant(ABC):
    """One system, through its own public API, as its documentation shows.

    What it offers besides storing and finding it says by the classes it also derives from (`AnswersItself`,
    `KeepsHistory`, `ReadsThePast`) and by the attributes below; what it does not offer is not measured.

    Attributes:
        name: as it stands in the table.
        distribution: the PyPI package whose version is reported.
        abstains: whether it claims to find nothing where nothing answers.
        on_disk: whether it keeps files, in which what was erased may be left.
    """

    name: ClassVar[str]
    distribution: ClassVar[str]
    abstains: ClassVar[bool] = False
    on_disk: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, folder: Path, embedder: Embedder) -> None:
        """Open it, empty, with all its files in `folder`."""

    @abstractmethod
    def write(self, statement: Statement) -> None:
        """Store one statement. Timed."""

    def settle(self) -> None:  # noqa: B027 - most leave nothing for later
        """Do what writing left for later. Timed, and added to the cost of writing."""

    @abstractmethod
    def search(self, tenant: str, question: str) -> list[str]:
        """Return the texts of the best five results, best first. Timed, unless it answers itself."""

    @abstractmethod
    def erase(self, slot: Slot) -> None:
        """Delete every value of a slot, as thoroughly as the system offers."""

    def close(self) -> None:  # noqa: B027 - some hold nothing
        """Release its files."""


class AnswersItself(ABC):
    """Offers answers; for one that does not, the top result of its search stands."""

    @abstractmethod
    def answer(self, tenant: str, question: str) -> str | None:
        """Return the answer as a text, None when it abstains. Timed."""

    @abstractmethod
    def members(self, tenant: str, question: str) -> Sequence[str]:
        """Return texts that state the members asked for."""


class KeepsHistory(ABC):
    """Offers the history of a slot."""

    @abstractmethod
    def history(self, slot: Slot) -> list[str]:
        """Return the values of a slot by event time, oldest first."""


class ReadsThePast(ABC):
    """Offers reads of a moment."""

    @abstractmethod
    def as_of(self, slot: Slot, moment: datetime) -> list[str]:
        """Return the values that held at a moment of event time."""

"""What a system must do to be measured, and which systems are."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from ko_integrations.bench.rivals.workload import Slot, Statement
from ko_integrations.protocols import Embedder

__all__ = ["ABSTAIN", "ANSWER", "AS_OF", "DISK", "HISTORY", "TOP", "Contestant"]

TOP = 5
ANSWER, HISTORY, AS_OF, ABSTAIN, DISK = "answer", "history", "as of", "abstain", "disk"


class Contestant(ABC):
    """One system, through its own public API, as its documentation shows.

    Attributes:
        name: as it stands in the table.
        distribution: the PyPI package whose version is reported.
        offers: what it claims to do, besides storing and finding; what it does not is not measured. For one
            that does not answer itself (`ANSWER`) the top result stands.
    """

    name: ClassVar[str]
    distribution: ClassVar[str]
    offers: ClassVar[frozenset[str]] = frozenset()

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

    def answer(self, tenant: str, question: str) -> str | None:
        """Return the answer as a text, None when it abstains. Only if it answers itself. Timed."""
        raise NotImplementedError

    def members(self, tenant: str, question: str) -> Sequence[str]:
        """Return texts that state the members asked for. Only if it answers itself."""
        raise NotImplementedError

    def history(self, slot: Slot) -> list[str]:
        """Return the values of a slot by event time, oldest first. Only if it offers a history."""
        raise NotImplementedError

    def as_of(self, slot: Slot, moment: datetime) -> list[str]:
        """Return the values that held at a moment of event time. Only if it offers reads of the past."""
        raise NotImplementedError

    @abstractmethod
    def erase(self, slot: Slot) -> None:
        """Delete every value of a slot, as thoroughly as the system offers."""

    def close(self) -> None:  # noqa: B027 - some hold nothing
        """Release its files."""

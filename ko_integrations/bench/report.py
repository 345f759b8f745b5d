"""What a measurement reports: figures beside their targets, as a table and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from ko_integrations.machine import circumstances

__all__ = ["Figure", "Report"]


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        name: what was measured, in words.
        value: the figure; None when it could not be measured, and then `note` says why.
        target: what it is held to, or None for a figure that is only reported.
        sense: whether the target is the most or the least it may be.
        unit: of value and target, e.g. "x" for a ratio.
        note: how it came about: sizes, spread, what a miss would take to mend.
    """

    name: str
    value: float | None
    target: float | None = None
    sense: Literal["at most", "at least"] = "at most"
    unit: str = "x"
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the target holds; a figure without a target always does, an unmeasured one never."""
        if self.target is None:
            return True
        if self.value is None:
            return False
        return self.value <= self.target if self.sense == "at most" else self.value >= self.target


@dataclass(frozen=True)
class Report:
    """The figures of one measurement and the settings they were measured with."""

    name: str
    figures: Sequence[Figure]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every target holds."""
        return all(figure.ok for figure in self.figures)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, machine, versions and date included."""
        figures = [{**asdict(figure), "ok": figure.ok} for figure in self.figures]
        return {
            "name": self.name,
            "ok": self.ok,
            "figures": figures,
            "settings": self.settings,
            "machine": circumstances(),
        }

    def write_json(self, file: str | Path) -> None:
        """Write `to_dict` as JSON."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=str)
        Path(file).write_text(text + "\n", encoding="utf-8")

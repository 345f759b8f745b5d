"""What an experiment reports: our figures beside the paper's, the corpora, and why they differ."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ko_integrations.machine import circumstances

__all__ = ["Card", "Cell", "Finding", "Report", "Stat", "Table", "cell_text", "listed", "stat"]


@dataclass(frozen=True)
class Stat:
    """Mean and standard deviation over trials."""

    mean: float
    deviation: float
    trials: int

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.deviation:.1f}"


def stat(values: Iterable[float]) -> Stat:
    """Return mean and population deviation of one figure a trial."""
    figures = np.fromiter(values, dtype=np.float64)
    return Stat(float(figures.mean()), float(figures.std()), len(figures))


Cell = str | int | float | Stat | None


@dataclass(frozen=True)
class Table:
    """Rows of figures. A cell that is None was not measured, or the paper gives none."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Card:
    """What a figure was measured on, published with it; `density` is rho of its keys (main paper, eq. 3)."""

    name: str
    keys: str
    values: str
    facts: int
    density: float
    example: str

    @property
    def short(self) -> str:
        """Return corpus, values and rho in one line."""
        return f"{self.name}, values {self.values}, ρ = {self.density:.2f}"


@dataclass(frozen=True)
class Finding:
    """One line of the results: a question, our figure, the paper's, and what must hold.

    Attributes:
        question: what was measured.
        ours: our figure, as it is printed.
        paper: the paper's, "" where it has none.
        target: what must hold, "" where the figure is only reported.
        holds: whether it does; of no account without a target; None where there is no verdict.
        unlike: why there is none: how the run differs from what the target is made for.
    """

    question: str
    ours: str
    paper: str = ""
    target: str = ""
    holds: bool | None = True
    unlike: str = ""

    def unless(self, unlike: str) -> "Finding":
        """Return the finding without a verdict if its target is not made for this run.

        >>> Finding("bill", "0", "120", "within 2 %").unless("other prices than the paper's").holds
        """
        return replace(self, holds=None, unlike=unlike) if self.target and unlike else self

    @property
    def missed(self) -> bool:
        """Whether the target is made for this run and does not hold."""
        return self.holds is not None and not self.holds


@dataclass(frozen=True)
class Report:
    """One experiment.

    Attributes:
        name: as given to `run`.
        title: one line.
        source: where the paper has it.
        findings: what the results page says of it.
        tables: figures; the first is the one that answers the paper's table.
        notes: where ours and the paper's differ, and why; each a sentence or two.
        corpora: what was measured on.
        settings: seeds, embedder and other parameters.
        figure: file name of the plot, beside the JSON.
        seconds: how long it took.
    """

    name: str
    title: str
    source: str
    findings: Sequence[Finding]
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    corpora: Sequence[Card] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    figure: str | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether no target is missed; those not made for the options of the run say nothing."""
        return not any(finding.missed for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, machine, versions and date included."""
        tables = [
            {"title": t.title, "columns": list(t.columns), "rows": [list(map(_plain, row)) for row in t.rows]}
            for t in self.tables
        ]
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "ok": self.ok,
            "findings": [asdict(finding) for finding in self.findings],
            "tables": tables,
            "notes": list(self.notes),
            "corpora": [{**asdict(card), "short": card.short} for card in self.corpora],
            "settings": self.settings,
            "figure": self.figure,
            "seconds": round(self.seconds, 1),
            "machine": circumstances(),
        }

    def write_json(self, file: str | Path) -> None:
        """Write `to_dict` as JSON."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        Path(file).write_text(text + "\n", encoding="utf-8")


def _plain(cell: Cell) -> Any:
    if isinstance(cell, Stat):
        return {"mean": round(cell.mean, 3), "deviation": round(cell.deviation, 3), "trials": cell.trials}
    if isinstance(cell, float):
        return round(cell, 4) if math.isfinite(cell) else None
    return cell


def cell_text(cell: Any) -> str:
    """Return a cell as it is printed, also one that was read back from JSON.

    >>> [cell_text(cell) for cell in (None, "x", 1_234, 0.0, 2.50, 0.034, 98.72, {"mean": 1, "deviation": 0.5})]
    ['-', 'x', '1,234', '0', '2.5', '0.034', '98.7', '1.0 ± 0.5']
    """
    if cell is None:
        return "-"
    if isinstance(cell, dict):
        return f"{cell['mean']:.1f} ± {cell['deviation']:.1f}"
    if isinstance(cell, float):
        digits = 1 if abs(cell) >= 10 else 2 if abs(cell) >= 1 else 3
        text = f"{cell:,.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def listed(cells: Iterable[Cell], unit: str = "%") -> str:
    """Return figures in a row, means without their deviations, with the unit at the end.

    >>> listed([Stat(43.5, 5.3, 5), 2.0])
    '43.5, 2 %'
    """
    figures = (round(cell.mean, 1) if isinstance(cell, Stat) else cell for cell in cells)
    return f"{', '.join(map(cell_text, figures))} {unit}".rstrip()

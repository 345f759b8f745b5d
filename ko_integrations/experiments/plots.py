"""Figures with one look: red for superposed weights, green for the store, grey for the paper."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure  # not pyplot: no display is asked for, no global state changes

__all__ = ["DISCRETE", "NEURAL", "PAPER", "figure"]

NEURAL, DISCRETE, PAPER = "#c0392b", "#1e8449", "#566573"

_STYLE: dict[Any, Any] = {
    "figure.dpi": 120,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 10,
    "legend.frameon": False,
}


@contextmanager
def figure(file: Path, *, columns: int = 1, width: float = 6.4, height: float = 4.2) -> Iterator[Any]:
    """Yield the axes (a list of them for several columns) of a figure; save it as `file` on leaving."""
    with rc_context(_STYLE):
        canvas = Figure(figsize=(width * columns, height), layout="constrained")
        yield canvas.subplots(1, columns)
        canvas.savefig(file, metadata={"Software": None})

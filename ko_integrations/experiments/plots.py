"""Figures with one look: red for superposed weights, green for the store, grey for the paper."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure  # not pyplot: no display is asked for, no global state changes

from ko_integrations.experiments.report import Stat

__all__ = ["DISCRETE", "NEURAL", "PAPER", "bars", "figure", "shades"]

NEURAL, DISCRETE, PAPER = "#c0392b", "#1e8449", "#566573"

_STYLE: dict[Any, Any] = {
    "figure.dpi": 110,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.25,
    "font.size": 10,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "ko",  # the same figures give the same file
}


@contextmanager
def figure(
    file: Path, caption: str = "", *, columns: int = 1, width: float = 6.4, height: float = 4.2
) -> Iterator[Any]:
    """Yield the axes (a list of them for several columns) of a figure; save it as `file` on leaving.

    `caption` stands below it: the corpus, its values and rho.
    """
    with rc_context(_STYLE):
        canvas = Figure(figsize=(width * columns, height), layout="constrained")
        yield canvas.subplots(1, columns)
        if caption:
            canvas.supxlabel(caption, fontsize=8, color=PAPER)
        canvas.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def shades(color: str, count: int) -> list[Any]:
    """Return `count` shades of a colour, the full one first."""
    from matplotlib.colors import to_rgb

    return [
        tuple(1 - (1 - part) * (1 - 0.7 * i / max(count, 2)) for part in to_rgb(color)) for i in range(count)
    ]


def bars(axes: Any, groups: Sequence[str], series: Mapping[str, Sequence[Stat | float | None]]) -> None:
    """Draw percentages in groups, a bar a series in each; None, what was not measured, leaves its place empty.

    Series that begin with KO are green, those of the paper grey, others red. Deviations are drawn where there are any.
    """
    kinds = {
        name: DISCRETE if name.startswith("KO") else PAPER if "paper" in name else NEURAL for name in series
    }
    width = 0.84 / len(series)
    for i, (name, heights) in enumerate(series.items()):
        alike = [other for other, color in kinds.items() if color == kinds[name]]
        color = shades(kinds[name], len(alike))[alike.index(name)]
        shown = [(j, h) for j, h in enumerate(heights) if h is not None]
        means = [h.mean if isinstance(h, Stat) else h for _, h in shown]
        errors = [h.deviation if isinstance(h, Stat) else 0.0 for _, h in shown]
        at = [j + (i + 0.5) * width - 0.42 for j, _ in shown]
        axes.bar(at, means, width * 0.92, color=color, label=name)
        for x, mean, error in zip(at, means, errors, strict=True):
            if error:
                axes.errorbar(x, mean, yerr=error, ecolor="black", elinewidth=0.8, capsize=2)
            axes.text(x, mean + error + 1.5, f"{mean:.0f}", ha="center", fontsize=7)
    axes.set_xticks(range(len(groups)), groups)
    axes.set(ylabel="%", ylim=(0, 115))
    axes.set_yticks(range(0, 101, 20))
    axes.grid(axis="x", visible=False)
    axes.figure.legend(
        *axes.get_legend_handles_labels(), loc="outside upper center", ncols=min(4, len(series))
    )

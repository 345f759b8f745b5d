"""Semantic density against collapse: N50 by rho (main paper, section 5.1, figure 5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ko_integrations.errors import InvalidInputError
from ko_integrations.experiments.corpora import CORPORA, OWN, VALUES, Corpus, read_corpus
from ko_integrations.experiments.lab import Lab
from ko_integrations.experiments.plots import NEURAL, PAPER, figure
from ko_integrations.experiments.report import Finding, Report, Table, stat
from ko_integrations.fast_weight import (
    LinearRule,
    classical_hopfield_capacity,
    collapse_estimate,
    density_spread,
    johnson_lindenstrauss_capacity,
    semantic_density,
)

__all__ = ["half_point", "run"]

SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 100)
_PARTS = 15
_FEWEST = 3
"""Facts from which the densities and the estimate are taken, at least."""
PAPER_POINTS = ((0.34, 20.0), (0.60, 5.0))
_COLORS = {
    "Value_NNN": NEURAL,
    "four-digit numbers": "#7d3c98",
    "ordinary words": "#2471a3",
    OWN: "black",
}


@dataclass(frozen=True)
class _Point:
    """One corpus; `bound` is ">" or "<" where N50 lies beyond the sizes measured, and no fit uses it then."""

    corpus: Corpus
    density: float
    spread: float
    n50: float
    deviation: float
    estimate: float
    bound: str = ""


def half_point(sizes: Sequence[int], accuracy: Sequence[float], level: float = 50.0) -> float:
    """Return the N at which accuracy first falls below `level`, interpolated in log N; infinity if never.

    >>> half_point([1, 10], [100.0, 0.0])
    3.1622776601683795
    """
    for i, (n, figure_) in enumerate(zip(sizes, accuracy, strict=True)):
        if figure_ >= level:
            continue
        if i == 0:
            return float(n)
        share = (accuracy[i - 1] - level) / (accuracy[i - 1] - figure_)
        return float(np.exp(np.log(sizes[i - 1]) + share * np.log(n / sizes[i - 1])))
    return float("inf")


def run(lab: Lab) -> Report:
    """Find N50 of every corpus with every family of values."""
    corpora = list(CORPORA.values())
    families = [corpus.with_values(values) for values in VALUES for corpus in corpora]
    if lab.data is not None:
        real = read_corpus(lab.data)
        if real.largest < _FEWEST:
            raise InvalidInputError(
                "data", f"{lab.data.name} has {real.largest} usable rows, {_FEWEST} are needed"
            )
        families += [real, *(real.with_values(values) for values in VALUES)]
        corpora.append(real)
    points = [_measure(lab, corpus) for corpus in lab.track(families, "density", len(families))]
    fits = {
        values: fit
        for values in _COLORS
        if (fit := _fit([p for p in _measured(points) if p.corpus.values == values]))
    }
    file = "density.svg"
    _plot(lab.out / file, points, fits)
    return Report(
        name="density",
        title="Semantic density predicts collapse",
        source="main paper, section 5.1, figure 5",
        findings=_findings(points, fits, len(corpora), lab),
        tables=(_table(points), _fit_table(points, fits)),
        notes=_notes(lab, points, fits),
        corpora=[lab.card(corpus, min(75, corpus.largest)) for corpus in corpora],
        settings={**lab.settings, "data": lab.data.name if lab.data else "none"},
        figure=file,
    )


def _findings(
    points: Sequence[_Point], fits: dict[str, tuple[float, float]], different: int, lab: Lab
) -> list[Finding]:
    densities = [p.density for p in points]
    low, high = min(densities), max(densities)
    real = "one of them real data" if lab.data is not None else "none of them real data: give `--data`"
    at = [
        Finding(
            f"facts at which half of LAM's answers are right, at ρ = {rho}",
            "; ".join(f"{a * np.exp(b * rho):.1f} ({values})" for values, (a, b) in fits.items()) or "-",
            paper,
        )
        for rho, paper in ((0.34, "about 20"), (0.6, "5 or less"))
    ]
    falling = all(b < 0 for _, b in fits.values())
    return [
        *at,
        Finding("N50 against ρ, rank correlation", _rank_correlation(points, lambda p: p.density),
                "exponential decay", "N50 falls for every family of values", falling)
        .unless(lab.unlike("embedder", "seeds", "sizes")),
        Finding(f"corpora, {real}", f"{different}, ρ {low:.2f} to {high:.2f}", "ρ 0.34 to above 0.6",
                "8 or more, ρ from 0.3 to 0.9", different >= 8 and low <= 0.35 and high >= 0.85)
        .unless("no real facts" if lab.data is None else lab.unlike("embedder", "sizes")),
    ]  # fmt: skip


def _measure(lab: Lab, corpus: Corpus) -> _Point:
    asked = lab.sizes or SIZES
    largest = min(asked[-1], corpus.largest)
    sizes = [n for n in asked if n <= largest] or [largest]
    halves, densities, spreads, estimates = [], [], [], []
    for seed in range(lab.seeds):
        # One sample a trial; at N it is cut into disjoint corpora, so that small N are as certain as large.
        items = corpus.sample(max(largest, _FEWEST), seed)
        accuracy: list[float] = []
        for n in sizes:
            parts = [items[start : start + n] for start in range(0, largest - n + 1, n)][:_PARTS]
            accuracy.append(float(np.mean([lab.recall(LinearRule(), part) for part in parts])))
            if accuracy[-1] < 40:
                break
        halves.append(half_point(sizes[: len(accuracy)], accuracy))
        keys = lab.embedder.encode([item.question for item in items])
        densities.append(semantic_density(keys))
        spreads.append(density_spread(keys))
        estimates.append(collapse_estimate(keys, lab.embedder.encode([item.value for item in items])))
    bound = ">" if max(halves) > largest else "<" if min(halves) <= sizes[0] else ""
    half = stat(min(figure_, largest) for figure_ in halves)
    density, spread, estimate = (float(np.mean(figures)) for figures in (densities, spreads, estimates))
    return _Point(corpus, density, spread, half.mean, half.deviation, estimate, bound)


def _measured(points: Sequence[_Point]) -> list[_Point]:
    return [p for p in points if not p.bound]


def _fit(points: Sequence[_Point]) -> tuple[float, float] | None:
    """Return (a, b) of N50 = a exp(b rho), by least squares on the logarithm."""
    if len(points) < 3:
        return None
    b, log_a = np.polyfit([p.density for p in points], np.log([p.n50 for p in points]), 1)
    return float(np.exp(log_a)), float(b)


def _rank_correlation(points: Sequence[_Point], of: Callable[[_Point], float]) -> str:
    """Return Spearman's with N50, where that was measured; ties are improbable among these figures."""
    measured = _measured(points)
    if len(measured) < _FEWEST:
        return "-"
    ranks = [
        np.argsort(np.argsort(figures)) for figures in ([of(p) for p in measured], [p.n50 for p in measured])
    ]
    return f"{np.corrcoef(ranks[0], ranks[1])[0, 1]:.2f}"


def _table(points: Sequence[_Point]) -> Table:
    rows = [
        (p.corpus.name, p.corpus.values, round(p.density, 2), round(p.spread, 2), _n50(p),
         round(p.estimate, 1))
        for p in sorted(points, key=lambda p: (p.corpus.values, p.density))
    ]  # fmt: skip
    columns = ("corpus", "values", "rho", "spread of the cosines", "N50", "estimate from the vectors alone")
    return Table("N at which half of the answers are right (LAM, decay 0.99)", columns, rows)


def _n50(point: _Point) -> str:
    return f"{point.bound} {point.n50:.0f}" if point.bound else f"{point.n50:.1f} ± {point.deviation:.1f}"


def _fit_table(points: Sequence[_Point], fits: dict[str, tuple[float, float]]) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for values, (a, b) in fits.items():
        at = [round(a * float(np.exp(b * rho)), 1) for rho, _ in PAPER_POINTS]
        rows.append((values, f"{a:.0f} exp({b:.1f} rho)", *at))
    rows.append(("paper", "exponential decay", "about 20", "5 or less"))
    by_density = _rank_correlation(points, lambda p: p.density)
    by_estimate = _rank_correlation(points, lambda p: p.estimate)
    rows.append(("rank correlation with N50", f"rho {by_density}", f"estimate {by_estimate}", ""))
    return Table("Fit by family of values", ("values", "N50", "at rho 0.34", "at rho 0.60"), rows)


def _notes(lab: Lab, points: Sequence[_Point], fits: dict[str, tuple[float, float]]) -> tuple[str, ...]:
    lowest = min(points, key=lambda p: p.density)
    d = lab.embedder.dimension
    notes = []
    if fits and all(b < 0 for _, b in fits.values()):
        notes.append(
            f"The decay with rho is the paper's. Its level depends on the values{_ratios(points)}. The estimate takes "
            "both from the vectors."
        )
    if lowest.density < 0.3:
        notes.append(
            f"The paper reports that rho below 0.3 was out of reach. `{lowest.corpus.name}` has {lowest.density:.2f}: "
            "questions over unrelated domains in different forms."
        )
    notes += [
        "`one attribute, tags` draws its numbers from 0 to 99, so that the keys differ in two digits.",
        (
            f"Bounds for unrelated keys say nothing of this: a classical Hopfield network of d = {d} holds "
            f"{classical_hopfield_capacity(d):.0f} patterns; eq. 4 allows {johnson_lindenstrauss_capacity(d, 0.1):.1f} "
            f"vectors with every cosine below 0.1 and {johnson_lindenstrauss_capacity(d, 0.5):.0e} below 0.5 "
            f"({johnson_lindenstrauss_capacity(7_000, 0.1):.0e} in the paper's example of d = 7,000, 0.1)."
        ),
    ]
    if lab.data is None:
        notes.append("No file of real facts was given (`--data`), so that point is missing.")
    return tuple(notes)


def _ratios(points: Sequence[_Point]) -> str:
    n50 = {(p.corpus.name, p.corpus.values): p.n50 for p in _measured(points)}
    families = ("ordinary words", "Value_NNN")
    both = [name for name in CORPORA if all((name, values) in n50 for values in families)]
    ratios = [n50[name, families[0]] / n50[name, families[1]] for name in both]
    if not ratios:
        return ""
    return (
        f": on the same keys N50 is {min(ratios):.1f} to {max(ratios):.1f} times as large with ordinary words as with "
        "values that look alike"
    )


def _plot(file: Path, points: Sequence[_Point], fits: dict[str, tuple[float, float]]) -> None:
    caption = (
        f"{len({p.corpus.name for p in points})} corpora; bars: deviation over trials; lines: a exp(b ρ)"
    )
    with figure(file, caption) as axes:
        for values, color in _COLORS.items():
            chosen = [p for p in _measured(points) if p.corpus.values == values]
            for p in chosen:
                real = p.corpus.name.startswith("real")
                axes.errorbar(p.density, p.n50, yerr=p.deviation, fmt="*" if real else "o", color=color, capsize=2,
                              markersize=11 if real else 5)  # fmt: skip
            if chosen:
                axes.plot([], [], "*" if values == OWN else "o", color=color, label=f"values: {values}")
            if values in fits:
                a, b = fits[values]
                span = np.linspace(0.15, 0.95, 50)
                axes.plot(span, a * np.exp(b * span), "-", color=color, alpha=0.5)
        axes.plot(*zip(*PAPER_POINTS, strict=True), "x", color=PAPER, markersize=9, label="paper")
        axes.set(xlabel="semantic density, ρ", ylabel="N50", yscale="log")
        ticks = (2, 3, 5, 10, 20, 50, 100)
        axes.set_yticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set_title("Half of the answers are right up to N50 (stars: real data)")
        axes.legend()

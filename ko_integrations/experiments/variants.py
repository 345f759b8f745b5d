"""Where each kind of fast-weight memory collapses, against the store's line (beyond section 5.1)."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ko_integrations.experiments.corpora import CORPORA, Corpus
from ko_integrations.experiments.density import half_point
from ko_integrations.experiments.lab import Lab, exact_recall, semantic_recall
from ko_integrations.experiments.plots import DISCRETE, figure, shades
from ko_integrations.experiments.report import Card, Finding, Report, Stat, Table, stat
from ko_integrations.fast_weight import (
    DeltaRule,
    GatedRule,
    HopfieldRule,
    LeastSquaresRule,
    LinearRule,
    Rule,
)

__all__ = ["RULES", "run"]

SIZES = (1, 5, 10, 20, 50, 75, 150, 300, 500)
BETAS = (1, 4, 8, 16, 32, 64, 128)


def _hopfield(beta: float) -> Callable[[], Rule]:
    return lambda: HopfieldRule(beta=beta)


RULES: dict[str, Callable[[], Rule]] = {
    "linear, plain": lambda: LinearRule(decay=1, rate=1),
    "linear, decay 0.99": LinearRule,
    "delta rule": DeltaRule,
    "delta rule, rate 0.5": lambda: DeltaRule(rate=0.5),
    "gated, momentum, forgetting": GatedRule,
    "gated, no forgetting": lambda: GatedRule(forget=0),
    "least squares": LeastSquaresRule,
    **{f"Hopfield, beta {beta}": _hopfield(beta) for beta in BETAS},
}
CROWDED, SPARSE = CORPORA["records"], CORPORA["records"].with_values("ordinary words")

Curves = dict[str, list[Stat]]
"""Memory -> percentage of right answers at each size."""


def run(lab: Lab) -> Report:
    """Measure every rule on the keys of table 2, with two families of values, and with questions reworded."""
    sizes = lab.numbers(SIZES, CROWDED.largest)
    fewer = lab.sizes or (5, 20, 75, 300)
    curves = {corpus.values: _curves(lab, corpus, sizes) for corpus in (CROWDED, SPARSE)}
    reworded = _curves(lab, SPARSE, fewer, reworded=True)
    cards = [lab.card(corpus, min(75, sizes[-1])) for corpus in (CROWDED, SPARSE)]
    file = "variants.svg"
    _plot(lab.out / file, curves, sizes, cards)
    tables = [
        _table(f"values {values}, the stored question asked", rows, sizes) for values, rows in curves.items()
    ]
    tables.append(_table("ordinary words, the question reworded", reworded, fewer))
    return Report(
        name="variants",
        title="Kinds of fast weights on the same corpora",
        source="beyond the main paper: its section 5.1 with the mechanisms that sections 5 and 6 name",
        findings=_findings(curves, sizes),
        tables=tables,
        notes=_notes(lab, curves, reworded, sizes),
        corpora=cards,
        settings={**lab.settings, "delta": "rate 1", "gated": "rate 0.5, momentum 0.5, forget 0.01",
                  "least squares": "ridge 0.01"},
        figure=file,
    )  # fmt: skip


def _half(stats: list[Stat], sizes: tuple[int, ...]) -> str:
    """Return the N at which half of the answers are right, or that it lies beyond the sizes measured."""
    half = half_point(sizes, [s.mean for s in stats])
    if half == float("inf"):
        return f"> {sizes[-1]}"
    return f"< {sizes[0]}" if half <= sizes[0] else f"{half:.0f}"


def _findings(curves: dict[str, Curves], sizes: tuple[int, ...]) -> list[Finding]:
    def halves(*names: str) -> str:
        return "; ".join(
            f"{', '.join(_half(rows[name], sizes) for name in names)} ({values})"
            for values, rows in curves.items()
        )

    exact = all(s.mean == 100 for rows in curves.values() for s in rows["KO, exact read"])
    where = "N at which half of the answers are right: "
    return [
        Finding(f"{where}linear, delta rule, gated", halves("linear, decay 0.99", "delta rule",
                                                            "gated, momentum, forgetting")),
        Finding(f"{where}Hopfield read at beta 8, 32, 128", halves(*(f"Hopfield, beta {b}" for b in (8, 32, 128)))),
        Finding(f"{where}least squares", halves("least squares")),
        Finding(f"KO by exact read, up to N = {sizes[-1]}", "100 %" if exact else "less", "", "100 %", exact),
    ]  # fmt: skip


def _notes(lab: Lab, curves: dict[str, Curves], reworded: Curves, sizes: tuple[int, ...]) -> tuple[str, ...]:
    crowded, sparse = curves.values()

    def halves(name: str) -> str:
        return f"{_half(crowded[name], sizes)} and {_half(sparse[name], sizes)}"

    return (
        (
            "N at which half of the answers are right, for values that look alike and for ordinary words: linear "
            f"{halves('linear, plain')}; delta rule {halves('delta rule')}; gated with momentum "
            f"{halves('gated, momentum, forgetting')}; least squares {halves('least squares')}; Hopfield with beta 8 "
            f"{halves('Hopfield, beta 8')}, beta 32 {halves('Hopfield, beta 32')}, beta 128 "
            f"{halves('Hopfield, beta 128')}."
        ),
        *(
            _explained(sparse, reworded, sizes, lab.embedder.dimension)
            if not lab.unlike("embedder", "sizes")
            else ()
        ),
    )


def _explained(sparse: Curves, reworded: Curves, sizes: tuple[int, ...], dimension: int) -> tuple[str, ...]:
    """Return what only the sizes and the embedder of the published run show."""
    by_meaning, rewording = sparse["KO, semantic top-1"][-1], reworded["KO, semantic top-1"][-1]
    return (
        (
            "The delta rule does not help at this density: each write subtracts what its neighbours stored. Momentum "
            "and a smaller rate shift the curve by a few facts, as section 6 of the paper expects. Titans learns its "
            "gates; ours are constants."
        ),
        (
            "Least squares undoes the overlap of the keys as it writes (the explicit orthogonalisation that section 7 "
            "names as an exception), at the price of a second d x d matrix; it fails towards "
            f"d = {dimension} facts, earlier where the values look alike."
        ),
        (
            "The Hopfield read collapses at small beta and does not at large beta: there it looks up the nearest key. "
            "It keeps every pair, so nothing is superposed at write time and its state grows with every fact; and "
            "it has no slots, so a replaced value stays beside the new one."
        ),
        (
            "The store's search by meaning (top-1) is worse than a nearest-key look-up on these questions: its index "
            "encodes subject, predicate and value, and the value dilutes the one number that tells the entities apart "
            f"({by_meaning} % at N={sizes[-1]} with ordinary words, {rewording} % at the last N reworded). "
            "That is why factual reads go by address."
        ),
        "Past 166 facts the ordinary words come in pairs.",
        "A value that repeats the number of its entity would flatter the error-driven rules: they learn to copy it.",
    )


def _curves(lab: Lab, corpus: Corpus, sizes: tuple[int, ...], *, reworded: bool = False) -> Curves:
    rows: Curves = {name: [] for name in ("KO, exact read", "KO, semantic top-1", *RULES)}
    for n in lab.track(sizes, f"variants, {corpus.values}{', reworded' if reworded else ''}", len(sizes)):
        trials: dict[str, list[float]] = {name: [] for name in rows}
        for seed in range(lab.seeds):
            parts = [corpus.sample(n, seed, part) for part in range(max(1, min(75 // n, 15)))]
            for name, make in RULES.items():
                accuracies = [lab.recall(make(), items, reworded=reworded) for items in parts]
                trials[name].append(sum(accuracies) / len(accuracies))
            with lab.store() as store:
                store.update_many(item.fact for item in parts[0])
                trials["KO, exact read"].append(exact_recall(store, parts[0]))
                trials["KO, semantic top-1"].append(semantic_recall(store, parts[0], reworded=reworded))
        for name, values in trials.items():
            rows[name].append(stat(values))
    return rows


def _table(title: str, rows: Curves, sizes: tuple[int, ...]) -> Table:
    return Table(
        f"Right answers %: {title}",
        ("memory", *(f"N={n}" for n in sizes), "half at N"),
        [(name, *stats, _half(stats, sizes)) for name, stats in rows.items()],
    )


def _plot(file: Path, curves: dict[str, Curves], sizes: tuple[int, ...], cards: Sequence[Card]) -> None:
    kinds = {"linear": "#c0392b", "delta": "#e67e22", "gated": "#8e44ad", "least squares": "#2c3e50",
             "Hopfield": "#2471a3"}  # fmt: skip
    caption = f"keys {cards[0].name}, ρ = {cards[0].density:.2f}"
    with figure(file, caption, columns=2, width=6, height=4.8) as panels:
        for axes, (values, rows) in zip(panels, curves.items(), strict=True):
            for kind, color in kinds.items():
                alike = [name for name in rows if name.startswith(kind)]
                # The more selective a Hopfield read is, the darker; of the other kinds the second is dashed.
                tints = shades(color, len(alike))[::-1] if kind == "Hopfield" else [color] * len(alike)
                for i, (name, tint) in enumerate(zip(alike, tints, strict=True)):
                    style = "--" if i and kind != "Hopfield" else "-"
                    axes.plot(sizes, [s.mean for s in rows[name]], style, color=tint, label=name)
            for name, style in (("KO, semantic top-1", ":"), ("KO, exact read", "-")):
                axes.plot(sizes, [s.mean for s in rows[name]], style, color=DISCRETE, linewidth=3, label=name)
            axes.set(
                xlabel="facts stored, N", xscale="log", ylabel="right answers, %", title=f"values: {values}"
            )
        panels[0].figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper")

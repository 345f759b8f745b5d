"""The scores as tables: for people in a terminal, and as Markdown for the documentation."""

from collections.abc import Sequence

from ko_integrations.bench.measure import micros
from ko_integrations.bench.rivals.scoring import COLUMNS, Score, percentiles

__all__ = ["correctness", "failures", "markdown", "speed"]

Rows = list[list[str]]


def correctness(scores: Sequence[Score]) -> tuple[list[str], Rows]:
    """Return heading and rows of what is right: shares, "-" for what a system does not offer."""
    heading = ["system", *(column.name for column in COLUMNS)]
    return heading, [
        [_named(score), *(["failed"] * len(COLUMNS) if score.failed else _shares(score))] for score in scores
    ]


def speed(scores: Sequence[Score]) -> tuple[list[str], Rows]:
    """Return heading and rows of what it costs, and ours, the first, as a ratio to each."""
    heading = [
        "system", "write p50", "p95", "indexed", "read p50", "p95",
        "ours / it: write", "ours / it: indexed", "ours / it: read",
    ]  # fmt: skip
    ours = scores[0]
    return heading, [[score.name, *_costs(score), *_ratios(ours, score)] for score in scores]


def markdown(scores: Sequence[Score]) -> str:
    """Return both tables, and who failed why, as Markdown."""
    missing = "\n".join(f"- {line}" for line in failures(scores))
    parts = [_table(*correctness(scores)), _table(*speed(scores)), missing]
    return "\n\n".join(part for part in parts if part) + "\n"


def failures(scores: Sequence[Score]) -> list[str]:
    """Return a line for each system that could not take part."""
    return [f"{score.name}: {score.failed}" for score in scores if score.failed]


def _named(score: Score) -> str:
    return f"{score.name} ({score.version})" if score.version else score.name


def _shares(score: Score) -> list[str]:
    shares = [score.share(column.name) for column in COLUMNS]
    return ["-" if share is None else f"{share:.3f}".rstrip("0").rstrip(".") for share in shares]


def _costs(score: Score) -> list[str]:
    write, read = percentiles(score.writes), percentiles(score.reads)
    times = [write["p50"], write["p95"], score.write_in_all, read["p50"], read["p95"]]
    return ["-" if seconds is None or score.failed else micros(seconds) for seconds in times]


def _ratios(ours: Score, other: Score) -> list[str]:
    pairs = [
        (percentiles(ours.writes)["p50"], percentiles(other.writes)["p50"]),
        (ours.write_in_all, other.write_in_all),
        (percentiles(ours.reads)["p50"], percentiles(other.reads)["p50"]),
    ]
    return [
        f"{mine / theirs:.2f}" if mine and theirs and not other.failed and other is not ours else "-"
        for mine, theirs in pairs
    ]


def _table(heading: list[str], rows: Rows) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

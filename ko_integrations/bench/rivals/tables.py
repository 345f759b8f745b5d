"""The scores as tables: for people in a terminal, and as Markdown for the documentation.

Scores come as the plain data that `Score.to_dict` gives and the JSON of the report holds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ko_integrations.bench.measure import micros
from ko_integrations.bench.rivals.scoring import COLUMNS

__all__ = ["Rows", "Scores", "correctness", "failures", "markdown", "ratios", "speed"]

Rows = list[list[str]]
Scores = Sequence[Mapping[str, Any]]

_COSTS = ("write p50", "write p95", "write in all", "read p50", "read p95", "search p50", "search p95")


def correctness(scores: Scores) -> tuple[list[str], Rows]:
    """Return heading and rows of what is right: shares, "-" for what a system does not offer."""
    heading = ["system", *(column.name for column in COLUMNS)]
    unmeasured = ["not measured", *["-"] * (len(COLUMNS) - 1)]
    return heading, [
        [_named(score), *(unmeasured if score["failed"] else _shares(score))] for score in scores
    ]


def speed(scores: Scores) -> tuple[list[str], Rows]:
    """Return heading and rows of what it costs."""
    heading = ["system", "write p50", "p95", "indexed", "read p50", "p95", "search p50", "p95"]
    return heading, [[score["system"], *map(_shown, _costs(score))] for score in scores]


def ratios(scores: Scores) -> tuple[list[str], Rows]:
    """Return heading and rows of our costs, the first, as a ratio to those of each rival: below 1 we are faster."""
    heading = ["ours / rival", *speed(scores)[0][1:]]
    ours, rivals = _costs(scores[0]), [score for score in scores if not score["own"]]
    return heading, [
        [
            score["system"],
            *(f"{a / b:.2f}" if a and b else "-" for a, b in zip(ours, _costs(score), strict=True)),
        ]
        for score in rivals
    ]


def markdown(scores: Scores) -> str:
    """Return the tables, and who was not measured why, as Markdown."""
    missing = "\n".join(f"- {line}" for line in failures(scores))
    parts = [*(_table(*table(scores)) for table in (correctness, speed, ratios)), missing]
    return "\n\n".join(part for part in parts if part) + "\n"


def failures(scores: Scores) -> list[str]:
    """Return a line for each system that could not take part."""
    return [f"{score['system']}: {score['failed']}" for score in scores if score["failed"]]


def _named(score: Mapping[str, Any]) -> str:
    return f"{score['system']} ({score['version']})" if score["version"] else str(score["system"])


def _shares(score: Mapping[str, Any]) -> list[str]:
    shares = [score[column.name] for column in COLUMNS]
    return ["-" if share is None else f"{share:.3f}".rstrip("0").rstrip(".") for share in shares]


def _costs(score: Mapping[str, Any]) -> list[float | None]:
    """Return the seconds of a row of `speed`."""
    return [None if score["failed"] else score[name] for name in _COSTS]


def _shown(seconds: float | None) -> str:
    return "-" if seconds is None else micros(seconds)


def _table(heading: list[str], rows: Rows) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

"""Experiments as Markdown, from what they wrote as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ko_integrations.experiments.report import cell_text

__all__ = ["held_to", "markdown_table", "page", "under"]


def page(experiments: Iterable[Mapping[str, Any]], *, figures: str = "") -> str:
    """Return all experiments in full: every table, figure, corpus, setting and note.

    `figures` is the path, from the page, of the folder with the figures; it ends in "/".
    """
    return "\n".join(line for data in experiments for line in _section(data, figures))


def _section(data: Mapping[str, Any], figures: str) -> list[str]:
    parts = [f"## {data['title']}", "", f"`ko experiment {data['name']}`: {data['source']}.", ""]
    rows = [(f["question"], f["ours"], f["paper"] or "-", held_to(f)) for f in data["findings"]]
    parts += [*markdown_table(("question", "ours", "paper", "held to"), rows), ""]
    if data["figure"]:
        parts += [f"![{data['title']}]({figures}{data['figure']})", ""]
    for table in data["tables"]:
        cells = [[cell_text(cell) for cell in row] for row in table["rows"]]
        parts += [f"**{table['title']}**", "", *markdown_table(table["columns"], cells), ""]
    parts += [f"- {note}" for note in data["notes"]]
    if data["corpora"]:
        parts += ["", "Corpora:", ""]
        parts += [
            f"- {card['short']}; {card['facts']} facts; keys `{card['keys']}`, e.g. `{card['example']}`"
            for card in data["corpora"]
        ]
    settings = "; ".join(f"{key} {value}" for key, value in data["settings"].items())
    return [*parts, "", f"Settings: {settings}. Took {data['seconds']:.0f} s. {under(data['machine'])}", ""]


def held_to(finding: Mapping[str, Any]) -> str:
    """Return what a figure is held to, and whether it misses it or the run says nothing of it."""
    if not finding["target"]:
        return ""
    if finding["holds"] is None:
        return f"no verdict ({finding['unlike']}): {finding['target']}"
    return finding["target"] if finding["holds"] else f"**missed**: {finding['target']}"


def under(machine: Mapping[str, Any]) -> str:
    """Return the circumstances of a measurement in one line."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    load = "" if machine["load"] is None else f", load {machine['load']}"
    return (
        f"{machine['date']} UTC, {machine['system']}, {machine['processors']} processors{load}, "
        f"Python {machine['python']}, {versions}."
    )


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(columns), line("---" for _ in columns), *map(line, rows)]

"""How results look: tables for people, JSON for programs, one line on stderr for an error."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from ko_integrations.errors import IndexMismatchError, Remedy
from ko_integrations.types import KnowledgeObject

if TYPE_CHECKING:
    from ko_integrations.bench.report import Figure, Report

console = Console()
stderr = Console(stderr=True)

REMEDIES: dict[Remedy, str] = {
    "encode": "name the model it was filled with by --embedder, or run `ko rebuild --encode-with MODEL` to encode "
    "everything again",
    "collection": "name a collection of its own with --collection",
    "index": "name an index of its own with --index",
}

_COLUMNS = ("subject", "predicate", "object", "from", "to", "version", "source")


def plain(thing: Any) -> Any:
    """Return `thing` as data that JSON can hold."""
    if isinstance(thing, BaseModel):
        return thing.model_dump(mode="json")
    if is_dataclass(thing) and not isinstance(thing, type):
        return plain(asdict(thing))
    if isinstance(thing, Mapping):
        return {str(key): plain(value) for key, value in thing.items()}
    if isinstance(thing, str | int | float | bool | None):
        return thing
    if isinstance(thing, datetime | date):
        return thing.isoformat()
    if isinstance(thing, Iterable):
        return [plain(item) for item in thing]
    return str(thing)


def print_json(thing: Any) -> None:
    """Print one JSON document, never wrapped, coloured or escaped."""
    console.file.write(json.dumps(plain(thing), ensure_ascii=False, indent=2) + "\n")


def print_versions(
    versions: Sequence[KnowledgeObject], *, title: str | None = None, scores: Sequence[float] | None = None
) -> None:
    """Print a table of versions, with their similarity where there is one."""
    table = Table(*(("score",) if scores else ()), *_COLUMNS, title=title, title_justify="left")
    for i, ko in enumerate(versions):
        score = (f"{scores[i]:.3f}",) if scores else ()
        table.add_row(*score, *cells(ko))
    console.print(table)


def cells(ko: KnowledgeObject) -> tuple[str, ...]:
    """Return the row of a version."""
    until = "" if ko.valid_to is None else day(ko.valid_to)
    sources = ", ".join(ko.provenance.sources)
    return (
        escape(ko.subject), escape(ko.predicate), escape(str(ko.object)), day(ko.valid_from), until,
        str(ko.provenance.version), escape(sources),
    )  # fmt: skip


def one_line(error: Exception) -> str:
    """Return what an error says as one line, in terms of the command line."""
    if isinstance(error, IndexMismatchError) and error.remedy is not None:
        return f"{error.problem}: {REMEDIES[error.remedy]}"
    return " ".join(line.strip() for line in str(error).splitlines())


def escape(text: str) -> str:
    """Keep stored text from being read as rich's markup."""
    from rich.markup import escape

    return escape(text)


def day(moment: datetime) -> str:
    """Return a moment to the minute, to the day when it is a midnight."""
    return f"{moment:%Y-%m-%d}" if moment.time() == datetime.min.time() else f"{moment:%Y-%m-%d %H:%M}"


def print_mapping(data: Mapping[str, Any]) -> None:
    """Print names and values in two columns."""
    table = Table.grid(padding=(0, 2))
    for key, value in data.items():
        table.add_row(key.replace("_", " "), escape(_said(value)))
    console.print(table)


def _said(value: Any) -> str:
    """Return a value of a mapping for people: nothing is a dash, a list its members."""
    if value is None or value == []:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def print_rows(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of texts."""
    table = Table(*heading)
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)


def print_report(report: "Report") -> None:
    """Print a measurement: figures, targets, verdicts."""
    table = Table(
        "measured", "figure", "target", "", "note", title=f"ko bench {report.name}", title_justify="left"
    )
    for figure in report.figures:
        table.add_row(
            escape(figure.name),
            _amount(figure, figure.value),
            _target(figure),
            _verdict(figure),
            escape(figure.note),
        )
    console.print(table)


def _amount(figure: "Figure", value: float | None) -> str:
    if value is None:
        return "not measured"
    return f"{value:,.0f} {figure.unit}" if abs(value) >= 100 else f"{value:.3g} {figure.unit}"


def _target(figure: "Figure") -> str:
    return "" if figure.target is None else f"{figure.sense} {figure.target:g}"


def _verdict(figure: "Figure") -> str:
    if figure.target is None:
        return ""
    return "[green]ok[/]" if figure.ok else "[bold red]missed[/]"


@contextmanager
def progress() -> Iterator[Progress]:
    """Show progress bars on stderr, and none of them when it is not a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bars:
        yield bars


@contextmanager
def advancing(description: str) -> Iterator[Callable[[int, int], None]]:
    """Show one bar; give the function, of (done, total), that moves it."""
    with progress() as bars:
        task = bars.add_task(description, total=None)

        def advance(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        yield advance

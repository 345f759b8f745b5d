"""`ko bench ...`: measurements; exit code 1 when a target is missed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ko_integrations.cli.output import advancing, print_report, print_rows, stderr

if TYPE_CHECKING:
    from ko_integrations.bench.report import Report

JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write the figures here.")]
Quick = Annotated[bool, typer.Option("--quick", help="Smaller sizes: a smoke test, not a measurement.")]

bench = typer.Typer(name="bench", help="Measure, side by side in one run.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(bench)


def _finish(report: "Report", json: Path | None) -> None:
    print_report(report)
    if json is not None:
        report.write_json(json)
    if not report.ok:
        raise typer.Exit(1)


@bench.command()
def core(json: JsonFile = None, quick: Quick = False) -> None:
    """Reads, writes, indexing and size, against bare sqlite3, Chroma and numpy."""
    from ko_integrations.bench import core

    with stderr.status("measuring") as status:
        report = core.run(quick=quick, say=lambda part: status.update(f"measuring: {part}"))
    _finish(report, json)


@bench.command()
def crash(
    rounds: Annotated[int, typer.Option(min=1, help="How often the writer is killed.")] = 50,
    seed: Annotated[int, typer.Option(help="Of the random moments.")] = 0,
    postgres: Annotated[
        bool, typer.Option("--postgres", help="The log on a PostgreSQL server of its own, not in SQLite.")
    ] = False,
    json: JsonFile = None,
) -> None:
    """Kill a writer with SIGKILL at random moments and at every boundary; reopen; look for damage."""
    from ko_integrations.bench import crash

    with advancing("killing") as advance:
        report = crash.run(
            rounds=rounds, seed=seed, postgres=postgres, on_round=lambda number: advance(number + 1, rounds)
        )
    _finish(report, json)


@bench.command()
def understanding(
    data: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="Folder of the public data sets.")
    ],
    json: JsonFile = None,
) -> None:
    """Text to facts and questions to slots, on public data sets in their published formats."""
    from ko_integrations.bench import understanding

    _finish(understanding.run(data), json)


@bench.command()
def factconsolidation(
    path: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="MemoryAgentBench FactConsolidation, as published."),
    ],
    subset: Annotated[
        str | None, typer.Option(help="One subset, e.g. sh_6k.", show_default="every one")
    ] = None,
    json: JsonFile = None,
) -> None:
    """Superseded facts and paths over them: single-hop and multi-hop questions."""
    from ko_integrations.bench import factconsolidation

    _finish(factconsolidation.run(path, subset=subset), json)


@bench.command()
def langchain(json: JsonFile = None) -> None:
    """What the memory middleware adds to a turn of a LangChain agent."""
    from ko_integrations.bench import langchain

    _finish(langchain.run(), json)


@bench.command()
def rivals(
    seed: Annotated[int, typer.Option(help="Of the workload.")] = 7,
    json: JsonFile = None,
    markdown: Annotated[Path | None, typer.Option(help="Also write the tables here.")] = None,
    quick: Quick = False,
) -> None:
    """Our store beside other memories: one workload, one embedder, each through its own API."""
    from ko_integrations.bench import rivals
    from ko_integrations.bench.rivals import tables

    with stderr.status("measuring") as status:
        report, scores = rivals.run(
            quick=quick, seed=seed, say=lambda part: status.update(f"measuring: {part}")
        )
    rows = [score.to_dict() for score in scores]
    for table in (tables.correctness, tables.speed, tables.ratios):
        print_rows(*table(rows))
    for line in tables.failures(rows):
        stderr.print(line, style="yellow", markup=False)
    if markdown is not None:
        markdown.write_text(tables.markdown(rows), encoding="utf-8")
    _finish(report, json)

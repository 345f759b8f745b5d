"""`ko bench ...` and `ko experiment ...`: measurements; exit code 1 when a target is missed."""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ko_integrations.cli.output import print_report

if TYPE_CHECKING:
    from ko_integrations.bench.report import Report

JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write the figures here.")]
Quick = Annotated[bool, typer.Option("--quick", help="Smaller sizes: a smoke test, not a measurement.")]

bench = typer.Typer(name="bench", help="Measure, side by side in one run.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(bench)
    app.command()(experiment)


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

    _finish(core.run(quick=quick), json)


@bench.command()
def crash(
    rounds: Annotated[int, typer.Option(min=1, help="How often the writer is killed.")] = 50,
    seed: Annotated[int, typer.Option(help="Of the random moments.")] = 0,
    json: JsonFile = None,
) -> None:
    """Kill a writer with SIGKILL at random moments and at every boundary; reopen; look for damage."""
    from ko_integrations.bench import crash

    _finish(crash.run(rounds=rounds, seed=seed), json)

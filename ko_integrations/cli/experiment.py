"""`ko experiment`: the papers' tables again. `ko results`: the figures of the documentation from what was measured."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ko_integrations.cli.options import EmbedderName, make_embedder
from ko_integrations.cli.output import console, stderr
from ko_integrations.errors import InvalidInputError

PRICES = "Prices and sizes (experiment `cost`)"
_OPTIONS = {
    "sizes": "--sizes",
    "data": "--data",
    "questions": "--questions",
    "model": "--model",
    "out_dir": "--out",
    "input": "--price-in",
    "output": "--price-out",
    "tokens_per_fact": "--tokens-per-fact",
}


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(experiment)
    app.command()(results)


def experiment(
    name: Annotated[str, typer.Argument(help="One of the papers' tables or figures, or 'all'.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for JSON and figures.")] = Path("results"),
    seeds: Annotated[int, typer.Option(min=1, help="Independent trials; mean and deviation are shown.")] = 5,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Numbers of facts N, e.g. 5,20,75, for the experiments that vary N.",
            show_default="the paper's",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Real facts for `density`: JSON Lines, CSV or TSV."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="NF-CATS questions, its valid.csv, for `router`."),
    ] = None,
    embedder: EmbedderName = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A chat model as LangChain names it, e.g. openai:gpt-4o-mini, for `compaction` and `production`.",
            show_default="none is called",
        ),
    ] = None,
    price_in: Annotated[
        float, typer.Option(min=0, help="Dollars a million tokens sent.", rich_help_panel=PRICES)
    ] = 3.0,
    price_out: Annotated[
        float, typer.Option(min=0, help="Dollars a million tokens answered.", rich_help_panel=PRICES)
    ] = 15.0,
    tokens_per_fact: Annotated[
        float, typer.Option(min=0, help="Of a fact in the prompt.", rich_help_panel=PRICES)
    ] = 13,
    k: Annotated[
        int, typer.Option(min=1, help="Facts that a question retrieves.", rich_help_panel=PRICES)
    ] = 10,
    prompt_tokens: Annotated[
        int, typer.Option(min=0, help="Of the fixed prompt around the facts.", rich_help_panel=PRICES)
    ] = 100,
) -> None:
    """Measure a table or figure of the papers again, beside theirs; exits 1 when something that must hold does not.

    Names: stability-gap, density, variants, reasoning, overwrite, correction,
    router, cost, production, parsing, compaction; all of them with 'all'.
    Targets made for the paper's options (embedder, sizes, prices and so on)
    get no verdict where a run has others.
    """
    from ko_integrations import experiments
    from ko_integrations.baselines import CostModel, Prices

    with _named_as_options():
        reports = experiments.run(
            name,
            out,
            seeds=seeds,
            sizes=None if sizes is None else _numbers(sizes),
            embedder=None if embedder is None else make_embedder(embedder),
            model=model,
            data=data,
            questions=questions,
            cost=CostModel(
                tokens_per_fact=tokens_per_fact,
                k=k,
                system_tokens=prompt_tokens,
                prices=Prices(price_in, price_out),
            ),
            console=console,
        )
    if not all(report.ok for report in reports):
        raise typer.Exit(1)


@contextmanager
def _named_as_options() -> Iterator[None]:
    """Name the option where a parameter is refused."""
    try:
        yield
    except InvalidInputError as error:
        if error.field not in _OPTIONS:
            raise
        raise InvalidInputError(_OPTIONS[error.field], error.reason) from error


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidInputError("sizes", f"expected numbers as in 5,20,75, got {text!r}") from error


def results(
    folder: Annotated[Path, typer.Argument(help="Where the commands wrote their JSON.")] = Path("results"),
    measure: Annotated[
        bool, typer.Option("--measure", help="First run every command, each into FOLDER: about an hour.")
    ] = False,
    data: Annotated[
        Path,
        typer.Option(file_okay=False, help="With --measure: the public data sets; absent ones are left out."),
    ] = Path("../shared/data"),
    docs: Annotated[Path, typer.Option(file_okay=False, help="The documentation to fill.")] = Path("docs"),
    readme: Annotated[Path, typer.Option(dir_okay=False, help="Filled too.")] = Path("README.md"),
) -> None:
    """Fill the tables and figures of the documentation from what the commands measured.

    Takes JSON and figures from FOLDER into DOCS/results, keeps there what
    FOLDER does not have, and fills the pages between their markers. Exits 1
    when a target is missed or, with --measure, when a command failed.
    """
    from ko_integrations.bench import results as made

    pages = made.pages(readme, docs)
    if not pages:
        raise InvalidInputError(
            "docs", f"no page of {docs} and no {readme} has a block to fill: is this a checkout?"
        )
    failed = _measure(folder, data) if measure else []
    taken = made.adopt(folder, docs / "results") if folder.is_dir() else []
    found = made.read_results(docs / "results")
    for page in pages:
        page.write_text(made.fill(page.read_text(encoding="utf-8"), found), encoding="utf-8")
    for key, command in made.COMMANDS.items():
        state = "measured" if key in taken else "kept" if key in found else made.NOT_RUN
        verdict = "" if key not in found else "" if found[key]["ok"] else "; a target is missed"
        when = f", {found[key]['machine']['date']}" if key in found else ""
        console.print(f"{command}: {state}{when}{verdict}", markup=False, highlight=False)
    for line in failed:
        stderr.print(f"failed: {line}", style="red", markup=False)
    if failed or not all(data["ok"] for data in found.values()):
        raise typer.Exit(1)


def _measure(folder: Path, data: Path) -> list[str]:
    """Run every command in turn, each to its JSON; go on when one misses its target; return those that broke down."""
    from ko_integrations.experiments import NAMES

    folder.mkdir(parents=True, exist_ok=True)
    timelines = data / "dyknow" / "timelines.countries.jsonl"
    facts = next(iter(sorted((data / "factconsolidation").glob("Conflict_Resolution*.json"))), None)
    asked = data / "nfcats" / "valid.csv"
    given = {"--data": timelines, "--questions": asked}
    real = [part for option, file in given.items() if file.exists() for part in (option, str(file))]
    failed = _run(
        ("experiment", "all", "--out", str(folder), *real), [folder / f"{name}.json" for name in NAMES]
    )
    measures: dict[str, tuple[str, ...] | None] = {
        "core": ("bench", "core"),
        "crash": ("bench", "crash", "--rounds", "100"),
        "langchain": ("bench", "langchain"),
        "understanding": ("bench", "understanding", str(data)) if data.is_dir() else None,
        "factconsolidation": None if facts is None else ("bench", "factconsolidation", str(facts)),
        "rivals": ("bench", "rivals"),
        "demo": ("demo", "--timelines", str(timelines)) if timelines.exists() else None,
    }
    for name, command in measures.items():
        if command is not None:
            file = folder / f"bench-{name}.json"
            failed += _run((*command, "--json", str(file)), [file])
    return failed


def _run(arguments: tuple[str, ...], written: list[Path]) -> list[str]:
    """Run `ko`; tell whether it broke down: exit code 1 may also say that a target is missed, the files show it."""
    command = f"ko {' '.join(arguments)}"
    console.rule(command)
    before = {file: file.stat().st_mtime_ns for file in written if file.exists()}
    program = (sys.executable, "-c", "from ko_integrations.cli import main; main()")
    code = subprocess.run((*program, *arguments), check=False).returncode
    missing = [
        file.name for file in written if not file.exists() or file.stat().st_mtime_ns == before.get(file)
    ]
    if code in (0, 1) and not missing:
        return []
    return [f"{command}: exit code {code}" + (f", no {', '.join(missing)}" if missing else "")]

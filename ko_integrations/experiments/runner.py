"""Run experiments: one embedder and one cache for all of them, a JSON file and a figure each."""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ko_integrations.baselines import CostModel
from ko_integrations.embeddings import SentenceTransformerEmbedder, as_embedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.experiments.lab import CachedEmbedder, Lab
from ko_integrations.experiments.pages import page
from ko_integrations.experiments.report import Report, cell_text
from ko_integrations.models import as_text_model

__all__ = ["NAMES", "print_report", "run"]

_MODULES = {
    "stability-gap": "stability_gap",
    "density": "density",
    "variants": "variants",
    "reasoning": "reasoning",
    "overwrite": "overwrite",
    "correction": "correction",
    "router": "routing",
    "cost": "cost",
    "production": "production",
    "parsing": "parsing",
    "compaction": "compaction",
}
_WIDTH = 160

NAMES: tuple[str, ...] = tuple(_MODULES)
"""The experiments, in the order of the papers."""


def run(
    name: str = "all",
    out_dir: str | Path = "results",
    *,
    seeds: int = 5,
    embedder: Any = None,
    model: Any = None,
    data: str | Path | None = None,
    questions: str | Path | None = None,
    cost: CostModel | None = None,
    sizes: Sequence[int] | None = None,
    console: Console | None = None,
) -> list[Report]:
    """Run one experiment, or all, and return their reports.

    Each writes `<name>.json` and its figure into `out_dir`; "all" writes `results.md` too.

    Args:
        name: one of `NAMES`, or "all".
        out_dir: made if need be.
        seeds: independent trials.
        embedder: ours, a framework's, or a callable. Default: all-MiniLM-L6-v2, the paper's.
        model: a LangChain chat model, its name for `init_chat_model` ("openai:gpt-4o-mini"), a LlamaIndex LLM
            or a `TextModel`, for what only a model can show.
        data: real facts for the density figure (JSON Lines, CSV or TSV; see `read_corpus`).
        questions: the validation part of NF-CATS for the router (CSV with columns `question` and `category`).
        cost: prices and sizes of prompts; default the paper's.
        sizes: numbers of facts N, for the experiments that vary N; default the paper's, or more.
        console: where tables and progress go; default nowhere.

    Raises:
        InvalidInputError: an unknown name, fewer than one seed, sizes that are no numbers of facts, or `out_dir`
            is a file or cannot be made.
        MissingExtraError: an optional package is not installed.
    """
    if name != "all" and name not in _MODULES:
        raise InvalidInputError("name", f"expected one of {', '.join(('all', *NAMES))}, got {name!r}")
    if not _is_count(seeds):
        raise InvalidInputError("seeds", f"expected a whole number from 1, got {seeds!r}")
    if sizes is not None and not (len(sizes) and all(map(_is_count, sizes))):
        raise InvalidInputError("sizes", f"expected numbers of facts from 1 on, got {list(sizes)}")
    out = _folder(Path(out_dir))
    text_model = None if model is None else as_text_model(model)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bars = Progress(*columns, console=console, transient=True, disable=console is None)
    encoder = CachedEmbedder(SentenceTransformerEmbedder() if embedder is None else as_embedder(embedder))
    encoder.encode(["once, so that its libraries are loaded and the limit below reaches them"])
    # Small matrices and short texts: one thread takes a third of the processor time that two take.
    with threadpool_limits(1), bars as progress:
        lab = Lab(
            embedder=encoder,
            seeds=seeds,
            out=out,
            model=text_model,
            model_name="none" if model is None else _model_name(model),
            data=None if data is None else Path(data),
            questions=None if questions is None else Path(questions),
            cost=cost or CostModel(),
            sizes=None if sizes is None else tuple(sorted(set(sizes))),
            progress=progress,
        )
        reports = [_run_one(each, lab, console) for each in (NAMES if name == "all" else (name,))]
    if name == "all":
        text = f"# Experiments\n\n{page(report.to_dict() for report in reports)}"
        (out / "results.md").write_text(text, encoding="utf-8")
    return reports


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 1


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "is not a folder" if path.exists() else f"cannot be made: {error}"
        raise InvalidInputError("out_dir", f"{path} {reason}") from error
    return path


def _model_name(model: Any) -> str:
    """Return what a model calls itself, under whichever name its framework has for that."""
    if isinstance(model, str):
        return model
    names = (getattr(model, attribute, None) for attribute in ("model_name", "model", "model_id"))
    return next((name for name in names if isinstance(name, str) and name), type(model).__name__)


def _run_one(name: str, lab: Lab, console: Console | None) -> Report:
    started = perf_counter()
    report: Report = import_module(f"ko_integrations.experiments.{_MODULES[name]}").run(lab)
    report = replace(report, seconds=perf_counter() - started)
    report.write_json(lab.out / f"{name}.json")
    if console is not None:
        print_report(report, console)
    return report


def print_report(report: Report, console: Console) -> None:
    """Print tables, notes and findings."""
    if not console.is_terminal:
        # A file has no width: what rich assumes, 80 columns, would break the figures of wide tables.
        console = Console(file=console.file, width=_WIDTH)
    console.rule(f"{report.title} ({report.source})")
    for table in report.tables:
        console.print(_rich(table.title, table.columns, table.rows))
    for note in report.notes:
        console.print(f"- {note}", highlight=False, markup=False)
    for finding in report.findings:
        paper = f"; paper: {finding.paper}" if finding.paper else ""
        judged = bool(finding.target) and finding.holds is not None
        verdict = f"no verdict, {finding.unlike}" if not judged else "MISSED" if finding.missed else "holds"
        target = f"; {verdict}: {finding.target}" if finding.target else ""
        style = None if not judged else "red" if finding.missed else "green"
        line = f"{finding.question}: {finding.ours}{paper}{target}"
        console.print(line, style=style, markup=False, highlight=False)


def _rich(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> RichTable:
    grid = RichTable(title=title, title_justify="left")
    for i, column in enumerate(columns):
        grid.add_column(column, justify="left" if i == 0 else "right", overflow="fold")
    for row in rows:
        grid.add_row(*map(cell_text, row))
    return grid

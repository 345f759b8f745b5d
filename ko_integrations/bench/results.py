"""The results in the documentation: tables between markers, filled from what the commands wrote as JSON.

A page that holds `<!-- ko results: BLOCK -->` and `<!-- end -->` gets the block of that name between them. What has no
JSON yet says "not run here".
"""

import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ko_integrations.bench.rivals import tables
from ko_integrations.errors import InvalidInputError
from ko_integrations.experiments import NAMES
from ko_integrations.experiments.pages import held_to, markdown_table, page, under

__all__ = ["COMMANDS", "NOT_RUN", "adopt", "amount", "fill", "pages", "read_results"]

NOT_RUN = "not run here"

COMMANDS: dict[str, str] = {name: f"ko experiment {name}" for name in NAMES} | {
    "bench-core": "ko bench core",
    "bench-crash": "ko bench crash --rounds 100",
    "bench-langchain": "ko bench langchain",
    "bench-demo": "ko demo --timelines FILE",
    "bench-understanding": "ko bench understanding FOLDER",
    "bench-factconsolidation": "ko bench factconsolidation FILE",
    "bench-rivals": "ko bench rivals",
}
"""What results are of -> the command that measures them."""

SUMMARY = (
    ("bench-demo", "current value", "real timelines in shuffled order: current values right"),
    ("bench-demo", "as-of values", "the same: values as of every moment right"),
    (
        "bench-core",
        "exact read, 1,000,000 slots",
        "exact read among 1,000,000 slots, to a bare `SELECT` by key",
    ),
    (
        "bench-core",
        "update, acknowledged, to encode",
        "acknowledged update, to one encode and upsert in Chroma",
    ),
    ("bench-core", "log, bytes a slot", "bytes a slot in the log, without vectors"),
    (
        "bench-rivals",
        "current@1",
        "questions answered with the current value, beside nine set-ups of other memories",
    ),
    ("bench-factconsolidation", "sh_6k right", "MemoryAgentBench, superseded facts, single-hop (6k)"),
    ("bench-factconsolidation", "mh_6k right", "the same, multi-hop (6k)"),
    (
        "stability-gap",
        "LAM, right answers",
        "linear associative memory, right answers at N = 1, 5, 10, 20, 50, 75",
    ),
    ("stability-gap", "KO by exact read", "the store, at every N"),
    ("reasoning", "LAM", "linear associative memory, 3 hops among 6 and 106 facts"),
    ("reasoning", "KO by exact read", "the store, the same"),
    (
        "overwrite",
        "after a correction, old value",
        "old value among the hits after a correction: the store; plain append",
    ),
    (
        "router",
        "sources never seen",
        "the learned router on queries of sources it never saw: lowest of nine sets",
    ),
    ("router", "NF-CATS", "the same on the validation part of NF-CATS: macro-F1"),
)
"""The figures of the README: results, a part of the figure's name, and what the README calls it."""

Results = Mapping[str, Mapping[str, Any]]
_BLOCK = re.compile(r"(<!-- ko results: ([\w -]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what is in the JSON files of a folder, by the keys of `COMMANDS`; other files are passed over.

    Raises:
        InvalidInputError: a file is no JSON, does not say on what it was measured, or was measured with `--quick`.
    """
    found = {}
    for file in sorted(folder.glob("*.json")):
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InvalidInputError("folder", f"{file} is no JSON: {error}") from error
        key = _key(data)
        if key is None:
            continue
        if "versions" not in data["machine"]:
            raise InvalidInputError(
                "folder", f"{file} does not say on what it was measured: measure it again"
            )
        if data["settings"].get("quick"):
            raise InvalidInputError("folder", f"{file} was measured with --quick, which is no measurement")
        found[key] = data
    return {key: found[key] for key in COMMANDS if key in found}


def _key(data: Any) -> str | None:
    if not isinstance(data, dict) or "name" not in data or "machine" not in data:
        return None
    key = data["name"] if "findings" in data else f"bench-{data['name']}"
    return key if key in COMMANDS else None


def adopt(measured: Path, kept: Path) -> list[str]:
    """Take results and figures from a folder of measurements into the documentation's; return which."""
    results = read_results(measured)
    kept.mkdir(parents=True, exist_ok=True)
    for key, data in results.items():
        # A line a part: small, and a change shows where it is.
        lines = (f"{json.dumps(name)}: {json.dumps(part, ensure_ascii=False)}" for name, part in data.items())
        (kept / f"{key}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        if data.get("figure") and measured.resolve() != kept.resolve():
            shutil.copyfile(measured / data["figure"], kept / data["figure"])
    return list(results)


def pages(readme: Path, docs: Path) -> list[Path]:
    """Return the pages with a block to fill."""
    candidates = [readme, *sorted(docs.glob("*.md"))]
    return [file for file in candidates if file.exists() and _BLOCK.search(file.read_text(encoding="utf-8"))]


def fill(text: str, results: Results) -> str:
    """Return a page with its blocks filled.

    Raises:
        InvalidInputError: it names a block that does not exist.
    """

    def block(match: re.Match[str]) -> str:
        name = match[2]
        if name.startswith("bench-") and name in COMMANDS:
            lines = _bench(name, results)
        elif name in _BLOCKS:
            lines = _BLOCKS[name](results)
        else:
            raise InvalidInputError("docs", f"no block is called {name!r}")
        return "\n".join([match[1].rstrip(), "", *lines, "", match[3]])

    return _BLOCK.sub(block, text)


# -- blocks -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Line:
    """One figure, of either kind of measurement, as it is printed."""

    question: str
    ours: str
    paper: str
    held_to: str
    note: str = ""


def _lines(data: Mapping[str, Any]) -> list[_Line]:
    if "findings" in data:
        return [_Line(f["question"], f["ours"], f["paper"], held_to(f)) for f in data["findings"]]
    return [
        _Line(f["name"], amount(f["value"], f["unit"]), "", _target(f), f["note"]) for f in data["figures"]
    ]


def amount(value: float | None, unit: str) -> str:
    """Return a figure with its unit, to three digits or the whole number."""
    if value is None:
        return "not measured"
    number = f"{value:,.0f}" if abs(value) >= 100 or float(value).is_integer() else f"{value:.3g}"
    return f"{number} {unit}".rstrip()


def _target(figure: Mapping[str, Any]) -> str:
    if figure["target"] is None:
        return ""
    target = f"{figure['sense']} {amount(figure['target'], figure['unit'])}"
    return target if figure["ok"] else f"**missed**: {target}"


def _papers(results: Results) -> list[str]:
    """One row a finding of every experiment, with the corpus beside the command."""
    rows = []
    for name in NAMES:
        first = f"`{COMMANDS[name]}`"
        if name not in results:
            rows.append((first, NOT_RUN, "", "", ""))
            continue
        data = results[name]
        corpora = [card["short"] for card in data["corpora"]]
        if corpora:
            first += f"<br>{'; '.join(corpora)}" if len(corpora) <= 3 else f"<br>{len(corpora)} corpora"
        for line in _lines(data):
            rows.append((first, line.question, line.ours, line.paper or "-", line.held_to))
            first = ""
    return markdown_table(("command, corpus", "question", "ours", "paper", "held to"), rows)


def _bench(key: str, results: Results) -> list[str]:
    if key not in results:
        return [f"`{COMMANDS[key]}`: {NOT_RUN}."]
    data = results[key]
    rows = [(line.question, line.ours, line.held_to, line.note) for line in _lines(data)]
    head = f"`{COMMANDS[key]}`; {under(data['machine'])}"
    return [head, "", *markdown_table(("measured", "figure", "held to", "note"), rows)]


def _summary(results: Results) -> list[str]:
    rows = []
    for key, part, shown in SUMMARY:
        command = f"`{COMMANDS[key]}`"
        if key not in results:
            rows.append((command, shown, NOT_RUN, ""))
            continue
        line = next((line for line in _lines(results[key]) if part in line.question), None)
        if line is None:
            raise InvalidInputError("results", f"{key} has no figure called {part!r}")
        held = f"paper: {line.paper}" if line.paper and "missed" not in line.held_to else line.held_to
        if key == "bench-rivals":
            held += f"; {line.note.rpartition('; ')[2]}"
        rows.append((command, shown, line.ours, held))
    return markdown_table(("command", "what", "figure", "held to, or the paper's"), rows)


def _circumstances(results: Results) -> list[str]:
    """When and on what, for each set of results, and which are missing."""
    rows = [
        (f"`{COMMANDS[key]}`", under(results[key]["machine"]) if key in results else NOT_RUN)
        for key in COMMANDS
    ]
    return markdown_table(("command", "when, and on what"), rows)


def _rivals(results: Results, table: Callable[[tables.Scores], tuple[list[str], tables.Rows]]) -> list[str]:
    if "bench-rivals" not in results:
        return [f"`{COMMANDS['bench-rivals']}`: {NOT_RUN}."]
    data = results["bench-rivals"]
    systems = data["settings"]["systems"]
    lines = markdown_table(*table(systems))
    if table is tables.correctness:
        lines += ["", under(data["machine"]), "", *(f"- {line}" for line in tables.failures(systems))]
    return lines


def _experiments(results: Results) -> list[str]:
    missing: Iterable[str] = (f"`{COMMANDS[name]}`: {NOT_RUN}." for name in NAMES if name not in results)
    return [
        page((results[name] for name in NAMES if name in results), figures="results/").rstrip(),
        "",
        *missing,
    ]


_BLOCKS: dict[str, Callable[[Results], list[str]]] = {
    "papers": _papers,
    "summary": _summary,
    "circumstances": _circumstances,
    "experiments": _experiments,
    "rivals-correctness": partial(_rivals, table=tables.correctness),
    "rivals-speed": partial(_rivals, table=tables.speed),
    "rivals-ratios": partial(_rivals, table=tables.ratios),
}

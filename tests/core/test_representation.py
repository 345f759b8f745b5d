"""What a person sees who types a name at the prompt: one line, and what matters of it."""

from datetime import UTC, datetime

import pytest

from ko_integrations import KnowledgeStore, Quantity, Vocabulary
from ko_integrations.embeddings import HashingEmbedder


@pytest.fixture
def store():
    now = datetime(2025, 3, 1, 9, 30, tzinfo=UTC)
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: now) as opened:
        yield opened


def test_a_fact_shows_what_it_says_which_version_and_since_when(store):
    store.update("Alice", "phone", "1", valid_from=datetime(2025, 1, 1, tzinfo=UTC))
    store.update("Alice", "phone", "2", source="form")
    first, second = store.history("Alice", "phone")
    assert repr(first) == (
        "KnowledgeObject('Alice', 'phone', '1', version=1, "
        "valid_from=2025-01-01 00:00, valid_to=2025-03-01 09:30)"
    )
    assert repr(second) == (
        "KnowledgeObject('Alice', 'phone', '2', version=2, valid_from=2025-03-01 09:30, source='form')"
    )


def test_a_fact_of_somebody_shows_whose_it_is(store):
    ko = store.namespace("acme", "alice").update("user", "height", Quantity(180, "cm")).ko
    assert repr(ko).endswith("namespace=('acme', 'alice'))")
    assert "Quantity(value=180, unit='cm')" in repr(ko)


def test_a_long_value_is_cut(store):
    assert len(repr(store.update("note", "text", "word " * 1000).ko)) < 250


def test_results_show_their_facts_and_nothing_empty(store):
    result = store.update("Alice", "phone", "1")
    assert repr(result) == f"WriteResult(outcome='created', ko={result.ko!r})"
    report = store.write("Bob lives in Porto.")
    assert repr(report) == f"WriteReport(results=({report.results[0]!r},))"
    change = store.changes_since(0).items[0]
    assert result.ko.id not in repr(change)
    assert "recorded_at=2025-03-01T09:30:00+00:00" in repr(change)


def test_a_hit_and_an_answer_are_short_and_print_as_sentences(store):
    store.update("Alice", "phone", "1")
    [hit] = store.read("phone of Alice", k=1)
    assert repr(hit) == f"Hit(score={round(hit.score, 3)}, ko={hit.ko!r})"
    assert str(hit) == f"{hit.score:.3f} Alice phone 1"
    answer = store.ask("What is Alice's phone number?")
    assert str(answer) == answer.text != ""
    assert repr(answer).startswith("Answer(value='1', route='exact', facts=(KnowledgeObject('Alice', 'phone'")
    assert "path" not in repr(answer)
    assert repr(store.ask("What is Alice's shoe size?")).startswith(
        "Answer(value=None, route='abstain', conf"
    )


def test_a_store_shows_where_it_is_whose_and_whether_it_is_open(store):
    assert repr(store) == "KnowledgeStore(':memory:')"
    assert repr(store.namespace("acme")) == "KnowledgeStore(':memory:', namespace=('acme',))"
    store.close()
    assert repr(store) == "KnowledgeStore(':memory:', closed)"


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        ("postgresql://ko:s3cr3t@db.example:5432/ko", "postgresql://ko:***@db.example:5432/ko"),
        ("postgresql://ko:s3@cr:3t@db.example/ko", "postgresql://ko:***@db.example/ko"),
        ("postgresql://ko@db.example:5432/ko", "postgresql://ko@db.example:5432/ko"),
        ("memory/", "memory/"),
    ],
)
def test_a_store_does_not_show_its_password(store, where, shown):
    store.handle.where = where
    assert repr(store) == f"KnowledgeStore({shown!r})"


def test_a_vocabulary_shows_its_size():
    assert repr(Vocabulary(mode="strict")) == "Vocabulary(0 predicates, mode='strict')"

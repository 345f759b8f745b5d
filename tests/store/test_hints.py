"""Slips that a newcomer makes with the store: the error says what to write instead."""

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.store import expect_store


@pytest.fixture
def store():
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as opened:
        yield opened


def test_a_store_is_opened_and_not_called():
    with pytest.raises(InvalidInputError, match=r"KnowledgeStore\.open"):
        KnowledgeStore("memory/")


def test_a_model_is_no_plain_name():
    with pytest.raises(InvalidInputError, match=r"SentenceTransformerEmbedder\('all-MiniLM-L6-v2'\)"):
        KnowledgeStore.open(":memory:", embedder="all-MiniLM-L6-v2")


def test_segments_of_a_namespace_stand_one_by_one(store):
    with pytest.raises(InvalidInputError, match=r"namespace\('acme', 'alice'\)"):
        store.namespace(("acme", "alice"))


def test_no_value_is_told_from_an_odd_one(store):
    with pytest.raises(InvalidInputError, match="`retract`"):
        store.update("Alice", "phone", None)
    with pytest.raises(InvalidInputError, match="object: object is not a type"):
        store.update("Alice", "phone", object())


def test_changes_since_takes_a_cursor(store):
    with pytest.raises(InvalidInputError, match="a cursor or a time, got NoneType"):
        store.changes_since(None)


def test_adapters_want_an_open_store(store):
    assert expect_store(store) is store
    with pytest.raises(InvalidInputError, match=r"KnowledgeStore\.open\('memory/'\)"):
        expect_store("memory/")
    with pytest.raises(InvalidInputError, match="got int"):
        expect_store(3)

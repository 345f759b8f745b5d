"""Documents as facts, without a framework."""

from collections.abc import Iterator

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.filters import compile_where
from ko_integrations.memory.documents import (
    DOCUMENT,
    StoredDocument,
    content_id,
    document_history,
    document_where,
    get_documents,
    key_id,
    put_documents,
    remove_documents,
    to_document,
)


@pytest.fixture
def store() -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as opened:
        yield opened


def test_a_content_id_tells_text_and_metadata_apart() -> None:
    assert content_id("a", {"x": 1, "y": 2}) == content_id("a", {"y": 2, "x": 1})
    ids = {content_id("a", {}), content_id("a", {"x": 1}), content_id("b", {}), content_id('a"', {})}
    assert len(ids) == 4
    with pytest.raises(InvalidInputError):
        content_id("a", {"x": object()})


def test_a_document_is_the_verbatim_fact_of_its_id(store: KnowledgeStore) -> None:
    [result] = put_documents(store, [StoredDocument("Text.", {"n": 1}, "Doc 1")])
    assert result.ko.id == key_id(store, "Doc 1", DOCUMENT)
    assert to_document(result.ko).id == "Doc 1"
    assert store.read_exact("Doc 1", DOCUMENT, verbatim=True).text == "Text."
    assert store.read_exact("doc 1", DOCUMENT, verbatim=True) is None
    assert store.facts("Doc 1") == []


def test_a_member_of_a_set_is_removed_alone(store: KnowledgeStore) -> None:
    rows = [
        StoredDocument(
            f"Ann is allergic to {what}.", {"subject": "Ann", "predicate": "allergy", "object": what}
        )
        for what in ("nuts", "milk")
    ]
    ids = [to_document(result.ko).id for result in put_documents(store, rows)]
    assert len(set(ids)) == 2
    assert remove_documents(store, ids[:1]) == 1
    assert [ko.object for ko in store.read_values("Ann", "allergy")] == ["milk"]
    remove_documents(store, ids[1:], erase=True)
    assert [ko.object for ko in store.history("Ann", "allergy")] == ["nuts"]


def test_a_document_in_a_slot_takes_the_times_in_its_metadata(store: KnowledgeStore) -> None:
    def said(value: str, since: str) -> StoredDocument:
        return StoredDocument(
            value, {"subject": "Ann", "predicate": "city", "valid_from": since, "source": "a.txt"}
        )

    put_documents(store, [said("Basel", "2024-06-01"), said("Bern", "2024-01-01T00:00:00+00:00")])
    assert store.read_exact("Ann", "city").object == "Basel"
    assert store.read_exact("Ann", "city").provenance.source == "a.txt"
    with pytest.raises(InvalidInputError, match="valid_from"):
        put_documents(store, [said("Chur", "soon")])


def test_unknown_ids_are_no_error(store: KnowledgeStore) -> None:
    assert get_documents(store, ["x", "0" * 64, ""]) == []
    assert document_history(store, "x") == []
    assert remove_documents(store, ["x", "f" * 64]) == 0


def test_documents_come_in_the_order_asked_each_once(store: KnowledgeStore) -> None:
    put_documents(store, [StoredDocument(text, id=text) for text in "abc"])
    assert [found.text for found in get_documents(store, ["c", "a", "c"])] == ["c", "a"]


def test_fields_of_a_filter(store: KnowledgeStore) -> None:
    put_documents(store, [StoredDocument("x", {"id": 7, "deep": {"source": "s"}}, "doc")])
    [ko] = store.snapshot()
    for where, expected in [
        ({"id": 7}, True),
        ({"id": ko.id}, False),
        ({"$and": [{"id": {"$gt": 6}}, {"$not": {"id": 8}}]}, True),
        ({"deep.source": "s"}, True),
        ({"subject": "doc"}, True),
        ({}, None),
        (None, None),
    ]:
        condition = compile_where(document_where(where))
        assert (None if condition is None else condition(ko)) is expected


def test_a_condition_can_be_a_test(store: KnowledgeStore) -> None:
    store.update("Ann", "age", 7)
    store.update("Bob", "age", 8)
    assert [hit.ko.subject for hit in store.read("age", where=lambda ko: ko.object > 7)] == ["Bob"]

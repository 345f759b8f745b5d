"""An export has everything that stands, also where nothing holds now."""

import io
from datetime import UTC, datetime

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError

LONG_AGO, LATER = datetime(2001, 1, 1, tzinfo=UTC), datetime(2002, 1, 1, tzinfo=UTC)


def test_a_namespace_whose_facts_all_ended_is_exported_with_its_history():
    lines = io.StringIO()
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        ended, past = store.namespace("ended"), store.namespace("past")
        ended.update("Alice", "city", "Bern")
        ended.retract("Alice", "city")
        past.update("Alice", "city", "Basel", valid_from=LONG_AGO, valid_to=LATER)
        assert store.namespaces() == []
        assert store.export_jsonl(lines) == 3
    lines.seek(0)
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as copy:
        assert copy.import_jsonl(lines) == 3
        assert [ko.object for ko in copy.namespace("ended").history("Alice", "city")] == ["Bern"]
        assert copy.namespace("ended").read_exact("Alice", "city") is None
        assert copy.namespace("past").read_exact("Alice", "city", as_of=LONG_AGO).object == "Basel"


def test_an_export_below_a_namespace_leaves_the_others_out():
    lines = io.StringIO()
    with KnowledgeStore.open(":memory:", namespace=("acme",), embedder=HashingEmbedder()) as store:
        store.namespace("alice").update("user", "city", "Bern")
        KnowledgeStore(store.handle, ("globex",)).update("user", "city", "Lyon")
        assert store.export_jsonl(lines) == 1
    assert "Lyon" not in lines.getvalue()


def test_subject_aliases_are_exported_and_declared_before_the_facts():
    lines = io.StringIO()
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        store.update("New York City", "mayor", "Koch", valid_from=LONG_AGO)
        store.update("NYC", "mayor", "Adams", valid_from=LATER)
        store.alias("New York City", "NYC")
        store.alias("New York City", "Gotham")
        store.namespace("empty").alias("Ann", "Annie")  # nothing was ever stated there
        assert store.export_jsonl(lines) == 5
        chain = store.history("Gotham", "mayor")
    lines.seek(0)
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as copy:
        assert copy.import_jsonl(lines) == 2
        again = copy.history("Gotham", "mayor")
        assert [(ko.id, ko.object, ko.subject) for ko in again] == [
            (ko.id, ko.object, ko.subject) for ko in chain
        ]
        view = copy.namespace("empty")
        view.update("Annie", "age", 7)
        assert view.read_exact("Ann", "age").object == 7
        copy.alias("New York City", drop="NYC")
        assert copy.read_exact("NYC", "mayor").object == "Adams"
        assert copy.verify().ok


def test_an_alias_of_a_refused_import_is_not_declared():
    alias = '{"ko": 1, "namespace": [], "subject": "ann", "alias": "annie"}\n'
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        store.update("Annie", "age", 7)
        with pytest.raises(InvalidInputError, match="line 2: alias"):
            store.import_jsonl(io.StringIO(alias + alias.replace('"annie"', "5")))
        assert store.read_exact("Ann", "age") is None
        assert store.read_exact("Annie", "age").object == 7
        assert store.changes_since(1).items == ()
        with pytest.raises(InvalidInputError, match="namespace"):
            store.namespace("other").import_jsonl(io.StringIO(alias))

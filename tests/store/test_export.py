"""An export has everything that stands, also where nothing holds now."""

import io
from datetime import UTC, datetime

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder

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

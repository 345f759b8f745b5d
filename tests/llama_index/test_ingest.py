"""`KOCompilerTransform` and `ko_ingest`: documents that change."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core import Document
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent
from llama_index.core.storage.docstore import SimpleDocumentStore

from ko_integrations import KnowledgeStore, Vocabulary
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.llama_index import KOCompilerTransform, KOVectorStore, ko_ingest
from ko_integrations.llama_index.ingest import FACTS, SOURCE
from ko_integrations.memory.documents import INTERNAL


class Fails(TransformComponent):
    """A step that can be told to fail."""

    broken: bool = False

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        if self.broken:
            raise ConnectionError("out of order")
        return nodes


def pipeline(store: KnowledgeStore, *more: TransformComponent, **options: Any) -> IngestionPipeline:
    steps = [SentenceSplitter(chunk_size=64, chunk_overlap=0), KOCompilerTransform(store), *more]
    return IngestionPipeline(transformations=steps, **options)


def doc(text: str, id: str = "cv", **metadata: Any) -> Document:
    return Document(doc_id=id, text=text, metadata=metadata)


def facts(store: KnowledgeStore) -> set[str]:
    return {str(ko) for ko in store.snapshot() if not ko.predicate.startswith(INTERNAL)}


def values(store: KnowledgeStore, predicate: str = "employer") -> list[Any]:
    return [ko.object for ko in store.history("Alice", predicate)]


# -- documents that change --------------------------------------------------------------------------------------
def test_a_document_edited_twice(store: KnowledgeStore) -> None:
    steps = pipeline(store)
    report = ko_ingest(steps, store, [doc("Alice works for Acme. Alice lives in Bern.")])
    assert (report.changed, report.kept, report.withdrawn) == (3, 0, 0)
    home = store.read_exact("Alice", "residence")
    report = ko_ingest(steps, store, [doc("Alice works for Globex. Alice lives in Bern.")])
    assert (report.changed, report.kept, report.withdrawn) == (2, 1, 1)
    assert facts(store) == {"Alice employer Globex", "Alice residence Bern"}
    assert store.read_exact("Alice", "residence") == home
    ko_ingest(steps, store, [doc("Alice works for Initech.")])
    assert facts(store) == {"Alice employer Initech"}
    assert values(store) == ["Acme", "Globex", "Initech"]
    assert values(store, "residence") == []
    assert store.ask("Who is Alice's employer?").value == "Initech"
    texts = [node.get_content() for node in KOVectorStore(store=store).get_nodes() if node.ref_doc_id]
    assert texts == ["Alice works for Initech."]


@pytest.mark.parametrize("cached", [True, False])
def test_the_same_again_changes_nothing(store: KnowledgeStore, cached: bool) -> None:
    steps = pipeline(store, disable_cache=not cached)
    text = "Alice works for Acme. Alice speaks French. Alice speaks German."
    ko_ingest(steps, store, [doc(text)])
    cursor = store.changes_since(0).cursor
    report = ko_ingest(steps, store, [doc(text)])
    assert (report.changed, report.kept, report.withdrawn) == (0, 5 - 1, 0)
    assert store.changes_since(cursor).items == ()


def test_going_back_is_a_third_version(store: KnowledgeStore) -> None:
    steps = pipeline(store)
    for firm in ("Acme", "Globex", "Acme"):
        ko_ingest(steps, store, [doc(f"Alice works for {firm}.")])
    assert values(store) == ["Acme", "Globex", "Acme"]


def test_a_copy_read_again_does_not_outvote_what_others_said_since(store: KnowledgeStore) -> None:
    steps = pipeline(store, disable_cache=True)
    ko_ingest(steps, store, [doc("Alice works for Acme.", "old")])
    ko_ingest(steps, store, [doc("Alice works for Globex.", "new")])
    ko_ingest(steps, store, [doc("Alice works for Acme.", "old")])
    assert store.read_exact("Alice", "employer").object == "Globex"
    ko_ingest(steps, store, [doc("Nothing of note.", "new")])
    assert store.read_exact("Alice", "employer").object == "Acme"


def test_a_document_that_says_two_things_of_one_slot_is_repeated_as_a_whole(store: KnowledgeStore) -> None:
    steps = pipeline(store, disable_cache=True)
    for _ in range(3):
        ko_ingest(steps, store, [doc("Alice works for Acme. Later on, Bob met her. Alice works for Globex.")])
    assert values(store) == ["Acme", "Globex"]


def test_members_of_a_set_that_vanish_are_withdrawn(store: KnowledgeStore) -> None:
    steps = pipeline(store)
    ko_ingest(steps, store, [doc("Alice speaks French. Alice speaks German.")])
    ko_ingest(steps, store, [doc("Alice speaks German.")])
    assert [ko.object for ko in store.read_values("Alice", "languages_spoken")] == ["German"]


def test_a_retraction_in_a_document_stands_as_long_as_the_document_has_it(store: KnowledgeStore) -> None:
    steps = pipeline(store, disable_cache=True)
    store.update("Alice", "employer", "Acme")
    report = ko_ingest(steps, store, [doc("Alice no longer works for Acme.")])
    assert report.retracted == 1
    for _ in range(2):
        ko_ingest(steps, store, [doc("Alice no longer works for Acme.")])
        assert store.read_exact("Alice", "employer") is None
    ko_ingest(steps, store, [doc("Nothing of note.")])
    assert store.read_exact("Alice", "employer").object == "Acme"


def test_what_a_person_ended_is_not_revived_by_a_copy(store: KnowledgeStore) -> None:
    steps = pipeline(store, disable_cache=True)
    ko_ingest(steps, store, [doc("Alice works for Acme.")])
    store.retract("Alice", "employer")
    ko_ingest(steps, store, [doc("Alice works for Acme.")])
    assert store.read_exact("Alice", "employer") is None


def test_withdrawing_the_document_takes_everything_of_it(store: KnowledgeStore) -> None:
    ko_ingest(pipeline(store), store, [doc("Alice works for Acme."), doc("Bob works for Acme.", "b")])
    KOVectorStore(store=store).delete("cv")
    assert facts(store) == {"Bob employer Acme"}


# -- pipelines ----------------------------------------------------------------------------------------------------
def test_a_failing_step_loses_nothing(store: KnowledgeStore) -> None:
    step = Fails()
    steps = pipeline(store, step, disable_cache=True)
    ko_ingest(steps, store, [doc("Alice works for Acme.")])
    step.broken = True
    with pytest.raises(ConnectionError):
        ko_ingest(steps, store, [doc("Alice works for Globex.")])
    assert facts(store) == {"Alice employer Acme"}
    step.broken = False
    ko_ingest(steps, store, [doc("Alice works for Globex.")])
    assert facts(store) == {"Alice employer Globex"}


def test_a_node_that_cannot_be_stored_means_that_nothing_is(store: KnowledgeStore) -> None:
    with pytest.raises(InvalidInputError):
        ko_ingest(pipeline(store), store, [doc("Alice works for Acme."), doc("nul \0", "b")])
    assert store.count() == 0


def test_documents_of_equal_text_are_two_sources_in_a_cached_pipeline(store: KnowledgeStore) -> None:
    steps = pipeline(store)
    for id in ("a", "b"):
        ko_ingest(steps, store, [doc("Alice works for Acme.", id)])
    assert store.read_exact("Alice", "employer").provenance.sources == ("a", "b")
    store.withdraw_source("a")
    assert facts(store) == {"Alice employer Acme"}


def test_another_vocabulary_is_another_entry_of_the_cache(store: KnowledgeStore) -> None:
    one = KOCompilerTransform(store).to_dict()
    store.use_vocabulary(Vocabulary.general(cardinality="single"))
    assert KOCompilerTransform(store).to_dict()["compiled_by"] != one["compiled_by"]
    json.dumps(one)
    assert KOCompilerTransform.from_dict(one).path == one["path"]


def test_a_store_or_docstore_in_the_pipeline_is_refused(store: KnowledgeStore) -> None:
    for options in ({"vector_store": KOVectorStore(store=store)}, {"docstore": SimpleDocumentStore()}):
        with pytest.raises(InvalidInputError, match="pipeline"):
            ko_ingest(IngestionPipeline(transformations=[], **options), store, [doc("x")])


def test_ready_vectors_are_used(store: KnowledgeStore) -> None:
    steps = IngestionPipeline(transformations=[MockEmbedding(embed_dim=store.embedder.dimension)])
    ko_ingest(steps, store, [doc("Dogs bark.")])
    [ko] = store.snapshot()
    assert store.vectors_of([ko])[0].tolist() == pytest.approx([1 / 16] * 256)


def test_relative_dates_count_from_when_it_was_said(store: KnowledgeStore) -> None:
    ko_ingest(
        pipeline(store), store, [doc("Alice has worked for Acme since last year.", said_at="2024-05-01")]
    )
    assert store.read_exact("Alice", "employer").valid_from.year == 2023
    with pytest.raises(InvalidInputError, match="said_at"):
        ko_ingest(pipeline(store), store, [doc("Alice works for Globex.", said_at="some day")])


def test_what_the_ingestion_adds_to_nodes_does_not_stay(store: KnowledgeStore) -> None:
    document = doc("Alice works for Acme.", page=1)
    ko_ingest(pipeline(store), store, [document])
    assert document.metadata == {"page": 1}
    [node] = [node for node in KOVectorStore(store=store).get_nodes() if node.ref_doc_id]
    assert node.metadata == {"page": 1}
    assert SOURCE not in node.to_json()
    assert FACTS not in node.to_json()
    assert [n.node_id for n in KOVectorStore(store=store).get_nodes(node_ids=[node.node_id])] == [
        node.node_id
    ]


def test_statements_are_seen_by_no_model(store: KnowledgeStore) -> None:
    [node] = KOCompilerTransform(store)([doc("Alice works for Acme.")])
    assert node.metadata[FACTS]
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert node.get_content(metadata_mode=mode) == "Alice works for Acme."


async def test_inside_a_running_loop(store: KnowledgeStore) -> None:
    nodes = await pipeline(store).arun(documents=[doc("Alice works for Acme.")])
    assert nodes[0].metadata[FACTS]
    assert ko_ingest(pipeline(store), store, [doc("Alice works for Acme.")]).changed == 2
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as other:
        assert ko_ingest(pipeline(other), other, []).changed == 0


def test_a_pronoun_may_mean_whom_the_chunk_before_names(store: KnowledgeStore) -> None:
    steps = IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=16, chunk_overlap=0), KOCompilerTransform(store)]
    )
    text = "Alice Meier lives in Bern with her dog and two cats. She works for Acme in the old town of Bern."
    ko_ingest(steps, store, [doc(text), doc("She works for Globex.", "other")])
    assert len([node for node in KOVectorStore(store=store).get_nodes() if node.ref_doc_id == "cv"]) > 1
    assert store.read_exact("Alice Meier", "employer").object.startswith("Acme")
    assert "Globex" not in str(facts(store))


@pytest.mark.parametrize("documents", ["text", ["text"], doc("The CEO of Acme is Lee."), [None]])
def test_what_is_no_sequence_of_documents_is_refused(documents: Any) -> None:
    with (
        KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store,
        pytest.raises(InvalidInputError, match="sequence of Documents"),
    ):
        ko_ingest(pipeline(store), store, documents)


def test_swapped_arguments_are_named() -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        with pytest.raises(
            InvalidInputError, match="store: expected a KnowledgeStore, got IngestionPipeline"
        ):
            ko_ingest(store, pipeline(store), [])
        with pytest.raises(InvalidInputError, match="pipeline"):
            ko_ingest(store, store, [])

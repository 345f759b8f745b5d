"""What a source says now, against a plain model of it."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ko_integrations import Fact, KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.memory.documents import DOCUMENT
from ko_integrations.memory.sources import PRINT, STATEMENT, Saying, restate, resume
from ko_integrations.protocols import Extraction


@pytest.fixture
def store() -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(8)) as opened:
        yield opened


def saying(source: str, *values: str, piece: str = "", **details: object) -> Saying:
    """A piece of a source that states Alice's employer, in this order."""
    itself = Fact(
        subject=f"{source} {piece or values}", predicate=DOCUMENT, object=piece or list(values), source=source,
        verbatim=True,
    )  # fmt: skip
    statements = [
        Extraction(subject="Alice", predicate="employer", object=value, text=f"Alice works for {value}.")
        for value in values
    ]
    return Saying(itself, [each.model_copy(update=details) for each in statements])


def employers(store: KnowledgeStore) -> list[str]:
    return [ko.object for ko in store.history("Alice", "employer")]


STEPS = st.lists(
    st.tuples(st.sampled_from(["s1", "s2", "s3"]), st.lists(st.sampled_from("ABC"), max_size=2, unique=True)),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_sources_that_change_their_minds(steps: list[tuple[str, list[str]]]) -> None:
    """What a source repeats counts from when it first said it; what it drops is gone."""
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(8)) as store:
        stated: list[tuple[str, str]] = []
        for source, values in steps:
            restate(store, source, [saying(source, *values)])
            mine = [value for name, value in stated if name == source]
            if not values:
                stated = [each for each in stated if each[0] != source]
            elif mine[-len(values) :] != values:
                stated += [(source, value) for value in values]
            head = store.read_exact("Alice", "employer")
            assert (head and head.object) == (stated[-1][1] if stated else None)
            chain = [value for i, (_, value) in enumerate(stated) if i == 0 or stated[i - 1][1] != value]
            assert employers(store) == chain


def test_the_same_words_are_no_news_though_their_date_moved(store: KnowledgeStore) -> None:
    early, late = (datetime(2025, 1, day, tzinfo=UTC) for day in (1, 2))
    restate(store, "s", [saying("s", "Acme", valid_from=early)])
    store.update("Alice", "employer", "Globex", valid_from=datetime(2025, 1, 1, 12, tzinfo=UTC))
    restate(store, "s", [saying("s", "Acme", valid_from=late)])
    assert store.read_exact("Alice", "employer").object == "Globex"
    restate(store, "s", [saying("s", "Acme", valid_from=late, text="Since the 2nd Alice works for Acme.")])
    assert store.read_exact("Alice", "employer").object == "Acme"


def test_a_piece_is_told_from_its_older_state_by_its_print(store: KnowledgeStore) -> None:
    def piece(mark: str) -> Saying:
        return Saying(
            Fact(subject="Alice", predicate="city", object="Bern", source="s", metadata={PRINT: mark})
        )

    assert len(restate(store, "s", [piece("1")]).results) == 1
    assert restate(store, "s", [piece("1")]).kept == 1
    assert [result.outcome for result in restate(store, "s", [piece("2")]).results] == ["confirmed"]
    assert STATEMENT not in (store.read_exact("Alice", "city").provenance.metadata or {})


def test_pieces_that_overlap_state_a_fact_once(store: KnowledgeStore) -> None:
    done = restate(store, "s", [saying("s", "Acme", piece="one"), saying("s", "Acme", piece="two")])
    assert [result.outcome for result in done.results] == ["created"] * 3
    assert store.read_exact("Alice", "employer").provenance.confirmations == ()


# -- sources that come back -------------------------------------------------------------------------------------
def employer(value: str, source: str | None = "cv", **details: object) -> Fact:
    return Fact(subject="Alice", predicate="employer", object=value, source=source, **details)


def test_a_source_that_comes_back_goes_on_where_it_was(store: KnowledgeStore) -> None:
    began = {}
    for value in ("Acme", "Globex", "Globex", "Acme"):
        store.withdraw_source("cv")
        [result] = resume(store, [employer(value)])
        began.setdefault((value, result.ko.provenance.version), result.ko.valid_from)
    assert employers(store) == ["Acme", "Globex", "Acme"]
    assert [ko.valid_from for ko in store.history("Alice", "employer")] == sorted(began.values())


def test_what_was_known_while_a_source_was_gone_stays_so(store: KnowledgeStore) -> None:
    store.update_many([employer("Acme", "letter")])
    resume(store, [employer("Globex")])
    store.withdraw_source("cv")
    gone = store.update("marker", "is", 1).ko.provenance.recorded_at
    [result] = resume(store, [employer("Initech")])
    assert (result.outcome, result.previous.object) == ("superseded", "Globex")
    assert employers(store) == ["Acme", "Globex", "Initech"]
    assert [ko.object for ko in store.history("Alice", "employer", known_at=gone)] == ["Acme"]


def test_only_the_source_itself_brings_its_statements_back(store: KnowledgeStore) -> None:
    resume(store, [employer("Acme")])
    store.withdraw_source("cv")
    resume(store, [employer("Globex", "letter"), employer("Initech", None)])
    resume(store, [Fact(subject="Alice", predicate="age", object=3, source="cv")])
    assert employers(store) == ["Globex", "Initech"]
    resume(store.namespace("other"), [employer("Hooli")])
    assert [ko.object for ko in store.namespace("other").history("Alice", "employer")] == ["Hooli"]


def test_what_was_erased_never_comes_back(store: KnowledgeStore) -> None:
    resume(store, [employer("Acme")])
    store.withdraw_source("cv")
    store.erase("Alice", "employer")
    resume(store, [employer("Globex")])
    assert employers(store) == ["Globex"]


def test_a_source_that_cannot_be_stored_brings_nothing_back(store: KnowledgeStore) -> None:
    resume(store, [employer("Acme")])
    store.withdraw_source("cv")
    with pytest.raises(InvalidInputError):
        resume(
            store,
            [employer("Globex"), employer("nul\0"), Fact(subject="", predicate="x", object=1, source="cv")],
        )
    assert employers(store) == []

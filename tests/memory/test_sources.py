"""What a source says now, against a plain model of it."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ko_integrations import Fact, KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.memory.documents import DOCUMENT
from ko_integrations.memory.sources import PRINT, STATEMENT, Saying, restate
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

"""What a chain answers agrees with the store's own reads, whatever the chain."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder

NOW = datetime(2025, 6, 1, tzinfo=UTC)
START = datetime(2001, 1, 1, tzinfo=UTC)

chains = st.lists(
    st.tuples(st.sampled_from(["red", "green", "blue"]), st.integers(min_value=0, max_value=8000)),
    min_size=1, max_size=8, unique_by=lambda pair: pair[1],
)  # fmt: skip


def _store(chain: list[tuple[str, int]]) -> KnowledgeStore:
    store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW)
    for value, offset in chain:
        store.update("the flag", "colour", value, valid_from=START + timedelta(days=offset))
    return store


@settings(max_examples=12, deadline=None)
@given(chains, st.integers(min_value=-400, max_value=8600))
def test_a_day_asked_for_is_the_exact_read_of_that_day(chain: list[tuple[str, int]], offset: int) -> None:
    day = START + timedelta(days=offset)
    with _store(chain) as store:
        held = store.read_exact("the flag", "colour", as_of=day)
        answer = store.ask(f"What was the colour of the flag on {day.day} {day:%B} {day.year}?")
        assert answer.value == (held.object if held else None)
        assert answer.route == ("temporal" if held else "abstain")


@settings(max_examples=12, deadline=None)
@given(chains)
def test_previous_first_and_count_follow_the_history(chain: list[tuple[str, int]]) -> None:
    with _store(chain) as store:
        values = [ko.object for ko in store.history("the flag", "colour")]
        assert store.ask("What is the colour of the flag?").value == values[-1]
        assert store.ask("What was the first colour of the flag?").value == values[0]
        assert store.ask("How many times has the colour of the flag changed?").value == len(values) - 1
        before = store.ask("What was the previous colour of the flag?").value
        assert before == (values[-2] if len(values) > 1 else None)
        assert store.ask("How has the colour of the flag changed?").value == values


@settings(max_examples=10, deadline=None)
@given(chains, st.integers(min_value=2001, max_value=2022))
def test_a_year_is_whatever_held_in_it(chain: list[tuple[str, int]], year: int) -> None:
    start, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    with _store(chain) as store:
        held = {
            ko.object
            for ko in store.history("the flag", "colour")
            if ko.valid_from < end and (ko.valid_to is None or ko.valid_to > start)
        }
        answer = store.ask(f"What was the colour of the flag in {year}?").value
        assert set(answer if isinstance(answer, list) else [answer]) == (held or {None})

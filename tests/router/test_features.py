"""What the router sees of a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations.router.cues import query_cues
from ko_integrations.router.features import COLUMNS, column_of, feature_rows, see
from ko_integrations.router.request import words_of
from ko_integrations.router.surface import SURFACE_FEATURES, surface_features


def named(query: str) -> dict[str, float]:
    return dict(zip(SURFACE_FEATURES, surface_features(query), strict=True))


def test_the_papers_surface_features() -> None:
    found = named("When is the flight of Bob?")
    assert found["has_when"] == found["is_the"] == found["of"] == found["ends_with_question_mark"] == 1
    assert found["has_proper_noun"] == 1
    assert found["word_count"] == 6
    assert found["has_what"] == found["has_creative_verb"] == found["my"] == 0
    assert named("write a poem about my cat")["has_creative_verb"] == 1
    assert named("Can you explain gravity?")["has_explanatory_verb"] == 1
    assert named("How many moons has Mars?")["has_how_quantity"] == 1
    assert named("How do I cook rice?")["has_how_quantity"] == 0


@pytest.mark.parametrize(
    ("query", "cue"),
    [
        ("What is the capital of Peru?", "asks for the X of Y"),
        ("could you tell me what the capital of peru is", "lead: polite request"),
        ("what is osmosis", "asks what a thing is, with nothing else said"),
        ("how many moons has mars", "asks how much, how many, how long"),
        ("What year did it end?", "asks which one of a kind ('what year', 'which city')"),
        ("Is Anna vegetarian?", "yes-no question"),
        ("bob email", "no verb, like a search"),
        ("The treaty was signed where?", "a question word later on"),
        ("You are a pirate.", "gives the listener a role"),
        ("give me the date of the vote", "asks for the X of Y"),
    ],
)
def test_cues(query: str, cue: str) -> None:
    assert cue in query_cues(query)


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("I love that film. Who directed it?", "Who directed it?"),
        ("Thanks! What is Bob's number? Cheers.", "What is Bob's number?"),
        ("For the form I need to know when the lease ends.", "When does the lease end?"),
    ],
)
def test_a_scene_set_first_does_not_hide_the_question(query: str, asked: str) -> None:
    cues = query_cues(query)
    assert "sets a scene first" in cues
    opening = next(cue for cue in query_cues(asked) if cue.startswith("opens with"))
    assert opening in cues


def test_an_abbreviation_ends_no_sentence() -> None:
    assert "sets a scene first" not in query_cues("Have I met Dr. Lind before?")


def test_a_quotation_is_one_word_and_asks_for_nothing() -> None:
    assert words_of('Who wrote "How to Explain Anything"?') == ["who", "wrote", "quoted", "?"]
    assert "a word of 'verb of explaining'" not in query_cues('Who wrote "Explain This"?')


def test_chat_spellings_are_written_out() -> None:
    assert words_of("whats ur email plz") == ["what", "is", "your", "email", "please"]
    assert words_of("What’s up") == words_of("what's up")


@given(st.text())
def test_any_text_has_features(text: str) -> None:
    assert len(surface_features(text)) == len(SURFACE_FEATURES)
    rows = feature_rows([text])
    assert rows.shape == (1, COLUMNS)
    assert (rows.data > 0).all()


def test_named_features_are_columns_of_the_hashed_ones() -> None:
    query = "Could you tell me who wrote Emma?"
    row = feature_rows([query])
    assert all(row[0, column_of(name)] >= value for name, value in see(query).named.items())


def test_a_word_counts_by_what_stands_beside_it() -> None:
    asked, made = feature_rows(["who wrote the story"]), feature_rows(["please write the story"])
    alone = column_of("word story")
    assert asked[0, alone] > 0
    assert made[0, alone] > 0
    shared = set(asked.indices) & set(made.indices)
    assert len(shared) < asked.nnz / 2


@given(st.text(min_size=1), st.text(min_size=1))
def test_of_a_long_text_only_the_beginning_and_the_end_are_read(beginning: str, end: str) -> None:
    start, stop = f"Listen: {beginning} ".ljust(1_500, "x"), f" {end} now?".rjust(500, "y")
    longer, longest = (f"{start[:1500]}{'z' * size}{stop[-500:]}" for size in (1_000, 50_000))
    assert see(longer).named == see(longest).named
    assert (feature_rows([longer]) != feature_rows([longest])).nnz == 0


@given(st.text(alphabet="abc ?'", min_size=1))
def test_features_do_not_depend_on_the_surrounding_space(text: str) -> None:
    assert see(f"  {text}\n").named == see(text).named

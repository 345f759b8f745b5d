"""The parts the compiler is made of: sentences, kinds, dates, values, moods."""

import doctest
import importlib
import re
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations import kinds
from ko_integrations.compiler import text
from ko_integrations.compiler.dates import parse_date, read_moment, take_adjunct
from ko_integrations.compiler.guess import KindGuesser
from ko_integrations.compiler.mood import denial, no_statement, plain
from ko_integrations.compiler.text import keys_of, sentences, tokens_of
from ko_integrations.compiler.values import clean, items, value_of
from ko_integrations.kinds import country_named, demonym_of, kinds_of, office_of, pronoun_of
from ko_integrations.types import Quantity
from ko_integrations.vocabulary import Predicate

SAID = datetime(2026, 11, 30, 12, tzinfo=UTC)  # a Monday


@pytest.mark.parametrize(
    "module",
    [
        "kinds",
        "morphology",
        "vocabulary",
        "compiler.mood",
        "compiler.reading",
        "compiler.values",
        "compiler.text",
    ],
)
def test_examples_of_docstrings(module: str) -> None:
    outcome = doctest.testmod(importlib.import_module(f"ko_integrations.{module}"))
    assert outcome.failed == 0


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Dr. Chen lives in St. Louis. She is 40.", ["Dr. Chen lives in St. Louis.", "She is 40."]),
        ("He works at Acme Inc. She left.", ["He works at Acme Inc.", "She left."]),
        ("L. Ron Hubbard wrote it. Fine!", ["L. Ron Hubbard wrote it.", "Fine!"]),
        ("He had influenza A. Fever was absent.", ["He had influenza A.", "Fever was absent."]),
        ("It was 150/95. No arrhythmia.", ["It was 150/95.", "No arrhythmia."]),
        ("It costs 3.5 euros. Nice.", ["It costs 3.5 euros.", "Nice."]),
        ("1. First one.\n2. Second one.", ["First one.", "Second one."]),
        ("- a\n- b", ["a", "b"]),
        ("小明住在北京。他是老师。", ["小明住在北京。", "他是老师。"]),
        ("", []),
    ],
)
def test_sentences(text: str, pieces: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == pieces


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("user: hi there\nassistant: hello\nuser: bye", ["user", None, "user"]),
        ("Alice: I moved to Porto\nBob: so did I", ["Alice", "Bob"]),
        ("<alice> I moved to Porto", ["alice"]),
        ("[09:12] maria: i moved to Porto", ["maria"]),
        ("Note: the server moved to Oslo", ["user"]),
        ("Delete everything: now and for ever", ["user"]),
    ],
)
def test_speakers(text: str, speakers: list[str | None]) -> None:
    assert [sentence.speaker for sentence in sentences(text)] == speakers


@given(st.text(max_size=300))
def test_sentences_lose_no_letters(text: str) -> None:
    kept = "".join(sentence.text for sentence in sentences(text, lambda _: True))
    assert len([c for c in kept if c.isalpha()]) <= len([c for c in text if c.isalpha()])


@given(st.text(max_size=80))
def test_tokens_lie_in_the_text(text: str) -> None:
    for token in tokens_of(text):
        assert text[token.start : token.end] == token.text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Q was born in", "Q is born in"),
        ("Q has been employed by", "Q was employed by"),
        ("Q is currently living in", "Q lives in"),
        ("Q's colour is", "the Q's color was"),
        ("Q doesn't like", "Q does not like"),
    ],
)
def test_wordings_that_agree(one: str, other: str) -> None:
    assert keys_of(tokens_of(one)).keys == keys_of(tokens_of(other)).keys


def test_possessive_and_contraction_are_told_apart() -> None:
    assert "'s" in keys_of(tokens_of("Alice's phone is red")).keys
    assert "'s" not in keys_of(tokens_of("Alice's a nurse")).keys
    assert "'s" not in keys_of(tokens_of("She's happy")).keys


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("French", "language"),
        ("the Netherlands", "country"),
        ("Europe", "continent"),
        ("617-555-0123", "phone"),
        ("3 cm", "quantity"),
        ("412,000", "number"),
        ("3 May 1960", "date"),
        ("Sarah Chen", "person"),
        ("University of Oslo", "organisation"),
        ("violin", "instrument"),
        ("wide receiver", "playing_position"),
        ("software engineer", "occupation"),
        ("jazz", "genre"),
        ("a@b.example", "email"),
        ("Nobel Prize", "award"),
        ("Wren Records", "label"),
        ("marine ecologist", "occupation"),
    ],
)
def test_kinds(name: str, kind: str) -> None:
    assert kind in kinds_of(name)


def test_unknown_names_have_no_kind() -> None:
    assert kinds_of("Zorblax") == kinds_of("nitwit") == frozenset()


def test_countries_and_their_offices() -> None:
    assert country_named("Republic of Poland") == "Poland"
    assert country_named("Kingdom of England") != "England"
    assert demonym_of("the Belgians") == "Belgium"
    assert office_of("president", "Iran") == "head_of_government"
    assert office_of("president", "Acme") == "president"
    assert pronoun_of("Zorblax") is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2010", datetime(2010, 1, 1)),
        ("March 2010", datetime(2010, 3, 1)),
        ("3 March 2010", datetime(2010, 3, 3)),
        ("March 3rd, 2010", datetime(2010, 3, 3)),
        ("2010-03", datetime(2010, 3, 1)),
        ("25/12/2010", datetime(2010, 12, 25)),
        ("May", datetime(2026, 5, 1)),
        ("December", datetime(2025, 12, 1)),
        ("yesterday", datetime(2026, 11, 29)),
        ("three days ago", datetime(2026, 11, 27)),
        ("last week", datetime(2026, 11, 23)),
        ("last month", datetime(2026, 10, 1)),
        ("last year", datetime(2025, 1, 1)),
        ("next month", datetime(2026, 12, 1)),
        ("last June", datetime(2026, 6, 1)),
        ("last Monday", datetime(2026, 11, 23)),
        ("friday", datetime(2026, 11, 27)),
        ("two years ago", datetime(2024, 11, 28)),
        ("last spring", datetime(2026, 3, 1)),
    ],
)
def test_moments(text: str, moment: datetime) -> None:
    assert read_moment(text, SAID) == moment.replace(tzinfo=UTC)


@pytest.mark.parametrize("text", ["soon", "5/6/2010", "31 February 2010", "", "12:30"])
def test_what_is_no_date(text: str) -> None:
    assert read_moment(text, SAID) is None


def test_relative_days_are_those_of_the_speaker() -> None:
    late = datetime(2026, 11, 30, 23, tzinfo=timezone(timedelta(hours=-8)))
    assert read_moment("today", late) == datetime(2026, 11, 30, 8, tzinfo=UTC)


def test_adjuncts() -> None:
    adjunct = take_adjunct("Jane joined Acme in 2020 as a clerk", SAID)
    assert adjunct is not None
    assert (adjunct.text, adjunct.said) == ("Jane joined Acme as a clerk", "2020")
    until = take_adjunct("Jane works at Acme until May 2027", SAID)
    assert until is not None
    assert (until.valid_from, until.valid_to) == (None, datetime(2027, 5, 1, tzinfo=UTC))
    assert take_adjunct("Jane joined Acme", SAID) is None


def test_dates_as_values() -> None:
    assert parse_date("3 May 1960", SAID) == date(1960, 5, 3)
    assert parse_date("1998", SAID) == 1998
    assert parse_date("May 1998", SAID) is None


@pytest.mark.parametrize(
    ("text", "value_type", "value"),
    [
        ("42", "number", 42),
        ("1,234,567", "number", 1234567),
        ("2.1 million", "number", 2100000),
        ("two", "number", 2),
        ("about 900 people", "number", 900),
        ("many", "number", "many"),
        ("3cm", "quantity", Quantity(3, "cm")),
        ("0.7 nM", "quantity", Quantity(0.7, "nM")),
        ("15-pound", "quantity", Quantity(15, "pound")),
        ("$2 million", "quantity", Quantity(2000000, "USD")),
        ("$900 a month", "quantity", Quantity(900, "USD/month")),
        ("482.8 g/mol", "quantity", Quantity(482.8, "g/mol")),
        ("very tall", "quantity", "very tall"),
        ("1998", "date", 1998),
        ("555-0101", "text", "555-0101"),
        ("0042", "any", "0042"),
        ("7", "any", 7),
        ("百度", "name", "百度"),
    ],
)
def test_values(text: str, value_type: str, value: object) -> None:
    found = value_of(text, Predicate(name="p", value_type=value_type), SAID)
    assert found == value
    assert type(found) is type(value)


def test_objects_are_cleaned_of_what_is_not_theirs() -> None:
    assert clean('"Glass Rivers",') == "Glass Rivers"
    assert clean("tea now") == "tea"
    assert clean("555-2222, not 555-1111") == "555-2222"
    assert clean("the city of Oslo") == "Oslo"
    assert items("tea, coffee and milk") == ["tea", "coffee", "milk"]


def test_moods() -> None:
    assert no_statement("I live in Oslo.") is None
    assert no_statement("Mark Twain lived in Hartford.") is None
    assert plain("By the way, just so you know, I moved.") == "I moved."
    assert plain("call me Kat") == "My name is Kat"
    assert str(denial("I no longer drink tea")) == "I drinks tea"
    assert denial("I drink tea") is None


def test_guess_abstains_unless_one_kind_is_clearly_nearer() -> None:
    class Flat:
        model_id, dimension = "flat", 2

        def encode(self, texts):  # type: ignore[no-untyped-def]
            import numpy as np

            return np.full((len(texts), 2), 0.7071, dtype=np.float32)

    assert KindGuesser(Flat()).choose("Zorblax", ["software", "product"]) is None
    assert KindGuesser(None).choose("Mirabel Osk", ["person", "organisation"]) == "person"
    assert KindGuesser(None).choose("zorblax", ["person", "organisation"]) is None


@pytest.mark.parametrize(
    "name",
    [*"1969|12 May 1987|5 mg|5 μg|41 KM|$5 a month|a hundred|Dr. Mia Lund|Lund University|LUND UNIVERSITY".split("|"),
     *"Acme Records|Acme ſystems|İstanbul Bank|Lake Como|Green Party|Acme FC|Mia Lund|president of Acme".split("|")],
)  # fmt: skip
def test_kinds_are_those_of_the_first_shape_that_fits(name: str) -> None:
    shapes = [pattern for pattern, _ in kinds._SHAPES]
    fitting = (number for number, shape in enumerate(shapes, 1) if re.fullmatch(shape, name, re.IGNORECASE))
    assert kinds._shape_of(name, name.lower()) == next(fitting, 0)


def test_a_shape_has_no_groups() -> None:
    assert kinds._SHAPE.groups == len(kinds._SHAPES)


@given(st.text("abn'’.-:/@ tTs5%&é", max_size=30))
def test_words_are_the_same_by_the_fast_pattern(said: str) -> None:
    if not text._ODD.search(said):
        assert text._TOKEN.findall(said) == text._ODD_TOKEN.findall(said)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I moved to Oslo tho", "I moved to Oslo"),
        ("I moved to Oslo, lol haha!", "I moved to Oslo!"),
        ("I moved to Oslo🎉🎉.", "I moved to Oslo."),
        ("I moved to Oslo :-)", "I moved to Oslo"),
        ("I lol moved to Oslo", "I lol moved to Oslo"),
    ],
)
def test_particles_go_from_the_end_only(said: str, meant: str) -> None:
    assert plain(said) == meant

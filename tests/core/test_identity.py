"""What counts as the same name, value and slot (DESIGN section 4, rules 1 to 3)."""

import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations import KOError, Quantity
from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import (
    MAX_NAME_BYTES,
    MAX_VALUE_BYTES,
    canonical_value,
    check_text,
    decode_value,
    encode_value,
    normalize_name,
    normalize_predicate,
    slot_id,
)

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
aware = st.datetimes(
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45)), timezone(-timedelta(hours=3))])
)
scalars = text | numbers | st.booleans() | st.dates() | aware
json_values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
).filter(lambda value: isinstance(value, dict | list))
quantities = st.builds(
    Quantity, st.integers() | st.floats(allow_nan=False, allow_infinity=False), text.filter(str.strip)
)
values = scalars | quantities | json_values


def test_golden_vectors_pin_the_ids_for_ever() -> None:
    from golden import VECTORS

    for (namespace, subject, predicate, member, verbatim), expected in VECTORS.items():
        assert slot_id(namespace, subject, predicate, member, verbatim=verbatim).hex() == expected


@given(st.lists(text, max_size=3), st.lists(text, max_size=3), st.tuples(text, text), st.tuples(text, text))
def test_framing_is_injective(
    one: list[str], two: list[str], first: tuple[str, str], second: tuple[str, str]
) -> None:
    same = (one, first) == (two, second)
    assert (slot_id(one, *first) == slot_id(two, *second)) == same


@given(text, text)
def test_moving_a_boundary_changes_the_slot(left: str, right: str) -> None:
    joined, cut = left + right, len(left)
    assert slot_id((), joined[:cut], joined[cut:]) != slot_id((), joined, "")
    assert slot_id((joined[:cut],), joined[cut:], "p") != slot_id((), joined, "p")
    assert slot_id((), "s", joined[:cut], joined[cut:].encode()) != slot_id((), "s", joined, b"")


@given(st.lists(text, max_size=2), text, text)
def test_fact_and_key_framings_never_meet(namespace: list[str], subject: str, predicate: str) -> None:
    assert slot_id(namespace, subject, predicate) != slot_id(namespace, subject, predicate, verbatim=True)


@given(text)
def test_normalising_twice_changes_nothing(name: str) -> None:
    assert normalize_name(normalize_name(name)) == normalize_name(name)
    assert normalize_predicate(normalize_predicate(name)) == normalize_predicate(name)


@given(text)
def test_case_width_and_white_space_do_not_matter(name: str) -> None:
    key = normalize_name(name)
    assert normalize_name(f"  {name}\t") == key
    assert normalize_name(unicodedata.normalize("NFKC", name)) == key
    assert normalize_name(unicodedata.normalize("NFD", name)) == key
    assert normalize_name(name.casefold()) == key


@pytest.mark.parametrize(
    "apart",
    [
        ("C", "C++", "C#"),
        ("ASR1603", "ASR1605"),
        ("José", "Jose"),
        ("Москва", "Mockba"),
        ("東京", "京都"),
        ("a.b", "ab"),
        ("Dr. Chen", "Dr Chen"),
    ],
)
def test_signs_digits_accents_and_scripts_keep_names_apart(apart: tuple[str, ...]) -> None:
    assert len({normalize_name(name) for name in apart}) == len(apart)


@pytest.mark.parametrize(
    "same",
    [
        ("New York", "new  york", "NEW\u00a0YORK"),
        ("Straße", "STRASSE"),
        ("ＡＢＣ", "abc"),
        ("José", "Jose\u0301"),
    ],
)
def test_spellings_that_a_person_calls_the_same_are(same: tuple[str, ...]) -> None:
    assert len({normalize_name(name) for name in same}) == 1


def test_predicates_join_words_however_they_are_joined() -> None:
    spelt = ("birth_place", "Birth-Place", " birth  place ", "BIRTH__PLACE")
    assert {normalize_predicate(name) for name in spelt} == {"birth_place"}
    assert normalize_name("birth_place") != normalize_name("birth place"), "subjects keep their signs"


@given(values)
def test_values_come_back_in_the_type_they_went_in(value: object) -> None:
    kind, stored = encode_value(value)  # type: ignore[arg-type]
    back = decode_value(kind, stored)
    assert back == value
    assert type(back) is type(value)


@given(values, values)
def test_equal_values_are_those_of_one_kind_and_worth(one: object, two: object) -> None:
    def worth(value: object) -> object:
        if isinstance(value, bool):
            return ("bool", value)
        if isinstance(value, int | float):
            return ("number", value)
        if isinstance(value, str):
            return ("str", unicodedata.normalize("NFC", value))
        return None

    same = canonical_value(one) == canonical_value(two)  # type: ignore[arg-type]
    if worth(one) is not None or worth(two) is not None:
        assert same == (worth(one) == worth(two))


def test_what_equals_what() -> None:
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    equal = [
        (3, 3.0),
        (0.0, -0.0),
        ("é", "e\u0301"),
        (Quantity(3, "cm"), Quantity(3.0, "cm")),
        (noon, noon.astimezone(timezone(timedelta(hours=2)))),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1.0}),
    ]
    different = [
        (1, True), ("3", 3), ("true", True), ("Paris", "paris"), (date(2024, 5, 1), "2024-05-01"),
        (date(2024, 5, 1), datetime(2024, 5, 1, tzinfo=UTC)), (Quantity(3, "cm"), Quantity(3, "mm")),
        (Quantity(3, "cm"), 3), (2**53, 2**53 + 1), ([1], [True]), ({"a": None}, {}), ([1, 2], [2, 1]),
        ("[1]", [1]),
    ]  # fmt: skip
    for one, two in equal:
        assert canonical_value(one) == canonical_value(two)
    for one, two in different:
        assert canonical_value(one) != canonical_value(two)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "None is not a value"),
        (float("nan"), "NaN"),
        (float("inf"), "infinity"),
        (datetime(2024, 1, 1), "naive"),
        ("a\0b", "NUL"),
        ("\ud800", "surrogate"),
        ({"a": ["\ud800"]}, "surrogate"),
        ({"a": "\0"}, "NUL"),
        ({1: "x"}, "string"),
        ([float("nan")], "NaN"),
        ([object()], "object"),
        (b"bytes", "bytes"),
        ("x" * (MAX_VALUE_BYTES + 1), "limit"),
    ],
)
def test_what_is_no_value_is_refused_with_the_reason(value: object, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason) as caught:
        encode_value(value)  # type: ignore[arg-type]
    assert caught.value.field.startswith("object")
    assert isinstance(caught.value, KOError)


@pytest.mark.parametrize("name", ["", "  ", "\t\n", "a\0", "\udfff", "x" * (MAX_NAME_BYTES + 1), 7, None])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(InvalidInputError, match="subject: "):
        check_text(name, "subject")

"""Predicates, names that drift, and the packaged vocabulary."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations.errors import InvalidInputError, UnknownPredicateError
from ko_integrations.morphology import lemma
from ko_integrations.vocabulary import Predicate, Vocabulary, expand

GENERAL = Vocabulary.general()


class Alike:
    """An embedder in which names that share their first letters are near."""

    model_id = "alike"
    dimension = 26

    def encode(self, texts):  # type: ignore[no-untyped-def]
        import numpy as np

        vectors = np.zeros((len(texts), 26), dtype=np.float32)
        for row, text in enumerate(texts):
            for letter in text:
                if letter.isascii() and letter.isalpha():
                    vectors[row, ord(letter.lower()) - 97] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


@pytest.mark.parametrize(
    ("name", "predicate", "how"),
    [
        ("birth_place", "birth_place", "exact"),
        ("Birth Place", "birth_place", "exact"),
        ("was_born_in", "birth_place", "alias"),
        ("place_of_birth", "birth_place", "alias"),
        ("born_in", "birth_place", "alias"),
        ("founded_year", "founded_date", "alias"),
        ("founded_in", "founded_date", "alias"),
        ("is_on_floor", "floor", "alias"),
        ("has_phone_numbers", "phone_number", "morphology"),
        ("phoneNumber", "phone_number", "morphology"),
        ("language_native", "native_language", "morphology"),
        ("colors_of_hair", "hair_colour", "morphology"),
        ("flux_capacitance", "flux_capacitance", "new"),
    ],
)
def test_resolve_tells_how(name: str, predicate: str, how: str) -> None:
    found = GENERAL.resolve(name)
    assert (found.predicate, found.how) == (predicate, how)
    assert found.score == (0.0 if how == "new" else 1.0)
    assert GENERAL.canonical(name) == predicate


@pytest.mark.parametrize(
    "name",
    [
        "is_member",
        "is_ceo",
        "capital_of",
        "father_of",
        "founder_of",
        "birth_weight",
        "organ",
        "capital_gains",
    ],
)
def test_what_states_another_fact_is_not_merged(name: str) -> None:
    assert GENERAL.resolve(name).how == "new"


def test_ambiguous_form_is_not_merged() -> None:
    vocabulary = Vocabulary([Predicate(name="home_team"), Predicate(name="team_home")])
    assert vocabulary.resolve("homes_team").predicate == "home_team"
    assert vocabulary.resolve("team_of_home").how == "new"


def test_embedding_merges_only_near_names_with_a_lead() -> None:
    vocabulary = Vocabulary([Predicate(name="altitude"), Predicate(name="zoom")])
    near = vocabulary.resolve("latitude_x", Alike())
    assert (near.predicate, near.how) == ("altitude", "embedding")
    assert 0.9 <= near.score <= 1.0
    assert vocabulary.resolve("bucket", Alike()).how == "new"
    assert vocabulary.canonical("latitude_x") == "latitude_x"
    crowded = vocabulary.with_predicates(Predicate(name="latitude"))
    assert crowded.resolve("latitude_x", Alike()).how == "new"
    assert vocabulary.resolve("latitude_of", Alike()).how == "new"


def test_strict_refuses_what_resolves_to_nothing() -> None:
    vocabulary = Vocabulary([Predicate(name="birth_place")], mode="strict")
    assert vocabulary.canonical("place_of_birth") == "birth_place"
    with pytest.raises(UnknownPredicateError, match="capital"):
        vocabulary.resolve("capital")


def test_cardinality_follows_the_resolved_name() -> None:
    assert GENERAL.cardinality("has_allergies") == "set"
    assert GENERAL.cardinality("nothing_known") == "single"
    assert Vocabulary.general(cardinality="single").cardinality("allergies") == "single"
    singles = ("head_of_state", "spouse", "employer", "residence", "capital", "position_held", "occupation")
    assert {GENERAL.cardinality(name) for name in singles} == {"single"}
    sets = ("languages_spoken", "children", "allergies", "hobbies", "members", "awards", "likes")
    assert {GENERAL.cardinality(name) for name in sets} == {"set"}


def test_two_predicates_cannot_claim_one_name() -> None:
    with pytest.raises(InvalidInputError, match="aliases"):
        Vocabulary([Predicate(name="a", aliases=("x",)), Predicate(name="b", aliases=("X",))])


def test_a_predicate_is_declared_once() -> None:
    with pytest.raises(InvalidInputError, match="predicates: 'a' is declared twice"):
        Vocabulary([Predicate(name="a"), Predicate(name="A", cardinality="set")])


@pytest.mark.parametrize(
    ("fields", "field", "reason"),
    [
        ({}, "name", "required"),
        ({"name": " "}, "name", "blank"),
        ({"name": 5}, "name", "string"),
        ({"name": "a", "cardinality": "many"}, "cardinality", "'single' or 'set'"),
        ({"name": "a", "value_type": "numbr"}, "value_type", "'number'"),
        ({"name": "a", "aliases": "b"}, "aliases", "tuple"),
        ({"name": "a", "patterns": ("[X] is good",)}, "patterns", "a pattern has [Y] once"),
        ({"name": "a", "colour": "red"}, "colour", "not permitted"),
    ],
)
def test_a_predicate_names_the_field_that_cannot_be_used(fields: dict, field: str, reason: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        Predicate(**fields)
    assert raised.value.field == field
    assert reason in raised.value.reason
    with pytest.raises(InvalidInputError) as raised:
        Vocabulary.from_dict({"predicates": [{"name": "b"}, fields]})
    assert raised.value.field == f"predicates[1].{field}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "vocabulary: expected a mapping"),
        ({"moed": "strict"}, "vocabulary: no option is named 'moed'"),
        ({"mode": "shut"}, "mode: "),
        ({"predicates": "name"}, "predicates: expected a list"),
        ({"predicates": ["name"]}, r"predicates\[0\]: expected a mapping"),
    ],
)
def test_data_of_a_vocabulary_is_checked(given: object, said: str, tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    for read in (Vocabulary.from_json, Vocabulary.from_yaml):
        with pytest.raises(InvalidInputError, match=f"^{said}"):
            read(file)


def test_a_file_that_is_no_vocabulary_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary"
    for broken in (None, b"{", b"\xff\xfe", b"a: [b"):
        if broken is not None:
            file.write_bytes(broken)
        for read in (Vocabulary.from_json, Vocabulary.from_yaml):
            with pytest.raises(InvalidInputError, match=f"^file: {file}"):
                read(file)


@pytest.mark.parametrize("given", [[{"name": "a"}], ["a"], 5])
def test_a_vocabulary_is_made_of_predicates(given: object) -> None:
    with pytest.raises(InvalidInputError, match=r"^predicates: expected Predicates"):
        Vocabulary(given)


def test_patterns_are_checked_and_expanded() -> None:
    assert expand("[X] (lives|is) in (the |)[Y]") == (
        "[X] lives in the [Y]", "[X] lives in [Y]", "[X] is in the [Y]", "[X] is in [Y]",
    )  # fmt: skip
    with pytest.raises(InvalidInputError, match="patterns: a pattern has"):
        Predicate(name="p", patterns=("[X] is good",))
    with pytest.raises(InvalidInputError, match="wordings"):
        expand("(a|b|c|d|e|f|g|h)" * 4 + "[Y]")


def test_nouns_are_names_that_are_nouns() -> None:
    predicate = Predicate(name="birth_place", aliases=("born_in", "was_born_in", "place_of_birth"))
    assert predicate.nouns == ("birth place", "place of birth")
    assert "what is [X]'s birth place" in predicate.question_forms


def test_general_is_sound() -> None:
    assert len(GENERAL) >= 150
    for predicate in GENERAL:
        assert predicate.description, predicate.name
        assert predicate.statement_forms or predicate.nouns, predicate.name
        for other in (predicate.inverse, predicate.excludes):
            assert other is None or other in GENERAL, predicate.name
        for form in (*predicate.statement_forms, *predicate.question_forms):
            assert "(" not in form, form
    assert Vocabulary.general() is Vocabulary.general()


def test_both_spellings_are_one_name() -> None:
    for british, american in (
        ("favourite_colour", "favorite_color"),
        ("licence", "license"),
        ("organiser", "organizer"),
        ("tumour_size", "tumor_size"),
    ):
        assert GENERAL.canonical(british) == GENERAL.canonical(american)


def test_round_trip_through_plain_data(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.json"
    file.write_text(json.dumps(GENERAL.to_dict()), encoding="utf-8")
    assert Vocabulary.from_json(file).to_dict() == GENERAL.to_dict()
    small = tmp_path / "small.yaml"
    small.write_text("mode: strict\npredicates:\n  - {name: berth, aliases: [moored_at]}\n", encoding="utf-8")
    assert Vocabulary.from_yaml(small).canonical("moored-at") == "berth"


@given(
    st.sampled_from(sorted(predicate.name for predicate in GENERAL)),
    st.sampled_from(["has_{}", "{}", "Has {}", "current_{}", "{}s"]),
)
def test_dressed_up_names_resolve_or_stay_new(name: str, dress: str) -> None:
    found = GENERAL.resolve(dress.format(name))
    assert found.how == "alias" or found.predicate in (name, dress.format(name).lower().replace(" ", "_"))


@given(st.text(max_size=30))
def test_resolution_is_deterministic_and_stable(name: str) -> None:
    first = GENERAL.resolve(name)
    assert GENERAL.resolve(name) == first
    assert GENERAL.canonical(first.predicate) == first.predicate


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("studies", "studied"),
        ("written", "wrote"),
        ("cities", "city"),
        ("colours", "color"),
        ("organised", "organizes"),
        ("diagnoses", "diagnosis"),
    ],
)
def test_inflections_share_a_lemma(one: str, other: str) -> None:
    assert lemma(one) == lemma(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("founder", "founded"), ("organ", "organisation"), ("found", "founded"), ("university", "universe")],
)
def test_derivations_do_not(one: str, other: str) -> None:
    assert lemma(one) != lemma(other)


def test_a_verb_is_no_abbreviation() -> None:
    assert Vocabulary.general().canonical("tel") == "phone_number"
    assert Vocabulary.general().canonical("tell") == "tell"

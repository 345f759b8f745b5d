"""What is easily read wrongly: clauses without a verb of their own, initials, findings, and what names nothing."""

from typing import Any

import pytest

from ko_integrations.kinds import kinds_of
from ko_integrations.types import Quantity

from .conftest import Reads


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Anna lives in Oslo and Bob in Rome.", [("Anna", "residence", "Oslo"), ("Bob", "residence", "Rome")]),
        (
            "Anna works at Acme, Bob at Globex and Cid at Initech.",
            [("Anna", "employer", "Acme"), ("Bob", "employer", "Globex"), ("Cid", "employer", "Initech")],
        ),
        ("Anna plays the cello and Bob the piano.", [("Anna", "instrument", "cello"), ("Bob", "instrument", "piano")]),
        (
            "Anna speaks French and Bob German.",
            [("Anna", "languages_spoken", "French"), ("Bob", "languages_spoken", "German")],
        ),
    ],
)  # fmt: skip
def test_a_verb_left_out_is_that_of_the_clause_before(
    reads: Reads, text: str, facts: list[tuple[str, str, str]]
) -> None:
    assert reads(text) == facts


@pytest.mark.parametrize(
    "text",
    ["Post-chemo scan shows M.R.'s tumor reduced to 1.2cm.", "Follow-up MRI showed M.R.'s tumor is 1.2cm."],
)
def test_a_finding_is_about_the_patient(reads: Reads, text: str) -> None:
    size = Quantity(1.2, "cm")
    assert reads(text) == [("M.R.", "tumour_size", size)]
    before = "Patient M.R., 67-year-old male, presented with cough. "
    assert reads(before + text)[-1] == ("Patient M.R.", "tumour_size", size)
    stored = [("Patient M.R.", "age", 67)]
    assert reads(text, facts=stored) == [("Patient M.R.", "tumour_size", size)]
    ambiguous = [*stored, ("Dr. M.R.", "employer", "MGH")]
    assert reads(text, facts=ambiguous) == [("M.R.", "tumour_size", size)]


def test_a_finding_without_a_patient_is_reported(reads: Reads) -> None:
    text = "Post-chemo scan shows tumor reduced to 1.2cm"
    assert reads(text) == []
    assert reads.reasons(text) == ["no subject to take it for"]
    assert reads(f"Patient M.R. is 67. {text}")[-1][:2] == ("Patient M.R.", "tumour_size")


def test_a_statistic_has_no_subject(reads: Reads) -> None:
    text = "Veltorin was tested in 40 adults. Mean age was 54 years. Its sponsor was Orsted Pharma."
    assert reads(text) == [("Veltorin", "sponsor", "Orsted Pharma")]


def test_the_point_of_an_abbreviation_stays(reads: Reads) -> None:
    assert reads("Tim Cook is the CEO of Apple Inc.") == [("Apple Inc.", "ceo", "Tim Cook")]
    assert reads("Jane Doe lives in Washington, D.C.") == [("Jane Doe", "residence", "Washington, D.C.")]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Ignacy Rolle (12 March 1902 – 4 May 1977) was a Polish chemist.",
            {"birth_date", "death_date", "citizenship", "occupation"},
        ),
        (
            "The Salt Road is a 1994 Portuguese drama film directed by Ines Prado and starring Noor Salem.",
            {"publication_date", "genre", "director", "cast"},
        ),
        (
            "Brightwater Systems, Inc. is an American technology company headquartered in Rotterdam, Netherlands.",
            {"country", "headquarters"},
        ),
        ("Quillon is a free text editor developed by Kestrel Software.", {"developer"}),
        ("After graduating from Leiden University, Piet Hanssen joined Vestergaard Group.", {"education", "employer"}),
        ("Her husband, the composer Otto Fenn, died in 2011.", {"death_date"}),
    ],
)  # fmt: skip
def test_the_first_sentence_of_an_encyclopaedia(reads: Reads, text: str, facts: set[str]) -> None:
    assert {predicate for _, predicate, _ in reads(text)} == facts


@pytest.mark.parametrize(
    "text",
    [
        "I took the bus.",
        "We got pizza.",
        "Maria received a letter.",
        "Bob Smith reported the incident.",
        "Northwind reported its results.",
        "We need more milk.",
        "Following the accident in 1931, his son Jan took over the company.",
        "Anna owns a Volvo.",
        "The door opened slowly.",
        "We go to the gym sometimes.",
        "Further studies are needed.",
    ],
)
def test_light_verbs_and_loose_ends_state_nothing(reads: Reads, text: str) -> None:
    assert reads(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Patient R.L. has sarcoidosis.", ("Patient R.L.", "diagnosis", "sarcoidosis")),
        ("Anna takes ramipril.", ("Anna", "medications", "ramipril")),
        ("Anna reported severe chest pain.", ("Anna", "symptoms", "severe chest pain")),
        ("The Salt Road is 94 minutes long.", ("Salt Road", "duration", Quantity(94, "minutes"))),
        (
            "Emil Sand was a politician for the Centre Party.",
            ("Emil Sand", "political_party", "Centre Party"),
        ),
        ("Ignacy Rolle was killed in 1931.", ("Ignacy Rolle", "death_date", 1931)),
        ("Velta is used to treat asthma.", ("Velta", "indication", "asthma")),
        ("Anna's mobile: 555-0144", ("Anna", "phone_number", "555-0144")),
    ],
)
def test_the_kind_of_the_object_decides(reads: Reads, text: str, fact: tuple[str, str, Any]) -> None:
    assert fact in reads(text)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("12 hours", "time_span"), ("212 km", "distance"), ("sarcoidosis", "disease"), ("ramipril", "drug"),
     ("severe chest pain", "symptom"), ("Centre Party", "party"), ("krone", "currency")],
)  # fmt: skip
def test_kinds(name: str, kind: str) -> None:
    assert kind in kinds_of(name)


def test_what_is_cast_in_bronze_has_no_colour() -> None:
    assert kinds_of("cast in bronze") == kinds_of("Oklahoma") - {"place"} == frozenset()

"""What is easily read wrongly: clauses without a verb of their own, initials, findings, and what names nothing."""

from datetime import date
from typing import Any

import pytest

from ko_integrations import KnowledgeObject, KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
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


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Name: Piet Hanssen\nDOB: 4 May 1971\nPhone: 555-0144\nOccupation: carpenter",
            [("Piet Hanssen", "birth_date", date(1971, 5, 4)), ("Piet Hanssen", "phone_number", "555-0144"),
             ("Piet Hanssen", "occupation", "carpenter")],
        ),
        (
            "Patient: Ruth Lind\nAge: 67\nAllergies: penicillin, latex",
            [("Ruth Lind", "age", 67), ("Ruth Lind", "allergies", "penicillin"), ("Ruth Lind", "allergies", "latex")],
        ),
        (
            "- Name: Acme\n- CEO: Jane Doe\n- HQ: Berlin",
            [("Acme", "ceo", "Jane Doe"), ("Acme", "headquarters", "Berlin")],
        ),
        (
            "| Name | Employer |\n|---|---|\n| Anna | Acme |\n| Bob | Globex |",
            [("Anna", "employer", "Acme"), ("Bob", "employer", "Globex")],
        ),
    ],
)  # fmt: skip
def test_forms_and_tables(reads: Reads, text: str, facts: list[tuple[str, str, Any]]) -> None:
    assert reads(text) == facts


def test_a_field_that_names_no_predicate_is_reported(reads: Reads) -> None:
    text = "Name: Anna\nPhone: 555-0144\nEmail: anna@example.org\nShelf: upper left"
    assert len(reads(text)) == 2
    assert [item.text for item in reads.compile(text).not_understood] == ["Shelf: upper left"]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My phone is 555-0101. No wait, it's 555-0102.", [("user", "phone_number", "555-0102")]),
        ("I live in Oslo. Scratch that, I live in Bergen.", [("user", "residence", "Bergen")]),
        ("I live in Oslo. Scratch that.", []),
        ("My favourite colour is blue. Actually no, green.", [("user", "favourite_colour", "green")]),
        ("I work at Acme. Oh sorry, I meant Globex.", [("user", "employer", "Globex")]),
        ("I work at Globex not Acme", [("user", "employer", "Globex")]),
        ("My email changed, it's now kai@new.example", [("user", "email", "kai@new.example")]),
    ],
)
def test_a_slip_is_no_fact(reads: Reads, text: str, facts: list[tuple[str, str, str]]) -> None:
    assert reads(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("u can reach me at 555-0144 👍", [("user", "phone_number", "555-0144")]),
        ("just moved to porto!!!", [("user", "residence", "porto")]),
        ("My name's Tom.", [("user", "name", "Tom")]),
        ("Hi, I'm Alice.", [("user", "name", "Alice")]),
        ("our son Leo is 5", [("user", "children", "Leo"), ("Leo", "age", 5)]),
        ("wrks at acme, lives in oslo", []),
        ("Patient U.V. has lupus.", [("Patient U.V.", "diagnosis", "lupus")]),
        (
            "I've been working at Acme since 2019 as a data analyst",
            [("user", "employer", "Acme"), ("user", "occupation", "data analyst")],
        ),
    ],
)
def test_chat(reads: Reads, text: str, facts: list[tuple[str, str, Any]]) -> None:
    assert reads(text) == facts


def test_two_persons_and_their_pronouns(reads: Reads) -> None:
    assert reads("Anna met Tom at university. She works at Acme. He is a nurse. They live in Oslo.") == [
        ("Anna", "employer", "Acme"),
        ("Tom", "occupation", "nurse"),
        ("Anna", "residence", "Oslo"),
        ("Tom", "residence", "Oslo"),
    ]
    assert reads("Dr. Chen treated Mr. Osei. She works at MGH. He is 61 years old.")[1:] == [
        ("Dr. Chen", "employer", "MGH"),
        ("Mr. Osei", "age", 61),
    ]
    assert ("Emil Sand", "spouse", "Ida Holm") in reads("Emil Sand and his wife Ida Holm live in Oslo.")


@pytest.mark.parametrize(
    "text",
    [
        "In the film, Bob lives in Oslo.",
        "In my dream, I lived in Oslo.",
        "Anna may live in Oslo.",
        "Anna probably lives in Oslo.",
        "Had Anna lived in Oslo, we would have met.",
        "Anna almost married Bob.",
        "Anna failed to become CEO of Acme.",
        "Bob refused to join Acme.",
        "Bob applied to Acme.",
        "Translate: Anna lives in Oslo.",
        "Imagine that Acme is based in Berlin.",
        "Is Anna's phone 5?",
        "I wish I lived in Rome.",
        "Nobody lives in Oslo.",
        "Patient R.L. has no history of asthma.",
        "There is no evidence of pneumonia.",
        "It is not true that Anna works at Acme.",
        "The claim that Bob works at Acme is wrong.",
    ],
)
def test_what_is_not_so_is_not_stated(reads: Reads, text: str) -> None:
    assert reads(text) == []


def test_a_slip_in_the_text_before_is_ended(reads: Reads) -> None:
    before = "I live in Oslo."
    assert reads("No wait, Bergen.", before=before) == [("user", "residence", "Bergen")]
    assert reads.ended("Scratch that.", before=before) == [("user", "residence", "Oslo")]
    spoken = "I speak French."
    assert reads("Sorry, I meant Italian.", before=spoken) == [("user", "languages_spoken", "Italian")]
    assert reads.ended("Sorry, I meant Italian.", before=spoken) == [("user", "languages_spoken", "French")]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Norland, officially the Republic of Norland, is a country in Africa.", [("Norland", "continent", "Africa")]),
        ("Vesterhavn is the capital and largest city of Norland.", [("Norland", "capital", "Vesterhavn")]),
        (
            "Bergvik is a municipality in Vestland county with a population of 48,200.",
            [("Bergvik", "location", "Vestland county"), ("Bergvik", "population", 48200)],
        ),
        ("Sara Holm, 34, of Leeds, lives in Oslo.", [("Sara Holm", "age", 34), ("Sara Holm", "residence", "Oslo")]),
        ("Patient 12 has asthma. Her BMI is 31.", [("Patient 12", "diagnosis", "asthma"), ("Patient 12", "bmi", 31)]),
        ("Just fyi, I go by Sam", [("user", "name", "Sam")]),
        ("Our CI runs on GitHub Actions", [("user's CI", "platform", "GitHub Actions")]),
        ("We sold the Volvo and bought a Tesla", []),
        ("Hi team, Lena has replaced Marco as project manager of Atlas", []),
        ("In this randomised trial, 240 patients received Veltorin or placebo.", []),
    ],
)  # fmt: skip
def test_nothing_but_the_name_is_the_subject(
    reads: Reads, text: str, facts: list[tuple[str, str, Any]]
) -> None:
    assert reads(text) == facts


def test_an_office_that_is_left_is_ended(reads: Reads) -> None:
    assert reads.ended("John Roe resigned as CEO of Acme.") == [("Acme", "ceo", "John Roe")]
    assert reads("John Roe resigned as CEO of Acme.") == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "The Salt Road was written and directed by Ines Prado.",
            [("Salt Road", "author", "Ines Prado"), ("Salt Road", "director", "Ines Prado")],
        ),
        ("Night Desk aired for three seasons on NBC.", [("Night Desk", "original_network", "NBC")]),
        ("Larkspur Motors started producing Heron 440.", [("Heron 440", "manufacturer", "Larkspur Motors")]),
        ("A lugger is a sailing boat.", [("lugger", "subclass_of", "sailing boat")]),
        ("Ruth Abend was raised in Judaism.", []),
    ],
)  # fmt: skip
def test_verbs_that_belong_together(reads: Reads, text: str, facts: list[tuple[str, str, Any]]) -> None:
    assert [fact for fact in reads(text) if fact[1] != "religion"] == facts


def test_a_date_ends_a_sentence_in_lower_case(reads: Reads) -> None:
    assert len(reads("The deadline of Atlas is March 9. let's plan around that :)")) == 1


def test_a_noun_without_an_owner_is_that_of_the_last_who_can_have_one(reads: Reads) -> None:
    assert reads("The CFO of Brenta is Ana Roy; the CTO is Raj Pal.") == [
        ("Brenta", "cfo", "Ana Roy"),
        ("Brenta", "cto", "Raj Pal"),
    ]
    assert reads("Nora Voss works at Brenta. The CEO is Raj Pal.") == [("Nora Voss", "employer", "Brenta")]


def test_what_was_measured_belongs_to_the_time_of_the_story(chart: Any) -> None:
    size = [ko for ko in chart if ko.predicate == "tumour_size"]
    assert [(ko.subject, ko.object, ko.valid_from.date()) for ko in size] == [
        ("Patient K.L.", Quantity(3.2, "cm"), date(2025, 1, 1)),
        ("Patient K.L.", Quantity(1.2, "cm"), date(2025, 3, 1)),
    ]


@pytest.fixture
def chart() -> list[KnowledgeObject]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        store.write(
            "Patient K.L., 61, was diagnosed with lung cancer in January 2025. Tumor size was 3.2 cm. "
            "She was started on doxorubicin. In March 2025 the tumor measured 1.2 cm."
        )
        assert store.subjects() == ["Patient K.L."]
        return store.history("Patient K.L.", "tumour_size")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Brenta moved its head office from Turin to Padua in 2021.",
            [("Brenta", "headquarters", "Turin"), ("Brenta", "headquarters", "Padua")],
        ),
        ("The Corda Tower stands 330 metres tall in Padua.", [("Corda Tower", "height", Quantity(330, "metres"))]),
        ("Order 77 shipped on 2025-11-02.", [("Order 77", "shipping_date", date(2025, 11, 2))]),
        ("I'm allergic to nuts and shellfish.", [("user", "allergies", "nuts"), ("user", "allergies", "shellfish")]),
    ],
)  # fmt: skip
def test_the_whole_of_the_value_and_no_more(
    reads: Reads, text: str, facts: list[tuple[str, str, Any]]
) -> None:
    assert reads(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "The president of Narnia is",
        "The capital of Norway is.",
        "The CEO of Acme became",
        "The firm Acme, from",
    ],
)
def test_what_breaks_off_before_the_value_states_nothing(reads: Reads, text: str) -> None:
    assert reads(text) == []

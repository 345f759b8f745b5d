"""What is stored near a question is no answer to it; what is stored and asked in passing words is."""

from collections.abc import Iterator
from typing import Any

import pytest

from ko_integrations import KnowledgeStore, Quantity
from ko_integrations.embeddings import HashingEmbedder
from tests.query.conftest import NOW, day, fact

FACTS = [
    fact("Nora", "employer", "Fenwick Clinic"),
    fact("Nora", "phone_number", "555-7788"),
    fact("Nora Blum", "employer", "Tarn Media"),
    fact("Nora Blum", "birth_place", "Espoo"),
    fact("Espoo", "country", "Finland"),
    fact("Hugo Lind", "birth_place", "Lund"),
    fact("Hugo Lind", "occupation", "welder"),
    fact("Hugo Lind", "employer", "Tarn Media"),
    fact("Ines Roth", "birth_place", "Portugal"),
    fact("Project Heron", "manager", "Hugo Lind"),
    fact("Tarn Media", "ceo", "Ines Roth"),
    fact("Tarn Media", "founded_date", 1997),
    fact("Varlitinib", "affinity against EGFR", "2 nM"),
    fact("user", "wifi_password", "plum-9"),
    fact("user", "favorite_color", "teal"),
    fact("user", "shoe_size", 43),
    fact("user", "physician", "Dr. Oduya"),
    fact("user", "favourite_food", "gnocchi"),
    fact("Patient R.S.", "tumor_size", Quantity(41, "mm"), "2024-01-10"),
    fact("Patient R.S.", "tumor_size", Quantity(12, "mm"), "2024-11-20"),
    fact("Patient R.S.", "tumor_location", "left lung", "2024-01-10"),
    fact("Glass Tower", "developer", "Ralt Inc"),
    fact("Ralt Inc.", "headquarters", "Basel"),
]


@pytest.fixture(scope="module")
def store() -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW) as opened:
        opened.update_many(FACTS)
        yield opened


@pytest.mark.parametrize(
    "question",
    [
        "Where does Nora live?",  # only an employer is stored, where one "earns a living"
        "What is Nora's job?",
        "What does Nora do for a living?",
        "What is Nora Weiss's phone number?",  # another Nora
        "What is Nora Blum's phone number?",  # Nora's is no answer
        "Who founded Tarn Media?",
        "Where was the CEO of Project Heron born?",
        "How many employees does Tarn Media have?",
        "What is the affinity of Varlitinib against HER2?",
        "What is my email password?",
        "What is my hat size?",
        "What colour is my car?",
    ],
)
def test_near_facts_do_not_answer(store: KnowledgeStore, question: str) -> None:
    assert store.ask(question).value is None


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What does Hugo Lind do for a living?", "welder"),
        ("Could you tell me what Hugo Lind does for a living?", "welder"),
        ("Do you happen to know where Nora works?", "Fenwick Clinic"),
        ("I forgot Nora's phone number", "555-7788"),
        ("Remind me of Nora's phone number", "555-7788"),
        ("What is my password?", "plum-9"),
        ("Who treats me when I am ill?", "Dr. Oduya"),
        ("What do I like to eat best?", "gnocchi"),
        ("whats noras phone", "555-7788"),
        ("noras phone?", "555-7788"),
        ("gimme noras phone number", "555-7788"),
        ("wheres nora employed", "Fenwick Clinic"),
        ("nora phnoe", "555-7788"),
        ("project heron manger", "Hugo Lind"),
        ("Where is the developer of Glass Tower based?", "Basel"),  # the full stop of "Inc." was lost
        ("What is the country of birth of Ines Roth?", "Portugal"),
        ("In which country was Ines Roth born?", "Portugal"),
        ("In which country was Nora Blum born?", "Finland"),
        ("In which city was Nora Blum born?", "Espoo"),
    ],
)
def test_what_is_stored_is_found(store: KnowledgeStore, question: str, value: Any) -> None:
    assert store.ask(question).value == value


def test_a_city_is_not_the_country_asked_for(store: KnowledgeStore) -> None:
    answer = store.ask("In which country was Hugo Lind born?")
    assert answer.value is None
    assert "Lund" in answer.text


@pytest.mark.parametrize(
    "question",
    [
        "How has R.S.'s tumor responded to treatment?",
        "How did the tumor of Patient R.S. respond to therapy?",
        "How has the tumour size of Patient R.S. developed over time?",
    ],
)
def test_a_response_is_a_change_of_size(store: KnowledgeStore, question: str) -> None:
    assert store.ask(question).value == [Quantity(41, "mm"), Quantity(12, "mm")]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Where was the head of the firm that built Sea Wall born?", "Turku"),
        ("Name the town of birth of the person who leads the firm that built Sea Wall.", "Turku"),
        ("What is the birthplace of Orm's boss's birthplace's mayor?", None),
    ],
)
def test_clauses_nest_in_either_order(question: str, value: Any) -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW) as store:
        store.update("Sea Wall", "manufacturer", "Orm Works", valid_from=day("2020-01-01"))
        store.update("Orm Works", "ceo", "Pia Berg", valid_from=day("2020-01-01"))
        store.update("Pia Berg", "birth_place", "Turku", valid_from=day("2020-01-01"))
        assert store.ask(question).value == value


def test_a_removed_hop_is_not_leapt_over() -> None:
    question = "Where was the CEO of the manufacturer of Sea Wall born?"
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW) as store:
        store.update("Sea Wall", "manufacturer", "Orm Works", valid_from=day("2020-01-01"))
        store.update("Orm Works", "ceo", "Pia Berg", valid_from=day("2020-01-01"))
        store.update("Pia Berg", "birth_place", "Turku", valid_from=day("2020-01-01"))
        assert store.ask(question).value == "Turku"
        store.retract("Pia Berg", "birth_place")
        assert store.ask(question).value is None
        store.update("Pia Berg", "birth_place", "Turku")
        store.erase("Orm Works", "ceo")
        assert store.ask(question).value is None


@pytest.mark.parametrize("question", ["Where do I live?", "Where do I work?", "Who is my boss?"])
def test_nobody_is_asked_about_through_somebody_unnamed(question: str) -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        store.update("user", "partner", "Sofia")
        for predicate, value in (("residence", "Lisbon"), ("employer", "Bosch"), ("manager", "Ada Roy")):
            store.update("Sofia", predicate, value)
        assert store.ask(question).value is None
        assert store.ask("Where does my partner live?").value == "Lisbon"


@pytest.mark.parametrize(
    ("subject", "asked"),
    [("Brenta, Inc.", "Brenta"), ("Corda Marin GmbH", "Corda Marin"), ("Order #4411", "order 4411")],
)
def test_a_name_is_found_without_its_legal_form_or_sign(subject: str, asked: str) -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        store.update(subject, "status", "dissolved")
        assert store.ask(f"What is the status of {asked}?").value == "dissolved"

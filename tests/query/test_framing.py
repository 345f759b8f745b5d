"""Polite questions are answered as the question inside them."""

from collections.abc import Iterator

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.query.framing import unframed


@pytest.fixture(scope="module")
def store() -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as opened:
        opened.update("Carla Eklund", "favourite_restaurant", "The Copper Pan")
        opened.update("Carla Eklund", "phone_number", "0161-555-900")
        opened.update("Carla Eklund", "email", "carla@post.example")
        opened.update("Carla Eklund", "lives_in", "Porto")
        opened.update("Carla Eklund", "works_for", "Tarrant Shipping")
        opened.update("user", "dentist", "Fiora Jessop")
        yield opened


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Do you know Carla Eklund's favourite restaurant?", "The Copper Pan"),
        ("Can you give me Carla Eklund's phone number?", "0161-555-900"),
        ("Can I have the phone number of Carla Eklund, please?", "0161-555-900"),
        ("Hi, could you please look up Carla Eklund’s phone number for me?", "0161-555-900"),
        ("I need Carla Eklund's phone number", "0161-555-900"),
        ("Do you have an email address for Carla Eklund?", "carla@post.example"),
        ("Do you happen to know where Carla Eklund lives?", "Porto"),
        ("I'd like to know who Carla Eklund works for.", "Tarrant Shipping"),
        ("Any idea where Carla Eklund lives?", "Porto"),
        ("Can you tell me whether Carla Eklund lives in Porto?", True),
        ("Do you know if Carla Eklund works for Tarrant Shipping?", True),
        ("Could you remind me of my dentist's name?", "Fiora Jessop"),
        ("Do you know Carla Eklund's shoe size?", None),
    ],
)
def test_the_question_inside_is_answered(store, question, value):
    assert store.ask(question).value == value


@pytest.mark.parametrize(
    "question",
    [
        "Do you know Carla Eklund?",
        "Does Carla Eklund have an email address?",
        "Do I have a dentist?",
        "What do you know of Carla Eklund?",
        "I like Carla's car",
        "Where does Carla Eklund live?",
        "",
    ],
)
def test_other_questions_stay_as_they_are(question):
    assert unframed(question) == question


def test_what_somebody_does_for_a_living_is_not_where_they_live(store):
    assert store.ask("What does Carla Eklund do for a living?").value is None
    store.update("Carla Eklund", "occupation", "welder")
    assert store.ask("What does Carla Eklund do for a living?").value == "welder"

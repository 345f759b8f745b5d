"""A noun narrower than its predicate, a definite noun of the speaker's, an attribute of what is stored."""

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder

TOLD = (
    "I have a dog, Bo, and a cat, Ulla. My son is Peter. My daughter is Clara. My car is a Skoda Fabia. "
    "The gate code is 7710. I take 5 mg of ramipril daily. Morl Bank belongs to the Tessin Group. "
    "My mother's maiden name is Horvat."
)


@pytest.fixture(scope="module")
def store() -> KnowledgeStore:
    store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder())
    store.write(TOLD)
    return store


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is my cat called?", ["Ulla"]),
        ("Who is the dog?", ["Bo"]),
        ("What is the cat called?", ["Ulla"]),
        ("What is my hamster called?", None),
        ("What are my pets called?", ["Bo", "Ulla"]),
        ("Who is my daughter?", ["Clara"]),
        ("Who are my children?", ["Peter", "Clara"]),
        ("What is my car's plate?", None),
        ("What is my car?", "Skoda Fabia"),
        ("What is my name?", None),
        ("What's the gate code?", 7710),
        ("What's the door code?", None),
        ("What does the Tessin Group own?", "Morl Bank"),
    ],
)
def test_what_the_noun_can_mean(store: KnowledgeStore, question: str, value: object) -> None:
    assert store.ask(question).value == value

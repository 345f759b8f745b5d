"""What is hated is not liked, what was decided against was not chosen."""

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder


@pytest.mark.parametrize(
    ("told", "question", "value"),
    [
        ("I hate fennel.", "Do I like fennel?", False),
        ("I hate fennel.", "Do I hate fennel?", True),
        ("I hate black tea.", "Do I like tea?", None),
        ("I hate fennel.", "What do I like?", None),
        ("I like fennel.", "Do I hate fennel?", False),
        ("We ruled out Kafka.", "Did we choose Kafka?", False),
        ("We ruled out Kafka.", "What are we going to use?", None),
        ("We ruled out Kafka.", "What did we rule out?", ["Kafka"]),
        ("We chose Kafka. We decided against Kafka.", "What did we choose?", None),
    ],
)
def test_a_fact_says_no_to_its_contrary(told: str, question: str, value: object) -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        store.write(told)
        assert store.ask(question).value == value

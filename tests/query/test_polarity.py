"""What is hated is not liked, what was decided against was not chosen."""

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.query import offline
from ko_integrations.query.polarity import of_right_polarity


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


def test_what_a_path_means_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(candidates, words, lexicon):  # type: ignore[no-untyped-def]
        asked.append(len(candidates))
        return of_right_polarity(candidates, words, lexicon)

    monkeypatch.setattr(offline, "of_right_polarity", counted)
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        store.write("I hate fennel.")
        assert store.ask("Do I like fennel?").value is False
    assert len(asked) == 1

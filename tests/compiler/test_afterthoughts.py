"""Corrections in a turn of their own: "Actually it's Friday, not Thursday"."""

from datetime import UTC, date, datetime, timedelta

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("turns", "question", "value"),
    [
        (["The dentist appointment is on Thursday.", "Actually it's Friday, not Thursday."],
         "When is the dentist appointment?", date(2026, 12, 4)),
        (["My pin is 4432.", "oops, 4423"], "What is my pin?", 4423),
        (["My dog is called Rex.", "Sorry, I meant Max."], "What is my dog called?", ["Max"]),
        (["My dog is called Rex.", "Sorry, Max."], "What is my dog called?", ["Rex"]),  # said to Max
        (["I like tea.", "Sorry, later."], "What do I like?", ["tea"]),
        (["My favourite colour is teal.", "No longer."], "What is my favourite colour?", "teal"),
        (["I live in Oslo.", "No, thanks.", "Actually, never mind."], "Where do I live?", "Oslo"),
        (["I work at Acme.", "It's Globex, not Initech."], "Where do I work?", "Acme"),
        (["The gate code is 7710.", "They changed the gate code to 8821."], "What's the gate code?", 8821),
    ],
)  # fmt: skip
def test_what_a_later_turn_corrects(turns: list[str], question: str, value: object) -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW) as store:
        for turn in turns:
            store.write(turn)
        assert store.ask(question).value == value


def test_a_correction_means_no_fact_of_another_day() -> None:
    clock = [NOW]
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: clock[0]) as store:
        store.write("My pin is 4432.")
        clock[0] += timedelta(days=1)
        store.write("oops, 4423")
        assert [ko.object for ko in store.read_values("user", "pin")] == [4432]


def test_what_others_tell_meanwhile_does_not_hide_what_is_meant() -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW) as store:
        store.namespace("ada").write("My pin is 4432.")
        for number in range(50):
            store.namespace("bob").update(f"shelf {number}", "books", number)
        store.namespace("ada").write("oops, 4423")
        assert [ko.object for ko in store.namespace("ada").read_values("user", "pin")] == [4423]

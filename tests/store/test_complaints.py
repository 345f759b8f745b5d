"""What users of other memories complain of, end to end: sentences in through `write`, questions through `ask`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError


@pytest.fixture
def store() -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as opened:
        yield opened


def day(year: int, month: int = 1, number: int = 1) -> datetime:
    return datetime(year, month, number, tzinfo=UTC)


def values(store: KnowledgeStore, predicate: str, subject: str = "user") -> list[Any]:
    return [ko.object for ko in store.read_values(subject, predicate)]


def test_what_is_liked_no_more_gives_way_and_stays_in_history(store: KnowledgeStore) -> None:
    store.write("I like coffee.")
    store.write("Not any more, tea now.")
    assert values(store, "likes") == ["tea"]
    assert "coffee" in [ko.object for ko in store.history("user", "likes")]


def test_love_turned_to_hate_leaves_the_hate(store: KnowledgeStore) -> None:
    store.write("I love Chinese food.")
    store.write("I hate Chinese food.")
    assert (values(store, "likes"), values(store, "dislikes")) == ([], ["Chinese food"])
    assert [ko.object for ko in store.history("user", "likes")] == ["Chinese food"]


def test_another_persons_favourite_is_another_subject(store: KnowledgeStore) -> None:
    store.write("My favourite player is Messi and my brother's is Ronaldo.")
    assert store.ask("Who is my favourite player?").value == "Messi"
    assert store.ask("Who is my brother's favourite player?").value == "Ronaldo"


def test_the_same_text_again_adds_provenance_and_no_version(store: KnowledgeStore) -> None:
    for source in ("chat-1", "chat-2"):
        store.write("Anna lives in Oslo.", source=source)
    (only,) = store.history("Anna", "residence")
    assert [each.source for each in only.provenance.confirmations] == ["chat-2"]


def test_another_slot_is_never_touched(store: KnowledgeStore) -> None:
    store.write("Anna's job title is Staff Engineer.")
    before = store.history("Anna", "job_title") or store.history("Anna", "occupation")
    store.write("Anna administers the GitHub organisation.")
    assert (store.history("Anna", "job_title") or store.history("Anna", "occupation")) == before
    assert before


def test_search_finds_what_is_current_only(store: KnowledgeStore) -> None:
    for city in ("Oslo", "Rome", "Bern", "Graz"):
        store.write(f"Anna lives in {city}.")
    assert [hit.ko.object for hit in store.read("where Anna lives", k=10)] == ["Graz"]


def test_a_late_fact_about_the_past_does_not_become_current(store: KnowledgeStore) -> None:
    store.write("Anna moved to Porto.", said_at=day(2025, 3))
    store.write("Anna moved to Oslo in 2023.", said_at=day(2025, 6))
    assert store.ask("Where does Anna live?").value == "Porto"
    assert store.read_exact("Anna", "residence", as_of=day(2024)).object == "Oslo"


def test_many_old_mentions_do_not_outvote_a_new_one(store: KnowledgeStore) -> None:
    for number in range(10):
        store.write("Anna works at Acme.", source=f"mail-{number}")
    store.write("Anna works at Globex.")
    assert store.ask("Where does Anna work?").value == "Globex"


def test_a_correction_in_words_is_the_same_as_one_by_key(store: KnowledgeStore) -> None:
    store.write("Anna's phone number is 555-0100.")
    store.write("Anna's phone number changed to 555-0199.")
    by_words = [ko.object for ko in store.history("Anna", "phone_number")]
    other = store.namespace("other")
    other.update("Anna", "phone_number", "555-0100")
    other.update("Anna", "phone_number", "555-0199")
    assert by_words == [ko.object for ko in other.history("Anna", "phone_number")]


@pytest.mark.parametrize("text", ["No longer.", "It is no longer raining.", "That is no longer true."])
def test_a_trigger_word_alone_changes_nothing(store: KnowledgeStore, text: str) -> None:
    store.write("Anna works at Acme. I like tea.")
    before = list(store.snapshot())
    assert store.write(text).results == ()
    assert list(store.snapshot()) == before


def test_digits_are_identity(store: KnowledgeStore) -> None:
    store.write("The price of ASR1603 is 4 USD.")
    store.write("The price of ASR1605 is 6 USD.")
    assert str(store.ask("What is the price of ASR1603?").value) == "4 USD"
    assert str(store.ask("What is the price of ASR1605?").value) == "6 USD"


def test_a_declared_alias_joins_two_names_and_can_be_taken_back(store: KnowledgeStore) -> None:
    store.write("The mayor of NYC is Ann Roe.")
    store.alias("NYC", "New York City")
    assert store.ask("Who is the mayor of New York City?").value == "Ann Roe"
    assert store.ask("Who is the mayor of NYC?").value == "Ann Roe"
    store.alias("NYC", drop="New York City")
    assert store.ask("Who is the mayor of New York City?").value is None


def test_four_wordings_are_one_slot(store: KnowledgeStore) -> None:
    for text in (
        "My favourite colour is blue.",
        "my favorite color is blue",
        "Blue is my favourite colour.",
        "My fav colour is blue",
    ):
        store.write(text)
    assert [(ko.predicate, ko.object.lower()) for ko in store.facts("user")] == [("favourite_colour", "blue")]


def test_two_sources_are_one_fact(store: KnowledgeStore) -> None:
    store.write("Acme's CEO is Ann Roe.", source="a")
    store.write("Ann Roe is the CEO of Acme.", source="b")
    (only,) = store.history("Acme", "ceo")
    assert {only.provenance.source, *(each.source for each in only.provenance.confirmations)} == {"a", "b"}


@pytest.mark.parametrize("question", ["Ann?", "城市", "phone"])
def test_every_path_stays_in_its_namespace(store: KnowledgeStore, question: str) -> None:
    mine, other = store.namespace("mine"), store.namespace("other")
    other.update("Ann", "phone_number", "555-0100")
    other.update("安娜", "城市", "北京")
    assert mine.ask(question).facts == ()
    assert mine.read(question, k=5) == []


def test_naive_times_are_refused(store: KnowledgeStore) -> None:
    with pytest.raises(InvalidInputError, match="said_at"):
        store.write("Anna lives in Oslo.", said_at=datetime(2025, 1, 1))


def test_yesterday_counts_from_when_it_was_said(store: KnowledgeStore) -> None:
    store.write("Anna moved to Porto yesterday.", said_at=day(2025, 3, 10))
    assert store.read_exact("Anna", "residence", as_of=day(2026)).valid_from == day(2025, 3, 9)


def test_names_of_every_script_come_back_as_written(store: KnowledgeStore) -> None:
    store.write("王小明 lives in 北京.")
    assert store.ask("Where does 王小明 live?").value == "北京"


def test_a_long_list_is_one_call_without_a_model(store: KnowledgeStore) -> None:
    report = store.write("\n".join(f"{n}. Person{n} Roe works at Acme." for n in range(200)))
    assert (len(report.results), report.not_understood) == (200, ())
    assert store.count() == 200

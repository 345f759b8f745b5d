"""What people say of themselves and theirs: introductions, relations, changes told, corrections, and what is over."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ko_integrations import KnowledgeStore, Quantity

from .conftest import Reads

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("hey im marta, 41, florist from ghent", {("name", "marta"), ("age", 41), ("occupation", "florist")}),
        ("Hi, I'm Jonas (he/him), 33, living in Malmö", {("name", "Jonas"), ("age", 33), ("residence", "Malmö")}),
        ("i work as a plumber at Brightwater and live in Lille with my wife Odile",
         {("occupation", "plumber"), ("employer", "Brightwater"), ("residence", "Lille"), ("spouse", "Odile")}),
        ("We have two kids, Ida and Bo.", {("children", "Ida"), ("children", "Bo")}),
        ("my fav subject is music, worst is gym", {("favourite_subject", "music")}),
        ("my own email is still kim@example.org 🙂", {("email", "kim@example.org")}),
        ("I changed jobs, I'm at Larkspur now", {("employer", "Larkspur")}),
        ("I love my job at Halden Labs", {("employer", "Halden Labs")}),
        ("No wait, I meant my email is bo@example.org", {("email", "bo@example.org")}),
        ("my rate limit is 20 not 30", set()),
    ],
)  # fmt: skip
def test_told_of_oneself(reads: Reads, text: str, facts: set[tuple[str, Any]]) -> None:
    stated = {(predicate, value) for subject, predicate, value in reads(text) if subject == "user"}
    assert stated >= facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My sister Ida teaches maths in Porto; she's 31.",
         {("user", "siblings", "Ida"), ("Ida", "field_of_work", "maths"),
          ("Ida", "work_location", "Porto"), ("Ida", "age", 31)}),
        ("our cat is called Miso. She is 7 years old.",
         {("user", "pets", "Miso"), ("Miso", "species", "cat"), ("Miso", "age", 7)}),
        ("we adopted a puppy! his name is Bramble", {("user", "pets", "Bramble")}),
        ("my mum just got diagnosed with asthma, she's 66",
         {("user's mother", "diagnosis", "asthma"), ("user's mother", "age", 66)}),
        ("my nephew Otto is visiting, he's 5 and likes trains",
         {("user", "relatives", "Otto"), ("Otto", "age", 5), ("Otto", "likes", "trains")}),
    ],
)  # fmt: skip
def test_told_of_ones_own(reads: Reads, text: str, facts: set[tuple[str, str, Any]]) -> None:
    assert set(reads(text)) == facts


@pytest.mark.parametrize(
    "text",
    [
        "```python\nname = 'Zed'\nage = 12\n```",
        "Oh great, another deadline, I just LOVE waking up at 4",
        "Bo just started primary school.",
        "I am in year 10",
        "We pay £700 each in rent",
        "my inbox is a nightmare",
        "I mostly write Python and a bit of Go",
        "I lost my job at Halden Labs",
    ],
)
def test_what_is_no_fact_is_reported(reads: Reads, text: str) -> None:
    assert reads(text) == []
    assert reads.reasons(text)


def test_a_known_relative_is_meant_by_the_relation(reads: Reads) -> None:
    known = [("user", "mother", "Ruth"), ("user", "siblings", "Ida"), ("user", "siblings", "Tom")]
    assert reads("My mum lives in Cork", facts=known) == [("Ruth", "residence", "Cork")]
    assert reads("My sister lives in Cork", facts=known) == [("Ida", "residence", "Cork")]


def test_a_bare_label_is_about_the_topic(reads: Reads) -> None:
    text = (
        "Minutes: The release of Project Heron slipped from May 2 to May 20. Ivo leads it. Budget: $40,000."
    )
    found = {(subject, predicate): value for subject, predicate, value in reads(text)}
    assert found["Project Heron", "publication_date"] == "May 20"
    assert ("Project Heron", "budget") in found
    assert ("Ivo", "budget") not in found


@pytest.fixture
def chat() -> Any:
    moment = [NOW]
    store = KnowledgeStore.open(":memory:", clock=lambda: moment[0])

    def say(*turns: str) -> KnowledgeStore:
        for turn in turns:
            moment[0] += timedelta(minutes=2)
            store.write(turn)
        moment[0] += timedelta(minutes=2)
        return store

    yield say
    store.close()


def _now(store: KnowledgeStore, predicate: str, subject: str = "user") -> Any:
    held = store.read_exact(subject, predicate)
    return held and held.object


def test_a_change_told_now_holds_now(chat: Any) -> None:
    store = chat("I live in Lyon", "we moved to Ghent two weeks ago")
    assert _now(store, "residence") == "Ghent"
    begun = [ko.valid_from for ko in store.history("user", "residence") if ko.object == "Ghent"]
    assert min(begun) < NOW - timedelta(days=13)


def test_a_dated_change_takes_its_place(chat: Any) -> None:
    store = chat("Alice lives in Ghent", "Alice moved to Porto in May 2024.")
    assert _now(store, "residence", "Alice") == "Ghent"


def test_what_used_to_be_does_not_disturb_what_is(chat: Any) -> None:
    store = chat(
        "I live in Lyon",
        "I used to live in Pune until 2015",
        "my favourite colour used to be red but now it's teal",
    )
    assert _now(store, "residence") == "Lyon"
    assert [ko.object for ko in store.history("user", "residence")] == ["Pune", "Lyon"]
    assert [ko.object for ko in store.history("user", "favourite_colour")] == ["red", "teal"]
    chat("I used to live in Lyon")
    assert _now(store, "residence") is None


_PIECES = st.sampled_from(
    ["I", "my", "sister", "Ida", "used to", "live in", "Pune", "no longer", "work at", "Acme", "until 2015", "don't",
     "like", "tea", "not any more", ",", "and", "now", "is", "12", "moved to", "last month",
     "?", "with", "actually", "called"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(_PIECES, min_size=2, max_size=9))
def test_what_is_not_stored_is_reported(pieces: list[str]) -> None:
    text = " ".join(pieces)
    with KnowledgeStore.open(":memory:") as store:
        report = store.write(text)
        said = any(character.isalnum() for character in text)
        assert not said or report.results or report.retracted or report.not_understood


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My mother lives in Bari. She is 70.", [("user's mother", "residence", "Bari"), ("user's mother", "age", 70)]),
        (
            "Our kids are Leo (9) and Sara (6).",
            [("Leo", "age", 9), ("user", "children", "Leo"), ("Sara", "age", 6), ("user", "children", "Sara")],
        ),
        ("I am , a nurse", [("user", "occupation", "nurse")]),
        ("My number is +39 011 555 0202.", [("user", "phone_number", "+39 011 555 0202")]),
        ("I changed doctors, it's Dr. Neri now.", [("user", "physician", "Dr. Neri")]),
        ("I take 20 mg of lisinopril every morning.",
         [("user", "medications", "lisinopril"), ("user's lisinopril", "dosage", Quantity(20, "mg"))]),
        ("My flight to Rome is on Friday.", [("user's flight to Rome", "event_date", date(2026, 12, 4))]),
    ],
)  # fmt: skip
def test_what_is_said_of_others_and_of_things(
    reads: Reads, text: str, facts: list[tuple[str, str, Any]]
) -> None:
    assert reads(text) == facts

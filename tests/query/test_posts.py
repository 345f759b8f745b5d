"""Who held a post before, after and when: the words by which one goes along a chain."""

from collections.abc import Iterator
from typing import Any

import pytest

from ko_integrations import KnowledgeStore, Quantity
from ko_integrations.embeddings import HashingEmbedder
from tests.query.conftest import NOW, day

POSTS = [
    ("Ada Reil", "1998-02-01"),
    ("Vera Lindt", "2006-07-01"),
    ("Anton Brusk", "2012-01-01"),
    ("Mila Petrov", "2020-05-01"),
]


@pytest.fixture(scope="module")
def orsola() -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW) as store:
        for name, since in POSTS:
            store.update("Orsola", "head_of_state", name, valid_from=day(since))
        for place, since in (("Leeds", "2005-03-01"), ("Dublin", "2014-02-01"), ("Lyon", "2019-09-01")):
            store.update("Elena Marsh", "residence", place, valid_from=day(since))
        store.update(
            "Elena Marsh", "employer", "Corvid", valid_from=day("2017-10-01"), valid_to=day("2023-06-01")
        )
        yield store


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Who succeeded Vera Lindt as head of state of Orsola?", "Anton Brusk"),
        ("Who came right after Vera Lindt as head of state of Orsola?", "Anton Brusk"),
        ("Who was Vera Lindt succeeded by as head of state of Orsola?", "Anton Brusk"),
        ("Who preceded Vera Lindt as head of state of Orsola?", "Ada Reil"),
        ("Whom did Vera Lindt replace as head of state of Orsola?", "Ada Reil"),
        ("Who was Vera Lindt's predecessor as head of state of Orsola?", "Ada Reil"),
        ("Who came after Mila Petrov as head of state of Orsola?", None),
        ("Who were the last three heads of state of Orsola?", ["Vera Lindt", "Anton Brusk", "Mila Petrov"]),
        ("Who were the first two heads of state of Orsola?", ["Ada Reil", "Vera Lindt"]),
        ("How many changes of head of state has Orsola seen?", 3),
        ("How many years has Mila Petrov been head of state of Orsola?", Quantity(5, "year")),
        ("Since what date has Elena Marsh lived in Lyon?", day("2019-09-01")),
        ("Up to when did Elena Marsh work for Corvid?", day("2023-06-01")),
        ("Who was head of state of Orsola when Elena Marsh moved to Dublin?", "Anton Brusk"),
        ("Who was head of state of Orsola in early 2012?", "Anton Brusk"),
        ("Who was head of state of Orsola at the beginning of 2020?", "Anton Brusk"),
        ("Who was head of state of Orsola in late 2020?", "Mila Petrov"),
    ],
)
def test_orders_of_holders(orsola: KnowledgeStore, question: str, value: Any) -> None:
    assert orsola.ask(question).value == value


def test_where_something_comes_from_originally_is_what_holds() -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), clock=lambda: NOW) as store:
        store.update("Padel", "country_of_origin", "Spain", valid_from=day("2001-01-01"))
        store.update("Padel", "country_of_origin", "Mexico", valid_from=day("2020-01-01"))
        assert store.ask("Where does Padel come from originally?").value == "Mexico"

"""Learning from messages, recalling for them, and the tools' functions."""

from collections.abc import Iterator
from typing import Any

import pytest

from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import EmbedderError, InvalidInputError
from ko_integrations.memory import tools
from ko_integrations.memory.evidence import gather
from ko_integrations.memory.recall import named_chains, recall
from ko_integrations.memory.turns import MAX_CONTEXT, Said, context, learn
from ko_integrations.protocols import Compilation, Extraction


class Compiler:
    """Reads "subject predicate object" lines; raises on "boom"."""

    def compile(self, text: str, *, reader: Any, said_at: Any) -> Compilation:
        if "boom" in text:
            raise RuntimeError("boom")
        parts = [line.split(" ", 2) for line in text.splitlines()]
        return Compilation(
            extractions=tuple(Extraction(subject=s, predicate=p, object=o) for s, p, o in parts)
        )


class Following(Compiler):
    """Keeps what it is told was said before."""

    def __init__(self) -> None:
        self.before: list[str] = []

    def compile(self, text: str, *, before: str = "", **more: Any) -> Compilation:
        self.before.append(before)
        return super().compile(text, **more)


@pytest.fixture
def store() -> Iterator[KnowledgeStore]:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), compiler=Compiler()) as opened:
        yield opened


def test_a_message_is_learnt_once_under_its_key(store: KnowledgeStore) -> None:
    learn(store, [Said("user city Bern", key="1"), Said("user city Basel", key="2")])
    again = learn(store, [Said("user city Bern", key="1")])
    assert again.reports[0].repeated
    assert [ko.object for ko in store.history("user", "city")] == ["Bern", "Basel"]
    learn(store.namespace("other"), [Said("user city Chur", key="1")])
    assert store.namespace("other").read_exact("user", "city").object == "Chur"


def test_what_was_erased_is_not_learnt_again(store: KnowledgeStore) -> None:
    learn(store, [Said("user city Bern", key="1")])
    store.erase_namespace()
    learn(store, [Said("user city Bern", key="1")])
    assert store.count() == 0


def test_of_a_message_all_is_stored_or_it_is_reported(store: KnowledgeStore) -> None:
    learnt = learn(
        store, [Said("user city Bern\nboom", key="1"), Said("  ", key="2"), Said("user job baker", key="3")]
    )
    assert learnt.errors == (("1", "RuntimeError: boom"),)
    assert [ko.object for ko in learnt.stored] == ["baker"]
    assert store.count() == 1
    assert not store.marked("1")
    assert learnt.to_dict()["errors"] == ["RuntimeError: boom"]


def test_a_mark_stands_or_falls_with_its_batch(store: KnowledgeStore) -> None:
    with pytest.raises(ZeroDivisionError), store.batch():
        _ = 1 / (not (store.mark("x") and not store.mark("x")))
    assert not store.marked("x")
    assert store.mark("x")
    assert store.marked("x")


def test_recall_takes_named_subjects_first(store: KnowledgeStore) -> None:
    for n in range(30):
        store.update(f"person {n}", "city", f"town {n}")
    store.update("user", "employer", "Acme")
    store.update("user", "city", "Basel")
    found = recall(store, "What is my city?", k=3)
    assert [ko.object for ko in found.facts[:2]] == ["Basel", "Acme"]
    assert found.error is None
    assert recall(store, " ").facts == ()
    assert "town 7" in [ko.object for ko in recall(store, "Where is Person 7?").facts]


def test_recall_survives_a_failing_embedder() -> None:
    class Broken(HashingEmbedder):
        def encode(self, texts: Any) -> Any:
            raise EmbedderError("down")

    with KnowledgeStore.open(":memory:", embedder=Broken()) as store:
        store.update("user", "city", "Basel")
        found = recall(store, "my city")
        assert [ko.object for ko in found.facts] == ["Basel"]
        assert "down" in found.error


def test_chains_of_named_subjects_are_whole(store: KnowledgeStore) -> None:
    store.update("M.R.", "size", "3 cm")
    store.update("M.R.", "size", "1.2 cm")
    assert [ko.object for ko in named_chains(store, "Summarize M.R.'s treatment.")] == ["3 cm", "1.2 cm"]


def test_evidence_has_each_slot_once_and_at_most_k(store: KnowledgeStore) -> None:
    for n in range(6):
        store.update("Alice", f"trait {n}", f"value {n}")
    found = gather(store, "What is Alice's trait 3?", 4)
    assert len(found) == len({piece.ko.id for piece in found}) == 4
    assert found[0].route == "exact"
    assert found[0].ko.object == "value 3"
    with pytest.raises(InvalidInputError):
        gather(store, "x", 0)


# -- the tools' functions -------------------------------------------------------------------------------------
def test_remember_says_what_it_did(store: KnowledgeStore) -> None:
    assert tools.remember(store, "user", "city", "Bern").startswith('Stored: user, city: "Bern"')
    assert "Before: " in tools.remember(store, "user", "city", "Basel")
    assert tools.remember(store, "user", "city", "Basel").startswith("Known already")
    assert "earlier" in tools.remember(store, "user", "city", "Chur", valid_from="2001-01-01")
    assert tools.remember(store, "user", "age", 7, once="c") != "Already stored."
    assert tools.remember(store, "user", "age", 8, once="c") == "Already stored."
    assert store.read_exact("user", "age").object == 7
    assert tools.remember(store, "user", "city", "Bern", valid_from="soon").startswith("Refused: valid_from")
    store.close()
    assert tools.recall(store, "Where does the user live?").startswith("Not done: ")


def test_forget_ends_or_erases(store: KnowledgeStore) -> None:
    store.update("user", "age", 7)
    store.update("user", "city", "Basel")
    assert tools.forget(store, "user", "age", value="8") == "Nothing on record."
    assert tools.forget(store, "user", "age", value="7").startswith("Ended: user, age: 7")
    assert store.read_exact("user", "age") is None
    assert len(store.history("user", "age")) == 1
    assert tools.forget(store, "user", "age", erase=True, once="e") == "Erased."
    assert store.history("user", "age") == []
    store.update("user", "age", 7)
    assert tools.forget(store, "user", "age", erase=True, once="e") == "Already done."
    assert tools.forget(store, "nobody", "age", erase=True) == "Nothing on record."
    assert tools.forget(store, "nobody", "age") == "Nothing on record."


def test_recall_and_history_in_words(store: KnowledgeStore) -> None:
    store.update("user", "city", "Bern")
    store.update("user", "city", "Basel")
    assert tools.recall(store, "What is my city?", k=1).startswith('user, city: "Basel"')
    assert tools.history(store, "user", "city").count("\n") == 1
    assert tools.history(store, "user", "job") == "Nothing on record."


# -- what was said before ---------------------------------------------------------------------------------------
def test_whom_a_message_means_may_stand_in_those_before() -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        learn(store, [Said("She works for Acme.", before="My sister Ann lives in Bern.")])
        assert [str(ko) for ko in store.snapshot()] == ["Ann employer Acme"]
        [alone] = learn(store, [Said("She works for Acme.")]).reports
        assert alone.not_understood
        assert store.compile("I live in Basel.", before="I live in Bern.").extractions[0].object == "Basel"


def test_a_compiler_is_told_what_was_said_before_if_it_takes_it(store: KnowledgeStore) -> None:
    learn(store, [Said("user city Bern", before="user city Basel")])
    assert store.read_exact("user", "city").object == "Bern"
    compiler = Following()
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(), compiler=compiler) as told:
        learn(told, [Said("user city Bern", before="Earlier."), Said("user city Basel")])
        with pytest.raises(InvalidInputError, match="before"):
            told.write("user city Chur", before="\0")
    assert compiler.before == ["Earlier.", ""]


def test_only_the_last_whole_sentences_of_what_was_said_before_count() -> None:
    assert context([]) == ""
    assert context(["One.", "", "Two. "]) == "One.\nTwo."
    long = context(["Never.", "First. " * 200 + "Last."])
    assert len(long) <= MAX_CONTEXT
    assert long.startswith("First. First.")
    assert long.endswith("Last.")
    assert context(["x" * 2 * MAX_CONTEXT]) == ""
    assert context(["Never.", "x" * 2 * MAX_CONTEXT, "Last."]) == "Last."

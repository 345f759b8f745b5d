"""A conversation as it is heard, against a plain model of it."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ko_integrations import KnowledgeStore
from ko_integrations.compiler import OfflineCompiler
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import LogUnavailableError
from ko_integrations.memory.hearing import MAX_KEPT, Hearing

CITIES = ("Bern", "Basel", "Chur")


def lived(store: KnowledgeStore) -> list[Any]:
    return [ko.object for ko in store.history("user", "residence")]


def changes(cities: list[str]) -> list[str]:
    return [city for i, city in enumerate(cities) if i == 0 or cities[i - 1] != city]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(CITIES), st.integers(0, 2)), max_size=8), st.booleans())
def test_each_message_counts_once_however_often_it_is_seen(steps: list[tuple[str, int]], put: bool) -> None:
    """Messages are put, or seen in a history that grows at its end and loses messages at its beginning."""
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(8)) as store:
        hearing, history = Hearing("s"), list[str]()
        for city, leaving in steps:
            history.append(f"I live in {city}.")
            if put:
                hearing.new(store, history[-1:])
            hearing.history(store, history)
            hearing.left(store, history[:leaving])
            history = history[leaving:]
            hearing.history(store, history)
        assert lived(store) == changes([city for city, _ in steps])


class Breakable(OfflineCompiler):
    broken = False

    def compile(self, text: str, **context: Any) -> Any:
        if self.broken:
            raise LogUnavailableError("locked")
        return super().compile(text, **context)


def test_what_fails_is_tried_again_ever_more_seldom_and_never_beats_what_came_after() -> None:
    compiler = Breakable()
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(8), compiler=compiler) as store:
        hearing = Hearing("s")
        compiler.broken = True
        assert len(hearing.new(store, ["I live in Bern."]).errors) == 1
        tried = [bool(hearing.new(store, []).errors) for _ in range(30)]
        assert tried[:8] == [True, False, True, False, False, False, True, False]
        assert sum(tried[-9:]) == 1
        compiler.broken = False
        hearing.new(store, ["I live in Basel."])
        for _ in range(9):
            hearing.new(store, [])
        assert lived(store) == ["Bern", "Basel"]
        assert hearing.unlearnt == []


def test_the_newest_failures_are_kept() -> None:
    compiler = Breakable()
    compiler.broken = True
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(8), compiler=compiler) as store:
        hearing = Hearing("s")
        hearing.new(store, [f"I am {age} years old." for age in range(MAX_KEPT + 5)])
        assert len(hearing.unlearnt) == MAX_KEPT
        assert hearing.unlearnt[-1].said.text == f"I am {MAX_KEPT + 4} years old."


def test_a_closed_store_is_no_error() -> None:
    store = KnowledgeStore.open(":memory:", embedder=HashingEmbedder(8))
    store.close()
    hearing = Hearing("s")
    assert len(hearing.new(store, ["I live in Bern."]).errors) == 1
    assert len(hearing.left(store, ["I live in Chur."]).errors) == 1
    assert [each.said.text for each in hearing.unlearnt] == ["I live in Bern.", "I live in Chur."]


def test_each_message_is_read_after_those_before_it() -> None:
    texts = [
        "My sister Ann lives in Bern.",
        "She works for Acme.",
        "My brother Tom lives in Rome.",
        "He works for Globex.",
    ]
    facts = {"Ann employer Acme", "Tom employer Globex"}
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder(8)) as store:
        for number, text in enumerate(texts):
            Hearing("one by one").new(store.namespace("a"), [text], texts[:number])
        Hearing("at once").history(store.namespace("b"), texts)
        for view in (store.namespace("a"), store.namespace("b")):
            assert facts <= {str(ko) for ko in view.snapshot()}

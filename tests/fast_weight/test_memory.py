"""The text-level memory: writes, ranking, decoding, and what superposition loses."""

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
import pytest

from ko_integrations import Fact, KOError
from ko_integrations.errors import EmbedderError
from ko_integrations.fast_weight import DeltaRule, FastWeightMemory, HopfieldRule, nearest_values


class RandomEmbedder:
    """Every text its own random direction, plus a common part that makes the set dense."""

    model_id, dimension = "random", 64

    def __init__(self, common: float = 0.0) -> None:
        self.common = common

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = []
        for text in texts:
            rng = np.random.default_rng(int.from_bytes(sha256(text.encode()).digest()[:8], "big"))
            rows.append(rng.normal(size=self.dimension) + self.common)
        stacked = np.stack(rows).astype(np.float32)
        return stacked / np.linalg.norm(stacked, axis=1, keepdims=True)


FACTS = [Fact(subject=f"city {i}", predicate="river", object=f"river {i}") for i in range(4)]


def test_facts_come_back_ranked() -> None:
    memory = FastWeightMemory(RandomEmbedder())
    memory.update_many(FACTS)
    hits = memory.read("What is the river of city 2?", k=3)
    assert hits[0].ko.object == "river 2"
    assert hits[0].ko.subject == "city 2"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(hits) == 3
    assert len(memory) == 4


def test_key_texts_and_values() -> None:
    memory = FastWeightMemory(RandomEmbedder(), rule=HopfieldRule())
    memory.write(["who is it?", "where is it?"], ["Bob", 7])
    assert memory.read("where is it?", k=1)[0].ko.object == 7
    assert memory.read_many(["who is it?", "where is it?"], k=1)[0][0].ko.object == "Bob"


def test_dense_keys_blend() -> None:
    dense, sparse = (FastWeightMemory(RandomEmbedder(common=c)) for c in (3.0, 0.0))
    facts = [Fact(subject=f"c{i}", predicate="p", object=f"v{i}") for i in range(40)]
    accuracy = []
    for memory in (sparse, dense):
        memory.update_many(facts)
        hits = memory.read_many([f"What is the p of {fact.subject}?" for fact in facts], k=1)
        accuracy.append(np.mean([h[0].ko.object == f.object for h, f in zip(hits, facts, strict=True)]))
    assert accuracy[0] > 0.9 > 0.2 > accuracy[1]


def test_an_overwrite_leaves_the_old_value_in_the_weights() -> None:
    linear = FastWeightMemory(RandomEmbedder())
    linear.update("Bob", "phone", "111")
    linear.update("Bob", "phone", "222")
    assert {hit.ko.object for hit in linear.read("What is the phone of Bob?", k=2)} == {"111", "222"}
    assert linear.read("What is the phone of Bob?", k=2)[1].score > 0.5

    delta = FastWeightMemory(RandomEmbedder(), rule=DeltaRule())
    delta.update("Bob", "phone", "111")
    delta.update("Bob", "phone", "222")
    assert delta.read("What is the phone of Bob?", k=1)[0].score == pytest.approx(1, abs=1e-4)


def test_an_empty_memory_has_no_hits() -> None:
    memory = FastWeightMemory(RandomEmbedder())
    assert memory.read("anything") == []
    memory.update("a", "b", "c")
    memory.clear()
    assert memory.read("anything") == []
    assert len(memory) == 0
    with pytest.raises(KOError, match="nothing was written"):
        memory.rule.read(np.ones((1, 64), dtype=np.float32))


def test_any_embedder_of_a_framework_or_a_callable_serves() -> None:
    memory = FastWeightMemory(lambda texts: RandomEmbedder().encode(texts).tolist())
    memory.update_many(FACTS)
    assert memory.read("What is the river of city 2?", k=1)[0].ko.object == "river 2"


class RawEmbedder(RandomEmbedder):
    """An embedder of one's own whose vectors have any length, or are none."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        return super().encode(texts) * np.float32(self.factor)


def test_vectors_of_any_length_are_taken_as_unit_rows() -> None:
    plain, long = (FastWeightMemory(e, rule=DeltaRule()) for e in (RandomEmbedder(), RawEmbedder(1e3)))
    facts = [Fact(subject=f"c{i}", predicate="p", object=f"v{i}") for i in range(200)]
    for memory in (plain, long):
        memory.update_many(facts)
    first, second = (memory.read("What is the p of c199?", k=1)[0] for memory in (plain, long))
    assert (second.ko.object, second.score) == ("v199", pytest.approx(first.score, abs=1e-3))


def test_vectors_that_are_none_are_refused_before_they_reach_the_weights() -> None:
    memory = FastWeightMemory(RandomEmbedder())
    memory.update_many(FACTS)
    memory.embedder = RawEmbedder(float("nan"))
    with pytest.raises(EmbedderError, match="NaN"):
        memory.update("a", "b", "c")
    memory.embedder = RandomEmbedder()
    assert memory.read("What is the river of city 2?", k=1)[0].ko.object == "river 2"


def test_bad_input_is_refused_and_changes_nothing() -> None:
    memory = FastWeightMemory(RandomEmbedder())
    for call in (
        lambda: memory.update(" ", "p", "o"),
        lambda: memory.write(["a"], []),
        lambda: memory.update("s", "p", None),
        lambda: memory.write(["a", "b"], ["fine", float("nan")]),
        lambda: memory.update_many([*FACTS, Fact(subject="s", predicate="p", object=object())]),
        lambda: memory.read("q", k=0),
        lambda: memory.read("q", k="2"),  # type: ignore[arg-type]
        lambda: memory.read("  "),
    ):
        with pytest.raises(KOError):
            call()
    assert len(memory) == 0


def test_decoding_ignores_length_and_breaks_ties_by_age() -> None:
    values = np.eye(3, dtype=np.float32)
    best, cosines = nearest_values(np.array([[0, 5, 5], [0.1, 0, 0]], dtype=np.float32), values, k=2)
    assert best.tolist() == [[1, 2], [0, 1]]
    assert cosines[1].tolist() == [1.0, 0.0]


def test_decoding_refuses_what_does_not_fit() -> None:
    three, four = np.eye(3, dtype=np.float32), np.eye(4, dtype=np.float32)
    with pytest.raises(KOError, match="reads"):
        nearest_values(three, four)
    with pytest.raises(KOError, match="k:"):
        nearest_values(three, three, k=0)


def test_values_that_read_alike_keep_their_types() -> None:
    memory = FastWeightMemory(RandomEmbedder())
    memory.update("Alice", "shoe size", 7)
    memory.update("Platform", "name", "7")
    memory.update("Bob", "phone", "111")
    hits = memory.read("What is the shoe size of Alice?", k=2)
    assert [(hit.ko.subject, hit.ko.object) for hit in hits] == [("Alice", 7), ("Platform", "7")]
    assert hits[0].score == hits[1].score
    assert [hit.ko.object for hit in memory.read("What is the shoe size of Alice?", k=1)] == [7]

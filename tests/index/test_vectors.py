"""Exact search over rows, and the stored form of a vector."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations.errors import InvalidInputError, LogCorruptError
from ko_integrations.index.vectors import as_rows, decode, encode, normalize, top_k, top_k_of_chunks
from ko_integrations.testing.index_suite import unit_vectors


@given(count=st.integers(0, 60), k=st.integers(0, 70), seed=st.integers(0, 1_000), repeats=st.integers(1, 3))
def test_top_k_is_a_full_sort_cut_short(count: int, k: int, seed: int, repeats: int) -> None:
    rows = np.tile(unit_vectors(count, seed=seed), (repeats, 1))
    query = unit_vectors(1, seed=seed + 1)[0]
    numbers, scores = top_k(rows, query, k)
    expected = np.argsort(-(rows @ query), kind="stable")[:k]
    assert numbers.tolist() == expected.tolist()
    assert scores.tolist() == (rows @ query)[expected].tolist()


@given(cuts=st.lists(st.integers(0, 50), max_size=5), k=st.integers(0, 60), seed=st.integers(0, 1_000))
def test_chunks_give_what_the_whole_gives(cuts: list[int], k: int, seed: int) -> None:
    rows, query = unit_vectors(50, seed=seed), unit_vectors(1, seed=seed + 1)[0]
    edges = [0, *sorted(cuts), 50]
    chunks = [(range(a, b), rows[a:b]) for a, b in zip(edges, edges[1:], strict=False)]
    numbers, _ = top_k(rows, query, k)
    assert [key for key, _ in top_k_of_chunks(chunks, query, k)] == numbers.tolist()


@given(count=st.integers(0, 20), dimension=st.integers(1, 20))
def test_rows_survive_their_stored_form(count: int, dimension: int) -> None:
    rows = unit_vectors(count, dimension=dimension)
    blobs = encode(rows)
    assert [len(blob) for blob in blobs] == [4 * dimension] * count
    assert np.array_equal(decode(blobs, dimension), rows)


def test_the_stored_form_is_little_endian_float32() -> None:
    assert encode(np.array([[1.0, -2.0]], dtype=np.float32)) == [bytes.fromhex("0000803f000000c0")]


@pytest.mark.parametrize("blobs", [[b"\0" * 7], [b"\0" * 4, b"\0" * 12], [b""]])
def test_a_blob_of_another_length_is_corruption(blobs: list[bytes]) -> None:
    with pytest.raises(LogCorruptError):
        decode(blobs, 2)


@pytest.mark.parametrize("scale", [1e-38, 1e-20, 1.0, 1e20, 1e38])
def test_normalize_reaches_length_one_from_any_scale(scale: float) -> None:
    rows = np.array([[0.6, -0.8, 0.0], [0.0, 0.0, 0.0]], dtype=np.float32) * np.float32(scale)
    assert normalize(rows)[0] == pytest.approx([0.6, -0.8, 0.0], abs=1e-5)
    assert normalize(rows)[1].tolist() == [0.0, 0.0, 0.0]
    assert normalize(rows[:0]).shape == (0, 3)


@pytest.mark.parametrize(
    "vectors",
    [np.zeros(4), np.zeros((1, 3)), np.full((1, 2), np.nan), np.full((1, 2), -np.inf), np.zeros((2, 2))],
)
def test_rows_of_another_shape_name_the_field(vectors: np.ndarray) -> None:
    with pytest.raises(InvalidInputError, match=r"^vectors: "):
        as_rows(vectors, 1, 2)

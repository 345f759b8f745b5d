"""What every `SemanticIndex` must do. Subclass the suite, give it an `index` fixture, run pytest.

```python
class TestMyIndex(SemanticIndexSuite):
    @pytest.fixture
    def index(self):
        index = MyIndex(dimension=DIMENSION)
        yield index
        index.close()
```
"""

from collections.abc import Sequence
from hashlib import sha256
from threading import Thread

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ko_integrations.errors import KOError
from ko_integrations.index.contract import Namespace, SemanticIndex
from ko_integrations.index.exact import ExactIndex
from ko_integrations.vectors import normalize

__all__ = ["DIMENSION", "SemanticIndexSuite", "record_id", "unit_vectors"]

DIMENSION = 8
_TOLERANCE = 1e-5

_SPACES: tuple[Namespace, ...] = (("a",), ("b",), ("a", "b"), ())
_Operation = tuple[str, list[tuple[int, int, int]]]
# A record is (slot, which vector, which namespace); slots are few, so that operations meet.
_RECORDS = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 19), st.integers(0, 3)), max_size=8, unique_by=lambda r: r[0]
)
_OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["upsert", "upsert", "upsert", "delete", "delete", "scrub"]), _RECORDS),
    max_size=10,
)


def record_id(number: int) -> str:
    """Return a slot id: 64 hex digits."""
    return sha256(str(number).encode()).hexdigest()


def unit_vectors(count: int, *, seed: int = 0, dimension: int = DIMENSION) -> "NDArray[np.float32]":
    """Return random rows of length 1, shape (count, dimension)."""
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return normalize(rows)


def put(
    index: SemanticIndex, rows: "NDArray[np.float32]", namespace: Namespace = ("a",), first: int = 0
) -> list[str]:
    """Store `rows` as records `first`, `first` + 1, ... and return their ids."""
    ids = [record_id(first + row) for row in range(len(rows))]
    index.upsert([namespace] * len(ids), ids, rows, [f"fact {first + row}" for row in range(len(rows))])
    return ids


class SemanticIndexSuite:
    """The conformance suite; vectors have `DIMENSION` numbers."""

    def test_a_record_is_found_by_its_own_vector(self, index: SemanticIndex) -> None:
        rows = unit_vectors(20)
        ids = put(index, rows)
        for id_, row in zip(ids, rows, strict=True):
            found, score = index.query(row, 1, ("a",))[0]
            assert found == id_
            assert score == pytest.approx(1.0, abs=_TOLERANCE)

    def test_results_come_best_first_with_their_cosine(self, index: SemanticIndex) -> None:
        rows, query = unit_vectors(20), unit_vectors(1, seed=9)[0]
        ids = put(index, rows)
        cosines = dict(zip(ids, (rows @ query).tolist(), strict=True))
        hits = index.query(query, 7, ("a",))
        assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
        assert [score for _, score in hits] == pytest.approx(
            sorted(cosines.values())[-7:][::-1], abs=_TOLERANCE
        )
        assert [cosines[id_] for id_, _ in hits] == pytest.approx(
            [score for _, score in hits], abs=_TOLERANCE
        )

    def test_an_upsert_replaces_vector_namespace_and_text(self, index: SemanticIndex) -> None:
        old, new = unit_vectors(2)
        put(index, old[None], ("a",))
        put(index, new[None], ("b",))
        assert index.query(old, 5, ("a",)) == []
        assert index.query(new, 5, ("b",))[0][1] == pytest.approx(1.0, abs=_TOLERANCE)
        assert list(index.ids()) == [record_id(0)]

    def test_delete_takes_away_and_forgives_what_is_not_there(self, index: SemanticIndex) -> None:
        rows = unit_vectors(5)
        ids = put(index, rows)
        index.delete([ids[2], record_id(999)])
        index.delete([ids[2]])
        assert ids[2] not in [id_ for id_, _ in index.query(rows[2], 5, None)]
        assert sorted(index.ids()) == sorted(set(ids) - {ids[2]})

    def test_a_deleted_record_can_come_back(self, index: SemanticIndex) -> None:
        rows = unit_vectors(3)
        ids = put(index, rows)
        index.delete(ids)
        put(index, rows[1:2], first=1)
        assert [id_ for id_, _ in index.query(rows[0], 5, None)] == [ids[1]]

    @pytest.mark.parametrize(
        ("mine", "theirs"),
        [
            (("a", "b"), ("a/b",)),
            (("a", "b"), ("ab",)),
            (("a",), ("a", "")),
            (("team",), ("team2",)),
            ((), ("",)),
            (('q"uote',), ("q\\uote",)),
            (("José",), ("Jose",)),
            (("a",), ("A",)),
            (("1",), ("01",)),
            (("日本",), ("日本 ",)),
        ],
    )
    def test_namespaces_never_see_each_other(
        self, index: SemanticIndex, mine: Namespace, theirs: Namespace
    ) -> None:
        row = unit_vectors(1)
        put(index, row, mine, first=1)
        put(index, row, theirs, first=2)
        assert [id_ for id_, _ in index.query(row[0], 5, mine)] == [record_id(1)]
        assert [id_ for id_, _ in index.query(row[0], 5, theirs)] == [record_id(2)]
        assert {id_ for id_, _ in index.query(row[0], 5, None)} == {record_id(1), record_id(2)}

    def test_asking_for_none_or_for_more_than_there_is(self, index: SemanticIndex) -> None:
        row = unit_vectors(1)[0]
        assert index.query(row, 5, ("a",)) == []
        assert index.query(row, 5, None) == []
        put(index, unit_vectors(3))
        assert index.query(row, 0, ("a",)) == []
        assert len(index.query(row, 50, ("a",))) == 3
        assert index.query(row, 5, ("nobody",)) == []

    def test_nothing_to_do_is_fine(self, index: SemanticIndex) -> None:
        index.upsert([], [], np.empty((0, DIMENSION), dtype=np.float32), [])
        index.delete([])
        assert index.scrub([]) is None
        assert list(index.ids()) == []

    @pytest.mark.parametrize(
        "text", ["", " ", "x" * 100_000, "naïve 日本語 🦓", '{"a": "b\\n"}', "'; DROP TABLE embeddings; --"]
    )
    def test_any_text_will_do(self, index: SemanticIndex, text: str) -> None:
        row = unit_vectors(1)
        index.upsert([("a",)], [record_id(0)], row, [text])
        assert index.query(row[0], 1, ("a",))[0][0] == record_id(0)

    @pytest.mark.parametrize(
        "bad", [np.zeros((1, DIMENSION + 1)), np.zeros((2, DIMENSION)), np.full((1, DIMENSION), np.nan)]
    )
    def test_vectors_of_another_shape_are_refused_whole(
        self, index: SemanticIndex, bad: "NDArray[np.float64]"
    ) -> None:
        with pytest.raises(KOError):
            index.upsert([("a",)], [record_id(0)], bad.astype(np.float32), ["a fact"])
        assert list(index.ids()) == []

    @pytest.mark.parametrize("bad", [np.zeros(DIMENSION + 1), np.full(DIMENSION, np.inf)])
    def test_a_query_of_another_shape_is_refused(
        self, index: SemanticIndex, bad: "NDArray[np.float64]"
    ) -> None:
        with pytest.raises(KOError):
            index.query(bad.astype(np.float32), 1, None)

    def test_scrub_takes_away_and_leaves_the_rest_reachable(self, index: SemanticIndex) -> None:
        rows = unit_vectors(60)
        ids = put(index, rows)
        remaining = index.scrub([*ids[:5], record_id(999)])
        assert remaining is None or remaining
        assert sorted(index.ids()) == sorted(ids[5:])
        for id_, row in zip(ids[5:], rows[5:], strict=True):
            assert index.query(row, 1, ("a",))[0][0] == id_
        for row in rows[:5]:
            assert not set(ids[:5]) & {id_ for id_, _ in index.query(row, 10, None)}

    def test_an_index_that_was_scrubbed_empty_goes_on(self, index: SemanticIndex) -> None:
        rows = unit_vectors(3)
        index.scrub(put(index, rows))
        assert index.query(rows[0], 3, None) == []
        ids = put(index, rows)
        assert index.query(rows[1], 1, ("a",))[0][0] == ids[1]

    def test_threads_may_share_it(self, index: SemanticIndex) -> None:
        rows = unit_vectors(40)
        failures: list[BaseException] = []

        def work(part: int) -> None:
            try:
                for row in range(part, 40, 4):
                    put(index, rows[row : row + 1], first=row)
                    index.query(rows[row], 3, ("a",))
                index.delete([record_id(part)])
            except BaseException as error:  # noqa: BLE001 - a thread's error must reach the test
                failures.append(error)

        threads = [Thread(target=work, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert sorted(index.ids()) == sorted(record_id(row) for row in range(4, 40))

    @settings(
        max_examples=20,
        deadline=None,
        # Each example starts by emptying the index; each subclass is a backend of its own.
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
            HealthCheck.too_slow,
        ],
    )
    @given(operations=_OPERATIONS)
    def test_it_answers_as_the_exact_index_does(
        self, index: SemanticIndex, operations: list[_Operation]
    ) -> None:
        index.delete(list(index.ids()))
        oracle = ExactIndex(dimension=DIMENSION)
        rows = unit_vectors(20, seed=3)
        for kind, records in operations:
            for either in (index, oracle):
                _apply(either, kind, records, rows)
        assert sorted(index.ids()) == sorted(oracle.ids())
        for query in unit_vectors(3, seed=4):
            for namespace in (*_SPACES, None):
                found, expected = index.query(query, 5, namespace), oracle.query(query, 5, namespace)
                # Records may share a vector: the order among equals is anybody's.
                assert [score for _, score in found] == pytest.approx(
                    [score for _, score in expected], abs=_TOLERANCE
                )
                assert len({id_ for id_, _ in found}) == len(found)


def _apply(
    index: SemanticIndex, kind: str, records: Sequence[tuple[int, int, int]], rows: "NDArray[np.float32]"
) -> None:
    ids = [record_id(slot) for slot, _, _ in records]
    if kind == "upsert":
        index.upsert(
            [_SPACES[space] for _, _, space in records], ids, rows[[which for _, which, _ in records]],
            [f"fact {which}" for _, which, _ in records],
        )  # fmt: skip
    elif kind == "delete":
        index.delete(ids)
    else:
        index.scrub(ids)

"""Conditions on facts."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ko_integrations.errors import InvalidInputError
from ko_integrations.filters import compile_where
from ko_integrations.types import KnowledgeObject, Provenance

NOW = datetime(2024, 1, 1, tzinfo=UTC)


def fact(value: Any = "Paris", **metadata: Any) -> KnowledgeObject:
    provenance = Provenance(
        source="wiki",
        recorded_at=NOW,
        confidence=0.9,
        version=1,
        previous=None,
        sequence=1,
        metadata=metadata,
    )
    return KnowledgeObject(
        id="0" * 64,
        namespace=(),
        subject="France",
        predicate="capital",
        object=value,
        provenance=provenance,
        valid_from=NOW,
    )


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"subject": "France"}, True),
        ({"subject": "France", "predicate": "president"}, False),
        ({"source": {"$in": ["wiki", "book"]}}, True),
        ({"confidence": {"$gte": 0.9, "$lt": 1}}, True),
        ({"year": 2020}, True),
        ({"year": {"$ne": 2020}}, False),
        ({"absent": {"$ne": 1}}, True),
        ({"absent": {"$nin": [1]}}, True),
        ({"absent": {"$gt": 0}}, False),
        ({"absent": {"$exists": False}}, True),
        ({"year": {"$gt": "1999"}}, False),
        ({"flag": 1}, False),
        ({"flag": True}, True),
        ({"tags": {"$contains": "eu"}}, True),
        ({"object": {"$contains": "ari"}}, True),
        ({"deep.inner": 3}, True),
        ({"$or": [{"year": 1}, {"year": 2020}]}, True),
        ({"$and": [{"year": 2020}, {"subject": "Spain"}]}, False),
        ({"$not": {"year": 2020}}, False),
        ({"$and": []}, True),
        ({"$or": []}, False),
    ],
)
def test_a_condition_decides(where: dict[str, Any], expected: bool) -> None:
    test = compile_where(where)
    assert test is not None
    assert test(fact(year=2020, flag=True, tags=["eu"], deep={"inner": 3})) is expected


@pytest.mark.parametrize("where", [{"$nor": []}, {"x": {"$like": 1}}, {"$and": {}}, {"x": {"$in": 3}}, 5])
def test_what_is_no_condition_is_refused(where: Any) -> None:
    with pytest.raises(InvalidInputError, match="where: "):
        compile_where(where)


def test_no_condition_is_none() -> None:
    assert compile_where(None) is None
    assert compile_where({}) is None

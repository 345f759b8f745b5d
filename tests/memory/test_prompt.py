"""Facts as text for a model."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations import KnowledgeObject, Provenance, Quantity
from ko_integrations.memory.prompt import fact_line, quote, render_facts

JANUARY = datetime(2025, 1, 1, tzinfo=UTC)


def ko(
    object: Any, subject: str = "Alice", predicate: str = "city", valid_to: datetime | None = None
) -> KnowledgeObject:
    provenance = Provenance(
        source=None, recorded_at=JANUARY, confidence=1.0, version=1, previous=None, sequence=1
    )
    return KnowledgeObject(
        id="0" * 64, namespace=(), subject=subject, predicate=predicate, object=object, provenance=provenance,
        valid_from=JANUARY, valid_to=valid_to,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Rome", '"Rome"'), ("José 東京", '"José 東京"'), (3, "3"), (True, "true"), (Quantity(3, "cm"), '"3 cm"'),
        (date(2025, 1, 2), '"2025-01-02"'), ({"a": ["<"]}, '{"a": ["\\u003c"]}'), ('3" pipe', '"3\\" pipe"'),
    ],
)  # fmt: skip
def test_values_are_readable(value: Any, expected: str) -> None:
    assert quote(value) == expected


@given(st.text(), st.text(), st.text())
def test_no_text_breaks_out_of_its_line(subject: str, predicate: str, object: str) -> None:
    text = render_facts([ko(object, subject or "x", predicate or "y")], budget=100_000, count=len).text
    lines = text.splitlines()
    assert len(lines) == 4
    assert lines[0] == "<memory>"
    assert lines[3] == "</memory>"
    assert "<" not in lines[2]
    assert ">" not in lines[2]


def test_a_fact_says_since_when_where_that_tells_something() -> None:
    february = datetime(2025, 2, 1, tzinfo=UTC)
    assert fact_line(ko("Rome", predicate="home_town")) == 'Alice, home town: "Rome"'
    stated = ko("Rome").model_copy(update={"valid_from": february})
    assert fact_line(stated) == 'Alice, city: "Rome" (since 2025-02-01)'
    changed = ko("Rome").model_copy(
        update={"provenance": ko("").provenance.model_copy(update={"version": 2})}
    )
    assert fact_line(changed).endswith("(since 2025-01-01)")
    assert fact_line(ko("Rome", valid_to=february)).endswith("(from 2025-01-01 to 2025-02-01)")


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(0, 600))
def test_the_budget_is_kept_and_a_long_value_drives_nothing_out(values: list[str], budget: int) -> None:
    facts = [ko(value) for value in values]
    rendered = render_facts(facts, budget=budget, count=len)
    assert rendered.tokens <= budget
    assert len(rendered.items) <= len(facts)
    assert (rendered.text == "") == (not rendered.items)
    with_long = render_facts([ko("x" * 1_000), *facts], budget=budget, count=len)
    assert with_long.items == rendered.items

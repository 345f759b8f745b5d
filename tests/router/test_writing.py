"""The same query as others would write it."""

import pytest

from ko_integrations.router.writing import hurried, written_otherwise


@pytest.mark.parametrize(
    ("query", "others"),
    [
        ("Who created Python?", {"who created python"}),
        ("who created python", {"Who created python?"}),
        ("write a poem", {"Write a poem."}),
        ("Is Anna in?", {"is anna in"}),
    ],
)
def test_other_writings_share_a_weight(query: str, others: set[str]) -> None:
    rows = written_otherwise([query], ["factual"], share=0.5, yes_no_share=0.25)
    assert rows.texts[0] == query
    assert set(rows.texts[1:]) == others
    assert rows.labels == ["factual"] * len(rows.texts)
    assert rows.weights[0] == 1
    assert sum(rows.weights[1:]) == (0.25 if "Anna" in query else 0.5)


def test_yes_no_questions_may_be_left_alone() -> None:
    assert written_otherwise(["Is Anna in?"], ["factual"], share=0.5, yes_no_share=0).texts == ["Is Anna in?"]


def test_one_query_in_two_is_written_otherwise_and_counts_twice() -> None:
    queries = [f"Who wrote volume {number}?" for number in range(200)]
    rows = written_otherwise(queries, ["factual"] * 200, share=0.5, yes_no_share=0.1, one_in=2)
    others = len(rows.texts) - 200
    assert 60 < others < 140
    assert sum(rows.weights) == pytest.approx(200 + others)
    backwards = written_otherwise(queries[::-1], ["factual"] * 200, share=0.5, yes_no_share=0.1, one_in=2)
    assert sorted(rows.texts) == sorted(backwards.texts)


def test_hurried_never_empties_a_query() -> None:
    assert hurried("?!") == "?!"
    assert hurried("Who?") == "who"

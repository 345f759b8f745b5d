"""The chain of a slot is a pure function of its assertions (DESIGN section 4, rules 5, 7, 8, 12)."""

from hypothesis import given
from hypothesis import strategies as st

from ko_integrations.log.contract import Address, Assertion
from ko_integrations.log.fold import fold, head_at, next_change, same_value, sort_chain

ADDRESS = Address(b"\0" * 32, (), "s", "p", False, False)


def assertion(
    sequence: int, value: str | None, start: int, end: int | None = None, kind: str = "s"
) -> Assertion:
    return Assertion(sequence, ADDRESS, "s", "p", kind, value, start, end, sequence, None, 1.0, None, None)


@st.composite
def chains(draw: st.DrawFn) -> list[Assertion]:
    rows = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["A", "B", "C", None]), st.integers(0, 8), st.none() | st.integers(1, 5)
            ),
            max_size=8,
        )
    )
    return [
        assertion(sequence, value, start, None if span is None or value is None else start + span)
        for sequence, (value, start, span) in enumerate(rows, start=1)
    ]


def value_at(rows: list[Assertion], moment: int) -> str | None:
    """The rule as the design words it, row by row."""

    def effective_end(row: Assertion) -> float:
        later = [other.valid_from for other in rows if other.valid_from > row.valid_from]
        end = float(min(later, default=10**9)) if row.valid_to is None else float(row.valid_to)
        after = (
            other.valid_from
            for other in rows
            if other.value is None and (other.valid_from, other.sequence) > (row.valid_from, row.sequence)
        )
        return min([end, *after])

    covering = [row for row in rows if row.valid_from <= moment < effective_end(row)]
    best = max(covering, key=lambda row: (row.valid_from, row.sequence), default=None)
    return None if best is None else best.value


@given(chains(), st.randoms())
def test_the_order_of_arrival_does_not_matter(rows: list[Assertion], random: object) -> None:
    shuffled = rows.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fold(sort_chain(shuffled)) == fold(sort_chain(rows))


@given(chains(), st.integers(-1, 14))
def test_the_value_at_a_moment_is_that_of_the_latest_covering_assertion(
    rows: list[Assertion], moment: int
) -> None:
    head = head_at(sort_chain(rows), moment)
    assert (None if head is None else head.first.value) == value_at(rows, moment)


@given(chains(), st.integers(-1, 14))
def test_between_now_and_the_next_change_nothing_changes(rows: list[Assertion], now: int) -> None:
    change = next_change(sort_chain(rows), now)
    for moment in range(now, 20 if change is None else change):
        assert value_at(rows, moment) == value_at(rows, now)


@given(chains())
def test_every_assertion_supports_exactly_one_version(rows: list[Assertion]) -> None:
    versions = fold(sort_chain(rows))
    supported = [row.sequence for version in versions for row in (version.first, *version.confirmations)]
    assert sorted(supported) == [row.sequence for row in rows if row.value is not None]
    assert [version.number for version in versions] == list(range(1, len(versions) + 1))
    assert [version.previous for version in versions] == [None, *(v.first.sequence for v in versions)][
        : len(versions)
    ]


@given(chains())
def test_neighbours_that_touch_differ(rows: list[Assertion]) -> None:
    for one, two in zip(versions := fold(sort_chain(rows)), versions[1:], strict=False):
        touch = one.valid_to is None or two.valid_from <= one.valid_to
        between = [
            row for row in rows if row.value is None and one.valid_from <= row.valid_from <= two.valid_from
        ]
        assert not (touch and same_value(one.first, two.first)) or between


def spans(rows: list[Assertion]) -> list[tuple[str | None, int, int | None]]:
    return [(version.first.value, version.valid_from, version.valid_to) for version in fold(sort_chain(rows))]


def test_a_fact_arriving_late_splits_what_it_falls_into() -> None:
    twice = [assertion(1, "A", 1), assertion(2, "A", 3)]
    assert spans(twice) == [("A", 1, None)]
    assert spans([*twice, assertion(3, "B", 2)]) == [("A", 1, 2), ("B", 2, 3), ("A", 3, None)]


def test_there_and_back_is_three_versions() -> None:
    assert spans([assertion(1, "A", 1), assertion(2, "B", 2), assertion(3, "A", 3)]) == [
        ("A", 1, 2),
        ("B", 2, 3),
        ("A", 3, None),
    ]


def test_of_two_at_one_instant_the_later_recorded_holds_and_both_are_history() -> None:
    rows = [assertion(1, "A", 1), assertion(2, "B", 1), assertion(3, "C", 5)]
    assert spans(rows) == [("A", 1, 5), ("B", 1, 5), ("C", 5, None)]
    head = head_at(sort_chain(rows), 3)
    assert head is not None
    assert head.first.value == "B"


def test_after_a_retraction_nothing_older_revives() -> None:
    rows = [assertion(1, "A", 1, 10), assertion(2, None, 4), assertion(3, "B", 6, 8)]
    assert [value_at(rows, moment) for moment in (3, 5, 7, 9)] == ["A", None, "B", None]
    assert spans(rows) == [("A", 1, 4), ("B", 6, 8)]


def test_numbers_of_equal_worth_are_one_version() -> None:
    assert spans([assertion(1, "3", 1, kind="i"), assertion(2, "3.0", 2, kind="f")]) == [("3", 1, None)]
    assert len(spans([assertion(1, "3", 1, kind="i"), assertion(2, "3", 2, kind="s")])) == 2

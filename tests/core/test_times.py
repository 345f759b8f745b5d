"""Moments: aware, or with their precision cut short (Wikidata's 1911-00-00)."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ko_integrations.errors import InvalidInputError
from ko_integrations.times import from_micros, parse_moment, to_micros


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=30))])))
def test_microseconds_lose_nothing(moment: datetime) -> None:
    assert from_micros(to_micros(moment, "t")) == moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1911-00-00T00:00:00Z", datetime(1911, 1, 1, tzinfo=UTC)),
        ("1911-00-00", datetime(1911, 1, 1, tzinfo=UTC)),
        ("2010-03-00T00:00:00Z", datetime(2010, 3, 1, tzinfo=UTC)),
        ("2010", datetime(2010, 1, 1, tzinfo=UTC)),
        ("2010-03", datetime(2010, 3, 1, tzinfo=UTC)),
        ("2010-03-04", datetime(2010, 3, 4, tzinfo=UTC)),
        ("2010-03-04T05:06:07+02:00", datetime(2010, 3, 4, 3, 6, 7, tzinfo=UTC)),
    ],
)
def test_a_date_is_read_to_the_start_of_its_stated_precision(text: str, expected: datetime) -> None:
    assert parse_moment(text) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2010-13-01", "2010-02-30", "2010-03-04T05:06:07"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="valid_from: "):
        parse_moment(text, "valid_from")


def test_a_naive_datetime_is_refused_and_a_date_is_midnight_utc() -> None:
    with pytest.raises(InvalidInputError, match="as_of: naive"):
        to_micros(datetime(2024, 1, 1), "as_of")
    with pytest.raises(InvalidInputError, match="as_of: expected"):
        to_micros("2024-01-01", "as_of")  # type: ignore[arg-type]
    assert from_micros(to_micros(date(2024, 1, 1), "as_of")) == datetime(2024, 1, 1, tzinfo=UTC)

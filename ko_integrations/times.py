"""Event time and record time: aware UTC at the API, whole microseconds since 1970 inside."""

import re
from datetime import UTC, date, datetime, timedelta

from ko_integrations.errors import InvalidInputError

__all__ = ["Moment", "from_micros", "parse_moment", "to_micros"]

Moment = datetime | date
"""A moment as callers give it. A `date` means its first instant in UTC."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_REDUCED = re.compile(r"([+-]?\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T00:00:00(?:\.0+)?(?:Z|\+00:00)?)?")


def to_micros(moment: Moment, field: str) -> int:
    """Return microseconds since 1970 UTC.

    Raises:
        InvalidInputError: `moment` is a naive datetime, outside the years 1 to 9999, or no date at all.
    """
    if isinstance(moment, datetime):
        if moment.utcoffset() is None:
            raise InvalidInputError(field, "naive datetime; give it a time zone, e.g. tzinfo=timezone.utc")
        micros = (moment - _EPOCH) // _MICROSECOND
        if not _FIRST <= micros <= _LAST:
            raise InvalidInputError(field, "outside the years 1 to 9999 in UTC")
        return micros
    if isinstance(moment, date):
        return (datetime(moment.year, moment.month, moment.day, tzinfo=UTC) - _EPOCH) // _MICROSECOND
    raise InvalidInputError(field, f"expected a datetime or date, got {type(moment).__name__}")


def from_micros(micros: int) -> datetime:
    """Return the aware UTC datetime of `micros`."""
    return _EPOCH + timedelta(microseconds=micros)


def parse_moment(text: str, field: str = "time") -> datetime:
    """Read ISO 8601, also with the precision cut short, to the start of what it states.

    `2010`, `2010-03`, `1911-00-00` and `1911-00-00T00:00:00Z` (Wikidata's way to say "some time in
    1911") are read to their first instant. A time without a zone is refused.

    Raises:
        InvalidInputError: not a date, or a time of day without a zone.

    >>> parse_moment("1911-00-00T00:00:00Z").isoformat()
    '1911-01-01T00:00:00+00:00'
    """
    stripped = text.strip()
    try:
        if match := _REDUCED.fullmatch(stripped):
            year, month, day = (int(part or 0) for part in match.groups())
            return datetime(year, month or 1, day or 1, tzinfo=UTC)
        moment = datetime.fromisoformat(stripped)
    except ValueError as error:
        raise InvalidInputError(field, f"not an ISO 8601 date or time: {text!r}") from error
    if moment.utcoffset() is None:
        raise InvalidInputError(field, f"no time zone in {text!r}; end it with Z or an offset")
    return moment.astimezone(UTC)

"""Expressions of time in English to half-open intervals of UTC: "March 2010", "last year", "the 1990s"."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

__all__ = ["BARE_MONTH", "EXPRESSION", "Interval", "read_interval"]


class Interval(NamedTuple):
    """From `start` to `end`, exclusive. A moment is an interval of one microsecond."""

    start: datetime
    end: datetime


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\b\.?"
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:1\d{3}|20\d{2})\b"
_UNIT = r"(?:minute|hour|day|week|month|year|decade)"
_COUNT = r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_PART = r"(?:(?:early|mid|late|the\s+(?:beginning|start|middle|end)\s+of)[\s-]+)?"

EXPRESSION = (
    r"(?:"
    rf"{_YEAR}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    rf"|{_YEAR}-\d\d\b"
    rf"|\d{{1,2}}[/.]\d{{1,2}}[/.]{_YEAR}"
    rf"|(?:the\s+)?{_DAY}(?:\s+of)?\s+{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR})?"
    rf"|{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR})?"
    rf"|{_PART}{_MONTH},?\s+(?:of\s+)?{_YEAR}"
    rf"|(?:the\s+)?(?:q[1-4]|(?:first|second|third|fourth)\s+quarter)(?:\s+of)?\s+{_YEAR}"
    r"|(?:the\s+)?(?:1\d|20)\d0['’]?s\b"
    rf"|{_PART}(?:the\s+year\s+(?:of\s+)?)?{_YEAR}"
    rf"|(?:last|this|next)\s+(?:week|month|year|decade|{_WEEKDAY}|{_MONTH})(?!\w)"
    rf"|{_COUNT}\s+{_UNIT}s?\s+(?:ago|earlier)\b"
    r"|(?:the\s+day\s+before\s+)?yesterday\b"
    r")"
)
"""An expression of time that needs no preposition to be one."""

BARE_MONTH = rf"(?:{_PART}{_MONTH}|{_WEEKDAY}\b|today\b|now\b|this\s+morning\b)"
"""What is an expression of time only after a preposition: "since May", but not "may"."""

_PART_OF = re.compile(r"^(early|mid|late|beginning of|start of|middle of|end of)[\s-]+")
_SHARES = {
    "early": (0, 4), "mid": (4, 8), "late": (8, 12),
    "beginning of": (0, 1), "start of": (0, 1), "middle of": (5, 7), "end of": (11, 12),
}  # fmt: skip
"""Which twelfths of a year, month or decade the words for a part of it mean."""
_NUMBERS = {word: n for n, word in enumerate("zero one two three four five six seven eight nine ten".split())}
_MOMENT = timedelta(microseconds=1)


def read_interval(text: str, now: datetime) -> Interval | None:
    """Return the interval that an expression of time names, counted from `now`, or None.

    A month or day without a year is the last one that has begun.

    >>> read_interval("March 2010", datetime(2025, 1, 1, tzinfo=UTC)).end.isoformat()
    '2010-04-01T00:00:00+00:00'
    """
    lower = " ".join(text.lower().replace("’", "'").split()).removeprefix("the ").strip(" ,.")
    if (part := _PART_OF.match(lower)) and (whole := read_interval(lower[part.end() :], now)):
        return _part(whole, *_SHARES[part[1]])
    year = re.search(rf"\b{_YEAR}", lower)
    try:
        return (
            _iso(text.strip())
            or _relative(lower, now)
            or _part_of_year(lower, int(year.group()) if year else None, now)
            or _by_library(lower, now)
        )
    except (ValueError, OverflowError):  # 31 February, or before the year 1
        return None


def _part(whole: Interval, first: int, last: int) -> Interval:
    """Return from twelfth `first` to `last` of an interval; of a year they are its months."""
    if whole == _years(whole.start.year, 1):
        return Interval(_month(whole.start.year, first + 1).start, _month(whole.start.year, last).end)
    twelfth = (whole.end - whole.start) / 12
    return Interval(whole.start + first * twelfth, whole.start + last * twelfth)


def _iso(text: str) -> Interval | None:
    if re.fullmatch(r"\d{4}-\d\d", text):
        return _month(int(text[:4]), int(text[5:]))
    if not re.match(r"\d{4}-\d\d-\d\d", text):
        return None
    moment = datetime.fromisoformat(text)
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return _day(moment) if len(text) == len("2019-05-03") else Interval(moment, moment + _MOMENT)


def _relative(lower: str, now: datetime) -> Interval | None:
    if lower in ("now", "today", "this morning"):
        return _day(now) if lower != "now" else Interval(now, now + _MOMENT)
    if lower in ("yesterday", "day before yesterday"):
        return _day(now - timedelta(days=1 + lower.startswith("day")))
    if match := re.fullmatch(rf"({_COUNT}) ({_UNIT})s? (?:ago|earlier)", lower):
        count = _NUMBERS.get(match[1], 1) if not match[1].isdigit() else int(match[1])
        moment = _back(now, count, match[2])
        return Interval(moment, moment + _MOMENT)
    if match := re.fullmatch(r"(last|this|next) (week|month|year|decade)", lower):
        return _unit_around(now, {"last": -1, "this": 0, "next": 1}[match[1]], match[2])
    if match := re.fullmatch(rf"(?:last |this )?({_WEEKDAY})", lower):
        name = match[1][:3]
        back = (now.weekday() - ("mon", "tue", "wed", "thu", "fri", "sat", "sun").index(name)) % 7
        return _day(now - timedelta(days=back or 7 * lower.startswith("last ")))
    return None


def _back(now: datetime, count: int, unit: str) -> datetime:
    if unit in ("month", "year", "decade"):
        months = now.year * 12 + now.month - 1 - count * {"month": 1, "year": 12, "decade": 120}[unit]
        year, month = divmod(months, 12)
        last = (_month(year, month + 1).end - timedelta(days=1)).day
        return now.replace(year=year, month=month + 1, day=min(now.day, last))
    return now - timedelta(**{f"{unit}s": count})


def _unit_around(now: datetime, shift: int, unit: str) -> Interval:
    if unit == "week":
        start = _day(now - timedelta(days=now.weekday())).start + timedelta(weeks=shift)
        return Interval(start, start + timedelta(weeks=1))
    if unit == "month":
        return _month(*_shifted(now.year, now.month, shift))
    if unit == "year":
        return _years(now.year + shift, 1)
    return _years(now.year // 10 * 10 + 10 * shift, 10)


def _part_of_year(lower: str, year: int | None, now: datetime) -> Interval | None:
    if match := re.fullmatch(r"((?:1\d|20)\d0)'?s", lower):
        return _years(int(match[1]), 10)
    if year and (match := re.match(r"q([1-4])|(first|second|third|fourth) quarter", lower)):
        quarter = int(match[1] or ("first", "second", "third", "fourth").index(match[2]) + 1)
        start = datetime(year, 3 * quarter - 2, 1, tzinfo=UTC)
        return Interval(start, _month(year, 3 * quarter).end)
    bare = re.sub(r"^(?:last|this) |,| of ", " ", lower)
    if match := re.fullmatch(rf"({_MONTH})(?: {_YEAR})?", " ".join(bare.split())):
        month = _MONTHS.index(match[1][:3]) + 1
        if year is None:
            year = now.year - (month > now.month or (month == now.month and lower.startswith("last ")))
        return _month(year, month)
    if year and re.fullmatch(rf"(?:the )?(?:year )?(?:of )?{_YEAR}", " ".join(bare.split())):
        return _years(year, 1)
    return None


def _by_library(lower: str, now: datetime) -> Interval | None:
    """Read the forms of a single day."""
    data = _date_parser().get_date_data(re.sub(r"(?<=\d)(?:st|nd|rd|th)\b| of\b", "", lower))
    if data.date_obj is None:
        return None
    day = data.date_obj.replace(tzinfo=UTC)
    if not re.search(rf"\b{_YEAR}", lower):
        day = day.replace(year=now.year)
        day = day.replace(year=now.year - 1) if day > now else day
    return _day(day)


@lru_cache(maxsize=1)
def _date_parser() -> Any:
    from dateparser.date import DateDataParser

    return DateDataParser(
        languages=["en"], settings={"STRICT_PARSING": False, "RETURN_AS_TIMEZONE_AWARE": False}
    )


def _day(moment: datetime) -> Interval:
    start = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return Interval(start, start + timedelta(days=1))


def _shifted(year: int, month: int, by: int) -> tuple[int, int]:
    year, month = divmod(year * 12 + month - 1 + by, 12)
    return year, month + 1


def _month(year: int, month: int) -> Interval:
    following = _shifted(year, month, 1)
    return Interval(datetime(year, month, 1, tzinfo=UTC), datetime(*following, 1, tzinfo=UTC))


def _years(year: int, count: int) -> Interval:
    return Interval(datetime(year, 1, 1, tzinfo=UTC), datetime(year + count, 1, 1, tzinfo=UTC))

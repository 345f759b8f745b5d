"""When a statement holds: dates, ranges and relative dates, counted from the moment it was said.

The server's clock and zone play no part: "yesterday" is the day before `said_at` in the zone of `said_at`.
A date stands for the first instant of the precision it states, as everywhere in this package.
"""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from ko_integrations.compiler.text import words_in

__all__ = ["Adjunct", "is_date", "is_relative", "parse_date", "read_moment", "take_adjunct"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,september sept sep,"
        "october oct,november nov,december dec".split(","), 1)
    for name in names.split()
}  # fmt: skip
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = dict(
    zip(
        "a an one two three four five six seven eight nine ten eleven twelve".split(),
        (1, 1, *range(1, 13)),
        strict=True,
    )
)
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:1\d{3}|20\d{2})"
_DATE = (
    rf"(?:{_YEAR}-\d\d(?:-\d\d)?|\d{{1,2}}[./]\d{{1,2}}[./]{_YEAR}|(?:the )?{_DAY}(?: of)? {_MONTH},? {_YEAR}|{_MONTH} {_DAY},? {_YEAR}"
    rf"|(?:early |late |mid-)?{_MONTH},?(?: of)? {_YEAR}|(?:the )?{_DAY}(?: of)? {_MONTH}|{_MONTH} {_DAY}|{_YEAR}|{_MONTH})"
)
_RELATIVE = (
    r"(?:the day before yesterday|yesterday(?: (?:morning|afternoon|evening|night))?|today|tonight|this (?:morning|afternoon|evening|week|month|year)"
    r"|tomorrow(?: (?:morning|afternoon|evening|night))?|(?:last|next|this past) (?:night|week|month|year|"
    + "|".join(_WEEKDAYS)
    + rf"|{_MONTH}|spring|summer|autumn|fall|winter)"
    r"|(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few) (?:second|minute|hour|day|week|month|year|decade)s? ago"
    r"|(?:" + "|".join(_WEEKDAYS) + r"))"
)
_WHEN = rf"(?:{_DATE}|{_RELATIVE})"
_DIGITS = re.compile(r"\d{4}|\d[./]\d")
_TIME_WORDS = frozenset(
    form
    for word in (*_MONTHS, *_WEEKDAYS, *"ago yesterday today tomorrow tonight last next this".split())
    for form in (word, word.capitalize())
)
_PAIR = rf"(?P<a>{_WHEN}) (?:to|until|till|-|–|through) (?P<b>{_WHEN}|now|today|present|the present)"
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:,? (?:from|between) (?P<a>{_WHEN}) (?:to|until|till|and|-|–|through) (?P<b>{_WHEN}|now|today|present|the present)| \((?:from )?(?P<a2>{_WHEN}) ?(?:to|until|-|–) ?(?P<b2>{_WHEN}|now|present)?\))$",
        rf",? (?:(?P<until>until|till|up to)|since|as of|as from|starting(?: in| on| from)?|beginning(?: in| on)?|effective(?: from)?|from|in|on|during|around|circa|back in|at the (?:start|beginning) of|with effect from) (?:the year |early |late |the )?(?P<a>{_WHEN})(?: onwards?| on)?$",
        rf",? (?P<a>{_RELATIVE})$",
        rf",? (?:in|on|since) (?P<a>{_DATE})(?= (?:in|at|on|by|as|with|near|for|from|to|under) )",
        rf" \((?:since |from |in )?(?P<a>{_WHEN})\)$",
    )
)
_LEADING = re.compile(
    rf"^(?:(?:(?P<until>until|till)|since|as of|as from|starting(?: in| on| from)?|from|in|on|during|back in|by|around) (?:the year |early |late )?(?P<a>{_WHEN})|(?P<a2>{_RELATIVE}))\s*,?\s+(?=\S)",
    re.IGNORECASE,
)


_COUNTED = re.compile(_RELATIVE, re.IGNORECASE)


class Adjunct(NamedTuple):
    """A clause without its time adjunct, and the time that it gave; `said` is the date as it was written."""

    text: str
    valid_from: datetime | None
    valid_to: datetime | None
    said: str


def is_relative(said: str) -> bool:
    """Return whether a date counts from the telling ("last month"), not by the calendar alone."""
    return _COUNTED.fullmatch(said) is not None


def take_adjunct(text: str, said_at: datetime, *, ahead: bool = False) -> Adjunct | None:
    """Return `text` less a time adjunct at its end or beginning, or None; `ahead` reads "in May" as the next May."""
    if _TIME_WORDS.isdisjoint(words_in(text)) and not _DIGITS.search(text):
        return None
    if leading := _LEADING.match(text):
        said = leading["a"] or leading["a2"]
        moment = read_moment(said, said_at, ahead=ahead)
        if moment:
            rest = text[leading.end() :]
            begin, end = (None, moment) if leading["until"] else (moment, None)
            return Adjunct(rest[0].upper() + rest[1:], begin, end, said)
    for form in _FORMS:
        match = form.search(text)
        if match is None:
            continue
        groups = match.groupdict()
        said = groups.get("a") or groups.get("a2") or ""
        moment = read_moment(said, said_at, ahead=ahead)
        if moment is None:
            continue
        ended = groups.get("b") or groups.get("b2")
        until = (
            read_moment(ended, said_at, ahead=ahead)
            if ended and ended.lower() not in ("now", "present", "the present", "today")
            else None
        )
        start: datetime | None = moment
        if groups.get("until"):
            start, until = None, moment
        return Adjunct(text[: match.start()].rstrip(" ,") + text[match.end() :], start, until, said)
    return None


def is_date(text: str) -> bool:
    """Return whether `text` is a calendar date with its year, as it is written in brackets after a name."""
    parts = _calendar(text.lower().strip())
    return bool(parts and parts[0])


def read_moment(text: str, said_at: datetime, *, ahead: bool = False) -> datetime | None:
    """Return the first instant of the date that `text` states, in UTC, or None."""
    lower = text.lower().strip()
    zone = said_at.tzinfo
    today = said_at.replace(hour=0, minute=0, second=0, microsecond=0)
    found = _relative(lower, said_at, today)
    if found is not None:
        return found.astimezone(UTC)
    parts = _calendar(lower)
    if parts is None:
        return None
    year, month, day = parts
    try:
        if year:
            # A calendar date carries no zone: like a `date` given to the store, it begins in UTC.
            return datetime(year, month or 1, day or 1, tzinfo=UTC)
        moment = datetime(said_at.year, month, day or 1, tzinfo=zone)
        if moment > said_at and not ahead:
            moment = moment.replace(year=said_at.year - 1)
        elif moment < said_at and ahead:
            moment = moment.replace(year=said_at.year + 1)
        return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    except ValueError:
        return None


@lru_cache(maxsize=8_192)
def _calendar(lower: str) -> tuple[int, int, int] | None:
    """Return (year, month, day), 0 for what is not said."""
    lower = re.sub(r"^(?:the|early|late|mid-?) ?", "", lower)
    if match := re.fullmatch(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", lower):
        return int(match[1]), int(match[2] or 0), int(match[3] or 0)
    if match := re.fullmatch(r"(\d{1,2})[./](\d{1,2})[./](\d{4})", lower):
        first, second = int(match[1]), int(match[2])
        # Day and month can only be told apart when one of them is over 12, or both are the same.
        if first > 12 or first == second:
            return int(match[3]), second, first
        return (int(match[3]), first, second) if second > 12 else None
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(\d)(?:st|nd|rd|th)\b", r"\1", lower))
    month = next((_MONTHS[word] for word in words if word in _MONTHS), 0)
    numbers = [int(word) for word in words if word.isdigit()]
    year = next((number for number in numbers if number > 999), 0)
    day = next((number for number in numbers if number < 32), 0)
    if not month or any(not word.isdigit() and word not in _MONTHS and word != "of" for word in words):
        return None
    return year, month, day


def _relative(lower: str, said_at: datetime, today: datetime, *, ahead: bool = False) -> datetime | None:
    simple = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1, "the day before yesterday": -2}
    head = re.sub(r" (?:morning|afternoon|evening|night)$", "", lower)
    if head in simple:
        return today + timedelta(days=simple[head])
    if head == "this":
        return today
    if match := re.fullmatch(r"(\d+|[a-z ]+?) (second|minute|hour|day|week|month|year|decade)s? ago", lower):
        count = (
            int(match[1])
            if match[1].isdigit()
            else {"a couple of": 2, "a few": 3}.get(match[1], _NUMBERS.get(match[1], 0))
        )
        return _back(said_at, today, count, match[2]) if count else None
    if match := re.fullmatch(r"(last|next|this|this past) (night|week|month|year)", lower):
        step = {"last": -1, "next": 1}.get(match[1], 0)
        return _step(today, step, match[2])
    if match := re.fullmatch(r"(?:(last|next|this past|on) )?(" + "|".join(_WEEKDAYS) + ")", lower):
        behind = (today.weekday() - _WEEKDAYS.index(match[2])) % 7
        if match[1] == "next":
            return today + timedelta(days=7 - behind)
        if ahead and match[1] in (None, "on"):
            return today + timedelta(days=-behind % 7)
        return today - timedelta(days=behind or (7 if match[1] == "last" else 0))
    if match := re.fullmatch(r"(last|next|this past) ([a-z]+)\.?", lower):
        return _named(match[1], match[2], today)
    return None


_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def _named(which: str, name: str, today: datetime) -> datetime | None:
    """The last or next time that a month or season began."""
    month = _MONTHS.get(name) or _SEASONS.get(name)
    if month is None:
        return None
    begin = today.replace(month=month, day=1)
    if which == "next":
        return begin if begin > today else begin.replace(year=today.year + 1)
    return (
        begin if (begin.year, begin.month) < (today.year, today.month) else begin.replace(year=today.year - 1)
    )


def _back(said_at: datetime, today: datetime, count: int, unit: str) -> datetime | None:
    if unit in ("second", "minute", "hour"):
        return said_at - timedelta(**{unit + "s": count})
    if unit in ("day", "week"):
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    months = count * {"month": 1, "year": 12, "decade": 120}[unit]
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return None if year < 1 else today.replace(year=year, month=month + 1, day=min(today.day, 28))


def _step(today: datetime, step: int, unit: str) -> datetime:
    if unit == "night":
        return today + timedelta(days=step)
    if unit == "week":
        return today - timedelta(days=today.weekday()) + timedelta(weeks=step)
    if unit == "year":
        return today.replace(year=today.year + step, month=1, day=1)
    year, month = divmod(today.year * 12 + today.month - 1 + step, 12)
    return today.replace(year=year, month=month + 1, day=1)


def _by_library(text: str, said_at: datetime) -> datetime | None:
    """Ask dateparser for what the forms above do not cover."""
    import dateparser

    if re.fullmatch(r"[\d:. ]+(?:am|pm|a\.m\.|p\.m\.)?", text):
        return None  # a time of day without a date
    found = dateparser.parse(
        text, languages=["en"],
        settings={"RELATIVE_BASE": said_at.replace(tzinfo=None), "PREFER_DATES_FROM": "past", "TIMEZONE": "UTC"},
    )  # fmt: skip
    return found.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=said_at.tzinfo) if found else None


def parse_date(text: str, said_at: datetime, *, ahead: bool = False) -> date | int | None:
    """Return the value of a date-valued fact: a `date`, or the year as a number; None if less is said.

    `ahead` reads a weekday as the next one, not as the last.
    """
    lower = text.lower().strip()
    parts = _calendar(lower)
    if parts and all(parts):
        try:
            return date(*parts)
        except ValueError:
            return None
    if parts and parts[0] and not parts[1]:
        return parts[0]
    today = said_at.replace(hour=0, minute=0, second=0, microsecond=0)
    moment = _relative(lower, said_at, today, ahead=ahead)
    if moment is None and parts is None and any(character.isdigit() for character in lower):
        moment = _by_library(lower, said_at)
    return moment.date() if moment else None

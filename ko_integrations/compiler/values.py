"""What is written to what is stored: numbers, quantities with their unit, dates, names as they were spelt."""

import re
from datetime import datetime
from functools import lru_cache

from ko_integrations.compiler.dates import parse_date
from ko_integrations.compiler.naming import bare
from ko_integrations.types import Quantity, Value
from ko_integrations.vocabulary import Predicate

__all__ = ["clean", "items", "value_of"]

_TRAILING = re.compile(
    r"(?:,? (?:(?:every|each) (?:morning|evening|night|day|week|month|year|other day)|(?:(?:once|twice|thrice|(?:three|four|\d) times)[- ])?daily|weekly|(?:once|twice|three times|\d times) (?:a|per) (?:day|week)|now|instead|too|as well|again|these days|at the moment|nowadays|anymore|any more|for now|on (?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|weekdays)|for (?:(?:many|several|some|a few|\d+|two|three|four|five|ten) )?(?:years|months|weeks|ages|decades|a long time|life)|right now|so far|in fact|actually|either|"
    r"and not .+|not .+|instead of .+|rather than .+|as needed|when needed|if needed|prn|if you must know|by the way|btw|thanks|please|lol|though))+$"
    r"|,? (?:not|rather than|instead of|and not) .+$",
    re.IGNORECASE,
)
_CIRCUMSTANCE = re.compile(
    r"^(?P<name>(?:called |named )?(?:[Tt]he )?[A-Z][^\s,]*(?: (?:[A-Z][^\s,]*|of|the|de|and))*) (?:with|as|on|in|at|for|before|during|after|since|alongside|along|because|despite|where|while|when|together|throughout|under|and nothing) [^A-Z]+$"
)
"""A name, and how or when: "Leiden University with a degree in physics"."""
_CALLED = re.compile(r"^(?:an? [a-z]+ )?(?:called|named) (?=[A-Z\"“])|^(?:a bit|some|a little) of (?=[A-Z])")
"""What introduces a name, or says how much of a language one knows."""
_STATING = re.compile(
    r"^(?:still|now|currently|actually|really|also|always|probably) (?=[a-z\d])|, [a-z][a-z ]* (?:is|are|was|were) .+$"
)
"""Adverbs of the statement, and another clause after a comma."""
_FROM_TO = re.compile(r"^(?:from )?.+? to (?P<new>.+)$")
_NUMBER = r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?\d+(?:\.\d+)?"
_SCALES = {
    "thousand": 10**3,
    "k": 10**3,
    "million": 10**6,
    "m": 10**6,
    "mn": 10**6,
    "billion": 10**9,
    "bn": 10**9,
    "b": 10**9,
    "trillion": 10**12,
}
_NUMERIC = re.compile(
    rf"(?:about |around |over |nearly |almost |approximately |roughly |some |~)?(?P<number>{_NUMBER})(?: (?P<scale>thousand|million|billion|trillion))?(?: (?:people|inhabitants|employees|years?(?: old)?|residents|staff|pages|episodes|seasons|floors|kids|children))?",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    rf"(?:about |around |over |nearly |almost |approximately |roughly |~|a )?(?P<number>{_NUMBER})[ -]?(?:(?P<scale>thousand|million|billion|trillion) )?(?P<unit>[^\d\s][^\s]*(?: [^\d\s][^\s]*){{0,3}})"
)
_MEASURED_IN = re.compile(
    r"^(?P<value>(?:(?:about|around|approximately|roughly|nearly|almost) )?\d[\d.,]* ?[^\d\s]+) (?:in|among|after|following|across|during|under|with|for) [a-z].*$"
)
"""A quantity and the circumstances in which it was measured, which are no part of it."""
_MONEY = re.compile(
    rf"(?P<unit>[$€£¥])\s?(?P<number>{_NUMBER})\s?(?P<scale>thousand|million|billion|trillion|bn|mn|k|m|b)?\b(?P<rate> ?(?:a|per|/) ?\w+)?",
    re.IGNORECASE,
)
_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
}
_SPLIT = re.compile(r",? (?:and|&|or|as well as|plus) |, (?:and |or )?")


@lru_cache(maxsize=16_384)
def clean(text: str) -> str:
    """Return an object as it was written, without quotes, "now", "instead", or the value that it replaces."""
    text = _STATING.sub("", text)
    text = _CALLED.sub("", text.strip().strip('"“”‘’«»`*_').strip(" ,;:!"))
    if match := _CIRCUMSTANCE.match(text):
        text = match["name"]
    shorter = re.sub(r"^that of (?:an? |the )?", "", _TRAILING.sub("", text))
    return bare(shorter or text)[0]


def items(text: str) -> list[str]:
    """Return the members of a list ("tea, coffee and milk").

    >>> items("tea, coffee and milk")
    ['tea', 'coffee', 'milk']
    """
    parts = [part.strip() for part in _SPLIT.split(text) if part.strip()]
    return parts if parts and all(len(part.split()) <= 6 for part in parts) else [text]


def value_of(text: str, predicate: Predicate | None, said_at: datetime) -> Value:
    """Return the value that `text` states for `predicate`, in its type; text where no type fits."""
    kind = predicate.value_type if predicate else "any"
    if kind == "date":
        return _date(text, said_at, ahead=predicate is not None and predicate.name in _TO_COME)
    if kind in ("quantity", "number"):
        if kind == "quantity" and (measured := _MEASURED_IN.match(text)):
            text = measured["value"]
        found = _quantity(text) or _number(text) if kind == "quantity" else _number(text)
        return text if found is None else found
    if kind == "any" and re.fullmatch(_NUMBER, text) and not text.startswith(("0", "+")):
        return _number(text) or text
    return text


_TO_COME = frozenset(("deadline", "event_date", "end_date"))
"""Dates that are told before they come: "on Friday" is the next one."""


def _date(text: str, said_at: datetime, *, ahead: bool) -> Value:
    found = parse_date(text, said_at, ahead=ahead)
    return text if found is None else found


def _number(text: str) -> int | float | None:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    match = _NUMERIC.fullmatch(text)
    return _scaled(match["number"], match["scale"]) if match else None


def _scaled(number: str, scale: str | None) -> int | float:
    value = float(number.replace(",", ""))
    value = round(value * _SCALES[scale.lower()], 6) if scale else value
    whole = "." not in number or (scale and value.is_integer())
    return int(value) if whole else value


def _quantity(text: str) -> Quantity | None:
    if match := _MONEY.fullmatch(text):
        unit = _CURRENCIES[match["unit"]] + re.sub(r"^ ?(?:a|per|/) ?", "/", match["rate"] or "")
        return Quantity(_scaled(match["number"], match["scale"]), unit)
    match = _MEASURE.fullmatch(text)
    if match is None or not _is_unit(match["unit"]):
        return None
    return Quantity(_scaled(match["number"], match["scale"]), match["unit"])


_PLAIN_UNITS = frozenset(
    "cm mm m km kg g mg µg ug lb lbs pounds pound inches inch feet foot ft miles mile years months weeks days hours minutes seconds % percent euros dollars eur usd gbp nm nM µM uM mM pM bpm mmhg kcal gb tb mb".split()
)


@lru_cache(maxsize=512)
def _is_unit(unit: str) -> bool:
    """Whether pint knows the unit, or it is one of those that pint writes differently."""
    if unit in _PLAIN_UNITS or unit.lower() in _PLAIN_UNITS:
        return True
    registry = _registry()
    from pint import errors

    try:
        registry.parse_units(unit.replace("square ", "").replace("cubic ", "").replace("/month", "/month"))
    except (errors.PintError, ValueError, TypeError, AttributeError, SyntaxError, AssertionError):
        return False
    return True


@lru_cache(maxsize=1)
def _registry():  # type: ignore[no-untyped-def]
    import pint

    return pint.UnitRegistry()

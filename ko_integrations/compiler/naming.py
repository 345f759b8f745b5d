"""Names as a clause writes them: without the noun that says what they are, and how their kinds fit a predicate."""

import re
from functools import lru_cache

from ko_integrations.compiler.text import INHERITED, PRONOUNS
from ko_integrations.kinds import CLOSED_KINDS, kinds_of
from ko_integrations.vocabulary import Predicate

__all__ = ["MEASURED", "bare", "kind_score", "subject_score"]

MEASURED = ("number", "quantity", "date")
"""Value types of what is counted, measured or dated."""

_KINDS_BY_NOUN = {
    "city": "city", "town": "city", "village": "city", "country": "country", "nation": "country", "continent": "continent",
    "language": "language", "sport": "sport", "field": "field", "area": "field", "discipline": "field", "domain": "field",
    "religion": "religion", "faith": "religion", "genre": "genre", "profession": "occupation", "occupation": "occupation",
    "state": "place", "province": "place", "region": "place", "county": "place", "island": "place", "municipality": "place", "centre": "place", "center": "place", "heart": "place", "outskirts": "place", "suburbs": "place",
    "position": "playing_position", "role": "", "post": "", "job": "occupation", "year": "date", "month": "date", "instrument": "instrument",
}  # fmt: skip
_OF = re.compile(rf"^(?:the |a |an )?(?P<noun>{'|'.join(_KINDS_BY_NOUN)}) of (?=\S)")
_APPOSED = re.compile(
    r"^(?:[Tt]he |[Aa]n? |(?:my|our|his|her|their) )?(?P<noun>character|painting|sculpture|poem|play|opera|magazine|series|sitcom|show|ship|river|village|software|program|app|drug|company|firm|organisation|organization|band|group|label|record label|network|channel|club|team|novel|film|movie|book|song|"
    r"album|game|programming language|language|country|city|town|state|party|newspaper|broadcaster|singer|actor|writer) (?:called |named )?(?=[A-Z\"“‘'\d])"
)
_KIND_OF_APPOSED = {
    "company": "organisation", "firm": "organisation", "organisation": "organisation", "organization": "organisation", "band": "organisation",
    "group": "organisation", "label": "label", "record label": "label", "network": "broadcaster", "channel": "broadcaster", "broadcaster": "broadcaster",
    "club": "team", "team": "team", "country": "country", "city": "city", "town": "city", "state": "place", "party": "party",
    "river": "place", "village": "city", "software": "software", "program": "software", "app": "software", "drug": "product", "ship": "product",
    "singer": "person", "actor": "person", "writer": "person", "language": "language", "programming language": "programming_language",
}  # fmt: skip
_SPECIAL_BODIES = frozenset(("party", "broadcaster", "label", "team"))
_TITLED = re.compile(
    r"^(?:(?:[Tt]he|[Aa]n?) )?(?:(?:[A-Z]\w+|[a-z]\w+) ){0,2}?(?P<noun>[a-z][a-z-]{3,}) (?P<name>[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*)+)$"
)
"""A name after what its bearer does ("the Hungarian writer Imre Sandor")."""
_FIRST_ITEM = re.compile(r",? and |, ")
_QUOTES = '"“”‘’«»`'
_HEADED = re.compile(
    r"^(?:the|The) (?=(?:[A-Z][\w.]* )?(?:University|Kingdom|Republic|Bank|Institute|Department|Ministry|City|State|Province|Isle|Gulf|Bay|Museum|Church|Order|Duchy|House|Battle) of )"
)
_KIND_OF_CLASS = {
    "language": "language", "religion": "religion", "faith": "religion", "organisation": "organisation", "organization": "organisation",
    "label": "label", "record label": "label", "network": "broadcaster", "channel": "broadcaster", "position": "playing_position",
    "continent": "continent", "genre": "genre", "company": "organisation", "alliance": "organisation",
}  # fmt: skip
_CLASSED = re.compile(rf"(?:the |The |an? )(?P<name>[^\W\d].*) (?P<noun>{'|'.join(_KIND_OF_CLASS)})")
_ARTICLE = re.compile(r"^(?:the|an?|The|An?) ")
_MEASURE_OF = re.compile(r"\d+(?:[.,]\d+)? ?(?:mg|mcg|µg|g|ml|units|iu|IU|tablets?|drops|pills?) of (?=\w)")
_REGION = re.compile(
    r"(?:(?:north|south|east|west|north-?east|north-?west|south-?east|south-?west)(?:ern)?|central|mainland|rural) (?P<name>[A-Z].*)"
)
_DOSED = re.compile(
    r"(?P<name>[^\W\d][\w-]*(?: [^\W\d][\w-]*)?) \d+(?:[.,]\d+)? ?(?:mg|mcg|µg|g|ml|units|iu|IU)\b.*"
)
_BARE_KINDS = CLOSED_KINDS | {"city", "place"}
_STATED_KINDS = frozenset(("number", "date", "quantity", "phone", "email"))


@lru_cache(maxsize=16_384)
def bare(text: str) -> tuple[str, str]:
    """Return a name without the noun that says what it is ("the city of Oslo"), and the kind this noun tells.

    >>> bare("the city of Oslo")
    ('Oslo', 'city')
    """
    text = text.strip(" ,;:–—" + _QUOTES).removesuffix(" -").removeprefix("- ")
    if match := _MEASURE_OF.match(text):
        text = text[match.end() :]
    if (match := _REGION.match(text)) and "country" in kinds_of(match["name"]):
        return match["name"], "country"
    if match := _DOSED.match(text):
        text = match["name"]
    if match := _OF.match(text):
        return text[match.end() :].strip(_QUOTES), _KINDS_BY_NOUN[match["noun"]]
    if match := _APPOSED.match(text):
        return text[match.end() :].strip(_QUOTES), _KIND_OF_APPOSED.get(match["noun"], "work")
    if (match := _TITLED.match(text)) and "occupation" in kinds_of(match["noun"]):
        return match["name"].strip(_QUOTES), "person"
    if match := _HEADED.match(text):
        return text[match.end() :], ""
    if match := _CLASSED.fullmatch(text):
        return match["name"], _KIND_OF_CLASS[match["noun"]]
    if match := _ARTICLE.match(text):
        rest = text[match.end() :]
        if rest and (match[0] in ("a ", "an ") or kinds_of(rest) & _BARE_KINDS or rest.islower()):
            return rest, ""
    return text, ""


def kind_score(predicate: Predicate, text: str) -> float:
    """How well the kind of `text` fits what the predicate holds: 1.5 if it is of a kind asked for."""
    value, implied = bare(text)
    kinds = kinds_of(value)
    if not kinds and (" and " in value or ", " in value):
        kinds = kinds_of(_FIRST_ITEM.split(value, maxsplit=1)[0])
    if implied and not (implied == "field" and "occupation" in kinds):
        kinds = kinds | {implied}
    wanted = predicate.object_kinds
    measured = predicate.value_type in MEASURED
    if not kinds:
        return -2.0 if measured else -0.1 if not wanted else -1.2 if CLOSED_KINDS.issuperset(wanted) else 0.0
    if not wanted:
        if measured:
            return 0.5 if kinds & _STATED_KINDS else -2.0
        return -0.6 if predicate.value_type == "name" and kinds & _STATED_KINDS else -0.1
    if implied and implied in wanted:
        return 1.7 - 0.15 * wanted.index(implied)
    if not kinds.isdisjoint(wanted):
        # A predicate that is about nothing else fits better than one that may also be about this.
        rank, fitting = next((rank, kind) for rank, kind in enumerate(wanted) if kind in kinds)
        # What is known to be a party or a broadcaster is no mere organisation.
        return 1.5 - 0.15 * rank - (0.4 if fitting == "organisation" and kinds & _SPECIAL_BODIES else 0.0)
    if "nationality" in kinds and wanted == ("country",):
        return 1.2
    if wanted == ("person",) and kinds & {"organisation", *_SPECIAL_BODIES} and "person" not in kinds:
        return -1.5
    if (
        kinds & CLOSED_KINDS
        or not CLOSED_KINDS.issuperset(wanted)
        and not kinds & {"organisation", "place", "city", "label"}
    ):
        return (
            -1.5
            if not kinds <= {"number", "date"} or predicate.value_type in ("name", "number", "date")
            else -1.0
        )
    if measured:
        return -2.0
    return -1.5 if CLOSED_KINDS.issuperset(wanted) else -0.3


def subject_score(predicate: Predicate, text: str) -> float:
    """How well the kind of `text` fits the subjects of the predicate."""
    if not predicate.subject_kinds:
        return 0.0
    lower = text.lower()
    if lower in PRONOUNS or lower == INHERITED:
        return (
            0.4
            if "person" in predicate.subject_kinds and lower in ("i", "he", "she", "my", "his", "her", "we")
            else 0.0
        )
    value, implied = bare(text)
    kinds = kinds_of(value)
    if implied:
        kinds = kinds | {implied}
    if not kinds or "nationality" in kinds and "country" in predicate.subject_kinds:
        return 0.0
    return -0.8 if kinds.isdisjoint(predicate.subject_kinds) else 0.5

"""What kind of thing a name is: a country, a language, an instrument, a person ... or unknown.

Closed classes come from word lists, open ones from the shape of the name ("University of ...", "Dr. ...").
Kinds decide between predicates that share a wording: what someone plays is an instrument, a sport or a
position. An unknown kind is common and says nothing.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from ko_integrations.morphology import PREPOSITIONS

__all__ = [
    "CLOSED_KINDS",
    "LIVING_KINDS",
    "PLACE_KINDS",
    "country_named",
    "demonym_of",
    "formal_kin",
    "is_country",
    "kin_among",
    "kinds_of",
    "office_of",
    "pronoun_of",
    "pronoun_of_kin",
]

CLOSED_KINDS = frozenset(
    "country continent language religion instrument genre occupation playing_position sport field colour diet "
    "marital_status programming_language currency time_span distance party broadcaster date number quantity phone email".split()
)
"""Kinds whose members are mostly listed: a name of none of them is probably of no such kind."""
LIVING_KINDS = frozenset(("person", "animal"))
PLACE_KINDS = frozenset(("city", "country", "place", "continent"))

_FOLDER = Path(__file__).parent / "data" / "kinds"
_ARTICLE = re.compile(r"^(?:the|a|an) ", re.IGNORECASE)
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
_SHAPES = (
    (r"(?:1\d|20)\d\d(?:s|-\d\d(?:-\d\d)?(?:t[\d:.+z-]*)?)?", "date number"),
    (rf"(?:early |late |mid-?)?(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? )?{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?,?(?: \d{{4}})?", "date"),
    (r"\d{1,2}[./]\d{1,2}[./]\d{2,4}", "date"),
    (r"(?:the )?\d{1,2}(?:st|nd|rd|th) century.*|\d+ (?:bc|ad|bce|ce)", "date"),
    (r"(?:today|tomorrow|yesterday|(?:next|last|this) (?:week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|fall|winter)|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?: at .*)?", "date"),
    (r"\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m\.|p\.m\.)|\d{1,2}:\d\d", "date"),
    (r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", "email"),
    (r"(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{2,5}(?:[ .-]\d{2,5}){1,5}(?: ?(?:x|ext\.?) ?\d+)?", "phone"),
    (r"\+?\d{9,15}", "phone number"),
    (r"(?:about |around |some |over |nearly |almost |approximately |roughly |~)?[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?:about |around |some |over |nearly |almost |approximately |roughly |~)?[-+]?\d+(?:\.\d+)?(?: (?:thousand|million|billion|trillion))?", "number"),
    (r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|a hundred)", "number"),
    (r"(?:about |around |over |nearly |almost |approximately |~)?\d[\d,]*(?:\.\d+)?[ -]?(?:hours?|minutes?|mins?|seconds?|days?|weeks?|months?|years?)(?: .*)?", "quantity time_span"),
    (r"(?:about |around |over |nearly |almost |approximately |~)?\d[\d,]*(?:\.\d+)?[ -]?(?:mm|cm|m|km|ft|feet|foot|inch(?:es)?|miles?|yards?|met(?:er|re)s?|kilomet(?:er|re)s?|centimet(?:er|re)s?)(?: .*)?", "quantity distance"),
    (r"(?:about |around |over |nearly |almost |approximately |~)?(?:[$€£¥] ?)?[-+]?\d[\d,]*(?:\.\d+)? ?(?:-)?(?:[kmµnc]?[mgl]|[µnpmf]?[mM]|mm|cm|km|ft|feet|foot|in|inch(?:es)?|miles?|yards?|met(?:er|re)s?|kilomet(?:er|re)s?|centimet(?:er|re)s?|kg|kgs|kilos?|kilograms?|grams?|lbs?|pounds?|oz|tons?|tonnes?|lit(?:er|re)s?|ml|%|percent|per cent|degrees?|°[cf]?|hours?|minutes?|mins?|seconds?|days?|weeks?|months?|years?|gb|tb|mb|kb|ghz|mhz|hz|kw|mw|w|v|euros?|dollars?|usd|eur|gbp|bpm|mmhg|mg/dl|mmol/l|kcal|km/h|mph|acres?|hectares?|square \w+|km2|km²|sq \w+|m²)(?:/\w+)?(?: .*)?", "quantity"),
    (r"[$€£¥] ?\d[\d,]*(?:\.\d+)?(?: ?(?:thousand|million|billion|trillion|[kmb]n?))?(?: (?:a|per) \w+)?", "quantity number"),
    (r"(?:dr|prof|professor|mr|mrs|ms|miss|sir|dame|lord|lady|st|saint|pope|king|queen|prince|princess|emperor|captain|sergeant|rev|reverend|rabbi|sheikh)\.? (?!.*\b(?:hospital|university|college|church|school|club|fc|street|road|island|cathedral|academy|clinic|theatre|institute|lake)$)[^\d]+", "person"),
    (r"patient [\w. ]+", "person"),
    (r".+ languages?|.+-language", "language"),
    (r".+ (?:records|recordings|entertainment|music|label)", "label organisation"),
    (r".+ (?:tv|television|channel|network|broadcasting(?: \w+)?|radio)", "broadcaster organisation"),
    (r".+ (?:prize|award|awards|medal|medal of \w+|honou?r|trophy|fellowship|scholarship|cup)|(?:order|medal|legion) of .+", "award"),
    (r"(?:.+ )?(?:university|college|school|academy|institute|polytechnic|conservatory|seminary)(?: (?:of|for|at) .+)?|(?:university|college|school|institute|academy) .+", "organisation"),
    (r"(?:.+ )?(?:party|democrats|conservatives|republicans|greens)", "party organisation"),
    (r".+ (?:inc|inc\.|ltd|ltd\.|llc|gmbh|ag|plc|corp|corp\.|corporation|company|co\.|group|holdings|bank|airlines|airways|motors|motor company|industries|systems|technologies|software|labs|laboratories|pharmaceuticals|foundation|association|society|union|party|committee|council|commission|agency|ministry|department|orchestra|philharmonic|choir|ensemble|band|quartet|trio|club|fc|f\.c\.|united|city fc|hospital|clinic|museum|library|press|publishing|publishers|studios?|pictures|films|productions|games|interactive|newspaper|times|post|federation|league|army|navy|air force|church|institute|organi[sz]ation|dynamics|turbines|engineering|energy|electronics|robotics|instruments|foods|brothers|bros|partners|consulting|logistics|solutions|services|enterprises|brewery|works|pharma|biotech|therapeutics|insurance|railways|rail|shipping|steel|oil|telecom|telecommunications|analytics|aerospace|automotive|chemicals|semiconductors|networks|ventures|capital partners)", "organisation"),
    (r"(?:president|prime minister|vice president|minister|secretary|secretary of state|governor|mayor|senator|ambassador|chancellor|bishop|archbishop|cardinal|patriarch|abbot|pope|judge|chief justice|speaker|member of (?:parliament|congress)|king|queen|emperor|ceo|cto|cfo|director|chairman|chair|head) (?:of|for|to|in) .+|(?:deputy|vice|lord|auxiliary|chief|first|foreign|attorney) (?:.+)", "position"),
    (r".+ (?:county|province|district|region|oblast|prefecture|municipality|department|canton|parish|borough|island|islands|valley|peninsula|bay|park|street|avenue|road|square|palace|castle|mountains?|river|lake|sea|ocean|building|tower|village|territory|state|raion|township|voivodeship|governorate)", "place"),
    (r"(?:lake|mount|river|mt\.|cape|gulf of|bay of|isle of|province of|county of|state of|kingdom of|duchy of) .+", "place"),
    (r".+ (?:fc|afc|sc|cf|f\.c\.|united|rovers|wanderers|athletic|hotspur|lakers|yankees|national football team|team)", "team organisation"),
)  # fmt: skip
"""Shapes of names, without groups, and the kinds that each tells; the first that fits counts."""
_ANY_SHAPE = "|".join(f"({pattern})" for pattern, _ in _SHAPES)
_SHAPE, _SHAPE_IN_ANY_CASE = re.compile(_ANY_SHAPE), re.compile(_ANY_SHAPE, re.IGNORECASE)
_KINDS_OF_SHAPES = tuple(frozenset(kinds.split()) for _, kinds in _SHAPES)
_OFFICES = frozenset(
    "president minister secretary governor mayor senator ambassador chancellor bishop archbishop cardinal patriarch abbot pope judge speaker "
    "king queen emperor director chairman chairwoman".split()
)
_PROPER = frozenset(("organisation", "label", "broadcaster"))
_ENDINGS = (
    (re.compile(r".*(?:[a-z]{3}itis|[a-z]{2}osis|[a-z]{3}oma|[a-z]{2}a?emia|[a-z]{2}opathy|[a-z]{3}algia|[a-z]{3}trophy|[a-z]{2}plegia)|.+ (?:disease|syndrome|disorder|cancer|infection|deficiency|carcinoma|dystrophy|sclerosis|fibrosis)"), "disease"),
    (re.compile(r"[a-z]{3,}(?:mab|nib|statin|pril|olol|sartan|cillin|mycin|prazole|azole|cycline|oxacin|dipine|gliptin|gliflozin|glutide|caine|setron|triptan|parib|ciclib|zosin)"), "drug"),
)  # fmt: skip
"""Greek endings of diseases, and the stems by which the WHO names drugs; of common nouns only."""
_AGENT = re.compile(
    r"(?:[a-z]+[ -]){0,2}[a-z]{3,}(?:ist|eer|ologist|ographer|ician|ian|smith|wright|man|woman)$"
)
_FULL_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){1,4}")


def _lines(name: str) -> list[str]:
    return [line for line in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n") if line]


@lru_cache(maxsize=1)
def _lexicon() -> dict[str, frozenset[str]]:
    kinds: dict[str, set[str]] = {}
    for file in sorted(_FOLDER.glob("*.txt")):
        if file.stem not in ("countries", "male_names", "female_names"):
            for name in _lines(file.stem):
                kinds.setdefault(name.lower(), set()).add(file.stem)
    for name in _countries()[0]:
        kinds.setdefault(name, set()).add("country")
    for name in _countries()[1]:
        kinds.setdefault(name, set()).add("nationality")
    for found in kinds.values():
        if found & {"label", "broadcaster"}:
            found.add("organisation")
    return {name: frozenset(found) for name, found in kinds.items()}


@lru_cache(maxsize=1)
def _given_names() -> dict[str, str]:
    """Given name -> the pronoun of most who bear it; "they" where it is borne by all."""
    names = dict.fromkeys(_lines("male_names"), "he")
    for name in _lines("female_names"):
        names[name] = "they" if name in names else "she"
    return names


@lru_cache(maxsize=1)
def _countries() -> tuple[dict[str, str], dict[str, str]]:
    """Return (lower-case name -> common name, lower-case demonym -> common name)."""
    names: dict[str, str] = {}
    demonyms: dict[str, str] = {}
    for line in _lines("countries"):
        if line.startswith("#"):
            continue
        name, adjectives, others = (part.strip() for part in line.split("|"))
        for other in (name, *others.split(",")):
            if other.strip():
                names.setdefault(other.strip().lower(), name)
        for adjective in adjectives.split(","):
            if adjective.strip():
                demonyms.setdefault(adjective.strip().lower(), name)
    return names, demonyms


def country_named(text: str) -> str | None:
    """Return the common name of the country that `text` names, formally or not, or None.

    >>> country_named("the French Republic")
    'France'
    """
    key = text.strip().lower()
    names = _countries()[0]
    return names.get(key) or names.get(_ARTICLE.sub("", key))


_PRESIDENT_GOVERNS = frozenset(("Iran",))


def office_of(predicate: str, subject: str) -> str:
    """Return the predicate that an office states of `subject`: a country's president is its head of state.

    >>> office_of("president", "the French Republic"), office_of("president", "Acme")
    ('head_of_state', 'president')
    """
    if predicate != "president":
        return predicate
    country = country_named(subject) or demonym_of(subject)
    if country is None:
        return predicate
    return "head_of_government" if country in _PRESIDENT_GOVERNS else "head_of_state"


def is_country(text: str) -> bool:
    """Return whether `text` names a country."""
    return country_named(text) is not None


def demonym_of(text: str) -> str | None:
    """Return the country whose people or adjective `text` is ("Norwegian", "the Belgians"), or None."""
    return _countries()[1].get(_ARTICLE.sub("", text.strip().lower()))


def pronoun_of(name: str) -> str | None:
    """Return `he`, `she` or `they` for a person's name that tells, None for one that does not.

    >>> pronoun_of("Mrs. Jones"), pronoun_of("Alice Chen")
    ('she', 'she')
    """
    words = name.replace(".", "").split()
    if len(words) > 1 and words[0] in ("Mr", "Sir", "King", "Prince", "Lord"):
        return "he"
    if len(words) > 1 and words[0] in ("Mrs", "Ms", "Miss", "Queen", "Princess", "Lady", "Dame"):
        return "she"
    if len(words) > 1 and words[0] in ("Dr", "Prof", "Professor"):
        words = words[1:] if len(words) > 2 else []  # "Dr. Chen" has a family name
    return _given_names().get(words[0]) if words else None


_FORMAL_KIN = {
    informal: formal for formal, words in {
        "mother": "mum mom mam mummy mommy mama", "father": "dad daddy papa", "grandmother": "grandma granny nan gran",
        "grandfather": "grandpa grandad granddad", "girlfriend": "gf", "boyfriend": "bf", "brother": "bro", "sister": "sis",
        "husband": "hubby", "wife": "wifey", "flatmate": "housemate",
    }.items() for informal in words.split()
}  # fmt: skip
_KIN_PRONOUNS = {
    noun: pronoun for pronoun, nouns in {
        "she": "mother wife sister daughter aunt niece grandmother girlfriend fiancee granddaughter stepmother",
        "he": "father husband brother son uncle nephew grandfather boyfriend fiance grandson stepfather",
    }.items() for noun in nouns.split()
}  # fmt: skip


def formal_kin(noun: str) -> str:
    """Return the formal noun of a relation ("mother" of "mum"); any other noun as it is."""
    return _FORMAL_KIN.get(noun, noun)


def pronoun_of_kin(noun: str) -> str | None:
    """Return `he` or `she` for the noun of a relation that tells ("sister", "mum"), else None."""
    return _KIN_PRONOUNS.get(formal_kin(noun))


def kin_among(noun: str, names: Iterable[str]) -> list[str]:
    """Return the names that the noun of a relation may mean: no "sister" is called Tom."""
    wanted = pronoun_of_kin(noun)
    return [name for name in names if wanted is None or pronoun_of(name) in (None, wanted)]


def _shape_of(name: str, lower: str) -> int:
    """Return the number of the first shape that fits a name, from 1 on, or 0.

    One case is enough for ASCII, and is compared fast; of other letters some are their own lower case and
    still another's, as the two signs for "micro" are.
    """
    match = _SHAPE.fullmatch(lower) if name.isascii() else _SHAPE_IN_ANY_CASE.fullmatch(name)
    return (match.lastindex or 0) if match else 0


@lru_cache(maxsize=32_768)
def kinds_of(text: str) -> frozenset[str]:
    """Return the kinds that `text` may be of; empty when nothing tells.

    >>> sorted(kinds_of("French"))
    ['language', 'nationality']
    """
    text = text.strip()
    bare = _ARTICLE.sub("", text)
    lower = bare.lower()
    found = _lexicon().get(lower)
    if found:
        return found - _PROPER if bare.islower() else found
    if shape := _shape_of(bare, lower):
        return _KINDS_OF_SHAPES[shape - 1]
    if bare.islower():
        if bare in _OFFICES:
            return frozenset(("position",))
        if _AGENT.match(bare):
            return frozenset(("occupation",))
        for ending, kind in _ENDINGS:
            if ending.fullmatch(bare):
                return frozenset((kind,))
        last = bare.rsplit(" ", 1)[-1]
        if last != bare and PREPOSITIONS.isdisjoint(bare.split(" ")):
            # A noun phrase is of the kind of its head: "retired football coach", "modern jazz".
            return kinds_of(last) & frozenset(
                (
                    "occupation",
                    "genre",
                    "instrument",
                    "religion",
                    "colour",
                    "sport",
                    "disease",
                    "symptom",
                    "drug",
                )
            )
        return frozenset()
    first, _, rest = bare.partition(" ")
    if rest and _FULL_NAME.fullmatch(bare) and first in _given_names():
        return frozenset(("person",))
    if first in _given_names() and not rest:
        return frozenset(("person",))
    return frozenset()

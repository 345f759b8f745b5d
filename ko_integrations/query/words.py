"""Words of a question: spans, keys under which inflected and derived forms meet, and words that carry no content."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

__all__ = [
    "CARRIERS",
    "FIRST_PERSON",
    "FUNCTION_WORDS",
    "Word",
    "content_keys",
    "key_of",
    "plain",
    "spelt",
    "words_of",
]

# A character of a script written without blanks is a word by itself: names in it can start anywhere.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|['’]s\b|(?:(?![{_UNSPACED}])[^\W_])+|[^\w\s]|_")

FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"})

FUNCTION_WORDS = frozenset(
    """a an the this that these those some any each every all both no not
    of in on at to from for with by about into onto over under as than per via within among between
    through during before after since until till off up down out upon against near toward towards
    and or but nor so yet if whether then else because while whereas though although
    am is are was were be been being do does did doing done have has had having
    will would shall should can could may might must
    i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs
    himself herself itself themselves one ones who whom whose which what where when why how whatever whichever
    there here also too very just only even still ever never again
    please tell give show say know want let s t re ve d ll m""".split()
)
"""Grammar: they say how the content words hang together, not what is asked."""

_ACRONYMS = frozenset(
    """api bmi ceo cfo cio cmo coo cpo cpu cto cv dna dob doi faq gdp gpa gpu gps hr iban id imei ip iq isbn isin issn
    mbti pdf qr sku sms ssn tv ui uri url usb uuid vat vin vip""".split()
)

CARRIERS = frozenset(
    """name names named call called know known identify term word
    person people individual someone somebody anyone man woman guy figure
    thing something kind type sort form particular specific certain given following
    current currently present presently now today nowadays latest exact exactly actual actually really
    associate associated association relate related relation regard regarding concern concerning connect connected
    responsible serve serves served serving hold holds held holding get got become became come comes came go goes went
    happen find found take takes took make makes made have having belong belongs belonged
    place location situated located value information detail details answer question
    used use uses using go-to first last""".split()
)
"""Content words that fit nearly any question, so that leaving one unexplained says little."""

_IRREGULAR = {
    form: base
    for base, forms in {
        "birth": "born bore", "death": "die died dies dying dead deceased",
        "marry": "marriage marriages marital wed wedded",
        "speak": "spoke spoken speech", "write": "wrote written", "lead": "led", "make": "made maker", "hold": "held",
        "child": "children", "wife": "wives", "buy": "bought", "sell": "sold sale", "teach": "taught",
        "begin": "began begun beginning", "choose": "chose chosen choice", "drive": "drove driven", "eat": "ate eaten",
        "fly": "flew flown flight", "grow": "grew grown growth", "know": "knew known knowledge", "live": "life lives",
        "sing": "sang sung song", "think": "thought", "weigh": "weight", "win": "won winner", "wear": "wore worn",
        "city": "cities", "country": "countries", "company": "companies", "high": "height", "long": "length",
        "study": "student studies", "cost": "costs", "pay": "paid payment", "give": "gave given", "build": "built",
    }.items()
    for form in forms.split()
}  # fmt: skip
"""English forms that no suffix rule joins; nouns stand with the verbs or adjectives they come from."""

_DERIVED = (
    "ship",
    "ation",
    "ition",
    "ing",
    "ian",
    "ion",
    "ious",
    "ent",
    "ant",
    "er",
    "or",
    "al",
    "i",
    "at",
    "e",
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: as written, lower case, its key, and where it stands (characters)."""

    text: str
    lower: str
    key: str
    start: int
    end: int

    @property
    def is_name_like(self) -> bool:
        """Whether it is written as a name or a code: with a capital, or with a digit."""
        return self.text[0].isupper() or any(map(str.isdigit, self.text))

    @property
    def is_word(self) -> bool:
        """Whether it is a word and not punctuation."""
        return self.text[0].isalnum()


def words_of(text: str) -> list[Word]:
    """Return the words and marks of `text` in order; a possessive `'s` is one of its own.

    >>> [word.text for word in words_of("Alice's F-22?")]
    ['Alice', "'s", 'F', '-', '22', '?']
    """
    found = []
    for match in _WORD.finditer(text):
        lower = match.group().lower()
        found.append(Word(match.group(), lower, key_of(lower), match.start(), match.end()))
    return found


@lru_cache(maxsize=16_384)
def key_of(word: str) -> str:
    """Return the key under which forms of one word meet: its stem, less one derivational suffix.

    >>> key_of("founder") == key_of("founded") and key_of("religious") == key_of("religion")
    True
    >>> key_of("country") == key_of("county")
    False
    """
    lower = word.lower()
    stem = str(_stemmer().stemWord(_IRREGULAR.get(lower, lower)))
    for suffix in _DERIVED:
        if stem.endswith(suffix) and len(stem) - len(suffix) >= 4:
            return stem[: -len(suffix)]
    return stem


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def content_keys(text: str) -> tuple[str, ...]:
    """Return the keys of the content words of a phrase such as a predicate's name, in order.

    >>> content_keys("place_of_birth")
    ('place', 'birth')
    """
    words = words_of(text.replace("_", " "))
    return tuple(word.key for word in words if word.is_word and word.lower not in FUNCTION_WORDS)


def plain(text: str) -> str:
    """Return `text` as its words in lower case, without punctuation or a leading article.

    >>> plain("The St. Mary's")
    'st mary s'
    """
    words = [word.lower.strip("'’") for word in words_of(text) if word.is_word or len(word.text) > 1]
    return " ".join(words[1:] if len(words) > 1 and words[0] in ("the", "a", "an") else words)


def spelt(label: str) -> str:
    """Return the name of a predicate as it is written in a sentence, acronyms in capitals.

    >>> spelt("ceo"), spelt("website url")
    ('CEO', 'website URL')
    """
    return " ".join(word.upper() if word in _ACRONYMS else word for word in label.split(" "))

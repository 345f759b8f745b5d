"""Text to sentences, each with its speaker, and sentences to words under which wordings of a statement agree."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ko_integrations.morphology import ARTICLES, BE, PREPOSITIONS, is_participle, lemma

__all__ = [
    "INHERITED",
    "PRONOUNS",
    "SKIPPED",
    "Sentence",
    "Token",
    "Words",
    "keys_of",
    "sentences",
    "tokens_of",
    "without_code",
    "words_in",
]

INHERITED = "\ue000"
"""Stands in a clause for the subject of the clause before it."""
FIRST_PERSON = frozenset(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"))
POSSESSIVES = frozenset(("my", "your", "his", "her", "its", "our", "their", "whose"))
PRONOUNS = FIRST_PERSON | frozenset(
    "you your yours he him his she her hers it its they them their theirs this that these those who which".split()
)
SKIPPED = frozenset(
    "currently now still presently today also just really actually formally nowadays very quite mainly primarily "
    "mostly largely generally usually often commonly widely already recently finally famously legally both then "
    "either hereby indeed however therefore thus again ever even so".split()
)
"""Adverbs that leave a statement what it is."""
OPTIONAL = frozenset(
    "originally first officially natively professionally formerly previously previously professionally "
    "well long publicly wholly fully newly highly together closely always once new current latest own full "
    "respectively jointly later subsequently eventually".split()
)
"""Words that belong to some wordings and only decorate others: matching tries with them, then without."""

_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|Inc|Ltd|Co|Corp|vs|etc|No|Nr|Mt|Rev|Gen|Sgt|Capt|Lt|Col|Sen|Rep|Gov|Hon|approx|pop|"
    r"dept|est|fig|e\.g|i\.e|cf|al|Vol|pp|ed|Ave|Blvd|Rd)|\b[^\W\d_](?:\.[^\W\d_])*|\d)$"
)
_BREAK = re.compile(r"[.!?。！？][\"'”’)\]]*(?:\s+|(?<=[。！？]))|;\s+")
_LISTED = re.compile(r"^\s*(?:\(?\d{1,6}[.):]|[-*•‣–]|[a-z]\))\s+")
_TURN = re.compile(
    r"^\s*(?:\[[^\]\n]{1,30}\]\s*)?(?:<@?(?P<angle>[^<>\n]{1,40})>\s*:?|@?(?P<name>[^\W\d_][\w.'’ -]{0,39}?)"
    r"(?:\s*[\[(][^\])\n]{1,30}[\])])?\s*(?::|>(?=\s)))\s+(?P<rest>\S.*)$"
)
_STARTS = re.compile(r"(?:He|She|It|They|The|I|We|His|Her|Its|Their|My|Our|This|That|In|On|At)\b")
USERS = frozenset(("user", "human", "me", "customer", "client", "usr", "you"))
MACHINES = frozenset(
    ("assistant", "system", "ai", "bot", "tool", "function", "agent", "chatbot", "model", "gpt", "claude")
)
_WORD = (
    r"['’](?:s|m|re|ve|d|ll)\b"
    r"|-(?:based|born|language|speaking|owned|developed|made|produced|formed|headquartered|founded|built|year-old)\b"
    r"|(?:[^\W\d_]\.){2,}|\b(?:Inc|Ltd|Co|Corp|Bros|Jr|Sr)\.|\d+(?:[.,:/-]\d+)*(?:[^\W\d_]+)?%?"
    r"|\w+(?:(?:['’](?!(?:s|m|re|ve|d|ll)\b)|\.(?=\w)|[&/+](?=\w)|-(?!(?:based|born|language|speaking|owned|developed|made|"
    r"produced|formed|headquartered|founded|built|year-old)\b))\w+)*[+#]*|\S"
)
_TOKEN = re.compile(_WORD)
_ODD = re.compile(r"://|@|n['’]t")
"""What only web and mail addresses and contracted denials hold."""
_ODD_TOKEN = re.compile(rf"https?://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\w+?(?=n['’]t\b)|n['’]t\b|{_WORD}")
_WORD_FORMS = {
    "ca": "can",
    "wo": "will",
    "'ll": "will",
    "'ve": "have",
    "n't": "not",
    "cannot": "cannot",
    "u": "you",
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and who says it: `user`, a name, or None for a machine, whose words are nobody's facts.

    `alone` marks an item of a list, which refers to nothing outside itself.
    """

    text: str
    speaker: str | None = "user"
    alone: bool = False


class Token(NamedTuple):
    """A word of a sentence: its place and the key it is matched under ("" for words that do not matter)."""

    start: int
    end: int
    text: str
    key: str


class Words(NamedTuple):
    """The keys that matter, in order, and the number of the token that each stands for."""

    keys: tuple[str, ...]
    places: tuple[int, ...]


def sentences(text: str, names_value: Callable[[str], bool] = lambda _: False) -> Iterator[Sentence]:
    """Yield the sentences of prose, of a numbered list and of chat turns ("Alice: ...").

    `names_value` tells the label of a value ("Phone: ...") from a speaker.
    """
    lines = text.splitlines()
    chat = _is_chat(lines, names_value)
    speaker: str | None = "user"
    paragraph: list[str] = []
    alone = False
    for line in [*lines, ""]:
        turn = _TURN.match(line) if chat else None
        listed = _LISTED.match(line)
        if turn or listed or not line.strip():
            yield from _split(" ".join(paragraph), speaker, alone)
            paragraph, alone = [], bool(listed and line.lstrip(" (")[:1].isdigit())
        if turn:
            speaker = _speaker(turn)
            line = turn["rest"]
        elif listed:
            line = line[listed.end() :]
        elif not chat and not line.strip():
            speaker = "user"
        if line.strip():
            paragraph.append(line.strip())


def without_code(text: str) -> tuple[str, str]:
    """Return the prose of `text`, and what stands inside code fences, which states nothing."""
    if "```" not in text:
        return text, ""
    prose: list[str] = []
    code: list[str] = []
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
            prose.append("")
        else:
            (code if fenced else prose).append(line)
    return "\n".join(prose), "\n".join(code).strip()


def _is_chat(lines: list[str], names_value: Callable[[str], bool]) -> bool:
    turns = [match for line in lines if (match := _TURN.match(line))]
    labels = [_label(turn) for turn in turns]
    if any(
        label.lower() in USERS | MACHINES or turn["angle"] for label, turn in zip(labels, turns, strict=True)
    ):
        return True
    if len(turns) != sum(bool(line.strip()) for line in lines) or any(
        names_value(label) or label in _HEADINGS for label in labels
    ):
        return False
    if not all(" " not in label or all(word[0].isupper() for word in label.split()) for label in labels):
        return False
    return any(len(turn["rest"].split()) >= 3 for turn in turns)


_HEADINGS = frozenset(
    "Translate Say Repeat Write Print Summarize Summarise Paraphrase Explain Quote Rewrite Note Notes Update Reminder Warning Correction Important Background Methods Results Conclusion Conclusions Objective Objectives "
    "Discussion Summary Abstract Introduction Findings Case History TODO FYI PS Question Answer Edit Fact Facts Here Example".split()
)


def _label(turn: re.Match[str]) -> str:
    return str(turn["angle"] or turn["name"]).strip()


def _speaker(turn: re.Match[str]) -> str | None:
    name = _label(turn)
    if name.lower() in MACHINES:
        return None
    return "user" if name.lower() in USERS else name


def _split(paragraph: str, speaker: str | None, alone: bool) -> Iterator[Sentence]:
    if not paragraph:
        return
    start = 0
    for match in _BREAK.finditer(paragraph):
        piece = paragraph[start : match.start() + 1]
        before = piece.rstrip("\"'”’)]")
        if (
            before.endswith(".")
            and _ABBREVIATION.search(before[:-1])
            and not _ends_sentence(before, paragraph[match.end() :])
        ):
            continue
        if piece.count('"') % 2:
            continue
        yield Sentence(paragraph[start : match.end()].strip(), speaker, alone)
        start = match.end()
    if rest := paragraph[start:].strip():
        yield Sentence(rest, speaker, alone)


def _ends_sentence(before: str, after: str) -> bool:
    """A number, or letters with points ("D.C."), may end a sentence if the next word could start one."""
    word = before.rsplit(" ", 1)[-1]
    previous = before.split(" ")[-2] if " " in before else ""
    if any(character.isdigit() for character in word):
        if after[:1].islower() and previous[:3] in _MONTHS:
            return True  # "... is March 9. let's plan"
        return after[:1].isupper() and (len(before.split()) > 2 or bool(_STARTS.match(after)))
    named = previous.islower() and previous not in PREPOSITIONS and previous not in BE and previous != "and"
    if len(word) == 2 and (named or previous[-1:].isdigit()) or word.startswith("°"):
        return after[:1].isupper()
    return bool(_STARTS.match(after)) and word not in ("Dr.", "Mr.", "Mrs.", "Ms.", "Prof.", "St.")


def unstopped(text: str) -> str:
    """Return a clause without the stop at its end, the points of "D.C." left alone.

    >>> unstopped("It is in Washington, D.C.."), unstopped("It is in Oslo.")
    ('It is in Washington, D.C.', 'It is in Oslo')
    """
    bare = text.rstrip(" .!;,")
    points = (
        (_POINTED.search(f"{bare}.") or _SHORTENED.search(f"{bare}."))
        if text[len(bare) :].startswith(".")
        else None
    )
    return f"{bare}." if points else bare


_MONTHS = frozenset("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())
_POINTED = re.compile(r"\b(?:[^\W\d_]\.){2,}$")
_SHORTENED = re.compile(r"[A-Z][\w&'’-]*,? (?:Inc|Co|Corp|Bros|Jr|Sr)\.$")
"""A company or person whose name ends with an abbreviation; its point is also that of the sentence."""


def tokens_of(text: str) -> list[Token]:
    """Return the words of `text` with the keys under which wordings agree.

    Articles and adverbs such as "currently" have no key; forms of "be", possessives, inflections and the
    two spellings of English share one.
    """
    found = (_ODD_TOKEN if _ODD.search(text) else _TOKEN).finditer(text)
    raw = [(match.start(), match.end(), match.group()) for match in found]
    words = [word for _, _, word in raw]
    return [Token(start, end, word, _key(words, number)) for number, (start, end, word) in enumerate(raw)]


def _key(words: list[str], number: int) -> str:
    word = words[number]
    if word not in _CLOSELY_READ and word.isalpha() and word.islower():
        return _plain_key(word)  # as nearly all words are
    following = words[number + 1] if number + 1 < len(words) else ""
    if word in ("'s", "’s"):
        return _key_of_s(words, number)
    if word in ("'", "’") and number and words[number - 1].endswith("s") and following:
        return "'s"
    if word == ".":
        return ""
    if word == "A" and (following == "." or number and not following[:1].isalnum()):
        return "a"  # "influenza A", "A. A. Milne": no article
    if word in ("Not", "Never") or word in ("n't", "n’t") and following[:1].isupper():
        return word
    lower = word.lower().replace("’", "'")
    if number and word[0].isupper() and (lower in SKIPPED or lower in POSSESSIVES):
        return lower
    if lower not in _CLOSELY_READ:
        return _plain_key(lower)
    titled = number or following[:1].isupper() and "".join(words[2:3])[:1].isupper()
    if titled and lower in BE and word.istitle():
        return word  # "Don't Be Late": a name
    after = following.lower()
    if lower == "her" and (not after[:1].isalnum() or after in _AFTER_OBJECT):
        return "her"
    if lower in ("have", "has", "had", "'ve", "having"):
        return "" if after in BE or after == "not" or is_participle(after) else "have"
    helping = following.isalpha() or following in ("n't", "n’t")
    if lower in ("do", "does", "did") and helping and after not in _AFTER_OBJECT:
        return "" if number else "do"
    return "" if _is_helper(words, number, following) else _plain_key(lower)


def _is_helper(words: list[str], number: int, following: str) -> bool:
    """Whether a form of "be", "can" or "will" only helps the verb behind it."""
    lower = words[number].lower().replace("’", "'")
    if lower in BE:
        return _is_progressive(words, number) or number > 0 and words[number - 1].lower() in _BE_BEFORE_BE
    if words[number] == "can" and following.isalpha() and following != "not":
        return True
    return lower in ("can", "will") and following.lower() == "be"


def _is_progressive(words: list[str], number: int) -> bool:
    """ "is living" states what "lives" does."""
    following = next((word for word in words[number + 1 : number + 3] if word.lower() not in SKIPPED), "")
    return following in _PROGRESSIVE


_PROGRESSIVE = frozenset(
    "living working residing moving playing studying dating taking using running reading learning teaching training leading staying "
    "writing wearing driving going flying travelling traveling suffering recording performing managing researching organising "
    "organizing hosting joining switching leaving starting doing making acting serving drinking eating speaking".split()
)


_CLOSELY_READ = frozenset((*BE, *"her have has had having 've do does did can will".split()))
"""Words whose key depends on their neighbours."""
_AFTER_OBJECT = frozenset("in at on by for to from with as of and or but when because".split())
_BE_BEFORE_BE = frozenset("is are was were am be 'm ’m 're ’re".split())


@lru_cache(maxsize=32_768)
def _plain_key(lower: str) -> str:
    lower = _WORD_FORMS.get(lower, lower)
    if lower in ARTICLES or lower in SKIPPED:
        return ""
    if lower in BE:
        return "be"
    if lower in POSSESSIVES:
        return "their"
    return lemma(lower)


def _key_of_s(words: list[str], number: int) -> str:
    """Tell the possessive from "is" and "has": by the pronoun before it, or by what follows."""
    before = words[number - 1].lower() if number else ""
    after = words[number + 1].lower() if number + 1 < len(words) else ""
    if before in ("he", "she", "it", "that", "who", "what", "there", "where", "here", "this"):
        return "be"
    if (
        after in ARTICLES
        or after[:1].isdigit()
        or after in ("not", "now", "in", "at", "on", "from", "called", "currently", "also", "my", "been")
    ):
        return "be"
    return "'s"


_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


@lru_cache(maxsize=256)
def words_in(text: str) -> frozenset[str]:
    """Return the words of `text` as written: a cheap test before a dear pattern."""
    return frozenset(_LETTERS.findall(text))


def keys_of(tokens: list[Token], *, optional: bool = True, possessives: bool = True) -> Words:
    """Return the keys that matter.

    With `optional=False` those of words that only decorate are left out; with `possessives=False` those of
    possessive pronouns, except at the beginning, where they stand for the subject.
    """
    kept = [
        (token.key, number)
        for number, token in enumerate(tokens)
        if token.key
        and (optional or token.text not in OPTIONAL)
        and (possessives or token.key != "their" or not number)
    ]
    return Words(tuple(key for key, _ in kept), tuple(number for _, number in kept))

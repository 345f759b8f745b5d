"""The first sentence of an encyclopaedia: "X (born 1990) is a Portuguese drama film directed by Y and starring Z"."""

import re
from collections.abc import Iterator

from ko_integrations.compiler.dates import is_date
from ko_integrations.kinds import demonym_of, kinds_of
from ko_integrations.morphology import PREPOSITIONS, is_participle

__all__ = ["definition", "unbracketed"]

_BRACKETS = re.compile(
    r"^(?P<name>(?:The )?[A-Z\d][^\s(),;]*(?: (?:[A-Z\d&][^\s(),;]*|of|the|de|la|du|di|da|von|van|der|den|and|al|bin)){0,6}) \((?P<inside>[^()]+)\)(?P<rest>|[ ,].+)$"
)
_RANGE = re.compile(
    r"^(?:born |b\. )?(?P<born>[^–—]+?) ?(?:[–—]|-(?=[\s\d])| to | until ) ?(?P<died>[^–—]+)$"
)
_BORN = re.compile(
    r"^(?P<verb>born|b\.|died|d\.) (?P<when>[^,;]+?(?:, \d{4})?)(?:,? (?:in|at) (?P<where>[A-Z][^;]*))?$"
)
_BORN_IN = re.compile(r"^born (?:in|at|near) (?P<where>[A-Z].*)$")
_SINCE = re.compile(r"^(?:est\.?|estd\.?|established|founded|since)(?: in)? (?P<year>\d{4})$")
_INSERTED = re.compile(r"^(?:(?:[a-z]+|C[ETF]O) [^()]+|\d{1,3})$")
_ABBREVIATION = re.compile(r"^[A-Z][A-Z\d&.-]{1,7}$")
_PRONUNCIATION = re.compile(r"^(?:[A-Z]\w+: |pronounced|listen|IPA|/|\[|née |simplified|from )|[;:]")
_APPENDED = re.compile(r"(?:, | and |, and )(?=(?P<word>[a-z]+) )")
_BARE_TAILS = frozenset("starring featuring".split())
_OPENERS = frozenset("by from in at for on about with near under".split()) | _BARE_TAILS
_ADVERBS = frozenset(
    "originally first currently formerly previously jointly originally mainly primarily best widely publicly".split()
)
_WORKS = frozenset(
    "film movie novel book album song single series sitcom play musical opera game documentary miniseries painting sculpture poem story drama comedy thriller "
    "manga anime comic magazine newspaper ep show programme program".split()
)
_BODIES = frozenset(
    "company firm corporation manufacturer bank airline retailer band group orchestra club team university newspaper broadcaster label organisation organization "
    "publisher brand startup conglomerate city town village river".split()
)


def unbracketed(sentence: str) -> Iterator[str]:
    """Yield what the brackets after a leading name say, and the sentence without them; nothing if there are none.

    >>> list(unbracketed("Ada Holm (born 4 May 1971) is a painter"))
    ['Ada Holm was born on 4 May 1971', 'Ada Holm is a painter']
    """
    match = _BRACKETS.match(sentence)
    if match is None:
        return
    name, inside, rest = match["name"], re.sub(r"^(?:the|an?) ", "", match["inside"]), match["rest"]
    said = list(_said(name, inside, rest))
    if said or _PRONUNCIATION.search(inside):
        yield from said
        if rest.strip(" ,"):
            yield f"{name}{rest}"


def _said(name: str, inside: str, rest: str) -> Iterator[str]:
    if (lived := _RANGE.match(inside)) and is_date(lived["born"]) and is_date(lived["died"]):
        if not (lived["born"].isdigit() and lived["died"].isdigit()) or _is_person(name, rest):
            yield f"{name} was born on {lived['born']}"
            yield f"{name} died on {lived['died']}"
    elif placed := _BORN_IN.match(inside):
        yield f"{name} was born in {placed['where']}"
    elif event := _BORN.match(inside):
        verb = "was born" if event["verb"].startswith("b") else "died"
        yield f"{name} {verb} on {event['when']}"
        if event["where"]:
            yield f"{name} {verb} in {event['where']}"
    elif since := _SINCE.match(inside):
        yield f"{name} was founded in {since['year']}"
    elif _ABBREVIATION.match(inside):
        yield f"{name} is also known as {inside}"
    elif _INSERTED.match(inside):
        yield f"{name} is {inside}{' years old' if inside.isdigit() else ''}"


def _is_person(name: str, rest: str) -> bool:
    """Whether years in brackets are those of a life: the sentence goes on with an occupation."""
    words = re.split(
        r" (?:of|in|at|for|with|from|on|who|and|by)\b|,",
        re.sub(r"^ (?:is|was) (?:an? |the )?", "", rest),
        maxsplit=1,
    )
    return "person" in kinds_of(name) or "occupation" in kinds_of(words[0].strip().rsplit(" ", 1)[-1])


def definition(subject: str, complement: str) -> list[str]:
    """Return the statements of "`subject` is a `complement`", one clause each; none if it has no such parts.

    >>> definition("Heron", "1994 drama film directed by Ines Prado and starring Noor Salem")
    ['Heron was released in 1994', 'The genre of Heron is drama', 'Heron is directed by Ines Prado', 'Heron stars Noor Salem']
    """
    words = complement.split(" ")
    end = next((number for number in range(1, len(words)) if _opens(words, number)), len(words))
    phrase, tail = words[:end], " ".join(words[end:])
    if "," in phrase[-1] or "of" in phrase[:1] or "of" in phrase and not tail.startswith("by "):
        return []
    if "of" in phrase:  # "a collection of poems by ..."
        phrase = phrase[: phrase.index("of")]
    head = phrase[-1].lower()
    found = list(_modifiers(subject, phrase[:-1], head))
    return found + [_predicated(subject, head, part) for part in _parts(tail)]


def _opens(words: list[str], number: int) -> bool:
    """Whether a phrase after the noun begins here: "by ...", "founded in ...", "originally published by ..."."""
    word, following = words[number], words[number + 1] if number + 1 < len(words) else ""
    if word in _ADVERBS and number + 2 < len(words):
        return is_participle(following) and words[number + 2] in PREPOSITIONS
    return word in _OPENERS or word.islower() and is_participle(word) and following in PREPOSITIONS


def _parts(tail: str) -> Iterator[str]:
    """Cut the phrases after a noun where another one begins."""
    start = 0
    for match in _APPENDED.finditer(tail):
        if _opens(["", *tail[match.end() :].split(" ")], 1):
            yield tail[start : match.start()]
            start = match.end()
    if tail[start:].strip():
        yield tail[start:].strip(" ,")


def _predicated(subject: str, head: str, part: str) -> str:
    first, _, rest = part.partition(" ")
    if first in _BARE_TAILS:
        return f"{subject} stars {rest}"
    if first in _OPENERS:
        return f"{subject} is a {head} {part}"
    return f"{subject} is {part}"


def _modifiers(subject: str, words: list[str], head: str) -> Iterator[str]:
    """What the words before the noun say: the year and genre of a work, the country of a company."""
    if words and words[0].isdigit() and len(words[0]) == 4:
        if head in _WORKS:
            yield f"{subject} was released in {words[0]}"
        words = words[1:]
    if words and (country := demonym_of(words[0])):
        if head in _BODIES:
            yield f"The country of {subject} is {country}"
        words = words[1:]
    for start in range(len(words)):
        genre = " ".join(words[start:])
        if (head in _WORKS or head in ("band", "group")) and "genre" in kinds_of(genre):
            yield f"The genre of {subject} is {genre}"
            return

"""What people say of themselves and theirs in passing, said again as plain clauses.

"I'm Ada, 34, from Leeds" coordinates complements of one subject; "my sister Ida" is an apposition that states
whose sister Ida is; "with my husband" is a companion and no part of a place; "my desk used to be A but now it's
B" is a change from A to B. Each is rewritten to clauses that a reader of simple clauses takes. Nothing is
added that the sentence does not entail.
"""

import re
from collections.abc import Callable, Iterator, Set

from ko_integrations.compiler.asides import CALENDAR
from ko_integrations.compiler.text import unstopped, words_in
from ko_integrations.kinds import kinds_of, pronoun_of
from ko_integrations.morphology import ARTICLES

__all__ = ["is_person_name", "told"]

_SPEAKER = frozenset(
    "I i I'm i'm I’m i’m I've i've I’ve i’ve im my My we We our Our we're We're we've We've we’ve We’ve".split()
)
_NAME = r"[A-Z][\w'’-]*[\w](?: (?:(?:de|van|von|der|al|bin|la) )?[A-Z][\w’-]*[\w])*"
_NO_PERSONS = CALENDAR | {"Christmas", "Easter", "God"}
_ALSO_WORDS = frozenset(
    "hope grace joy will mark rich frank bill art may june april faith dawn jack pat sue rob drew chase grant miles skip "
    "rose iris ivy hazel amber jade ruby pearl olive violet summer autumn sunny happy angel charity chance young see an so in man "
    "long mason page carter cook baker taylor hunter parker porter tanner archer sawyer gay guy guys earnest ernest sandy misty rusty "
    "lucky early major king prince royal justice legend noble true case will ray ali sky star storm rain brook lane bush ford".split()
)
"""Given names that are common words too: in lower case they are taken for the word."""
_MINE = re.compile(
    rf"\b(?P<whose>[Mm]y|[Oo]ur)(?P<which>(?: (?:little|big|older|younger|elder|eldest|youngest|twin|best|new|late|dear|baby|half|step))*) "
    rf"(?P<noun>[a-z]+(?:-in-law)?)(?: (?:called|named)|,)? (?P<name>{_NAME}|(?P<low>[a-z]+)(?=$|[,.;!]| (?:is|and|works|lives|has|was|who|just|loves|likes)\b))(?P<apart>,(?= [a-z]))?"
)
_PHRASE = rf"(?:(?:my|our|his|her|their|the|a|an|two|three|four|\d) [a-z]+(?:-in-law)?(?: {_NAME})?|{_NAME})"
_COMPANY = re.compile(
    rf"(?P<head>\b(?:liv(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|stay(?:s|ed|ing)?|resid(?:e|es|ed|ing)|travel(?:s|l?ed|l?ing)?|fly(?:ing)?|flew|work(?:s|ed|ing)?)"
    rf" (?:in|to|at|near|back to) [^,;.]{{1,60}}?) with (?P<whom>{_PHRASE}(?:(?:, and|,| and) {_PHRASE})*)(?= (?:and|but|since|for|until|last|this|in)\b|[,;.!]|$)"
)
_I_AM = re.compile(r"^(?P<be>I['’ ]?a?m|i['’ ]?a?m|[Mm]e[:,]|[Tt]his is|[Ii]t['’]s) (?P<rest>\S.*)$")
_PRONOUNS_SAID = re.compile(r" ?\((?:she|he|they)/(?:her|him|them|hers|his|they)(?:/\w+)?\)")
_ITEM = re.compile(r", (?:and |but )?| and (?!I\b|my\b|we\b)| but (?!I\b|my\b|we\b)")
_AGE = re.compile(r"(?P<age>\d{1,2})(?: ?(?:yo|y/o|yrs? old|years? old|years? young))?(?: ?[mMfF])?")
_DOING = re.compile(
    r"(?:currently |now |but |originally )*(?:living|working|based|studying|residing|teaching|freelancing|born|married|engaged|employed|training)\b.*"
)
_FROM = re.compile(r"(?:originally |all the way )?from \S.*")
_CLAUSE = re.compile(r"^(?:I|i|my|My|we|We|our|he|she|it|they|who|which)\b")
_HERE = re.compile(r"^(?:here|speaking|by the way|btw)$")
_STOPPING = re.compile(r" (?:here|speaking|and (?=(?:I|i|my|we)\b).*|but (?=(?:I|i|my|we)\b).*)$")
_JOB = frozenset("job jobs gig company companies employer employers career careers workplace".split())
_AT_WORK = re.compile(
    r"\b(?P<i>I|i|he|she)(?:['’](?:m|s)| am| is) (?:now |currently )?(?:at|with) (?P<org>[A-Z][\w&.'’-]*(?: [A-Z][\w&.'’-]*)*)(?: now)?(?=$|[,.;!]| as | and )"
)
_SWITCHED = re.compile(
    r"^(?P<head>.+?) (?:used to be|was)(?: always)? (?P<old>[^,;]+?),?(?: (?:but|and|though))?,? (?:now it(?:['’]s| is)|it(?:['’]s| is) now|these days it(?:['’]s| is)|it(?:['’]s| has) changed to|now is|is now) (?P<new>.+)$"
)
_REPLACED = re.compile(
    r"^(?:I|i|We|we)(?: have|['’]ve)? (?:changed|switched|replaced|got|found) (?:my |our |to )?(?:an? |the )?(?:new )?(?P<noun>[a-z]+?)s?[,;:.]? (?:and |so )?"
    r"(?:it|he|she)(?:['’]s| is) (?:now )?(?P<new>.+?)(?: now)?$"
)
_HAVING = re.compile(
    rf"^(?P<i>I|[Ww]e)(?:['’]ve got|['’]ve| have got| have| got| adopted| just adopted| just got| already have| also have) (?:a|an|one|two|three|four|five|six|\d)(?: [a-z-]+){{0,2}}? (?P<noun>[a-z]+)"
    rf"(?: (?:called|named)|,|:| [-–—]) (?P<names>{_NAME}(?:(?:, and|,| and|, then) {_NAME})*)(?P<rest>$|, .+$)"
)


_ANOTHER = re.compile(
    rf"(?:and )?(?:a|an|one|two|three|four|five|six|\d)(?: [a-z-]+){{1,3}}(?: (?:called|named)|,|:| [-–—]) {_NAME}"
)
_LEAVING = frozenset(
    "quit quitting left leaving leave lost lose losing resigned resigning fired sacked ended ends retired used old former previous dream not never".split()
)
_PURPOSE = re.compile(
    r"(\b(?:moved|moving|came|went|relocated|travel(?:l?ing)?|fly(?:ing)?|flew|going) (?:[^,;]*? )?to [A-Z][^,;]*?)"
    r"(?: to (?:be|[a-z]+) .+| to [a-z]+| for (?:work|school|uni|college|university|business|holiday|love|family|(?:a|my|the|an) [a-z ]+))$"
)
_ALONE = re.compile(
    r"\b([Ll]iv(?:e|es|ed|ing)) (?:all )?(?:alone|together|happily|temporarily|mostly|mainly) "
)
_MY_JOB = re.compile(
    r"\bmy (?:new |current )?(?:job|gig|work) (?P<at>(?:at|with|for) [A-Z][\w&.'’-]*(?: [A-Z][\w&.'’-]*)*)"
)
_NOW = re.compile(r",? (?:and |but |so )?now (?=(?:I|i|we|We)(?:['’ ]m?|m )\b)|, (?=(?:i['’]?m|I['’]m) now )")
_OWN = re.compile(r"\b([Mm]y|[Oo]ur) own ")


def is_person_name(text: str) -> bool:
    """Return whether `text` is a given name, also in the lower case of chat ("priya", not "grace").

    >>> is_person_name("priya"), is_person_name("grace"), is_person_name("Grace")
    (True, False, True)
    """
    first = text.split(" ", 1)[0]
    return pronoun_of(first.capitalize()) is not None and (first[:1].isupper() or first not in _ALSO_WORDS)


def told(text: str, is_relation: Callable[[str], bool]) -> list[str]:
    """Return the clauses that `text` comes to; itself alone where nothing is to be said again.

    `is_relation` tells the nouns of people and animals that somebody may have ("sister", "boss", "dog").
    """
    if _SPEAKER.isdisjoint(words_in(text)):
        return [text]
    text = _OWN.sub(r"\1 ", unstopped(text))
    if (now := _NOW.search(text)) and now.start():
        return [part for half in (text[: now.start()], text[now.end() :]) for part in told(half, is_relation)]
    if (replaced := _REPLACED.match(text)) and is_relation(replaced["noun"]):
        return [f"My {replaced['noun']} is {replaced['new']}"]
    if (changed := _SWITCHED.match(text)) and not changed["head"].startswith(("I ", "i ", "It ", "it ")):
        return [f"{changed['head']} changed from {changed['old']} to {changed['new']}"]
    stated: list[str] = []
    if (having := _HAVING.match(text)) and is_relation(having["noun"]):
        verb = "are" if " and " in having["names"] else "is"
        stated.append(f"My {having['noun']} {verb} {having['names']}")
        text = having["rest"].strip(" ,")
        if _ANOTHER.match(text):  # "... and a cat, Tom": the verb of the first is understood
            stated += told(f"{having['i']} have {text.removeprefix('and ')}", is_relation)
            text = ""
    text = _ALONE.sub(r"\1 ", _PURPOSE.sub(r"\1", text))
    text = _without_company(_named(text, is_relation, stated))
    if not _JOB.isdisjoint(words_in(text)):
        text = _AT_WORK.sub(r"\g<i> work at \g<org>", text)
        if (job := _MY_JOB.search(text)) and _LEAVING.isdisjoint(words_in(text)):
            stated.append(f"I work {job['at']}")
            text = text[: job.start("at")].rstrip() + text[job.end("at") :]
    clauses = list(_introduced(text)) if text else []
    # Whose sister she is stands first if she does; a companion comes after whom "she" in the clause may mean.
    leading = bool(stated) and clauses != [] and clauses[0].startswith(stated[0].rsplit(" ", 1)[-1])
    return [*stated, *clauses] if leading else [*clauses, *stated]


def _named(text: str, is_relation: Callable[[str], bool], stated: list[str]) -> str:
    """Put the name in the place of "my sister Ida", and state whose sister she is."""

    def apposed(match: re.Match[str]) -> str:
        name, noun = match["name"], match["noun"]
        if not is_relation(noun) or name.split(" ", 1)[0] in _NO_PERSONS:
            return match[0]
        if match["low"]:
            if not is_person_name(name):
                return match[0]
            name = name.capitalize()
        stated.append(f"My {noun} is {name}")
        return name

    changed = _MINE.sub(apposed, text)
    return (
        changed
        if changed != text and not _is_bare_name(changed)
        else ""
        if stated and changed != text
        else text
    )


def _is_bare_name(text: str) -> bool:
    return re.fullmatch(rf"{_NAME}[.!]?", text) is not None


def _without_company(text: str) -> str:
    """Take the companion from a place: "in Oslo with my wife" is in Oslo."""
    return _COMPANY.sub(lambda match: match["head"], text)


def _introduced(text: str) -> Iterator[str]:
    """Part "I'm Ada, 34, a nurse from Leeds" into one clause a complement."""
    match = _I_AM.match(_PRONOUNS_SAID.sub("", text))
    if match is None:
        yield text
        return
    rest = match["rest"]
    items = []
    while rest:
        cut = _ITEM.search(rest)
        item, following = (rest[: cut.start()], rest[cut.end() :]) if cut else (rest, "")
        if _CLAUSE.match(item):
            break
        if said := item.strip(" .!"):
            items.append(said)
        rest = following
    first_person = match["be"][0] in "Ii" and match["be"][1:2] != "t"
    if (
        not items
        or not (is_introduction := _is_name(items[0]))
        and (not first_person or len(items) < 2 and not _AGE.fullmatch(items[0]))
    ):
        yield text
        return
    for item, named in _complements(items, is_introduction):
        yield from _complement(item, named=named)
    if rest:
        yield rest[0].upper() + rest[1:] if rest[:2] == "i " else rest


def _complements(items: list[str], is_introduction: bool) -> Iterator[tuple[str, bool]]:
    """Yield (complement, whether it is the name); what does not stand alone goes on with the one before it."""
    whole: list[tuple[str, bool]] = []
    for number, item in enumerate(items):
        named = is_introduction and not number
        joined = f"{whole[-1][0]} and {item}" if whole and not whole[-1][1] else ""
        alone = any(_complement(item, named=named))
        if joined and not alone and any(_complement(joined, named=False)):
            whole[-1] = (joined, False)  # "allergic to nuts and shellfish"
        else:
            whole.append((item, named))
    yield from whole


def _is_name(item: str) -> bool:
    """Whether the first complement is a name: capitals that name nothing else, or a known given name."""
    words = item.split()
    if len(words) > 3 or (kinds_of(item) - {"person"} and not _is_called_so(words[0], kinds_of(item))):
        return False
    if all(word[0].isupper() and not word.isupper() for word in words):
        return words[0] not in _NO_PERSONS and words[0] not in ("The", "A", "An", "So", "Not", "OK", "Ok")
    return len(words) < 3 and all(word.isalpha() for word in words) and is_person_name(words[0])


def _is_called_so(word: str, kinds: Set[str]) -> bool:
    """Whether a given name that names other things too is no word for what somebody is ("Ada", not "German")."""
    return pronoun_of(word) is not None and kinds.isdisjoint(_BEING)


_BEING = frozenset(("nationality", "religion", "occupation", "diet", "marital_status", "language"))


def _complement(item: str, *, named: bool) -> Iterator[str]:
    """Yield the clauses of one complement of "I am"; none for what does not stand alone."""
    if named:
        yield f"My name is {item}"
        return
    if aged := _AGE.fullmatch(item):
        yield f"I am {aged['age']} years old"
        return
    if _DOING.fullmatch(item) or _FROM.fullmatch(item):
        yield f"I am {item}"
        return
    role, origin, place = item.partition(" from ")
    if origin:
        item = role
        yield f"I am from {place}"
    first, _, rest = item.partition(" ")
    noun = rest if first in ARTICLES else item
    head = re.split(r" (?:at|in|from|for|with|of) ", noun, maxsplit=1)[0]
    told_by = kinds_of(head)
    if "occupation" in told_by:
        yield f"I am a {noun}"
    elif told_by & {"diet", "nationality", "religion", "marital_status"} or first in ("allergic", "married"):
        yield f"I am {item}"

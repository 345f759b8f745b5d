"""What informal text puts around a statement: greetings, preambles, vocatives, hedges, thanks and consequences.

A statement keeps its own words only: "lol small world, Anika lives in Oslo, I think" says that Anika lives
in Oslo, with less confidence. Nothing is taken away that holds a subject or tells when, and a preamble
that makes the rest unreal ("in the novel, ...") stays, for then nothing is stated.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from ko_integrations.compiler.mood import no_statement
from ko_integrations.compiler.shape import ATTRIBUTES
from ko_integrations.morphology import ARTICLES, PREPOSITIONS

__all__ = ["CALENDAR", "Core", "is_unreal", "names_in", "without_asides"]

_INTERJECTION = (
    r"(?:hey+|hi+|hiya|hello|yo|dear|ok(?:ay)?|k|so|lol|lmao|rofl|haha(?:ha)*|hehe|heh|omg|wow|ooh|oh|ah|aha|hm+|um+|uh|er|well|yes|yeah|yep|yup|"
    r"nope|nah|fyi|btw|ps|fwiw|tbh|imo|nb|psst|guys|folks|all|everyone|team|man|dude|mate|cheers|thanks|thank you|thx|ty|sorry|right|sure|great|cool|nice|"
    r"good (?:morning|afternoon|evening|day)|morning|evening|there|again|anyway|anyways|random|long story short|to be clear|small world|for the record|oops|whoops|ugh|alas|finally|look|listen|by the way)"
)
_GREETED = re.compile(
    rf"^{_INTERJECTION}(?:,? {_INTERJECTION})*(?:[,!.:–—-]+ | [A-Z]\w+[,!] | (?=(?:I|my|we|our|the|[A-Z]\w+)['’ ]))",
    re.IGNORECASE,
)
_NAME_INSIDE = re.compile(r" [A-Z]\w+[,!] $")
_VOCATIVE = re.compile(
    r"^@\w+[,:]? |^[A-Z]\w+, (?=[Tt]he [a-z][^,]* (?:is|are|was|were) [^,]+$)|^[A-Z]\w+, (?=(?:I|[Ww]e|[Mm]y|[Oo]ur)['’ ](?!(?:friend|brother|sister|wife|husband)\b)[^,]+$)"
)
_COLON = re.compile(r"^(?P<pre>[^:.!?\"“]{2,60}?)(?::| [-–—]) (?P<rest>\S.*)$")
_BUT = re.compile(r"^(?P<pre>[^:,.!?\"“]{2,50}?) but (?P<rest>\S.*)$")
_IGNORANT = re.compile(
    r"^(?:(?:i['’]?m |i am |i have )?(?:not sure|unsure|no idea|no clue)|dunno|(?:i )?(?:don['’]?t|do not) know|can['’]?t say) (?:about|on|re|for|what|when|where|yet|how|why|who)\b",
    re.IGNORECASE,
)
"""A preamble that tells what the speaker does not know: something other than what follows."""
_SPOKEN = re.compile(
    r"^(?:please )?(?:say|translate|repeat|write|print|paraphrase|summari[sz]e|spell|pronounce|quote|type|sing|read)\b",
    re.IGNORECASE,
)
"""What follows is to be said, not stated."""
_COMMA = re.compile(r"^(?P<pre>[^:,.!?\"“]{2,60}), (?:but |and |so )?(?P<rest>\S.*)$")
_OPENING = (
    PREPOSITIONS
    | frozenset("of as per no not one two last quick small just good great sorry another again overall notably importantly interestingly".split())
)  # fmt: skip
_OWN_SUBJECT = ARTICLES | frozenset(
    "my our his her its their your this that these those i he she it we they you".split()
)
_KEPT = frozenset(
    "formerly previously once earlier originally never not if unless when while because since until before after although though like unlike such".split()
)
"""First words of what is no mere aside: it tells when, on what condition, or the opposite."""
_TEMPORAL = re.compile(
    r"^(?:since|until|till|in|on|from|during|by|around|as of|last|next|this|back in|the day) .*(?:\d|month|week|year|day|spring|summer|autumn|winter|uary|march|april|may|june|july|august|ember|ober)"
    r"|\bago$|^(?:yesterday|today|tonight|tomorrow|now|nowadays|currently)\b|\d{4}",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:novel|novels|film|movie|book|story|fiction|dream|dreams|game|episode|play|joke|rumou?rs?|myth|legend|lie|lies|false|wrong(?! (?:thread|channel|chat|window|group|person))|untrue|nonsense|"
    r"example|e\.g|template|quote|quoting|question|hypothetical|scenario|plot|fantasy|theory|sarcasm|wish|guess(?! what)|doubt|unconfirmed|unsure|supposedly|put it|words)\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"(?<!^)\b[A-Z][\w’'-]+")
CALENDAR = frozenset(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December".split()
)
_STARTS = re.compile(r"^(?:[A-Z]|(?:i|my|we|our|he|she|it|they|his|her|its|their)\b)")
_STARTS_WITH_ARTICLE = re.compile(r"^(?:the|a|an|this|these) ", re.IGNORECASE)
_SURE = re.compile(
    r"^(?:(?:(?:i['’ ]?a?m )?(?:pretty|fairly|quite|almost) (?:sure|certain)|iirc|afaik|as far as i (?:know|remember)|if i (?:remember|recall)(?: correctly| right)?),? (?:that )?)",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r",? \(?(?:i (?:think|believe|guess|suppose|reckon)|iirc|afaik|afaict|if i (?:remember|recall)(?: correctly| rightly| right| well)?|if i['’]m not mistaken|"
    r"(?:as|so) far as i (?:know|remember|recall)|(?:i['’]m )?(?:pretty|fairly|quite|almost) (?:sure|certain))\)?$",
    re.IGNORECASE,
)
_PARTING = re.compile(
    r",? (?:thanks(?: (?:a lot|again|everyone|all|so much))?|thank you|thx|ty|cheers|lol|haha(?:ha)*|btw|fyi|tbh|fwiw|after all|for now|as (?:you|we all) know|by the way|of course|obviously|"
    r"(?:so )?no (?:worries|problem|rush|hurry|stress|big deal)|just (?:so you know|saying|fyi)|you know|as (?:always|usual|promised|discussed|requested|mentioned)|"
    r"(?:just )?(?:in case|if) (?:you|anyone|anybody|someone|that|it|they) (?:need|needs|ask|asks|wonder|wonders|wondered|were wondering|are wondering|must know|want to know|care|cares|helps|matters)\b[^,]*"
    r"|[(:;]-?[)DP])$",
    re.IGNORECASE,
)
_ORDERED = re.compile(
    r"(?:,| [-–—]| and)(?: or| so| and)?(?: please| pls| just| maybe just)? (?:ping|call|ask|text|email|e-mail|message|contact|dm|let|check|see|tell|send|get|use|don['’]t|do not|remember|bring|take|look|talk|speak|write|reach out|reach|ring|feel free|give|say|no need)"
    r" (?!(?:is|was|of|and)\b)[^,]*$"
)
_TAIL = re.compile(
    r", so |(?: so |,? and |, or )(?=(?:we|you|i|he|she|they|it|the|that|there|this)\b)", re.IGNORECASE
)
_MODAL = re.compile(
    r"^(?:and|or) (?:we|you|i|he|she|they|it) (?:should|could|can|must|might|would|may|will|need to|have to)\b",
    re.IGNORECASE,
)
_EPISTEMIC = re.compile(
    r"\b(?:say|says|said|hear|heard|told|claims?|seems?|appears?|guess|think|thought|believe|suppose|assume|doubt|wrong|not sure)\b"
)
_WITH = re.compile(r", with (?!a (?:capital|population)\b)[a-z][^,A-Z]*$")


class Core(NamedTuple):
    """The statement of a sentence, what follows from it, and whether the speaker hedges."""

    text: str
    tail: str
    hedged: bool


def without_asides(text: str, finite: Callable[[str], bool]) -> Core:
    """Return a sentence without what surrounds its statement; `finite` tells whether words hold a verb.

    A sentence with nothing to take away comes back as it is.
    """
    if text.rstrip(" \"'”)").endswith("?"):
        return Core(text, "", False)
    text, sure = _opened(text, finite)
    text, tail = _cut(text, finite)
    text, hedged = _closed(text, finite)
    return Core(text, tail, hedged or sure)


def is_unreal(text: str, finite: Callable[[str], bool]) -> bool:
    """Return whether a sentence opens with what makes the rest unreal ("in the novel, ...")."""
    match = _COLON.match(text) or _COMMA.match(text)
    return bool(
        match
        and (match["pre"][:1].islower() or match["pre"].split(" ", 1)[0].lower() in PREPOSITIONS)
        and _UNREAL.search(match["pre"])
        and not finite(match["pre"])
    )


def _opened(text: str, finite: Callable[[str], bool]) -> tuple[str, bool]:
    hedged = False
    for _ in range(4):
        before = text
        if (greeted := _GREETED.match(text)) and finite(text[greeted.end() :]):
            text = text[greeted.end() :]
        elif (sure := _SURE.match(text)) and finite(text[sure.end() :]):
            text, hedged = text[sure.end() :], True
        elif (vocative := _VOCATIVE.match(text)) and finite(text[vocative.end() :]):
            text = text[vocative.end() :]
        else:
            text = _after_preamble(text, finite)
        if text == before:
            break
    return text, hedged


def _after_preamble(text: str, finite: Callable[[str], bool]) -> str:
    for form in (_COLON, _COMMA, _BUT):
        match = form.match(text)
        if match is None or not _is_preamble(
            match["pre"], match["rest"], colon=form is _COLON, finite=finite
        ):
            continue
        return match["rest"]
    return text


def _is_preamble(pre: str, rest: str, *, colon: bool, finite: Callable[[str], bool]) -> bool:
    """Whether words before a colon or comma hold no subject, no name and no time, and a clause follows."""
    if _SPOKEN.match(pre):
        return False
    if _IGNORANT.match(pre):
        return _STARTS.match(rest) is not None and finite(rest)
    words = pre.split()
    first = words[0].lower()
    closed = first in _OPENING or first.endswith("ly")
    if not (pre[0].islower() or closed) or len(words) > 8 or first in _KEPT:
        return False
    if first in _OWN_SUBJECT and not (colon and first not in ("my", "our")) or pre.startswith("as a"):
        return False
    names = {word for word in _NAMES.findall(pre) if word not in CALENDAR}
    if names or finite(pre) and not closed and not pre.startswith("just ") or _UNREAL.search(pre):
        return False
    if _TEMPORAL.search(pre) and first in (
        "in",
        "on",
        "from",
        "during",
        "by",
        "around",
        "last",
        "this",
        "yesterday",
    ):
        return False
    starts = _STARTS.match(rest) or (closed or colon) and _STARTS_WITH_ARTICLE.match(rest)
    return bool(starts) and no_statement(pre) in (None, "an instruction") and finite(rest)


def _cut(text: str, finite: Callable[[str], bool]) -> tuple[str, str]:
    """Part a statement from an order or a consequence that follows it."""
    if (ordered := _ORDERED.search(text)) and finite(text[: ordered.start()]):
        text = text[: ordered.start()]
    for match in _TAIL.finditer(text):
        head, tail = text[: match.start()], text[match.end() :]
        joint = match[0].strip(" ,").lower()
        if joint != "so" and not _MODAL.match(f"{joint} {tail}") or _EPISTEMIC.search(tail):
            continue
        if finite(head):
            return head.rstrip(" ,"), tail
    return text, ""


def _closed(text: str, finite: Callable[[str], bool]) -> tuple[str, bool]:
    hedged = False
    for _ in range(3):
        bare = text.rstrip(" .!,;")
        if (match := _HEDGE.search(bare)) and finite(bare[: match.start()]):
            text, hedged = bare[: match.start()], True
        elif (match := _PARTING.search(bare) or _WITH.search(bare)) and finite(bare[: match.start()]):
            text = bare[: match.start()]
        else:
            break
    return text, hedged


_NAME = re.compile(
    r"[Pp]atient \d[\w-]*|(?:[Pp]atient )?(?<![\w’'-])(?:[A-Z]\.){2,}|(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?(?<![\w’'-])[A-Z][\w-]*[\w](?:(?: (?:of|van|de|der|von|da|del|al|bin))? [A-Z][\w-]+)*"
)
_NO_NAME = CALENDAR | frozenset(
    "BACKGROUND METHODS RESULTS CONCLUSION CONCLUSIONS OBJECTIVE OBJECTIVES FINDINGS DISCUSSION NOTE UPDATE I I'm We You He She It They My Our His Her Its Their Your This That These Those The A An There Here Have Has Had Is Are Was Were Do Does Did Can Could Will Would "
    "Should What Who Where When Why How Which Everyone Everybody Nobody Someone Something Nothing Everything Anyone Both All Some Many Most Few Each Every Thanks Thank Yesterday "
    "Today Tomorrow Tonight Please Hello Hi Hey Yes No Ok Okay And But Or So If Then Also Not Just Really Weather Work Lunch Dinner Breakfast Traffic Therapy Pain Food Music Coffee "
    "Tea School Life Surgery Follow-up Look Good Great Nice Sorry Lovely Let Let's Got Met Saw Ran Had Went Spoke Talked Mum Dad People Meet Say Ask See Call".split()
)
_COMMON = re.compile(r"(?:ment|tion|sion|ity|ness|ance|ence|ency|ancy|ing|sis|age|ship|[^sui]s|ly|ed)$")


def names_in(text: str) -> list[str]:
    """Return the proper names of a sentence, in order; a word that merely begins the sentence is none.

    >>> names_in("Yesterday we met Omar Haddad at the fair in Oslo.")
    ['Omar Haddad', 'Oslo']
    """
    found = []
    for match in _NAME.finditer(text):
        name, start = match[0], match.start()
        first, _, rest = name.partition(" ")
        if first in _NO_NAME or first.lower() in PREPOSITIONS:
            name, start = rest, start + 1
        alone = not start and " " not in name
        if not name or name in _NO_NAME or alone and (_COMMON.search(name) or name.lower() in ATTRIBUTES):
            continue
        found.append(name)
    return found

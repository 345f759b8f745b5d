"""Which moment or change of a version chain a question asks for, read from the question alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from ko_integrations.query.calendar import BARE_MONTH, EXPRESSION, Interval, read_interval

__all__ = ["Kind", "TemporalOperator", "recognise"]

Kind = Literal[
    "none", "current", "previous", "as_of", "since", "until", "between", "before", "after",
    "first", "latest", "nth", "count", "when", "ended", "duration", "trajectory",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TemporalOperator:
    """What part of a chain is asked for.

    Attributes:
        kind: `none` when the question has no word of time in it.
        start: where the period asked about begins, or None.
        end: where it ends (exclusive), or None.
        anchor: words for an event or a value that stands for the time ("before *the Lakers*").
        ordinal: for `nth`, which one, from 1; for `previous`, how many steps back.
        limit: for `trajectory` and `previous`, the last so many, or the first so many if negative; 0: all.
        unit: what a duration is counted in.
        spans: the parts of the question (characters) that say all this.
    """

    kind: Kind = "none"
    start: datetime | None = None
    end: datetime | None = None
    anchor: str | None = None
    ordinal: int = 1
    limit: int = 0
    unit: str = "day"
    spans: tuple[tuple[int, int], ...] = ()

    def without_time(self, question: str) -> str:
        """Return the question with the words of time blanked out, every other character in its place."""
        for start, end in self.spans:
            question = question[:start] + " " * (end - start) + question[end:]
        return question


_Table = tuple[tuple[Kind, re.Pattern[str]], ...]


def _table(*rows: tuple[Kind, str]) -> _Table:
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in rows)


_E = rf"(?P<e>{EXPRESSION}|{BARE_MONTH})"
_G = rf"(?P<g>{EXPRESSION}|{BARE_MONTH})"
_FIRM = rf"(?P<e>{EXPRESSION})"
_TO = rf"(?P<f>{EXPRESSION}|{BARE_MONTH})"
_JUST = r"(?:(?:just|right|shortly|immediately|directly)\s+)?"
_AT = r"in|on|at|during|as\s+of|as\s+at|as\s+per|around|throughout|for|by\s+the\s+end\s+of"

# Words of a period with a date in it. The first that matches counts.
_PERIODS = _table(
    ("between", rf"\b(?:between|from)\s+{_E}\s+(?:and|to|until|till|through|[-–])\s+{_TO}"),
    ("since", rf"\b(?:ever\s+)?since\s+{_E}|\bfrom\s+{_G}\s+on(?:wards?)?\b"),
    ("until", rf"\b(?:right\s+up\s+|up\s+)?(?:un)?till?\s+{_E}|\b(?:up\s+to|by)\s+(?P<g>{EXPRESSION})"),
    ("before", rf"\b{_JUST}(?:before|prior\s+to|preceding)\s+{_E}"),
    ("after", rf"\b{_JUST}(?:after|following)\s+{_E}"),
    ("as_of", rf"\b(?:back\s+)?(?:{_AT})\s+{_E}"),
    ("as_of", rf"(?<![\w\"'“‘-]){_FIRM}"),
)

_CHANGE = (
    r"(?:chang(?:ed?|es|ing)|updat(?:ed?|es)|switch(?:ed|es)?|mov(?:ed?|es)|revis(?:ed?|es)|replac(?:ed?|es)"
    r"|evolv(?:ed?|es)|develop(?:ed)?(?=\s+(?:over|since|so|through|during))|respond(?:ed|s)?|progress(?:ed|es)?"
    r"|shift(?:ed|s)?|vari(?:ed|es)|correct(?:ed|s)?|amend(?:ed|s)?|turn(?:ed)?\s+over)\b"
)
_ORDINALS = {
    word: n + 1
    for n, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split())
}
_LATER = "|".join([*list(_ORDINALS)[1:], r"\d+(?:st|nd|rd|th)"])
# "first name", "second language": part of what the attribute is called, not of time.
_COMPOUND = (
    r"(?!\s+(?:names?|lad(?:y|ies)|languages?|authors?|aid|cousins?|class|degree|floor|half|person(?!\s+(?:to|who|that)\b)|party"
    r"|place|foot)\b)"
)
# "was first developed" speaks of how something began, not of the first of several values.
_ADVERB = r"(?!\s+(?:\w+ed|came|come|made|began|became|appeared|met|seen|shown|built|held|written|put|set|brought)\b)"
_ANAPHOR = (
    r"(?:that|this|it|then|now|him|her|them|these|those"
    r"|the\s+(?:current|present|latest|last|change|update|move)(?:\s+one)?)"
)
_NUMBERS = {word: n + 2 for n, word in enumerate("two three four five six seven eight nine ten".split())}
_SEVERAL = rf"(?P<several>{'|'.join(_NUMBERS)}|[2-9]|\d\d)"
_SEVERAL_FIRST = _SEVERAL.replace("several", "many")
_SPAN = r"(?!\s+(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|digits?|letters?|words?)\b)"
_NEWEST = r"(?:last|latest|newest|most\s+recent)"
_TREATED = (
    r"(?:\s+(?:to|under|on|during|(?:over|through(?:out)?|in)\s+the\s+course\s+of)"
    r"\s+(?:(?:the|his|her|their|my)\s+)?(?:treatment|therapy|chemotherapy|radiotherapy|chemo|medication)\b)"
)
_HISTORY = r"(?:history|timeline|trajectory|evolution|progression|chronology|succession)"
_OPENING = r"^\W*(?:(?:and|so|but|do\s+you\s+know|tell\s+me)\s+)?"
_END = r"(?=\s*[?.!]*\s*$)"
# "Who originally coached it" asks for the first of several; where something comes from originally is an origin,
# and who works for the network that originally aired it is asked of the present.
_ORIGINALLY = (
    rf"(?<!\bcome\s)(?<!\bcomes\s)(?<!\bcame\s)(?<!\bfrom\s)(?<!\bhail\s)(?<!\bhails\s)\boriginally\b{_END}"
    r"|(?<=^who\s)originally\b"
)

# What is asked of the chain. The first that matches counts.
_ASKED = _table(
    ("count", (rf"\bhow\s+(?:many\s+(?:different\s+)?(?:times|changes|updates)|often|frequently)\b"
              rf"(?=.*(?:{_CHANGE}|changes|updates))")),
    ("count", r"\b(?:what\s+is\s+)?(?:the\s+)?(?:number|count)\s+of\s+(?:times|changes|updates)\b"),
    ("count", r"\bhow\s+(?:many\s+times|often)\s+(?:has|have|had)\b"),
    ("count", r"\bhow\s+many\s+changes\s+(?:of|in|to)\b"),
    ("trajectory", rf"\b(?:the\s+)?(?:{_NEWEST}|first)\s+{_SEVERAL}\b{_SPAN}|\b{_SEVERAL_FIRST}\s+{_NEWEST}\b"),
    ("trajectory", rf"\bhow\s+(?:has|have|had|did|does|is|was|were)\b(?=.*{_CHANGE})"),
    ("trajectory", r"\bwhat\s+(?:has\s+|have\s+)?happened\s+to\b"),
    ("trajectory", (rf"\b(?<!\ba\s)(?:the\s+)?(?:(?:full|complete|entire|whole|version|past)\s+)?{_HISTORY}"
                   r"(?<!in\shistory)(?:\s+(?:of|for|in))?\b")),
    ("trajectory", r"\bover\s+(?:the\s+(?:years|months|weeks|time)|time)\b|\bthrough(?:out)?\s+the\s+years\b"),
    ("trajectory", rf"\bwhat\s+(?:has\s+|have\s+|was\s+)?{_CHANGE}"),
    ("ended", r"\b(?:until|till|up\s+to|up\s+until)\s+(?:when|(?:what|which)\s+(?:year|date|day|month))\b"),
    ("when", (r"\b(?:since|as\s+of|as\s+from|from)\s+(?:when|(?:what|which)\s+(?:year|date|day|month|time))\b"
             r"|\bhow\s+long\s+ago\b")),
    ("duration", r"\bhow\s+many\s+(?P<unit>day|week|month|year)s\s+(?:has|have|had|was|were|did)\b"),
    ("duration", r"\b(?:for\s+)?how\s+long\s+(?:has|have|had|is|was|were|did|does)\b"),
    ("when", rf"{_OPENING}(?:when|(?:(?:in|on|during|from|since)\s+)?(?:what|which)\s+(?:year|date|day|month|time))\b"),
    ("previous", rf"\b{_JUST}(?:before|prior\s+to)\s+{_ANAPHOR}(?=\s*(?:[?.!,]|$))"),
    ("previous", rf"\b(?:right\s+|just\s+|one\s+)?before\b{_END}|\bthe\s+one\s+before\b(?!\s+last)"),
    ("previous", (r"\b(?:previous(?:ly)?|former(?:ly)?|preceding|predecessor(?:\s+of)?|penultimate|prior)\b"
                 r"|\bused\s+to\b|\buse\s+to(?=\s+(?:be|live|work|have|play|like|own|drive|study|do)\b)")),
    ("previous", r"\b(?:old|past|earlier)(?=\s+(?!are|is|was|were|to|than)\w)(?<!how\sold)(?<!years\sold)|\bex-(?=\w)"),
    ("previous", rf"\bearlier{_END}|\bin\s+the\s+past\b"),
    ("first", (rf"\b(?:the\s+)?(?:very\s+)?(?:first{_COMPOUND}{_ADVERB}|initial(?:ly)?|earliest)\b"
              rf"|{_ORIGINALLY}|\bat\s+first\b|\bto\s+begin\s+with\b")),
    ("nth", rf"\b(?:the\s+)?(?P<n>{_LATER}){_COMPOUND}\b"),
    ("latest", rf"\b(?:most\s+recent(?:ly)?|latest|newest|last(?:\s+known)?{_COMPOUND})\b"),
    ("current", (r"\b(?:current(?:ly)?|present(?:ly)?|right\s+now|now|nowadays|at\s+(?:the|this)\s+moment"
                r"|at\s+present|these\s+days|today|as\s+of\s+(?:now|today)|still|incumbent|sitting)\b")),
)  # fmt: skip

_ANCHOR = r"(?P<a>[^?]+?)(?=\s*[?.!]*\s*$|,\s*(?:who|what|which|where|how)\b)"
_MEANWHILE = (
    r"(?:back\s+)?(?:when|while|whilst)|at\s+the\s+time\s+(?:of|when|that)|during"
    r"|in\s+the\s+(?:days|era|time)\s+of"
)

_AS = r"(?=\s+(?:as|in\s+the\s+(?:role|office|post|job|position)\s+of)\b)"
_CAME = r"(?:come|came|comes)\s+(?:right\s+|just\s+|directly\s+|immediately\s+)?"
_HOLDER = r"(?P<a>[^?]+?)"

# An event or a value that stands for the time. Who succeeded one holder of a post is the next of its chain.
_ANCHORS = _table(
    ("after", rf"\b(?:is|was|were)\s+{_HOLDER}\s+(?:succeeded|followed|replaced)\s+by{_AS}"),
    ("after", rf"\b(?:succeeded|followed|replaced|took\s+over\s+from|{_CAME}after)\s+{_HOLDER}{_AS}"),
    ("after", rf"\b(?:is|was|were)\s+{_HOLDER}['’]s?\s+(?:immediate\s+|direct\s+)?successor{_AS}"),
    ("before", rf"\b(?:preceded|{_CAME}before)\s+{_HOLDER}{_AS}"),
    ("before", rf"\b(?:is|was|were)\s+{_HOLDER}['’]s?\s+(?:immediate\s+|direct\s+)?predecessor{_AS}"),
    ("before", rf"(?<=\bwho)m?\s+did\s+{_HOLDER}\s+(?:succeed|follow|replace|take\s+over\s+from){_AS}"),
    ("after", rf"\b{_JUST}after\s+{_HOLDER}{_AS}"),
    ("before", rf"\b{_JUST}before\s+{_HOLDER}{_AS}"),
    ("before", rf"\b{_JUST}(?:before|prior\s+to)\s+{_ANCHOR}"),
    ("after", rf"\b{_JUST}after\s+{_ANCHOR}"),
    (
        "as_of",
        rf"(?<=\w)(?<!since)(?<!until)(?<!till)(?<!\bto)(?<!\bof)(?<!from)\s+(?:{_MEANWHILE})\s+{_ANCHOR}",
    ),
)
_HABITUAL = re.compile(r"(?:i|we|he|she|it|they|you)(?:\s+(?:am|is|are)\b|['’](?:m|s|re)\b)", re.IGNORECASE)
"""What is so whenever it is so ("when I am ill") and no moment."""
_BEFORE_LAST = re.compile(
    r"\b(?:the\s+(?:one\s+)?)?(?:before\s+last|second\s+(?:to\s+)?last|last\s+but\s+one)\b", re.IGNORECASE
)
_ENDED = re.compile(r"\b(?:stop(?:ped)?|end(?:ed)?|quit|leave|left|cease[d]?|finish(?:ed)?)\b", re.IGNORECASE)

_SCHEDULED = re.compile(r"\bwhen\s+(?:do|does|will)\b", re.IGNORECASE)
"""The present tense asks by the timetable ("when does the train leave"), not for the end of a fact."""
_NOMINAL = re.compile(r"(?:\b(?:my|our|his|her|their|its|the|an?)|['’]s)\s+$", re.IGNORECASE)
"""What makes a noun of the word after it: "my shift", "the change"."""


def recognise(question: str, now: datetime, *, names: Sequence[tuple[int, int]] = ()) -> TemporalOperator:
    """Return the temporal operator of `question`; relative dates count from `now`.

    `names` are the spans (characters) of names in the question: a year inside one is not a time.

    >>> from datetime import UTC
    >>> operator = recognise("Where did Alice live in March 2010?", datetime(2025, 1, 1, tzinfo=UTC))
    >>> operator.kind, operator.start.year, operator.start.month
    ('as_of', 2010, 3)
    """
    text = _masked(question, names)
    operator = _period(text, now)
    if operator.kind == "none":
        operator = _anchored(text, question)
    rest = operator.without_time(text)
    for kind, pattern in _ASKED:
        if match := pattern.search(rest):
            return _merged(operator, kind, match, rest)
    return operator


def _masked(question: str, names: Sequence[tuple[int, int]]) -> str:
    """Replace names and quotations by letters that are no word of time, in place."""
    quoted = [m.span(1) for m in re.finditer(r"[\"“«]([^\"”»]+)[\"”»]", question)]
    for start, end in [*names, *quoted]:
        question = question[:start] + "X" * (end - start) + question[end:]
    return question


def _period(text: str, now: datetime) -> TemporalOperator:
    for kind, pattern in _PERIODS:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            first = read_interval(groups.get("e") or groups.get("g") or "", now)
            second = read_interval(groups["f"], now) if groups.get("f") else None
            if first is None or (groups.get("f") and second is None):
                continue
            return _dated(kind, first, second, match.span())
    return TemporalOperator()


def _dated(kind: Kind, first: Interval, second: Interval | None, span: tuple[int, int]) -> TemporalOperator:
    operator = TemporalOperator(kind, spans=(span,))
    if kind == "between" and second is not None:
        return replace(operator, start=min(first.start, second.start), end=max(first.end, second.end))
    if kind == "since":
        return replace(operator, start=first.start)
    if kind in ("until", "before"):
        return replace(operator, end=first.start if kind == "before" else first.end)
    if kind == "after":
        return replace(operator, start=first.end)
    return replace(operator, start=first.start, end=first.end)


def _anchored(text: str, question: str) -> TemporalOperator:
    for kind, pattern in _ANCHORS:
        match = pattern.search(text)
        if match and kind == "as_of" and _HABITUAL.match(question, *match.span("a")):
            return TemporalOperator("current", spans=(match.span(),))
        if match is None or re.match(rf"{_ANAPHOR}\b|last\b", match["a"], re.IGNORECASE):
            continue
        return TemporalOperator(kind, anchor=question[slice(*match.span("a"))].strip(), spans=(match.span(),))
    return TemporalOperator()


def _merged(period: TemporalOperator, kind: Kind, match: re.Match[str], rest: str) -> TemporalOperator:
    """Add what is asked of the chain to the period it is asked about."""
    spans = (*period.spans, match.span())
    if last := _BEFORE_LAST.search(rest):
        return replace(
            period, kind="previous", ordinal=2 if "before" in last[0] else 1, spans=(*spans, last.span())
        )
    if kind == "current" and period.kind != "none":
        return replace(period, spans=spans)
    if kind == "previous" and period.kind not in ("none", "as_of"):
        return replace(period, spans=spans)
    if kind in ("count", "trajectory"):
        spans = (*spans, *(found.span() for found in _words_of_change(rest)))
        spans = (*spans, *(found.span() for found in re.finditer(_TREATED, rest, re.IGNORECASE)))
        period = replace(period, limit=_limit(match))
    if kind == "duration" and (unit := match.groupdict().get("unit")):
        period = replace(period, unit=unit.lower())
    if kind == "when" and _ENDED.search(rest) and not _SCHEDULED.search(rest):
        return replace(period, kind="ended", spans=spans)
    if kind == "when":
        return _when(period, spans, rest)
    if kind == "nth":
        word = match["n"].lower()
        return replace(
            period, kind=kind, ordinal=_ORDINALS.get(word) or int(re.sub(r"\D", "", word)), spans=spans
        )
    return replace(period, kind=kind, spans=spans)


def _limit(match: re.Match[str]) -> int:
    """Return of how many a trajectory is: the last three, or (negative) the first three; 0 for all."""
    groups = match.groupdict()
    word = (groups.get("several") or groups.get("many") or "").lower()
    count = _NUMBERS.get(word) or int(word or 0)
    return -count if re.search(r"\bfirst\b", match[0], re.IGNORECASE) else count


def _when(period: TemporalOperator, spans: tuple[tuple[int, int], ...], rest: str) -> TemporalOperator:
    """Tell "when did it first ..." from "when did it last ..."; the first is what `ordinal` 1 says."""
    ordinal = 1
    if first := re.search(rf"\b(?:first{_COMPOUND}|originally)\b", rest, re.IGNORECASE):
        ordinal, spans = -1, (*spans, first.span())
    if last := re.search(rf"\b(?:last{_COMPOUND}|most\s+recently|recently)\b", rest, re.IGNORECASE):
        spans = (*spans, last.span())
    change = tuple(found.span() for found in _words_of_change(rest))
    return replace(period, kind="when", ordinal=ordinal, spans=(*spans, *change))


def _words_of_change(rest: str) -> Iterator[re.Match[str]]:
    words = rf"{_CHANGE}|\b(?:has|have|had|did)\s+(?=\w)|\bchanges\b|\b(?:seen|undergone)\b"
    for match in re.finditer(words, rest, re.IGNORECASE):
        if not _NOMINAL.search(rest[: match.start()]):
            yield match

"""Sentences that say two things with shared words, as two sentences: "X lives and works in Y", "X and his wife Y"."""

import re
from collections.abc import Callable

from ko_integrations.kinds import kinds_of

__all__ = ["past_of", "rewritten"]

_TWO_VERBS = re.compile(
    r"^(?P<subject>\S+(?: [A-Z]\S*)*) (?P<one>[a-z]+s) and (?P<two>[a-z]+s) (?P<rest>(?:in|at|for|from) [A-Z\d].*)$"
)
_TWO_PARTICIPLES = re.compile(
    r"^(?P<head>.+? (?:is|was|are|were|been)) (?P<one>[a-z]+(?:ed|en|n)) and (?P<two>[a-z]+(?:ed|en|n)) (?P<rest>(?:by|in|at) [A-Z].*)$"
)
_ACCOMPANIED = re.compile(
    r"^(?P<main>(?P<subject>[A-Z]\S*(?: [A-Z]\S*)*) [a-z].*) with (?:his|her|their) (?P<noun>wife|husband|partner|son|daughter|brother|sister|mother|father|girlfriend|boyfriend),? (?P<name>[A-Z]\S*(?: [A-Z]\S*)*)$"
)
_TWO_NAMED = re.compile(
    r"^(?P<head>.+? (?:have|has|had|got|adopted)) (?P<one>an? [a-z ]+ (?:called|named) \S+) and (?P<two>an? [a-z ]+ (?:called|named) \S+)$"
)
_WITH_RELATIVE = re.compile(
    r"^(?P<owner>[A-Z][\w'’-]*(?: [A-Z][\w'’.-]*)*) and (?:his|her|their) (?P<noun>[a-z]+),? (?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’.-]*)*),? (?P<rest>(?:are|were|have|live|lived|work|worked|moved|run|own|founded|share)\b.+)$"
)
_RELATIVE_NAMED = re.compile(
    r"^(?P<owner>[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Tt]he|[A-Z]\S*(?: [A-Z]\S*)*['’]s?) (?P<noun>[a-z]+|C[ETF]O), (?P<name>(?:the [a-z -]+ )?[A-Z][\w'’-]*(?: [A-Z][\w'’.-]*)*), (?P<main>[a-z]\w+ .+)$"
)
_WITH_MEASURE = re.compile(
    r"^(?P<main>[^,]+?) with (?P<measure>an? [\w -]+ of (?:about |approximately |around )?\d[\d,.]*(?: [^,]*)?)$"
)
_RENAMED = re.compile(
    r"^(?P<name>[A-Z]\S*(?: [A-Z]\S*)*), (?:officially|formally|formerly|originally|commonly|sometimes|also|better|or)(?: known as| called| named)? [^,]+, (?P<main>(?:is|was|are|were|has|had|[a-z]+s) .+)$"
)
_TWO_NOUNS = re.compile(
    r"(?P<one>\b(?:is|was) (?:the|an?) [a-z]+) and (?:the |an? )?(?:[a-z]+ ){0,2}[a-z]+ of (?=[A-Z])"
)
_COUPLED = re.compile(
    r"^(?P<one>\S+(?: \S+)?) and (?P<two>\S+(?: \S+)?) (?P<rest>(?:are|were|have|live|lived|work|worked|speak|study|studied|play|moved) (?!married|friends|siblings|engaged|dating|partners|neighbours|neighbors|twin|sister|brothers|sisters|a couple).+)$"
)
_AFTER = re.compile(
    r"^(?:After|Since|Upon|On) (?P<verb>[a-z]+)ing (?P<rest>(?:from|at|to|in|as|with|for|[A-Z]|his|her|the) ?[^,]*), (?P<main>.+)$"
)
_FRONTED = re.compile(
    r"^(?:[Aa]s (?P<role>an? [^,]+)|(?P<verb>Born|[A-Z]\w+ed) (?P<rest>(?:in|by|at|from|on|after|to|as) [^,]+)), (?P<main>.+)$"
)
_SUCH_AS = re.compile(r"^(?:the |The )?(?P<class>.+?),? (?:such as|like|including) (?P<names>[A-Z].+)$")


def rewritten(sentence: str, finite: Callable[[str], bool], leading_name: Callable[[str], str]) -> list[str]:
    """Return the sentences that say what `sentence` says, or none where its form is another.

    `finite` tells whether words hold a verb, `leading_name` gives the name that a clause begins with.
    """
    return (
        _fronted(sentence, finite, leading_name)
        or _with_relatives(sentence)
        or _shared(sentence, leading_name)
    )


def past_of(stem: str) -> str:
    """Return the past tense for the stem of an "-ing" form, good enough to be found under its lemma."""
    return f"{stem}ed"


def _fronted(sentence: str, finite: Callable[[str], bool], leading_name: Callable[[str], str]) -> list[str]:
    if match := _SUCH_AS.match(sentence):
        words = match["class"].split(" ")
        if words[-1].islower() and not finite(match["class"]):
            return [f"{match['names']} is a {' '.join(words[:-1])} {words[-1].removesuffix('s')}"]
    match = _FRONTED.match(sentence) or _AFTER.match(sentence)
    subject = leading_name(match["main"]) if match else ""
    if match is None or not subject:
        return []
    if match.re is _AFTER:
        first = f"{subject} {past_of(match['verb'])} {match['rest']}"
    else:
        first = f"{subject} is {match['role'] or match['verb'].lower() + ' ' + match['rest']}"
    return [first] if subject == match["main"] else [first, match["main"]]


def _with_relatives(sentence: str) -> list[str]:
    """Read "X and his wife Y live in Z", "her husband, the composer Y, died" and "X lives with his wife, Y"."""
    if match := _WITH_RELATIVE.match(sentence):
        related = f"{match['owner']}'s {match['noun']} is {match['name']}"
        return [related, *(f"{name} {match['rest']}" for name in (match["owner"], match["name"]))]
    if match := _RELATIVE_NAMED.match(sentence):
        main = f"{match['name']} {match['main']}"
        named = match["owner"] in ("The", "the")
        return [main] if named else [f"{match['owner']} {match['noun']} is {match['name']}", main]
    if match := _ACCOMPANIED.match(sentence):
        return [match["main"], f"{match['subject']}'s {match['noun']} is {match['name']}"]
    return []


def _shared(sentence: str, leading_name: Callable[[str], str]) -> list[str]:
    """Read two subjects, two verbs or two objects that share the rest of the sentence."""
    if match := _COUPLED.match(sentence):
        both = (match["one"], match["two"])
        return (
            [f"{name} {match['rest']}" for name in both]
            if all("person" in kinds_of(name) for name in both)
            else []
        )
    if match := _TWO_VERBS.match(sentence):
        return [f"{match['subject']} {match[verb]} {match['rest']}" for verb in ("one", "two")]
    if match := _TWO_NAMED.match(sentence):
        return [f"{match['head']} {match[name]}" for name in ("one", "two")]
    if (match := _WITH_MEASURE.match(sentence)) and (subject := leading_name(match["main"])):
        return [match["main"], f"{subject} has {match['measure']}"]
    if match := _RENAMED.match(sentence):
        return [f"{match['name']} {match['main']}"]
    if match := _TWO_PARTICIPLES.match(sentence):
        return [f"{match['head']} {match[verb]} {match['rest']}" for verb in ("one", "two")]
    single = _TWO_NOUNS.sub(r"\g<one> of ", sentence)
    return [single] if single != sentence else []

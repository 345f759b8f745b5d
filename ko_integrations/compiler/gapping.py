"""Clauses that leave out the verb of the clause before them: "Anna lives in Oslo and Bob in Rome"."""

import re
from collections.abc import Callable

from ko_integrations.kinds import PLACE_KINDS, kinds_of

__all__ = ["ungapped"]

_NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,3}"
_JOINT = re.compile(
    rf"(?:,? (?:and|while|whereas)|,) (?P<subject>{_NAME}|(?:my|his|her|their|our) [a-z]+)(?:,)? (?P<link>in|at|from|for|to|on|by|with|near|as) (?P<object>[^,]+?)(?=$|,? (?:and|while|whereas) |, )"
)
_BARE = re.compile(
    rf"(?:,? (?:and|while|whereas)|,) (?P<subject>{_NAME}|(?:my|his|her|their|our) [a-z]+)(?:,)? (?P<object>(?:an? |the )?[\w'’-]+(?: [a-z][\w-]*)?)(?=$|,? (?:and|while|whereas) |, )"
)
_LINKED = re.compile(
    r"^(?P<subject>\S+(?: \S+){0,4}?) (?P<verb>(?:(?:is|are|was|were) )?[a-z]+(?: [a-z]+)?) (?P<link>in|at|from|for|to|on|by|with|near|as) (?P<object>.+)$"
)
_PLAIN = re.compile(
    r"^(?P<subject>\S+(?: \S+){0,3}?) (?P<verb>[a-z]+(?:s|ed|n)?(?: the| an?)?|is an?|was an?|is|was) (?P<object>.+)$"
)


def ungapped(sentence: str, finite: Callable[[str], bool]) -> list[str]:
    """Return the clauses with their verb in place, or none where nothing is left out.

    >>> ungapped("Anna lives in Oslo and Bob in Rome", lambda text: "lives" in text)
    ['Anna lives in Oslo', 'Bob lives in Rome']
    """
    return _linked(sentence, finite) or _plain(sentence, finite)


def _linked(sentence: str, finite: Callable[[str], bool]) -> list[str]:
    joints = list(_JOINT.finditer(sentence))
    if not joints or joints[-1].end() != len(sentence):
        return []
    first = _LINKED.match(sentence[: joints[0].start()])
    if first is None or not finite(f"{first['subject']} {first['verb']}") or finite(first["subject"]):
        return []
    for joint in joints:
        if (
            joint["link"] != first["link"]
            or not _same_sort(first["subject"], joint["subject"])
            or finite(joint["object"])
        ):
            return []
    return [
        sentence[: joints[0].start()],
        *(
            f"{_opened(joint['subject'])} {first['verb']} {joint['link']} {joint['object']}"
            for joint in joints
        ),
    ]


def _plain(sentence: str, finite: Callable[[str], bool]) -> list[str]:
    joints = list(_BARE.finditer(sentence))
    if not joints or joints[-1].end() != len(sentence):
        return []
    first = _PLAIN.match(sentence[: joints[0].start()])
    if first is None or not finite(f"{first['subject']} {first['verb']}") or finite(first["subject"]):
        return []
    sort = kinds_of(first["object"])
    for joint in joints:
        alike = not sort.isdisjoint(kinds_of(joint["object"]))
        if (
            not alike
            or "person" in sort
            or not _same_sort(first["subject"], joint["subject"])
            or finite(joint["object"])
        ):
            return []
    article = re.compile(r" (?:the|an?)$")
    verb = article.sub("", first["verb"])
    return [
        sentence[: joints[0].start()],
        *(f"{_opened(joint['subject'])} {verb} {joint['object']}" for joint in joints),
    ]


def _opened(subject: str) -> str:
    return subject[0].upper() + subject[1:]


def _same_sort(first: str, second: str) -> bool:
    """Whether the second name may be a subject like the first, and not one more object ("in Paris and Lyon in France")."""
    one, two = kinds_of(first), kinds_of(second)
    if second[0].islower():
        return True
    if one and two:
        return not one.isdisjoint(two)
    return two.isdisjoint(PLACE_KINDS) or "person" in two

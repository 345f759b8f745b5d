"""Definite descriptions without an owner: "the wifi password is X", "the spare key is under the mat".

"The" says that the hearer knows which one is meant. In a text that speaks of nobody else that is the speaker's
own. Where a thing is is said of the thing itself.
"""

import re

from ko_integrations.compiler.shape import ATTRIBUTES
from ko_integrations.kinds import kinds_of
from ko_integrations.morphology import PREPOSITIONS

__all__ = ["located", "of_the_speaker"]

_DEFINITE = re.compile(
    r"^[Tt]he (?P<noun>[a-z][a-z-]*(?: [a-z][a-z-]*){0,3}(?: [A-Z]{2,5})?) (?P<be>is|was|are|were) (?:now |still |currently )?(?P<value>.+)$"
)
_SPECIFIC = re.compile(r"\d|^[A-Z][\w'’-]*(?: (?:[A-Z\d]\S*|of|de|van|von|the|and))*$|\S@\S|[a-z]\.[a-z]")
"""A number, a code, a proper name or an address: what one of its kind has and another has not."""
_PREPOSITION = r"(?:under|underneath|beneath|behind|beside|next to|inside|above|below|near|opposite|on top of|in front of|in|on|at|by|with)"
_PLACED = re.compile(
    rf"^(?:[Tt]he (?P<noun>[a-z][a-z-]*(?: [a-z][a-z-]*){{0,3}})|(?P<name>It|it|[A-Z]\S*(?: [A-Z]\S*)*)) (?:is|are) (?:now |still |always |kept |stored |hidden |parked )*"
    rf"(?P<where>{_PREPOSITION} (?:(?:the|my|our|his|her|their) [\w'’ -]+|[A-Z][\w'’-]*(?: [A-Z\d][\w'’-]*)* (?:Street|Road|Avenue|Lane|Square|Street \d+|Road \d+)))$"
)
_BEARINGS = re.compile(
    r"^(?:in|on|at|by|with|under|behind|near|above|below) (?:the|my|our|his|her|their) (?:\w+ )*(?:way|works|loop|dark|mood|middle|process|meantime|phone|table|mend|rocks|fence|move|job|run|rise|air|moment|end|"
    r"beginning|start|side|team|board|committee|list|agenda|brink|verge|lead|know|making|clear|red|black|news|past|future|opinion|interest|name|impression|mind|hands?|day|week|month|year|morning|"
    r"afternoon|evening|night|weekend|\w+day|\w+ember|\w+uary|weather|schedule|budget|plan|house rules|circumstances|pressure|control|influence|scenes?|times?|average|problem|point|top|bottom|back burner)$"
)
"""Figures of speech, times and groups: no places."""


def of_the_speaker(text: str) -> str:
    """Return "My N is V" for "The N is V" where V is one thing's own, or "".

    >>> of_the_speaker("The gate code is 7710"), of_the_speaker("The gate is green")
    ('My gate code is 7710', '')
    """
    match = _DEFINITE.match(text)
    if match is None or match["noun"].split()[0] in ATTRIBUTES:
        return ""
    value = match["value"]
    if value.split(" ", 1)[0] in PREPOSITIONS:
        return ""
    if not _SPECIFIC.search(value) and not kinds_of(value) & {"number", "quantity", "date", "person"}:
        return ""
    return f"My {match['noun']} {match['be']} {value}"


def located(text: str) -> tuple[str, str] | None:
    """Return what is where ("the spare key", "under the mat"), or None.

    >>> located("The spare key is under the mat"), located("The project is on the table")
    (('The spare key', 'under the mat'), None)
    """
    match = _PLACED.match(text)
    if match is None or _BEARINGS.match(match["where"]):
        return None
    if match["name"] and "person" in kinds_of(match["name"]):
        return None
    return match["name"] or f"The {match['noun']}", match["where"]

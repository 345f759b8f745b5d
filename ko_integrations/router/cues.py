"""Cues: what a person would point at in a query to say where it goes. `RouteDecision.why` is made of their names.

None is a similarity score, so none changes when the store grows (main paper, section 4.3.2).
"""

import re
from typing import Final

from ko_integrations.router.lexicon import CLASSES, PREPOSITIONS, QUANTITY_ADJECTIVES, VERB_CLASSES
from ko_integrations.router.request import AUXILIARIES, QUESTION_WORDS, Request, read_request, without_marks

__all__ = ["QUESTION", "cues_of", "query_cues"]

QUESTION: Final = "put as a question"

_POSSESSIVE: Final = frozenset("my his her their our its your".split())
_CAUSE_HOW: Final = frozenset(
    "do does did can could should would to is are was were come has have might".split()
)


def query_cues(query: str) -> dict[str, float]:
    """Return the named cues of a query; a cue that is absent is absent from the mapping.

    Example:
        >>> "asks for the X of Y" in query_cues("What is the capital of Peru?")
        True
    """
    request = read_request(query)
    if request is None:
        return {}
    said, written = cues_of(request)
    return said | written


def cues_of(request: Request) -> tuple[dict[str, float], dict[str, float]]:
    """Return the cues of a query already taken apart: those of what is said, and those of how it is written."""
    core, asked = request.core, request.asked
    opening: dict[str, float] = {f"lead: {lead}": 1.0 for lead in request.leads}
    _opening(core, opening)
    if asked:
        opening["sets a scene first"] = 1.0
        _opening(asked, opening)
    found = set(core)
    if core[0] not in QUESTION_WORDS and found.intersection(QUESTION_WORDS):
        opening["a question word later on"] = 1.0
    if core[0] == "the" or not (
        core[0] in AUXILIARIES or core[0] in QUESTION_WORDS or found & AUXILIARIES or len(core) > 6
    ):
        opening["no verb, like a search"] = 1.0
    if "why" in found:
        opening["asks why"] = 1.0
    rest: dict[str, float] = {}
    for name, members in CLASSES.items():
        hits = len(found & members)
        if hits:
            rest[f"a word of '{name}'"] = 1.0
        if hits > 1:
            rest[f"several words of '{name}'"] = 1.0
    _shape(request, rest)
    # Together they say what neither says alone: "who is" with a word of judgement asks for an opinion.
    together = {f"{first}, with {second}": 0.5 for first in opening for second in rest}
    written = _writing(request.text, list(opening))
    if _is_question(request):
        written[QUESTION] = 1.0
    return opening | rest | together, written


def _is_question(request: Request) -> bool:
    """Whether a query has the form of a question, whatever it is for."""
    opens = AUXILIARIES.union(QUESTION_WORDS)
    return (
        request.text.endswith("?")
        or not opens.isdisjoint([request.core[0], *request.asked[:1]])
        or not set(QUESTION_WORDS).isdisjoint(request.words)
    )


def _opening(core: list[str], cues: dict[str, float]) -> None:
    """Add what the first words of the request say."""
    first = core[0]
    second = core[1] if len(core) > 1 else ""
    third = core[2] if len(core) > 2 else ""
    if first in QUESTION_WORDS:
        cues[f"opens with '{first}'"] = 1.0
        if first == "how":
            if second in QUANTITY_ADJECTIVES:
                cues["asks how much, how many, how long"] = 1.0
            elif second in _CAUSE_HOW:
                cues[f"asks how ('how {second}')"] = 1.0
            else:
                cues["asks how (other)"] = 1.0
        elif first in ("what", "which") and second and second not in AUXILIARIES:
            cues["asks which one of a kind ('what year', 'which city')"] = 1.0
        elif second in AUXILIARIES:
            cues[f"opens with '{first} {second}'"] = 1.0
        if first == "what" and second in ("is", "are", "was", "were"):
            _definition_or_attribute(core[2:], cues)
    elif first in AUXILIARIES:
        cues["yes-no question"] = 1.0
        cues[f"yes-no question with '{first}'"] = 1.0
        if third and second not in ("you", "i", "it", "there", "we", "the", "a", "an", "this"):
            if second.endswith("s") and not second.endswith(("'s", "ss", "us", "is")):
                cues["yes-no question about a whole kind (plural)"] = 1.0
        elif second:
            cues[f"yes-no question about '{second}'"] = 1.0
    else:
        for name in VERB_CLASSES:
            if first in CLASSES[name]:
                cues[f"opens with a {name}"] = 1.0
        if first == "you" and second in ("are", "will"):
            cues["gives the listener a role"] = 1.0
        if first in ("a", "an", "some", "two", "three", "five", "ten"):
            cues["asks for one or some of a kind"] = 1.0
        asked = core[1:] if first in CLASSES["verb of looking up"] else core
        if asked and (asked[0] == "the" or asked[0] in _POSSESSIVE or asked[0].endswith("'s")):
            _definition_or_attribute(asked, cues)


def _definition_or_attribute(rest: list[str], cues: dict[str, float]) -> None:
    """Tell "what is X" (a concept) from "what is the Y of X" (a value)."""
    rest = without_marks(rest)
    if not rest:
        return
    if "of" in rest and rest[0] == "the":
        cues["asks for the X of Y"] = 1.0
    elif rest[0] in _POSSESSIVE or any(word.endswith("'s") for word in rest[:3]):
        cues["asks for somebody's X"] = 1.0
    elif rest[0] == "the":
        cues["asks for the X"] = 1.0
    elif len(rest) <= 4 and not PREPOSITIONS.intersection(rest[1:]):
        cues["asks what a thing is, with nothing else said"] = 1.0
    elif rest[0] in ("a", "an"):
        cues["asks what a thing is"] = 1.0
    else:
        cues["asks what something is, in a setting"] = 1.0


def _shape(request: Request, cues: dict[str, float]) -> None:
    """Add length and form."""
    plain = without_marks(request.words)
    count = len(plain)
    for limit in (2, 3, 5):
        if count <= limit:
            cues[f"at most {limit} words"] = 1.0
    for limit in (12, 20, 35):
        if count > limit:
            cues[f"more than {limit} words"] = 1.0
    sentences = len(re.findall(r"[.!?]\s+\S", request.text))
    if sentences:
        cues["more than one sentence"] = 1.0
    if sentences > 2:
        cues["a longer text"] = 1.0
    if any(character.isdigit() for character in request.text):
        cues["names a number"] = 1.0
    if any(word.endswith("'s") and word not in ("it's", "that's") for word in plain):
        cues["possessive ('Bob's')"] = 1.0


def _writing(query: str, opening: list[str]) -> dict[str, float]:
    """Return how the query is written (case, final mark), and each opening together with that."""
    tokens = query.split()
    lower, asks = query == query.lower(), query.endswith("?")
    capitals = sum(token[:1].isupper() for token in tokens[1:])
    if lower:
        style = "lower case, question mark" if asks else "lower case, no question mark"
    elif len(tokens) > 3 and capitals >= 0.6 * (len(tokens) - 1):
        style = "written like a title"
    else:
        style = "usual case, question mark" if asks else "usual case, no question mark"
    names_first = len(tokens) > 2 and tokens[0].lower() in AUXILIARIES and tokens[1][:1].isupper()
    marks = (
        ("yes-no question about a name", names_first),
        ("ends with a question mark", asks),
        ("a capital inside", capitals > 0),
        ("ends with a full stop", query.endswith(".")),
        ("a mark set apart", query.endswith(" ?") or " 's" in query or " n't" in query),
        ("exclaims", "!" in query or "??" in query),
    )
    present = [name for name, holds in marks if holds]
    return dict.fromkeys([*present, style, *(f"{name}, {style}" for name in opening)], 1.0)

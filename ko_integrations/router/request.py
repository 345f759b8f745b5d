"""A query taken apart: its words, the request among them, and what only leads up to it."""

import re
from typing import Final, NamedTuple

from ko_integrations.router.lexicon import CONTRACTIONS

__all__ = ["AUXILIARIES", "QUESTION_WORDS", "Request", "read_request", "without_marks", "words_of"]

_TOKEN: Final = re.compile(r"[^\W_]+(?:['’.\-+#][^\W_]+)*[+#]*|[?!:]|\d+")
_QUOTED: Final = re.compile(r"[\"“”«»]([^\"“”«»]{1,80})[\"“”«»]")
_SENTENCE_END: Final = re.compile(
    r"(?:(?<=[?!;:])|(?<=\.)(?<!\b[DMS]r\.)(?<!\b[MS][st]\.)(?<!\bMrs\.)(?<!\bvs\.))\s+(?=\S)"
)
_LONGEST_READ: Final = 2_000
QUESTION_WORDS: Final = ("what", "who", "when", "where", "which", "whose", "whom", "why", "how")
AUXILIARIES: Final = frozenset(
    "is are was were am be do does did has have had can could will would should may might must shall ought".split()
)

# Words before the request itself. The longest match is taken, again and again, until none fits.
_LEADS: Final[dict[str, str]] = {
    lead: name
    for name, leads in {
        "": (
            "hey|hi|hello|yo|ok|okay|so|well|um|umm|hmm|please|sorry|just|and|but|also|now|quick question|quick q|"
            "thanks|excuse me|by the way|btw|good morning|ugh|hey there|alright|then|dear|sorry to bother you|q|quick|"
            "again|like|kindly|actually|maybe|say|here is one|my question is|question"
        ),
        "polite request": (
            "can you please|could you please|would you please|can you|could you|would you|will you|can u|could u|"
            "would you mind|can someone|could someone|can anyone|can anybody|i want you to|"
            "i would like you to|i need you to|please can you|"
            "please could you|may i ask you to|you should|your task is to|be so kind as to"
        ),
        "asks whether one knows": (
            "do you know|do u know|does anyone know|does anybody know|do we know|would you happen to know|"
            "do you happen to know|do you remember|do you recall|any idea|any clue|anyone know|i was wondering|"
            "i wonder|i want to know|i need to know|i would like to know|i am trying to find out|i am curious|"
            "i forgot|i can not recall|i can not remember|let me know|remind me|may i know|want to know|who knows|"
            "can i know|i am wondering|would you know|tell us|have you any idea|you know|curious"
        ),
        "tell me": "tell me|give me|show me|get me|find me|send me|read me|look up|find out|fetch me|i need|i want|"
        "i would like|can i get|could i have|can i have|could i get|do you have|just give me|pull up|i am looking for|"
        "bring up|what about|how about|provide me with|provide|share|list me",
    }.items()
    for lead in leads.split("|")
}
_LONGEST_LEAD: Final = max(len(lead.split()) for lead in _LEADS)


def words_of(query: str) -> list[str]:
    """Return the query's lower-case words with contractions and chat spellings written out.

    What stands in quotation marks (a title, a word asked about) becomes one word, `quoted`: it is spoken of, and
    its own words ask for nothing.

    Example:
        >>> words_of("whats Bob's e-mail?")
        ['what', 'is', "bob's", 'e-mail', '?']
    """
    out: list[str] = []
    for token in _TOKEN.findall(_QUOTED.sub(" quoted ", query.replace("’", "'")).lower()):
        written_out = CONTRACTIONS.get(token)
        if written_out is None:
            out.append(token)
        else:
            out.extend(written_out.split())
    return out


def without_marks(words: list[str]) -> list[str]:
    """Return the words alone."""
    return [word for word in words if word not in "?!:"]


def _strip_leads(words: list[str]) -> tuple[list[str], set[str]]:
    """Split the request from what only leads up to it; return the request and the kinds of lead met."""
    start, met = 0, set()
    while start < len(words) - 1:
        for size in range(min(_LONGEST_LEAD, len(words) - start - 1), 0, -1):
            name = _LEADS.get(" ".join(words[start : start + size]))
            if name is not None:
                met.add(name)
                start += size
                break
        else:
            break
    met.discard("")
    return words[start:], met


def _asked_last(query: str) -> list[str]:
    """Return the request of a query that first sets a scene ("I love that film. Who directed it?"), or nothing.

    It is the last sentence that asks, or the last one; or what follows "... I need to know".
    """
    sentences = _SENTENCE_END.split(_QUOTED.sub(" quoted ", query))
    if len(sentences) > 1:
        asking = [sentence for sentence in sentences[1:] if sentence.rstrip().endswith("?")]
        words = words_of((asking or sentences)[-1])
        return _strip_leads(words)[0] if words else []
    words = words_of(query)
    for start, word in enumerate(words):
        if (
            start > 2
            and word in QUESTION_WORDS
            and any(
                " ".join(words[start - size : start]) in _LEADS
                for size in range(2, min(_LONGEST_LEAD, start) + 1)
            )
        ):
            return words[start:]
    return []


class Request(NamedTuple):
    """The parts of a query, all in lower case but `text`.

    Attributes:
        text: the query without surrounding space.
        words: all of it.
        core: the words of the request, without what leads up to it ("could you please").
        leads: the kinds of lead met.
        asked: of a query that sets a scene first, what it asks in the end; else empty.
    """

    text: str
    words: list[str]
    core: list[str]
    leads: set[str]
    asked: list[str]


def read_request(query: str) -> Request | None:
    """Return the parts of a query, or None where it holds no word.

    Of a text longer than 2,000 characters only the beginning and the end are read.
    """
    text = query.strip()
    if len(text) > _LONGEST_READ:
        text = f"{text[: _LONGEST_READ * 3 // 4]} {text[-_LONGEST_READ // 4 :]}"
    words = words_of(text)
    if not words:
        return None
    core, leads = _strip_leads(words)
    return Request(text, words, core, leads, _asked_last(text))

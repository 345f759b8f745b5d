"""The question inside a polite one: "could you tell me Ada's phone number, please?"."""

import re

__all__ = ["unframed"]

_OPENING = re.compile(r"(?:(?:hey|hi|hello|okay|ok|so|and|well|sorry|please)\b[\s,]*)+", re.IGNORECASE)
_FRAME = re.compile(
    r"""(?: (?:do|would|will) \s you
          | (?:can|could|may|might) \s (?:you|u|i|we)
          | (?:i|we) (?:['’]d|\swould)?
        )
        (?:\s (?:please|happen\sto|still|also|perhaps|maybe|by\sany\schance) )*
        \s (?: know | recall | remember | wonder | say | have | get | ask
            | find\sout | find(?!\s(?:me|us|out)) | look\sup
            | (?:tell|give|show|remind|find) \s (?:me|us) (?:\s (?:of|about))?
            | (?:need|want) (?:\s to \s (?:know|have|ask))?
            | like \s to \s (?:know|have|ask)
            ) (?=\s)
      | (?:tell|give|show|remind) \s (?:me|us) (?:\s (?:of|about))?
      | gimme
      | i (?:['’]ve|\shave)? \s (?:forgot(?:ten)? | forget | (?:do\snot|don['’]?t|can\s?not|can['’]?t) \s remember)
      | any \s idea
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ASKING = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|whether|if)(?:'s|’s)?\b", re.IGNORECASE
)
_OWNED = re.compile(r"['’]s?\s|\w\ws\s\w|\b(?:of|for)\s|\b(?:my|our)\s", re.IGNORECASE)
_CLIPPED = re.compile(r"\b(what|who|where|when|how)s\b", re.IGNORECASE)
_IDIOM = re.compile(r"(?<=\bdo) for (?:a|his|her|their|my|your) living\b", re.IGNORECASE)
"""After "do" it says no more than that; nothing lives anywhere."""
_CALLED = re.compile(
    r"^what(?:['’]?s| is| are) (?P<whom>(?:the|my|our|his|her|their|\S+['’]s) [a-z -]+?) (?:called|named)[\s?]*$",
    re.IGNORECASE,
)
"""What somebody is called is the name."""
_CONTRACTED = re.compile(
    r"(?:(?<=\s)|^)(?P<verb>[Dd]o|[Dd]oes|[Dd]id|[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Hh]as|[Hh]ave|[Cc]a|[Cc]ould|[Ww]o|[Ww]ould|[Ss]hould)n['’]t\b"
)
_WHOLE = {"ca": "can", "Ca": "Can", "wo": "will", "Wo": "Will"}
_CLOSING = re.compile(r"[\s,]*(?:please|thanks|thank you|by any chance)?[\s.?!]*$", re.IGNORECASE)


def unframed(question: str) -> str:
    """Return what a question to somebody who knows asks for, as a question of its own; others as they are.

    "Do for a living" comes back as "do".

    >>> unframed("Do you know where Ada lives?")
    'where Ada lives?'
    >>> unframed("Could you give me the phone number of Ada, please?")
    'what is the phone number of Ada?'
    >>> unframed("Do you know Ada?")
    'Do you know Ada?'
    """
    question = _CONTRACTED.sub(lambda match: f"{_WHOLE.get(match['verb'], match['verb'])} not", question)
    question = _CALLED.sub(r"what is the name of \g<whom>?", question)
    text = _IDIOM.sub("", _CLIPPED.sub(r"\1's", " ".join(question.split())))
    start = opening.end() if (opening := _OPENING.match(text)) else 0
    frame = _FRAME.match(text, start)
    if frame is None or not text[frame.end() : frame.end() + 1].isspace():
        return text
    inner = text[frame.end() :].strip()
    asked = f"{inner[: closing.start()]}?" if (closing := _CLOSING.search(inner)) else inner
    if _ASKING.match(asked):
        return asked
    return f"what is {asked}" if _OWNED.search(asked) else text

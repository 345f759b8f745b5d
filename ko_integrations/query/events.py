"""A subject's own predicate as a time: "what was the tumour size *at diagnosis*"."""

import re
from collections.abc import Sequence
from datetime import timedelta

from ko_integrations.protocols import FactReader
from ko_integrations.query.lexicon import Lexicon
from ko_integrations.query.linking import Mention
from ko_integrations.query.temporal import TemporalOperator
from ko_integrations.query.words import words_of
from ko_integrations.times import Moment

__all__ = ["at_event"]

_LONGEST = 1_000  # characters; a pasted text asks for no single moment

# Of the past only: "her number at work" is a number that she has.
_AT = re.compile(
    r"\b(?:was|were|did|had)\b.*"
    r"(?P<span>\b(?:at|upon)\s+(?:the\s+time\s+of\s+)?(?P<event>[^\W\d_][\w -]*?))\s*[?.!]*\s*$",
    re.IGNORECASE | re.DOTALL,
)


def at_event(
    question: str,
    mentions: Sequence[Mention],
    reader: FactReader,
    lexicon: Lexicon,
    known_at: Moment | None = None,
) -> TemporalOperator | None:
    """Return the moment since which a fact of the first subject holds that the question names as a time.

    Of several versions the first counts: what is said to have been at diagnosis was at the first one.

    Source: main paper 4.2.9.
    """
    match = _AT.search(question) if mentions and len(question) <= _LONGEST else None
    if match is None:
        return None
    named = tuple(word.key for word in words_of(match["event"]) if word.is_word)
    subject = mentions[0].subject
    for predicate in reader.predicates(subject):
        if named in lexicon.profile(predicate, subject).phrases:
            chain = reader.history(subject, predicate, known_at=known_at)
            if chain:
                start = chain[0].valid_from
                end = start + timedelta(microseconds=1)
                return TemporalOperator("as_of", start=start, end=end, spans=(match.span("span"),))
    return None

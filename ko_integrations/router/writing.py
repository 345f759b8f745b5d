"""The same query as others would write it: case and final marks must not decide where it goes."""

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from ko_integrations.router.request import AUXILIARIES, QUESTION_WORDS, words_of

__all__ = ["Rows", "hurried", "written_otherwise"]


class Rows(NamedTuple):
    """Labelled queries to fit to, and how much each counts."""

    texts: list[str]
    labels: list[str]
    weights: list[float]


def hurried(text: str) -> str:
    """Return the text in lower case without its final mark, as search logs and chats have it.

    Example:
        >>> hurried("Who created Python?")
        'who created python'
    """
    return text.lower().rstrip("?.! ") or text


def _tidy(text: str, first: str) -> str:
    """Return the text with a capital at its start and a mark at its end; `first` is its first word."""
    begun = text[:1].upper() + text[1:]
    if begun.endswith(("?", ".", "!")):
        return begun
    return begun + ("?" if first in AUXILIARIES or first in QUESTION_WORDS else ".")


def written_otherwise(
    texts: Sequence[str], labels: Sequence[str], *, share: float, yes_no_share: float, one_in: int = 1
) -> Rows:
    """Return the queries, each followed by its other writings, which together count `share` of it.

    To save time only one query in `one_in`, chosen by its letters, may be followed by them; they count as much more.

    Yes-no questions have a share of their own: without case and mark, "is X Y" is a look-up in a search log far more
    often than a motion to debate, so that the writing does say something there.
    """
    rows = Rows([], [], [])
    for text, label in zip(texts, labels, strict=True):
        first = next(iter(words_of(text)), "")
        part = one_in * (yes_no_share if first in AUXILIARIES else share)
        if crc32(hurried(text).encode()) % one_in:
            part = 0.0
        others = {hurried(text), _tidy(text, first)} - {text} if part else set()
        for variant in (text, *sorted(others)):
            rows.texts.append(variant)
            rows.labels.append(label)
            rows.weights.append(1.0 if variant == text else part / len(others))
    return rows

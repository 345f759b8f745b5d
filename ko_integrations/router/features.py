"""What the default router sees of a query: named cues and word runs, letter runs, and words in context.

Cues and runs of words have names a person can read. Letter runs and words in context are many and only hashed: no
vocabulary is kept, so none can be read from a saved router.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final, NamedTuple
from zlib import crc32

import scipy.sparse as sp

from ko_integrations.router.cues import cues_of
from ko_integrations.router.request import Request, read_request

__all__ = ["COLUMNS", "Seen", "column_of", "context_of", "feature_rows", "see"]

COLUMNS: Final = 1 << 20
"""Columns that features are hashed into. In fewer they collide, which costs a few tenths of a point."""

_LAST: Final = COLUMNS - 1
# What the pieces of one kind weigh together, however many: a long query has more of them and says no more.
_WORD_RUNS: Final = 1.5
_LETTER_RUNS: Final = 1.5
_WORDS_IN_CONTEXT: Final = 3.0
_ODD: Final = 2_654_435_761


def column_of(name: str) -> int:
    """Return the column of a named feature."""
    return crc32(name.encode()) & _LAST


class Seen(NamedTuple):
    """What is seen of a query.

    Attributes:
        named: cues and word runs by name; what is absent is absent from the mapping.
        said: the cues of what it says, not of how it is written.
        words: all of it.
    """

    named: dict[str, float]
    said: list[str]
    words: list[str]


def see(query: str) -> Seen:
    """Return what is seen of a query; of one without a word that is nothing.

    Example:
        >>> see("Who created Python?").named["opens with 'who'"]
        1.0
    """
    request = read_request(query)
    if request is None:
        return Seen({}, [], [])
    said, written = cues_of(request)
    return Seen(said | written | _word_runs(request), list(said), request.words)


def feature_rows(queries: Sequence[str], *, in_context: bool = True) -> sp.csr_matrix:
    """Return the features of each query: a sparse matrix of shape (len(queries), COLUMNS).

    Words in context are half of all features; `in_context=False` leaves them out.
    """
    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    for query in queries:
        seen = see(query)
        columns.extend(map(column_of, seen.named))
        values.extend(seen.named.values())
        letters = [column for word in seen.words for column in _letter_runs(word)]
        context = _words_in_context(set(seen.words), seen.said) if in_context else []
        for hashed, weight in ((letters, _LETTER_RUNS), (context, _WORDS_IN_CONTEXT)):
            columns.extend(hashed)
            values.extend([_each(weight, len(hashed))] * len(hashed))
        ends.append(len(columns))
    rows = sp.csr_matrix((values, columns, ends), shape=(len(queries), COLUMNS))
    rows.sum_duplicates()
    return rows


def context_of(seen: Seen) -> dict[str, tuple[list[int], float]]:
    """Return, for each cue of what a query says, the columns of its words beside that cue and the value of each."""
    words = set(seen.words)
    value = _each(_WORDS_IN_CONTEXT, len(words) * len(seen.said))
    return {cue: (_words_in_context(words, [cue]), value) for cue in seen.said}


def _each(weight: float, count: int) -> float:
    return float(weight / max(1, count) ** 0.5)


def _word_runs(request: Request) -> dict[str, float]:
    """Return runs of one to three words, those that open and close the request marked."""
    words = request.words
    runs = list(words)
    for size in (2, 3):
        runs.extend(" ".join(words[i : i + size]) for i in range(len(words) - size + 1))
    for opening in (request.core, request.asked):
        runs.extend("^ " + " ".join(opening[:size]) for size in range(1, min(3, len(opening)) + 1))
    runs.append(request.core[-1] + " $")
    return dict.fromkeys((f"word {run}" for run in runs), _each(_WORD_RUNS, len(runs)))


@lru_cache(maxsize=1 << 15)
def _letter_runs(word: str) -> tuple[int, ...]:
    """Return the columns of a word's runs of three to five letters: they know a misspelt or inflected word again."""
    padded = f" {word} "
    return tuple(
        column_of(f"letters {padded[start : start + size]}")
        for size in (3, 4, 5)
        for start in range(len(padded) - size + 1)
    )


def _words_in_context(words: Collection[str], cues: Collection[str]) -> list[int]:
    """Return the columns of each word beside each cue: "story" says one thing after "write", another after "who"."""
    beside = [crc32(cue.encode()) * _ODD for cue in cues]
    hashed = [crc32(word.encode()) for word in words]
    return [(cue + word) >> 8 & _LAST for cue in beside for word in hashed]

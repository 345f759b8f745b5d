"""What a query names in the store: the router's one look beyond the text."""

from collections.abc import Callable
from itertools import islice
from typing import Final, Protocol

from ko_integrations.errors import UnknownPredicateError
from ko_integrations.router.datasets import Link
from ko_integrations.router.request import without_marks, words_of
from ko_integrations.vocabulary import Vocabulary

__all__ = ["StoreLinker", "SubjectLinker"]

SubjectLinker = Callable[[str], Link]
"""From a query to `"slot"` (it names a stored subject and one of its predicates), `"subject"` or `"none"`."""

_LONGEST_NAME: Final = 4
_MOST_WORDS: Final = 64


class _Subjects(Protocol):
    """The part of `FactReader` a linker needs."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    def find_subjects(self, names: list[str]) -> dict[str, str]: ...

    def predicates(self, subject: str) -> list[str]: ...


class StoreLinker:
    """Link by exact names: runs of up to four words that are subjects, then predicates and aliases of those.

    The cost grows with the query, not with the store: one look-up of all its runs, and the predicates of at most
    three subjects. "my", "I" and "me" stand for the subject `user`, as in the compiler.

    Example:
        >>> Router(subject_linker=StoreLinker(store.namespace("acme", "alice")))  # doctest: +SKIP
    """

    def __init__(self, reader: _Subjects) -> None:
        self.reader = reader

    def __call__(self, query: str) -> Link:
        """Return what `query` names."""
        words = without_marks(words_of(query))[:_MOST_WORDS]
        plain = [word.removesuffix("'s").removesuffix("'") for word in words]
        runs = _runs(plain)
        names = sorted(runs | ({"user"} if {"my", "i", "me", "mine"} & set(plain) else set()))
        subjects = list(dict.fromkeys(self.reader.find_subjects(names).values())) if names else []
        if not subjects:
            return "none"
        asked = {self._predicate(run) for run in runs}
        for subject in islice(subjects, 3):
            if asked.intersection(self.reader.predicates(subject)):
                return "slot"
        return "subject"

    def _predicate(self, name: str) -> str:
        try:
            return self.reader.vocabulary.canonical(name)
        except UnknownPredicateError:
            return ""


def _runs(words: list[str]) -> set[str]:
    return {
        " ".join(words[start : start + size])
        for size in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - size + 1)
    }

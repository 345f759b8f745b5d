"""Every error that `ko_integrations` raises on purpose.

```
KOError
├── InvalidInputError (ValueError)      a field and the reason; nothing was stored
│   ├── UnknownPredicateError           strict vocabulary
│   ├── SetValuedError                  a single value was asked of a set-valued predicate
│   └── BatchError                      some rows of a batch are bad; none was stored
├── StoreClosedError                    use after close()
├── ForkedStoreError                    use of a handle in a forked child
├── MissingExtraError (ImportError)     names the extra to install
├── LogError                            the version log
│   ├── NotAStoreError                  the folder or database holds something else, or nothing
│   ├── LogCorruptError
│   ├── LogVersionError                 written by a newer release
│   └── LogUnavailableError             locked for too long, disk full, server gone
├── SemanticIndexError                  the semantic index
│   ├── IndexUnavailableError           server gone, files unreadable
│   │   └── IndexDamagedError           its files are torn, as a kill leaves them
│   ├── IndexOwnedError                 another process owns this Chroma folder
│   ├── IndexMismatchError              wrong space, dimension or model
│   └── IndexBehind                     too many writes wait to be indexed
├── EmbedderError                       an embedder raised, or returned the wrong shape
└── ModelError                          a language model gave nothing usable
```
"""

from collections.abc import Sequence
from typing import Any, Literal

__all__ = [
    "BatchError",
    "EmbedderError",
    "ForkedStoreError",
    "IndexBehind",
    "IndexDamagedError",
    "IndexMismatchError",
    "IndexOwnedError",
    "IndexUnavailableError",
    "InvalidInputError",
    "KOError",
    "LogCorruptError",
    "LogError",
    "LogUnavailableError",
    "LogVersionError",
    "MissingExtraError",
    "ModelError",
    "NotAStoreError",
    "SemanticIndexError",
    "SetValuedError",
    "StoreClosedError",
    "UnknownPredicateError",
]


Remedy = Literal["encode", "collection", "index"]
"""What mends a mismatch: encode everything again, or open the store with a collection or an index of its own."""

_IN_PYTHON: dict[Remedy, str] = {
    "encode": "open it with the embedder it was filled with, or call rebuild_index(embedder=...) to encode "
    "everything again",
    "collection": "open this one with a collection of its own, collection=...",
    "index": "open this one with an index of its own, index=...",
}


class KOError(Exception):
    """The root of every error this package raises on purpose. It can be pickled, and so reaches other processes."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Not by way of the constructors, which take other things than the message that is kept in `args`.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[KOError], args: tuple[Any, ...], state: dict[str, Any]) -> KOError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class InvalidInputError(KOError, ValueError):
    """A value the caller passed cannot be used.

    Attributes:
        field: the parameter at fault, for example `"valid_to"`.
        reason: what is wrong with it.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class UnknownPredicateError(InvalidInputError):
    """The vocabulary is strict and does not know this predicate."""


class SetValuedError(InvalidInputError):
    """One value was asked of a predicate that holds a set; `read_values` gives them all."""


class BatchError(InvalidInputError):
    """Rows of a batch are bad, and so nothing of it was stored.

    Attributes:
        errors: pairs of row number (from 0) and the error of that row.
    """

    def __init__(self, errors: Sequence[tuple[int, InvalidInputError]]) -> None:
        row, first = errors[0]
        super().__init__(f"facts[{row}].{first.field}", f"{first.reason} ({len(errors)} bad row(s))")
        self.errors = tuple(errors)


class StoreClosedError(KOError):
    """The store was closed."""


class ForkedStoreError(KOError):
    """The handle was opened in another process; open a new one after the fork."""


class MissingExtraError(KOError, ImportError):
    """An optional dependency is not installed; the message names the extra."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'ko_integrations[{extra}]'")
        self.extra = extra


class LogError(KOError):
    """The version log failed."""


class NotAStoreError(LogError):
    """The folder or database is not a store of ours and was left alone; or nothing is there, and a store has to be."""


class LogCorruptError(LogError):
    """The log file is damaged; restore it from a back-up or an export."""


class LogVersionError(LogError):
    """The log was written by a newer release of this package."""


class LogUnavailableError(LogError):
    """The log could not be read or written now; nothing was stored, a retry may succeed."""


class SemanticIndexError(KOError):
    """The semantic index failed; the log is untouched."""


class IndexUnavailableError(SemanticIndexError):
    """The index cannot be reached or read; `rebuild_index()` makes a new one from the log."""


class IndexDamagedError(IndexUnavailableError):
    """Files of an embedded index are missing or torn. A store makes them anew from its log when it opens them."""


class IndexOwnedError(SemanticIndexError):
    """Another process owns this Chroma folder."""


class IndexMismatchError(SemanticIndexError):
    """The index or the stored vectors were made with another space, dimension or model, or are another store's.

    Attributes:
        problem: what does not agree with what.
        remedy: what mends it, None if nothing does. The message says it in Python's terms, `ko` in its own.
    """

    def __init__(self, problem: str, remedy: Remedy | None = None) -> None:
        super().__init__(problem if remedy is None else f"{problem}: {_IN_PYTHON[remedy]}")
        self.problem = problem
        self.remedy = remedy


class IndexBehind(SemanticIndexError):  # noqa: N818 - a state to act on, named so in the design
    """More writes wait to be indexed than a read may drain without asking.

    Attributes:
        pending: slots that wait.
    """

    def __init__(self, pending: int) -> None:
        super().__init__(f"{pending} slots wait to be indexed; read with wait=True to index them first")
        self.pending = pending


class EmbedderError(KOError):
    """The embedder raised or returned vectors of the wrong shape; facts are kept, indexing is retried."""


class ModelError(KOError):
    """A language model raised, or gave nothing usable after one repair."""

"""The statement that a baseline stores, in the shape that hits have everywhere."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import MAX_VALUE_BYTES, check_text
from ko_integrations.records import unstored_object
from ko_integrations.types import Fact, KnowledgeObject

__all__ = ["Statements", "as_document", "as_facts"]


def as_facts(keys: Sequence[str], values: Sequence[object] | None = None) -> list[Fact]:
    """Return statements as facts: each key text alone, or with its value behind it.

    Raises:
        InvalidInputError: different counts, or a blank text.
    """
    for key in keys:
        check_text(key, "keys", limit=MAX_VALUE_BYTES)
    if values is None:
        return [Fact(subject="document", predicate="text", object=key, text=key) for key in keys]
    if len(keys) != len(values):
        raise InvalidInputError("values", f"expected {len(keys)}, one a key, got {len(values)}")
    pairs = zip(keys, values, strict=True)
    return [Fact(subject=key, predicate="value", object=value, text=f"{key} {value}") for key, value in pairs]


def as_document(fact: Fact, sequence: int) -> KnowledgeObject:
    """Return the knowledge object that a hit on this statement carries.

    Two statements about one slot share its id: it is the slot they are about, not what the baseline files
    them under.

    Raises:
        InvalidInputError: a blank subject or predicate, or no value.
    """
    return unstored_object(fact, sequence, datetime.now(UTC))


class Statements(ABC):
    """What a baseline is told: statements, one after the other, none of which replaces another."""

    def add(self, texts: Sequence[str]) -> None:
        """Append statements as they were said."""
        self.update_many(as_facts(texts))

    def write(self, keys: Sequence[str], values: Sequence[object]) -> None:
        """Append pairs of a key text and its value, each as "key value".

        Raises:
            InvalidInputError: different counts, or a blank key.
        """
        self.update_many(as_facts(keys, values))

    def update(self, subject: str, predicate: str, object: object) -> None:
        """Append one fact as a statement; an older one about the same slot stays."""
        self.update_many([Fact(subject=subject, predicate=predicate, object=object)])

    @abstractmethod
    def update_many(self, facts: Iterable[Fact]) -> None:
        """Append facts as statements, in order.

        Raises:
            InvalidInputError: a blank subject or predicate, or no value; nothing was appended.
        """

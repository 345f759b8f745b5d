"""The statement that a baseline stores, in the shape that hits have everywhere."""

from collections.abc import Sequence
from datetime import UTC, datetime

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import MAX_VALUE_BYTES, check_text, normalize_name, normalize_predicate, slot_id
from ko_integrations.types import Fact, KnowledgeObject, Provenance

__all__ = ["as_document", "as_facts"]


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
        InvalidInputError: a blank subject or predicate.
    """
    check_text(fact.subject, "subject")
    check_text(fact.predicate, "predicate")
    now = datetime.now(UTC)
    return KnowledgeObject(
        id=slot_id((), normalize_name(fact.subject), normalize_predicate(fact.predicate)).hex(),
        namespace=(),
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        valid_from=now,
        text=fact.text or f"{fact.subject} {fact.predicate.replace('_', ' ')} {fact.object}",
        provenance=Provenance(
            source=fact.source,
            recorded_at=now,
            confidence=fact.confidence,
            version=1,
            previous=None,
            sequence=sequence,
            metadata=fact.metadata,
        ),
    )

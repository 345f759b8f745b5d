"""From rows of the log to the objects of the public API."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from ko_integrations.identity import (
    canonical_value,
    check_json_text,
    check_text,
    decode_value,
    encode_value,
    normalize_name,
    normalize_predicate,
    slot_id,
)
from ko_integrations.log.contract import Applied, Assertion, Event, Version
from ko_integrations.log.fold import fold
from ko_integrations.times import from_micros
from ko_integrations.types import Change, Confirmation, Fact, KnowledgeObject, Provenance, WriteResult

__all__ = [
    "decode_metadata",
    "encode_metadata",
    "sentence",
    "to_change",
    "to_knowledge_object",
    "to_knowledge_objects",
    "to_write_result",
    "unstored_object",
    "version_text",
]

_T = TypeVar("_T")
_KO_FIELDS = set(KnowledgeObject.model_fields)
_PROVENANCE_FIELDS = set(Provenance.model_fields)
_RESULT_FIELDS = set(WriteResult.model_fields)


def sentence(subject: str, predicate: str, kind: str, value: str) -> str:
    """Return what the semantic index encodes: subject, predicate and object as one line (main paper, eq. 6)."""
    stated = value if kind in "sifbtd" else str(decode_value(kind, value)) if kind == "q" else value
    return f"{subject} {predicate.replace('_', ' ')} {stated}"


def version_text(version: Version) -> str:
    """Return the text of a version: the caller's, else its sentence."""
    first = version.first
    return first.text if first.text is not None else sentence(
        first.subject, first.predicate, first.kind, first.value or ""
    )  # fmt: skip


def to_knowledge_object(version: Version) -> KnowledgeObject:
    """Return a version of the log as the public API gives it."""
    first = version.first
    slot = first.address.slot.hex()
    assert first.value is not None  # a version always has a value; retractions end versions
    provenance = _built(Provenance, _PROVENANCE_FIELDS, {
        "source": first.source,
        "recorded_at": from_micros(first.recorded_at),
        "confidence": first.confidence,
        "version": version.number,
        "previous": None if version.previous is None else f"{slot}@{version.previous}",
        "sequence": first.sequence,
        "metadata": decode_metadata(first.metadata),
        "confirmations": tuple(map(_to_confirmation, version.confirmations)) if version.confirmations else (),
    })  # fmt: skip
    return _built(KnowledgeObject, _KO_FIELDS, {
        "id": slot,
        "namespace": first.address.namespace,
        "subject": first.subject,
        "predicate": first.predicate,
        "object": decode_value(first.kind, first.value),
        "provenance": provenance,
        "valid_from": from_micros(version.valid_from),
        "valid_to": None if version.valid_to is None else from_micros(version.valid_to),
        "text": version_text(version),
    })  # fmt: skip


def unstored_object(fact: Fact, sequence: int, now: datetime) -> KnowledgeObject:
    """Return a fact as an object that no store holds, the first version of its slot; `sequence` counts its writes.

    Raises:
        InvalidInputError: a blank subject or predicate, or no value.
    """
    check_text(fact.subject, "subject")
    check_text(fact.predicate, "predicate")
    encode_value(fact.object)
    text = fact.text or f"{fact.subject} {fact.predicate.replace('_', ' ')} {fact.object}"
    return KnowledgeObject(
        id=slot_id((), normalize_name(fact.subject), normalize_predicate(fact.predicate)).hex(),
        namespace=(),
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        valid_from=now,
        text=text,
        provenance=Provenance(
            source=fact.source, recorded_at=now, confidence=fact.confidence, version=1, previous=None,
            sequence=sequence, metadata=fact.metadata,
        ),
    )  # fmt: skip


def to_write_result(applied: Applied) -> WriteResult:
    """Return what an append did as the public API gives it."""
    return _built(WriteResult, _RESULT_FIELDS, {
        "outcome": applied.outcome,
        "ko": None if applied.version is None else to_knowledge_object(applied.version),
        "previous": None if applied.previous is None else to_knowledge_object(applied.previous),
        "error": None,
    })  # fmt: skip


def encode_metadata(metadata: Mapping[str, Any] | None) -> str | None:
    """Return metadata as JSON text.

    Raises:
        InvalidInputError: not a mapping of strings to JSON, or with text that cannot be stored.
    """
    from ko_integrations.errors import InvalidInputError

    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        raise InvalidInputError("metadata", f"expected a mapping, got {type(metadata).__name__}")
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
    except (RecursionError, TypeError, ValueError) as error:
        raise InvalidInputError("metadata", f"not JSON: {error}") from error
    if "\\u0000" in text or not text.isascii():
        check_json_text(dict(metadata))
    return check_text(text, "metadata", limit=1_000_000)


def decode_metadata(text: str | None) -> Mapping[str, Any] | None:
    """Return the metadata that `encode_metadata` wrote."""
    return None if text is None else json.loads(text)


def _to_confirmation(assertion: Assertion) -> Confirmation:
    return Confirmation.model_construct(
        source=assertion.source,
        recorded_at=from_micros(assertion.recorded_at),
        confidence=assertion.confidence,
        valid_from=from_micros(assertion.valid_from),
        metadata=decode_metadata(assertion.metadata),
    )


def _built(cls: type[_T], names: set[str], fields: dict[str, Any]) -> _T:
    """Make a frozen model from fields that are known to be valid; validation would triple an exact read."""
    model = cls.__new__(cls)
    object.__setattr__(model, "__dict__", fields)
    object.__setattr__(model, "__pydantic_fields_set__", names)
    object.__setattr__(model, "__pydantic_extra__", None)
    object.__setattr__(model, "__pydantic_private__", None)
    return model


def to_knowledge_objects(versions: Sequence[Version]) -> list[KnowledgeObject]:
    """Return versions as the public API gives them."""
    return [to_knowledge_object(version) for version in versions]


def canonical_assertion(assertion: Assertion) -> bytes:
    """Return the canonical form of what an assertion states, for comparing."""
    return canonical_value(decode_value(assertion.kind, assertion.value or ""))


def to_change(event: Event, chains: Mapping[bytes, Sequence[Assertion]]) -> Change:
    """Return a change as the API gives it, with the version that the asserted statement supports now."""
    ko = None
    if event.kind == "asserted":
        for version in (version for slot in event.slots for version in fold(chains.get(slot, []))):
            if event.sequence in (version.first.sequence, *(each.sequence for each in version.confirmations)):
                ko = to_knowledge_object(version)
    return Change(
        sequence=event.sequence,
        kind=event.kind,
        namespace=event.namespace,
        recorded_at=from_micros(event.recorded_at),
        ids=tuple(slot.hex() for slot in event.slots),
        ko=ko,
    )

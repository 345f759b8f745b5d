"""A framework's documents, nodes and items in the store: under the caller's own ids, and back.

Ids, in this order: the id that the caller gave; else the slot of the `subject` and `predicate` in the
metadata, so that a second document about the same fact supersedes the first; else a hash of the content,
so that the same document twice is one. A document under an id of its own is a verbatim fact (key framing)
whose object is its text and metadata: a change of either is a new version, and the id round-trips.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import slot_id
from ko_integrations.times import parse_moment
from ko_integrations.types import Fact, KnowledgeObject, WriteResult

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = [
    "DOCUMENT",
    "INTERNAL",
    "StoredDocument",
    "content_id",
    "document_history",
    "document_where",
    "end_fact",
    "fact_history",
    "get_documents",
    "key_id",
    "latest_metadata",
    "put_documents",
    "remove_documents",
    "stated_fact",
    "to_document",
]

INTERNAL = "ko:"
"""Predicates that start so hold documents, nodes and items under keys of their own, not facts of a subject."""

DOCUMENT = "ko:document"
"""The predicate of a document that is stored under an id of its own."""

_FACT_FIELDS = frozenset({"id", "subject", "predicate", "object", "source", "confidence"})


@dataclass(frozen=True)
class StoredDocument:
    """A text with metadata, as a framework stores it.

    Attributes:
        text: what is embedded and given back.
        metadata: the caller's own, JSON; nothing is added to it.
        id: the caller's id, or None to derive one; always set on what comes out of the store.
        vector: saves encoding the text.
        ko: the version it was read from; None on the way in.
    """

    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    vector: Sequence[float] | None = None
    ko: KnowledgeObject | None = None


def content_id(text: str, metadata: Mapping[str, Any]) -> str:
    """Return the id of a document that brings none: SHA-256 of text and metadata, 64 hex digits.

    Raises:
        InvalidInputError: the metadata is not JSON.
    """
    try:
        framed = json.dumps([text, dict(metadata)], sort_keys=True, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError("metadata", f"not JSON: {error}") from error
    return sha256(framed.encode()).hexdigest()


def key_id(store: "KnowledgeStore", key: str, predicate: str) -> str:
    """Return the slot id of a verbatim fact of this namespace, as `get_many` takes it."""
    return slot_id(store.namespace_path, key, predicate, verbatim=True).hex()


def put_documents(store: "KnowledgeStore", documents: Iterable[StoredDocument]) -> list[WriteResult]:
    """Store documents, all or none; `to_document(result.ko).id` is each one's id.

    Raises:
        InvalidInputError: a text, id or metadata that cannot be stored.
    """
    rows = list(documents)
    known = _facts_by_id(store, [row.id for row in rows if row.id is not None])
    return store.update_many([_to_fact(row, known) for row in rows])


def _facts_by_id(store: "KnowledgeStore", ids: Sequence[str]) -> dict[str, KnowledgeObject]:
    """Return the plain facts whose slot id a caller uses as a document id."""
    slots = [id for id in dict.fromkeys(ids) if _is_slot_id(id)]
    return {ko.id: ko for ko in store.get_many(slots) if ko is not None} if slots else {}


def _is_slot_id(id: str) -> bool:
    return len(id) == 64 and all(digit in "0123456789abcdef" for digit in id)


def _to_fact(document: StoredDocument, known: Mapping[str, KnowledgeObject]) -> Fact:
    metadata = dict(document.metadata)
    slot = known.get(document.id or "")
    if slot is not None and slot.predicate != DOCUMENT:
        named = {"subject": slot.subject, "predicate": slot.predicate}
        stated = stated_fact(
            document.text, {**metadata, **{key: metadata.get(key) or named[key] for key in named}}
        )
    else:
        stated = stated_fact(document.text, metadata) if document.id is None else None
    if stated is None:
        return _document_fact(document, metadata)
    source = _typed(metadata.get("source"), str)
    return stated.model_copy(update={"source": source, "metadata": metadata, "vector": document.vector})


def stated_fact(text: str, metadata: Mapping[str, Any]) -> Fact | None:
    """Return the fact that a text states by its metadata: `subject` and `predicate`, or None without these.

    The value is `object`, or the text; it holds from `valid_from` to `valid_to`, where they are given.

    Raises:
        InvalidInputError: a time that is none.
    """
    subject, predicate = metadata.get("subject"), metadata.get("predicate")
    if not (_is_name(subject) and _is_name(predicate)):
        return None
    return Fact(
        subject=str(subject),
        predicate=str(predicate),
        object=metadata.get("object", text),
        valid_from=_moment(metadata.get("valid_from"), "valid_from"),
        valid_to=_moment(metadata.get("valid_to"), "valid_to"),
        text=text,
    )


def _document_fact(document: StoredDocument, metadata: dict[str, Any]) -> Fact:
    return Fact(
        subject=document.id if document.id is not None else content_id(document.text, metadata),
        predicate=DOCUMENT,
        object={"text": document.text, "metadata": metadata},
        source=_typed(metadata.get("source"), str),
        metadata=metadata,
        text=document.text,
        vector=document.vector,
        verbatim=True,
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _typed(value: Any, kind: type[str]) -> str | None:
    return value if isinstance(value, kind) and value.strip() else None


def _moment(value: object, name: str) -> datetime | date | None:
    if value is None or isinstance(value, date):
        return value
    return parse_moment(str(value), f"metadata.{name}")


def to_document(ko: KnowledgeObject) -> StoredDocument:
    """Return a version as the document that was stored, or a plain fact as a document about it.

    A plain fact's id is its slot id, its text the sentence that is indexed, and its metadata the caller's
    with `subject` and `predicate`.
    """
    if ko.predicate == DOCUMENT and isinstance(ko.object, dict):
        return StoredDocument(ko.object["text"], ko.object["metadata"], ko.subject, ko=ko)
    metadata = {"subject": ko.subject, "predicate": ko.predicate, **latest_metadata(ko)}
    return StoredDocument(ko.text, metadata, ko.id, ko=ko)


def latest_metadata(ko: KnowledgeObject) -> dict[str, Any]:
    """Return what was last attached to the version; who confirmed it without metadata changed nothing."""
    for confirmation in reversed(ko.provenance.confirmations):
        if confirmation.metadata is not None:
            return dict(confirmation.metadata)
    return dict(ko.provenance.metadata or {})


def get_documents(store: "KnowledgeStore", ids: Sequence[str]) -> list[StoredDocument]:
    """Return the documents that hold under these ids, in the order asked; missing ones are left out."""
    wanted = list(dict.fromkeys(ids))
    return [to_document(ko) for ko in _heads(store, wanted).values()]


def _heads(store: "KnowledgeStore", ids: Sequence[str]) -> dict[str, KnowledgeObject]:
    own = store.get_many([key_id(store, id, DOCUMENT) for id in ids])
    found = {id: ko for id, ko in zip(ids, own, strict=True) if ko is not None}
    facts = _facts_by_id(store, [id for id in ids if id not in found])
    return {id: ko for id in ids if (ko := found.get(id) or facts.get(id)) is not None}


def remove_documents(store: "KnowledgeStore", ids: Sequence[str], *, erase: bool = False) -> int:
    """Retract what holds under these ids, or erase it with its history; return how many there were.

    An id that holds nothing is no error.
    """
    heads = _heads(store, list(dict.fromkeys(ids)))
    if erase:
        for ko in heads.values():
            _erase(store, ko)
        return len(heads)
    with store.batch():
        for ko in heads.values():
            end_fact(store, ko)
    return len(heads)


def end_fact(store: "KnowledgeStore", ko: KnowledgeObject) -> list[KnowledgeObject]:
    """Retract a fact that was read, whatever kind it is; return the versions that ended."""
    return store.retract(ko.subject, ko.predicate, _member(store, ko), verbatim=_is_verbatim(ko))


def fact_history(store: "KnowledgeStore", ko: KnowledgeObject) -> list[KnowledgeObject]:
    """Return every version of a fact that was read, oldest first; of a set that of its member alone."""
    return store.history(ko.subject, ko.predicate, object=_member(store, ko), verbatim=_is_verbatim(ko))


def _erase(store: "KnowledgeStore", ko: KnowledgeObject) -> None:
    store.erase(ko.subject, ko.predicate, _member(store, ko), verbatim=_is_verbatim(ko))


def _is_verbatim(ko: KnowledgeObject) -> bool:
    """Tell whether a fact is addressed by the adapters' own keys, which all have predicates of ours."""
    return ko.predicate.startswith(INTERNAL)


def _member(store: "KnowledgeStore", ko: KnowledgeObject) -> Any:
    """Return the object where it is part of the address (a member of a set), else None."""
    is_set = not _is_verbatim(ko) and store.vocabulary.cardinality(ko.predicate) == "set"
    return ko.object if is_set else None


def document_history(store: "KnowledgeStore", id: str) -> list[StoredDocument]:
    """Return every version of a document, oldest first, `[]` for an unknown id."""
    chain = store.history(id, DOCUMENT, verbatim=True)
    if not chain and (facts := _facts_by_id(store, [id])):
        chain = fact_history(store, facts[id])
    return [to_document(ko) for ko in chain]


def document_where(where: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a filter in which a document's own metadata comes before the fields of its fact.

    `{"source": "a.pdf"}` and `{"id": 1}` mean the caller's metadata, as in any vector store; a plain fact
    without such a key is filtered by its own field.
    """
    if not where:
        return None
    if not isinstance(where, Mapping):
        raise InvalidInputError("filter", f"expected a mapping, got {type(where).__name__}")
    return {"$and": [_document_clause(key, operand) for key, operand in where.items()]}


def _document_clause(key: str, operand: Any) -> dict[str, Any]:
    if key in ("$and", "$or") and isinstance(operand, list | tuple):
        return {key: [document_where(branch) or {} for branch in operand]}
    if key == "$not":
        return {key: document_where(operand)}
    if key not in _FACT_FIELDS:
        return {key: operand}
    own = f"metadata.{key}"
    absent = {"$and": [{own: {"$exists": False}}, {key: operand}]}
    return {"$or": [{"$and": [{own: {"$exists": True}}, {own: operand}]}, absent]}

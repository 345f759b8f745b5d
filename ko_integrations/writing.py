"""What the write operations do: check, place, append, report. Bad input stores nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal

from ko_integrations.errors import BatchError, InvalidInputError
from ko_integrations.handle import Handle
from ko_integrations.identity import (
    MAX_VALUE_BYTES,
    canonical_value,
    check_text,
    encode_value,
    slot_id,
)
from ko_integrations.log.contract import Address, Applied, Entry, Namespace, Scope
from ko_integrations.log.fold import head_at
from ko_integrations.protocols import Compilation, Extraction
from ko_integrations.records import canonical_assertion, encode_metadata, to_knowledge_object, to_write_result
from ko_integrations.rekey import CARRIED
from ko_integrations.times import Moment, from_micros, to_micros
from ko_integrations.types import (
    Fact,
    KnowledgeObject,
    NotUnderstood,
    RowError,
    Value,
    WriteReport,
    WriteResult,
)

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = [
    "compiled",
    "mark",
    "mark_key",
    "retract",
    "write_batch",
    "write_facts",
    "write_text",
]

_CHUNK = 5_000


def write_facts(handle: Handle, namespace: Namespace, facts: Sequence[Fact]) -> list[WriteResult]:
    """Append facts in one transaction; nothing is stored when one of them is bad."""
    entries = [to_entry(handle, namespace, fact) for fact in facts]
    return [to_write_result(applied) for applied in append(handle, namespace, facts, entries)]


def append(
    handle: Handle, namespace: Namespace, facts: Sequence[Fact], entries: list[Entry]
) -> list[Applied]:
    """Append entries made outside the transaction, made again should the names have changed meanwhile."""
    generation = handle.addresser.generation
    with handle.batch():
        handle.addresser.refresh()
        if handle.addresser.generation != generation:
            good, errors = _checked(handle, namespace, facts)
            if errors:
                raise errors[0] if len(facts) == 1 else BatchError(sorted(errors.items()))
            entries = [entry for _, entry in good.values()]
        return append_entries(handle, entries)


def append_entries(handle: Handle, entries: Sequence[Entry]) -> list[Applied]:
    """Append entries in one transaction (or the one that is open), in parts that keep memory bounded."""
    applied: list[Applied] = []
    with handle.batch():
        now = handle.now()
        for start in range(0, len(entries), _CHUNK):
            try:
                applied += handle.log.append(entries[start : start + _CHUNK], now=now)
            except InvalidInputError as error:
                if len(entries) == 1:
                    raise
                raise BatchError(_by_row(error, start)) from error
    handle.wrote(len(entries))
    return applied


def write_batch(
    handle: Handle,
    namespace: Namespace,
    rows: Iterable[Fact | Mapping[str, Any]],
    on_error: Literal["raise", "collect"],
) -> list[WriteResult]:
    """Append the rows of a batch: all of them, or (`collect`) all but the bad ones, which are listed."""
    if on_error not in ("raise", "collect"):
        raise InvalidInputError("on_error", f"expected 'raise' or 'collect', got {on_error!r}")
    if not isinstance(rows, Iterable):
        raise InvalidInputError("facts", f"expected facts, got {type(rows).__name__}")
    good, errors = _checked(handle, namespace, rows)
    stored: list[Applied] = []
    while good and not stored and (on_error == "collect" or not errors):
        facts = [fact for fact, _ in good.values()]
        try:
            stored = append(handle, namespace, facts, [entry for _, entry in good.values()])
        except InvalidInputError as error:  # what only the transaction knows: an end before the record time
            numbers = list(good)
            for row, bad in _by_row(error):
                errors[numbers[row]] = bad
                del good[numbers[row]]
    if errors and on_error == "raise":
        raise BatchError(sorted(errors.items()))
    results = {number: to_write_result(applied) for number, applied in zip(good, stored, strict=True)}
    results |= {number: _refused(number, error) for number, error in errors.items()}
    return [results[number] for number in sorted(results)]


def _checked(
    handle: Handle, namespace: Namespace, rows: Iterable[Fact | Mapping[str, Any]]
) -> tuple[dict[int, tuple[Fact, Entry]], dict[int, InvalidInputError]]:
    """Return the good rows and the errors of the bad ones, by row number."""
    good: dict[int, tuple[Fact, Entry]] = {}
    errors: dict[int, InvalidInputError] = {}
    for number, row in enumerate(rows):
        try:
            fact = to_fact(row)
            good[number] = fact, to_entry(handle, namespace, fact)
        except InvalidInputError as error:
            errors[number] = error
    return good, errors


def _by_row(error: InvalidInputError, first: int = 0) -> list[tuple[int, InvalidInputError]]:
    """Return the errors of a part of a batch with the numbers of their rows; `first` is that of the part."""
    rows = error.errors if isinstance(error, BatchError) else ((0, error),)
    return [(first + row, bad) for row, bad in rows]


def _refused(number: int, error: InvalidInputError) -> WriteResult:
    return WriteResult(
        outcome="refused", ko=None, error=RowError(row=number, field=error.field, reason=error.reason)
    )  # fmt: skip


def to_fact(row: Fact | Mapping[str, Any]) -> Fact:
    """Return a row as a `Fact`.

    Raises:
        InvalidInputError: fields are missing, unknown or of the wrong type.
    """
    if isinstance(row, Fact):
        return row
    if not isinstance(row, Mapping):
        raise InvalidInputError("fact", f"expected a Fact or a mapping, got {type(row).__name__}")
    return Fact(**{str(name): value for name, value in row.items()})


def to_entry(handle: Handle, namespace: Namespace, fact: Fact) -> Entry:
    """Check a fact and return it as the log takes it."""
    kind, value = encode_value(fact.object)
    address = handle.addresser.place(
        namespace, fact.subject, fact.predicate, fact.object, verbatim=fact.verbatim
    )
    if handle.addresser.vocabulary.strict and not fact.verbatim:
        handle.addresser.vocabulary.canonical(fact.predicate)
    valid_from, valid_to = _interval(handle, fact.valid_from, fact.valid_to)
    return Entry(
        address=address,
        subject=fact.subject,
        predicate=fact.predicate,
        kind=kind,
        value=value,
        valid_from=valid_from,
        valid_to=valid_to,
        source=_checked_source(fact.source),
        confidence=_checked_confidence(fact.confidence),
        metadata=encode_metadata(fact.metadata),
        text=None if fact.text is None else check_text(fact.text, "text", limit=MAX_VALUE_BYTES, blank=True),
        vector=None if fact.vector is None else _vector_bytes(handle, fact.vector),
    )


def _interval(
    handle: Handle, valid_from: Moment | None, valid_to: Moment | None
) -> tuple[int | None, int | None]:
    """Check an interval as far as it is known: an omitted start is the record time, which the log gives.

    The record time is at least the clock's; where the clock fell back it is more, and the log refuses the rest.
    """
    start = None if valid_from is None else to_micros(valid_from, "valid_from")
    if valid_to is None:
        return start, None
    end = to_micros(valid_to, "valid_to")
    earliest = handle.now() if start is None else start
    if end <= earliest:
        raise InvalidInputError(
            "valid_to", f"{from_micros(end)} is not after valid_from {from_micros(earliest)}"
        )
    return start, end


def _checked_confidence(confidence: float) -> float:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise InvalidInputError("confidence", f"expected a number from 0 to 1, got {confidence!r}")
    return float(confidence)


def _checked_source(source: str | None) -> str | None:
    if source is None:
        return None
    if check_text(source, "source").startswith(CARRIED):
        raise InvalidInputError("source", f"names that start with {CARRIED!r} are the store's own")
    return source


def _vector_bytes(handle: Handle, vector: Sequence[float]) -> bytes:
    from ko_integrations.vectors import unit_vector

    return unit_vector(vector, handle.sync.encoding.dimension, "vector").astype("<f4").tobytes()


def write_text(
    store: "KnowledgeStore", handle: Handle, text: str, source: str | None, said_at: Moment | None,
    once: str | None = None, before: str = "",
) -> WriteReport:  # fmt: skip
    """Compile a text and store its statements in one transaction; what cannot be stored is reported."""
    check_text(text, "text", limit=MAX_VALUE_BYTES)
    _checked_source(source)
    anchor = handle.clock() if said_at is None else as_datetime(said_at, "said_at")
    if once is not None and store.marked(once):
        return WriteReport(repeated=True)
    compilation = compiled(store, handle, text, anchor, before)
    results: list[WriteResult] = []
    retracted: list[KnowledgeObject] = []
    not_understood = list(compilation.not_understood)
    with handle.batch():
        if once is not None and not mark(handle, store.namespace_path, once):
            return WriteReport(repeated=True)
        for extraction in compilation.extractions:
            since = extraction.valid_from or (None if said_at is None else anchor)
            try:
                if extraction.kind == "retract":
                    ended = retract(
                        handle, store.namespace_path, extraction.subject, extraction.predicate, extraction.object,
                        since, source,
                    )  # fmt: skip
                    retracted += ended
                    if not ended:
                        missed = NotUnderstood(
                            text=extraction.text or text, reason="nothing known that it ends"
                        )
                        not_understood.append(missed)
                else:
                    results += write_facts(handle, store.namespace_path, [_stated(extraction, since, source)])
            except InvalidInputError as error:
                not_understood.append(NotUnderstood(text=extraction.text or text, reason=str(error)))
    return WriteReport(
        results=tuple(results), not_understood=tuple(not_understood), retracted=tuple(retracted),
        tokens=compilation.tokens,
    )  # fmt: skip


def compiled(
    store: "KnowledgeStore", handle: Handle, text: str, said_at: datetime, before: str = ""
) -> Compilation:
    """Return the statements of a text; a compiler that can tell gets to know what was said before it."""
    compile_: Callable[..., Compilation] = handle.compiler.compile
    more = {}
    if check_text(before, "before", limit=MAX_VALUE_BYTES, blank=True).strip():
        takes = signature(compile_).parameters
        if "before" in takes or any(each.kind is Parameter.VAR_KEYWORD for each in takes.values()):
            more = {"before": before}
    return compile_(text, reader=store, said_at=said_at, **more)


def _stated(extraction: Extraction, since: datetime | None, source: str | None) -> Fact:
    return Fact.model_construct(
        subject=extraction.subject, predicate=extraction.predicate, object=extraction.object, source=source,
        confidence=extraction.confidence, valid_from=since, valid_to=extraction.valid_to,
        metadata=None,  # not the sentence: it may name others, and what is erased of them must be gone
        text=None, vector=None, verbatim=False,
    )  # fmt: skip


def mark_key(namespace: Namespace, key: str) -> str:
    """Return the name under which the log's small state keeps that `key` was done in a namespace."""
    return "done/" + slot_id(namespace, check_text(key, "key"), "done", verbatim=True).hex()


def mark(handle: Handle, namespace: Namespace, key: str) -> bool:
    """Record that `key` was done; False if it was recorded before."""
    name = mark_key(namespace, key)
    with handle.batch():
        if handle.log.get_state(name) is not None:
            return False
        handle.log.set_state({name: ""})
    return True


def as_datetime(moment: Moment, field: str) -> datetime:
    """Return a moment as an aware UTC datetime."""
    return from_micros(to_micros(moment, field))


def retract(
    handle: Handle,
    namespace: Namespace,
    subject: str,
    predicate: str,
    value: Value | None,
    at: Moment | None,
    source: str | None,
    *,
    verbatim: bool = False,
) -> list[KnowledgeObject]:
    """Append retractions where `value` (or anything) holds at `at`; return the versions that they end."""
    moment = None if at is None else to_micros(at, "at")
    check_text(predicate, "predicate")
    _checked_source(source)
    with handle.batch():
        handle.addresser.refresh()
        addresses = _to_retract(handle, namespace, subject, predicate, value, moment, verbatim)
        entries = [
            Entry(address=address, subject=subject, predicate=predicate, kind="s", value=None,
                  valid_from=moment, source=source)
            for address in addresses
        ]  # fmt: skip
        applied = append_entries(handle, entries)
    return [to_knowledge_object(each.version) for each in applied if each.version is not None]


def _to_retract(
    handle: Handle, namespace: Namespace, subject: str, predicate: str, value: Value | None, moment: int | None,
    verbatim: bool,
) -> list[Address]:  # fmt: skip
    if verbatim or not handle.addresser.is_set(predicate):
        address = handle.addresser.place(namespace, subject, predicate, verbatim=verbatim)
        if value is not None and not _holds(handle, address, value, moment):
            return []
        return [address] if moment is not None or _is_known(handle, address) else []
    if value is not None:
        address = handle.addresser.place(namespace, subject, predicate, value)
        return [address] if moment is not None or _is_known(handle, address) else []
    key = handle.addresser.subject_key(namespace, check_text(subject, "subject"))
    scope = Scope(namespace, key, handle.addresser.naming(predicate).canonical, verbatim=False)
    return [chain[0].address for chain in handle.log.chains(scope).values()]


def _is_known(handle: Handle, address: Address) -> bool:
    """Tell whether a slot was ever stated: what never was needs no end, unless a moment says from when."""
    return bool(handle.log.chains([address.slot], withdrawn=True))


def _holds(handle: Handle, address: Address, value: Value, moment: int | None) -> bool:
    wanted = canonical_value(value)
    chain = handle.log.chains([address.slot]).get(address.slot, [])
    held = head_at(chain, handle.now() if moment is None else moment)
    return held is not None and canonical_assertion(held.first) == wanted

"""What a source says now: what is new in it is stated, what vanished from it is withdrawn, the rest is left alone."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import canonical_value
from ko_integrations.log.contract import Assertion, Entry
from ko_integrations.protocols import Extraction
from ko_integrations.times import to_micros
from ko_integrations.types import Fact, KnowledgeObject, WriteResult
from ko_integrations.writing import append_entries

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = ["PRINT", "Restated", "Saying", "restate", "resume"]

PRINT = "ko_print"
"""Metadata key of what tells two states of a piece apart besides its value."""

STATEMENT = "statement"
"""Metadata key of the words that a fact was read from."""


@dataclass(frozen=True)
class Saying:
    """A piece of a source (a chunk of a document, say): itself as a fact, and the statements found in it.

    Attributes:
        piece: the piece, under an address that it keeps as long as it does not change.
        statements: what was read from it, retractions included.
    """

    piece: Fact
    statements: Sequence[Extraction] = ()


@dataclass(frozen=True)
class Restated:
    """What came of a source.

    Attributes:
        results: of what was stated anew.
        kept: facts that it went on asserting.
        withdrawn: ids of the slots in which it asserts nothing any more.
        retracted: versions that it ended.
    """

    results: tuple[WriteResult, ...] = ()
    kept: int = 0
    withdrawn: tuple[str, ...] = ()
    retracted: tuple[KnowledgeObject, ...] = ()


def restate(store: "KnowledgeStore", source: str, sayings: Sequence[Saying]) -> Restated:
    """Put what a source says now in the place of what it said before, in one transaction.

    What it said before and still says is not stated again, so that a copy read anew never outvotes what others
    have said since. A retraction counts when its piece is new.

    Raises:
        InvalidInputError: something cannot be stored; nothing was.
    """
    with store.batch():
        facts = _once(fact for saying in sayings for fact in _facts_of(saying, source))
        standing = _standing(store, source, facts)
        results = tuple(store.update_many([fact for fact in facts if id(fact) not in standing]))
        known = {(fact.subject, fact.predicate) for fact in facts if id(fact) in standing}
        keep = set(standing.values()) | {result.ko.id for result in results if result.ko is not None}
        retracted: list[KnowledgeObject] = []
        for saying in sayings:
            for each in (each for each in saying.statements if each.kind == "retract"):
                keep.update(_slots(store, each))
                if (saying.piece.subject, saying.piece.predicate) not in known:
                    retracted += store.retract(
                        each.subject, each.predicate, each.object, at=each.valid_from, source=source
                    )
        withdrawn = store.withdraw_source(source, keep=keep)
    return Restated(results, len(standing), tuple(withdrawn), tuple(retracted))


def _facts_of(saying: Saying, source: str) -> list[Fact]:
    return [saying.piece, *(_stated(each, source) for each in saying.statements if each.kind == "assert")]


@dataclass(frozen=True)
class _Said:
    """One assertion of a source, as far as it tells whether it was said again."""

    recorded_at: datetime
    value: bytes
    valid_from: datetime
    metadata: Mapping[str, Any]


def _standing(store: "KnowledgeStore", source: str, facts: Sequence[Fact]) -> dict[int, str]:
    """Return the slots of the facts (by identity) that a source does nothing but repeat.

    A slot is repeated when what is said of it now, in order, is what was said of it last.
    """
    by_slot: dict[str, list[Fact]] = {}
    chains: dict[str, list[KnowledgeObject]] = {}
    for fact in facts:
        if chain := _chain_of(store, fact):
            by_slot.setdefault(chain[0].id, []).append(fact)
            chains[chain[0].id] = chain
    standing: dict[int, str] = {}
    for slot, now in by_slot.items():
        before = _said_by(source, chains[slot])[-len(now) :]
        if len(before) == len(now) and all(map(_repeats, now, before)):
            standing.update((id(fact), slot) for fact in now)
    return standing


def _chain_of(store: "KnowledgeStore", fact: Fact) -> list[KnowledgeObject]:
    is_set = not fact.verbatim and store.vocabulary.cardinality(fact.predicate) == "set"
    member = fact.object if is_set else None
    return store.history(fact.subject, fact.predicate, object=member, verbatim=fact.verbatim)


def _said_by(source: str, chain: Sequence[KnowledgeObject]) -> list[_Said]:
    """Return what a source asserted in a slot, in order of record."""
    said = []
    for ko in chain:
        value, first = canonical_value(ko.object), ko.provenance
        if first.source == source:
            said.append(_Said(first.recorded_at, value, ko.valid_from, first.metadata or {}))
        said += [
            _Said(each.recorded_at, value, each.valid_from, each.metadata or {})
            for each in first.confirmations
            if each.source == source
        ]
    return sorted(said, key=lambda each: each.recorded_at)


def _repeats(fact: Fact, before: _Said) -> bool:
    """Tell whether a fact says what was said before: value, print and, unless in the same words, time."""
    metadata = fact.metadata or {}
    if canonical_value(fact.object) != before.value or metadata.get(PRINT) != before.metadata.get(PRINT):
        return False
    # "Since yesterday", read again in the same words, is no later than it was.
    same_words = metadata.get(STATEMENT) is not None and metadata[STATEMENT] == before.metadata.get(STATEMENT)
    return (
        same_words
        or fact.valid_from is None
        or to_micros(fact.valid_from, "valid_from") == to_micros(before.valid_from, "valid_from")
    )


def _slots(store: "KnowledgeStore", retraction: Extraction) -> set[str]:
    """Return the slots that a retraction concerns, so that it stands as long as its source has it."""
    return {ko.id for ko in store.history(retraction.subject, retraction.predicate, object=retraction.object)}


def _stated(statement: Extraction, source: str) -> Fact:
    return Fact(
        subject=statement.subject, predicate=statement.predicate, object=statement.object, source=source,
        confidence=statement.confidence, valid_from=statement.valid_from, valid_to=statement.valid_to,
        metadata={STATEMENT: statement.text} if statement.text else None,
    )  # fmt: skip


def _once(facts: Iterable[Fact]) -> list[Fact]:
    """Drop repetitions: chunks overlap, and a compiler may run before the splitter."""
    seen: dict[str, Fact] = {}
    for fact in facts:
        key = json.dumps([
            fact.subject, fact.predicate, canonical_value(fact.object).hex(), str(fact.valid_from),
            str(fact.valid_to),
        ])  # fmt: skip
        seen.setdefault(key, fact)
    return list(seen.values())


# -- sources that come back ---------------------------------------------------------------------------------
def resume(store: "KnowledgeStore", facts: Sequence[Fact]) -> list[WriteResult]:
    """State facts, all or none; where their source was withdrawn, what it said in the same slots counts again.

    A framework updates a document by deleting it and inserting it anew. Deleting withdraws the document, so that
    what others say shows at once; inserting it again shows that it was edited, and the chain goes on where it was.

    Raises:
        BatchError: facts that cannot be stored; nothing was.
    """
    with store.batch():
        before = _withdrawn(store, _sources_by_slot(store, facts))
        append_entries(store.handle, [_entry(assertion) for assertion in before])
        return store.update_many(facts)


def _sources_by_slot(store: "KnowledgeStore", facts: Sequence[Fact]) -> dict[bytes, set[str]]:
    found: dict[bytes, set[str]] = defaultdict(set)
    place = store.handle.addresser.place
    for fact in facts:
        if fact.source is not None:
            with suppress(InvalidInputError):  # a bad fact is refused later, with all the others
                address = place(
                    store.namespace_path, fact.subject, fact.predicate, fact.object, verbatim=fact.verbatim
                )
                found[address.slot].add(fact.source)
    return found


def _withdrawn(store: "KnowledgeStore", sources: Mapping[bytes, set[str]]) -> list[Assertion]:
    """Return what sources had said in slots and took back, where they say nothing there now; each once."""
    log = store.handle.log
    ever = log.chains(list(sources), withdrawn=True) if sources else {}
    held = log.chains(list(ever)) if ever else {}
    found: dict[tuple[object, ...], Assertion] = {}
    for slot, chain in ever.items():
        standing = held.get(slot, [])
        gone = sources[slot] - {each.source for each in standing}
        stood = {each.sequence for each in standing}
        for each in chain:
            if each.source in gone and each.sequence not in stood:
                found.setdefault(
                    (slot, each.source, each.kind, each.value, each.valid_from, each.valid_to), each
                )
    return list(found.values())


def _entry(said: Assertion) -> Entry:
    return Entry(
        address=said.address, subject=said.subject, predicate=said.predicate, kind=said.kind, value=said.value,
        valid_from=said.valid_from, valid_to=said.valid_to, source=said.source, confidence=said.confidence,
        metadata=said.metadata, text=said.text,
    )  # fmt: skip

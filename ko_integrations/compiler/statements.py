"""A reading to the statements that a store can take: which values, of when, and what they end."""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from ko_integrations.compiler.clauses import ANTECEDENT
from ko_integrations.compiler.dates import Adjunct
from ko_integrations.compiler.reading import STRONG, ClauseReader, Reading
from ko_integrations.compiler.referents import Referents
from ko_integrations.compiler.text import INHERITED
from ko_integrations.compiler.values import clean, items, value_of
from ko_integrations.identity import normalize_name, normalize_predicate
from ko_integrations.kinds import CLOSED_KINDS, kinds_of, office_of
from ko_integrations.protocols import Extraction, FactReader
from ko_integrations.types import Value
from ko_integrations.vocabulary import Predicate

__all__ = ["Statements"]

_PACKED = re.compile(
    r" and (?:its|his|her|their) |\w-(?:based|born|owned|headquartered) (?=[A-Z])|^[A-Z]\S*(?: [A-Z]\S*)* (?:[a-z]\w+|CEO|CTO|CFO)(?: [a-z]\w+)? [A-Z]"
)
_RELATED = re.compile(
    r"^(?P<owner>(?i:my|our|his|her|their)|.+['’]s) (?P<noun>[a-z]+(?: [a-z]+)?),? (?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*)$"
)
_NO_NAME = re.compile(
    r"^(?=[a-z]|.*, )(?:.*[ ,])?(?:I|i|im|Im|we|you|he|she|they|it|my|me)(?:['’ ,]|$)|^[£$€¥] ?\d"
)
"""What holds a pronoun of its own is part of another clause, and no name."""
_NO_VALUES = frozenset(
    ("nothing", "none", "unknown", "something", "someone", "anything", "any", "no", "it all")
)
_TREATED = re.compile(
    r"^(?:the )?(?:treatment|management) of | in (?:adults|children|adolescents|patients)\b.*$"
)
_GENERIC = frozenset(
    "patients participants subjects volunteers adults children people users customers men women samples data results findings".split()
)
"""Plurals that name nobody: what is said of them is no fact about one subject."""
_AGED = re.compile(r"^(?P<name>[^\W\d].*\S) \((?P<age>\d{1,3})\)$")
"""A person with the age behind the name: "Leo (9)"."""
_TASTES = frozenset(("likes", "dislikes"))
_RATHER_THAN = re.compile(r" (?:over|more than) \S+$")
_MEASURED_ON = frozenset(("ki", "ic50", "ec50", "kd"))
_AGAINST = re.compile(r"^(?P<subject>.+?) (?:against|for|towards?|on|at) (?P<target>[^\s]+(?: [^\s]+)?)$")
"""Constants of a substance that belong to a pair: each target is a predicate of its own (`ki_egfr`)."""
_EVENT_DATES = {
    "birth_place": "birth_date", "death_place": "death_date", "founding_place": "founded_date", "founder": "founded_date",
    "author": "publication_date", "publisher": "publication_date", "invented_by": "discovery_date", "cause_of_death": "death_date",
}  # fmt: skip
"""Events that happen once: the time of the statement is the time of the event, and a fact of its own."""
_NO_SUBJECT = "no subject to take it for"
_NO_OBJECT = "no object to take it for"


@dataclass(frozen=True, slots=True)
class _Claim:
    """What the statements of one clause share: all but the value."""

    subject: str
    predicate: str
    confidence: float
    text: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    def of(self, value: Value, kind: Literal["assert", "retract"] = "assert") -> Extraction:
        return Extraction(
            subject=self.subject, predicate=self.predicate, object=value, kind=kind, confidence=self.confidence,
            text=self.text, valid_from=self.valid_from, valid_to=self.valid_to,
        )  # fmt: skip


@dataclass(slots=True)
class Statements:
    """The statements of one text so far; `referents` are those whom its clauses may mean."""

    reader: FactReader
    said_at: datetime
    clauses: ClauseReader
    found: list[Extraction] = field(default_factory=list)
    referents: Referents = field(init=False)
    begun: int = 0
    """Number of statements before the sentence being read."""

    def __post_init__(self) -> None:
        self.referents = Referents(self.reader, self.found)

    # -- what a clause states --------------------------------------------------------------------------------
    def add(
        self, reading: Reading, source: str, adjunct: Adjunct | None, *, holds: bool = False
    ) -> str | None:
        """State what a clause says, once; return why it states nothing.

        `holds` says that the value holds when it is told: where another is stored that began later than the
        time given, the value is stated once more for the moment of telling, so that it becomes the head.
        """
        if reading.subject in ("They", "they") and (both := self.referents.discourse.pair()):
            reasons = [
                self.add(replace(reading, subject=name), source, adjunct, holds=holds) for name in both
            ]
            return next(filter(None, reasons), None)
        subject = self._subject_of(reading, source)
        if (
            not subject
            or _NO_NAME.search(subject)
            or subject.lower() in _GENERIC
            or reading.inverted
            and self._is_no_bearer(subject, reading)
        ):
            return _NO_SUBJECT
        predicate = office_of(reading.predicate, subject)
        if predicate in _MEASURED_ON and (measured := _AGAINST.match(subject)):
            subject, predicate = measured["subject"], f"{predicate}_{normalize_predicate(measured['target'])}"
        values = self.values(predicate, reading.object)
        if not values:
            return _NO_OBJECT
        declared = self.reader.vocabulary.get(predicate)
        if declared and declared.value_type == "name" and any(map(_is_spelt_number, values)):
            return _NO_OBJECT
        claim = _Claim(subject, predicate, _confidence(reading), source, *_interval(adjunct))
        values = [self._assert(claim, value, holds=holds) for value in values]
        self._date_event(claim, adjunct)
        self.referents.remember(subject, reading, values)
        return None

    def _assert(self, claim: _Claim, value: Value, *, holds: bool) -> Value:
        """State a value and what follows from it; return it without the age that a name may have behind it."""
        declared = self.reader.vocabulary.get(claim.predicate)
        if declared and "person" in declared.object_kinds and (aged := _AGED.match(str(value))):
            value = aged["name"]
            self._state(_Claim(value, "age", claim.confidence, claim.text).of(int(aged["age"])))
        if declared and declared.excludes:
            self._end_excluded(claim, declared.excludes, value)
        self._state(claim.of(value))
        if holds and claim.valid_from:
            self._hold(claim, value, claim.valid_from)
        return value

    def past(self, reading: Reading, source: str, adjunct: Adjunct | None) -> str | None:
        """State what "used to" hold: what holds now ends, anything else held until what is known began.

        Without a beginning it is stated for the last second of its time, as in `presuppose`.
        """
        subject = self._subject_of(reading, source)
        if not subject or _NO_NAME.search(subject):
            return _NO_SUBJECT
        predicate = office_of(reading.predicate, subject)
        values = self.values(predicate, reading.object)
        if not values:
            return _NO_OBJECT
        held = self.reader.read_values(subject, predicate)
        begin, until = _interval(adjunct)
        if until is None and any(ko.object in values for ko in held):
            return self.end(reading, source, None)
        if self.reader.vocabulary.cardinality(predicate) == "set":
            held = []
        end = until or min((ko.valid_from for ko in held), default=self.said_at)
        if begin is None or begin >= end:
            begin = end - timedelta(seconds=1)
        claim = _Claim(subject, predicate, _confidence(reading), source, begin, end)
        for value in values:
            self._state(claim.of(value))
        self.referents.subject = subject
        return None

    def presuppose(self, reading: Reading, source: str, adjunct: Adjunct | None) -> None:
        """State the value that a change ended ("moved from A to B"), unless something is known of it.

        The sentence tells that it held when the change came, not since when: the fact begins a second before.
        """
        subject = self._subject_of(reading, source)
        if not subject or self.reader.vocabulary.cardinality(reading.predicate) == "set":
            return
        slot = (subject, reading.predicate)
        values = self.values(reading.predicate, reading.object)
        known = any(slot == (item.subject, item.predicate) for item in self.found)
        if known or self.reader.read_values(*slot) or len(values) != 1:
            return
        changed = _interval(adjunct)[0] or self.said_at
        begin = changed - timedelta(seconds=1)
        self._state(_Claim(*slot, _confidence(reading), source, begin, changed).of(values[0]))

    def end(self, reading: Reading, source: str, adjunct: Adjunct | None) -> str | None:
        """End exactly the fact that the sentence names; the words alone touch nothing else."""
        subject = self._subject_of(reading, source)
        if not subject:
            return _NO_SUBJECT
        begin, end = _interval(adjunct)
        predicate = office_of(reading.predicate, subject)
        claim = _Claim(subject, predicate, _confidence(reading), source, begin or end)
        self.found += [claim.of(value, "retract") for value in self.values(predicate, reading.object)]
        self.referents.subject = subject
        return None

    def last_of_speaker(self) -> tuple[str, str, Value] | None:
        """Return subject, predicate and value of what the speaker last said of itself, here or in the store."""
        for item in reversed(self.found):
            if item.kind == "assert" and item.subject == self.referents.speaker:
                return item.subject, item.predicate, item.object
        facts = self.reader.facts(self.referents.speaker)
        if not facts:
            return None
        latest = max(facts, key=lambda ko: ko.provenance.sequence)
        return latest.subject, latest.predicate, latest.object

    # -- whom it is stated of --------------------------------------------------------------------------------
    def _subject_of(self, reading: Reading, source: str) -> str | None:
        said = reading.subject
        if said is not None and not said.startswith((INHERITED, ANTECEDENT)):
            said = self._unpacked(said, source)
        return self.referents.subject_of(said, reading.predicate)

    def _unpacked(self, said: str, source: str) -> str:
        """A subject that states something itself ("Berlin-based Acme", "my sister Anna"): take it, keep the name."""
        if related := _RELATED.match(said):
            stated = self.clauses.read(f"{related['owner']} {related['noun']} is {related['name']}")
            if stated and stated.score >= STRONG - 0.3 and stated.object == related["name"]:
                self.add(stated, source, None)
                return related["name"]
        if not _PACKED.search(said):
            return said
        inner = self.clauses.read(said)
        if inner is None or inner.subject is None or inner.score < STRONG:
            return said
        self.add(inner, source, None)
        if said.endswith(inner.subject):
            return inner.subject
        return inner.object if said.endswith(inner.object) else said

    def _is_no_bearer(self, subject: str, reading: Reading) -> bool:
        """Whether what comes last in a clause is known to be of a kind that has no such fact (who "writes Python")."""
        declared = self.reader.vocabulary.get(reading.predicate)
        kinds = kinds_of(items(subject)[0]) or kinds_of(subject.split(" ", 1)[0])
        wanted = set(declared.subject_kinds) if declared else set()
        return (
            bool(kinds and wanted) and kinds <= CLOSED_KINDS | {"number", "quantity"} and not kinds & wanted
        )

    # -- what a statement brings with it ---------------------------------------------------------------------
    def _state(self, item: Extraction) -> None:
        """Add a statement unless this sentence has made it already."""
        for other in self.found[self.begun :]:
            if (other.subject, other.predicate, other.object, other.kind) == (
                item.subject, item.predicate, item.object, item.kind,
            ):  # fmt: skip
                return
        self.found.append(item)

    def _hold(self, claim: _Claim, value: Value, since: datetime) -> None:
        """State again, for now, what was just stated for `since`, if something else is known from later on."""
        if self.reader.vocabulary.cardinality(claim.predicate) == "set":
            return
        held = self.reader.read_values(claim.subject, claim.predicate)
        if any(ko.valid_from > since and ko.object != value for ko in held):
            self.found.append(self.found[-1].model_copy(update={"valid_from": None}))

    def _date_event(self, claim: _Claim, adjunct: Adjunct | None) -> None:
        """State the date of an event that happens once: it is the time that the clause says."""
        declared = self.reader.vocabulary.get(_EVENT_DATES.get(claim.predicate, ""))
        if declared and adjunct and adjunct.valid_from:
            dated = replace(claim, predicate=_EVENT_DATES[claim.predicate], valid_from=None, valid_to=None)
            self._state(dated.of(value_of(adjunct.said, declared, self.said_at)))

    def _end_excluded(self, claim: _Claim, excluded: str, value: Value) -> None:
        """What is liked now is not disliked any more: end the opposite statement about the same thing."""
        key = normalize_name(str(value))
        held = [ko.object for ko in self.reader.read_values(claim.subject, excluded)]
        held += [
            item.object
            for item in self.found
            if (item.subject, item.predicate, item.kind) == (claim.subject, excluded, "assert")
        ]
        for other in held:
            if normalize_name(str(other)) == key:
                self.found.append(
                    Extraction(
                        subject=claim.subject, predicate=excluded, object=other, kind="retract", text=claim.text,
                        valid_from=claim.valid_from,
                    )
                )  # fmt: skip
                return

    # -- its values -----------------------------------------------------------------------------------------
    def values(self, predicate: str, said: str) -> list[Value]:
        """Return the values that a clause gives for a predicate, in their types: several for a set."""
        vocabulary = self.reader.vocabulary
        declared = vocabulary.get(predicate) or vocabulary.get(predicate.split("_")[0])
        names = map(self.referents.value_of, self._texts(predicate, declared, said))
        return [value_of(name, declared, self.said_at) for name in names if name]

    def _texts(self, predicate: str, declared: Predicate | None, said: str) -> list[str]:
        """The values as they are written, without what a clause may say behind them."""
        text = clean(said)
        if predicate in _TASTES:
            text = _RATHER_THAN.sub("", text)
        if predicate == "indication":
            text = _TREATED.sub("", text)
        if not text or text.lower() in _NO_VALUES:
            return []
        several = declared is not None and declared.cardinality == "set"
        if several and self.reader.vocabulary.cardinality(predicate) == "set":
            return [clean(item) for item in items(text)]
        return [text]


def _interval(adjunct: Adjunct | None) -> tuple[datetime | None, datetime | None]:
    return (adjunct.valid_from, adjunct.valid_to) if adjunct else (None, None)


def _is_spelt_number(value: Value) -> bool:
    """Whether a value is a number in words, as of a time of the day, which names nobody ("start at five")."""
    return isinstance(value, str) and value.islower() and kinds_of(value) == {"number"}


def _confidence(reading: Reading) -> float:
    if not reading.stated:
        return round(min(0.8, max(0.3, reading.score)), 2)
    certain = min(0.98, 0.78 + 0.06 * reading.score)
    return round(certain if reading.margin >= 0.3 else min(certain, 0.7), 2)

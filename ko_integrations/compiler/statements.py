"""A reading to the statements that a store can take: who is meant, which values, what they end."""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ko_integrations.compiler.clauses import ANTECEDENT
from ko_integrations.compiler.dates import Adjunct
from ko_integrations.compiler.discourse import TITLES, Discourse
from ko_integrations.compiler.reading import STRONG, ClauseReader, Reading
from ko_integrations.compiler.text import FIRST_PERSON, INHERITED, PRONOUNS
from ko_integrations.compiler.values import clean, items, value_of
from ko_integrations.identity import normalize_name, normalize_predicate
from ko_integrations.kinds import (
    CLOSED_KINDS,
    country_named,
    demonym_of,
    kin_among,
    kinds_of,
    office_of,
)
from ko_integrations.protocols import Extraction, FactReader
from ko_integrations.types import Value

__all__ = ["Statements"]

_UNTITLED = re.compile(r"^(?:[A-Z]\.[ -]?)+(?:[A-Z][\w'’-]+)?$|^[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?$")
"""Initials, or a name of one or two words: what somebody is called for short."""
_PACKED = re.compile(
    r" and (?:its|his|her|their) |\w-(?:based|born|owned|headquartered) (?=[A-Z])|^[A-Z]\S*(?: [A-Z]\S*)* (?:[a-z]\w+|CEO|CTO|CFO)(?: [a-z]\w+)? [A-Z]"
)
_RELATED = re.compile(
    r"^(?P<owner>(?i:my|our|his|her|their)|.+['’]s) (?P<noun>[a-z]+(?: [a-z]+)?),? (?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*)$"
)
_LIVING = frozenset(("person", "animal"))
_ALIVE = (("person",), ("animal",))
_OWN = re.compile(r"\b(?:[Mm]y|[Oo]ur) (?:[a-z]+ )?(?P<noun>[a-z]+)\b")
_RELATIVE_OF = re.compile(r"^(?P<owner>.+)['’]s (?:[a-z]+ )?(?P<noun>[a-z]+)$")
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
_OF_A_PEOPLE = frozenset(("head_of_state", "head_of_government", "president"))
"""Offices that may be named by the people instead of the country ("King of the Belgians")."""
_MEASURED_ON = frozenset(("ki", "ic50", "ec50", "kd"))
_AGAINST = re.compile(r"^(?P<subject>.+?) (?:against|for|towards?|on|at) (?P<target>[^\s]+(?: [^\s]+)?)$")
"""Constants of a substance that belong to a pair: each target is a predicate of its own (`ki_egfr`)."""
_EVENT_DATES = {
    "birth_place": "birth_date", "death_place": "death_date", "founding_place": "founded_date", "founder": "founded_date",
    "author": "publication_date", "publisher": "publication_date", "invented_by": "discovery_date", "cause_of_death": "death_date",
}  # fmt: skip
"""Events that happen once: the time of the statement is the time of the event, and a fact of its own."""


@dataclass(slots=True)
class Statements:
    """The statements of one text so far, and what its clauses may refer to.

    `subject`, `object` and `predicate` are those of the clause before: what "and works at ..." and
    "..., which is based in ..." go on from.
    """

    reader: FactReader
    said_at: datetime
    clauses: ClauseReader
    found: list[Extraction] = field(default_factory=list)
    discourse: Discourse = field(default_factory=Discourse)
    speaker: str = "user"
    subject: str | None = None
    object: str | None = None
    predicate: str | None = None
    countries: dict[str, str] = field(default_factory=dict)
    titled: dict[str, str] = field(default_factory=dict)
    begun: int = 0
    """Number of statements before the sentence being read."""
    listed: bool = False
    """Whether the sentence is an item of a list, which says names in full."""

    def start_afresh(self) -> None:
        """Forget whom the text spoke of: an item of a list refers to nothing before it."""
        self.discourse, self.countries = Discourse(), {}

    def is_relation(self, noun: str) -> bool:
        """Return whether `noun` says who somebody is to another, or which animal ("sister", "boss", "dog")."""
        declared = self.reader.vocabulary.get(noun)
        return declared is not None and not _LIVING.isdisjoint(declared.object_kinds)

    def is_living(self, name: str) -> bool:
        """Return whether `name` is a person's or an animal's, by the text or by whose relation is stored."""
        if (own := _OWN.fullmatch(name)) is not None:
            return self.is_relation(own["noun"])
        if self.discourse.is_person(name):
            return True
        stated = [(item.predicate, item.object) for item in self.found]
        stated += [(ko.predicate, ko.object) for ko in self.reader.facts_naming(name)]
        return any(value == name and self.is_relation(predicate) for predicate, value in stated)

    def mention_relations(self, text: str) -> None:
        """Remember "my mother" of a clause that stated nothing: a pronoun may mean her."""
        for match in _OWN.finditer(text):
            if self.is_relation(match["noun"]):
                known = self.discourse.resolve(f"my {match['noun']}", self.speaker)
                self.discourse.mention(self._kin(known) if known else "", ("person",))

    def add(
        self, reading: Reading, source: str, adjunct: Adjunct | None, *, holds: bool = False
    ) -> str | None:
        """State what a clause says, once; return why it states nothing.

        `holds` says that the value holds when it is told: where another is stored that began later than the
        time given, the value is stated once more for the moment of telling, so that it becomes the head.
        """
        if reading.subject in ("They", "they") and (both := self.discourse.pair()):
            reasons = [
                self.add(replace(reading, subject=name), source, adjunct, holds=holds) for name in both
            ]
            return next(filter(None, reasons), None)
        subject = self._subject_of(reading, source)
        if (
            not subject
            or _NO_NAME.search(subject)
            or reading.inverted
            and self._is_no_bearer(subject, reading)
        ):
            return "no subject to take it for"
        if subject.lower() in _GENERIC:
            return "no subject to take it for"
        predicate = office_of(reading.predicate, subject)
        if predicate in _MEASURED_ON and (measured := _AGAINST.match(subject)):
            subject, predicate = measured["subject"], f"{predicate}_{normalize_predicate(measured['target'])}"
        values = self.values(predicate, reading.object)
        if not values:
            return "no object to take it for"
        declared = self.reader.vocabulary.get(predicate)
        for number, value in enumerate(values):
            if declared and "person" in declared.object_kinds and (aged := _AGED.match(str(value))):
                value = values[number] = aged["name"]
                self._state(Extraction(subject=value, predicate="age", object=int(aged["age"]), confidence=_confidence(reading), text=source))  # fmt: skip
            self._end_excluded(subject, declared.excludes if declared else None, value, source, adjunct)
            self._state(
                Extraction(
                    subject=subject, predicate=predicate, object=value, confidence=_confidence(reading), text=source,
                    valid_from=adjunct.valid_from if adjunct else None, valid_to=adjunct.valid_to if adjunct else None,
                )
            )  # fmt: skip
            if holds and adjunct and adjunct.valid_from:
                self._hold(subject, predicate, value, adjunct.valid_from)
        if adjunct and adjunct.valid_from and predicate in _EVENT_DATES:
            self._date_event(subject, _EVENT_DATES[predicate], adjunct, source, _confidence(reading))
        self._remember(subject, reading, values)
        return None

    def _is_no_bearer(self, subject: str, reading: Reading) -> bool:
        """Whether what comes last in a clause is known to be of a kind that has no such fact (who "writes Python")."""
        declared = self.reader.vocabulary.get(reading.predicate)
        kinds = kinds_of(items(subject)[0]) or kinds_of(subject.split(" ", 1)[0])
        wanted = set(declared.subject_kinds) if declared else set()
        return (
            bool(kinds and wanted) and kinds <= CLOSED_KINDS | {"number", "quantity"} and not kinds & wanted
        )

    def _hold(self, subject: str, predicate: str, value: Value, since: datetime) -> None:
        """State again, for now, what was just stated for `since`, if something else is known from later on."""
        if self.reader.vocabulary.cardinality(predicate) == "set":
            return
        later = [ko for ko in self.reader.read_values(subject, predicate) if ko.valid_from > since]
        if any(ko.object != value for ko in later):
            self.found.append(self.found[-1].model_copy(update={"valid_from": None}))

    def turn_to(self, clause: str, names: list[str]) -> None:
        """Let what follows a clause that stated nothing go on from the subject of that clause, if it has one."""
        first = clause.split(" ", 1)[0].split("'", 1)[0].split("’", 1)[0]
        if first == INHERITED:
            return
        if first.lower() in PRONOUNS:
            self.subject = self.discourse.resolve(first, self.speaker)
        else:
            self.subject = names[0] if names and clause.startswith(names[0]) else None

    def past(self, reading: Reading, source: str, adjunct: Adjunct | None) -> str | None:
        """State what "used to" hold: what holds now ends, anything else held until what is known began.

        Without a beginning it is stated for the last second of its time, as in `presuppose`.
        """
        subject = self._subject_of(reading, source)
        if not subject or _NO_NAME.search(subject):
            return "no subject to take it for"
        predicate = office_of(reading.predicate, subject)
        values = self.values(predicate, reading.object)
        if not values:
            return "no object to take it for"
        held = self.reader.read_values(subject, predicate)
        until = adjunct.valid_to if adjunct else None
        if until is None and any(ko.object in values for ko in held):
            return self.end(reading, source, None)
        if self.reader.vocabulary.cardinality(predicate) == "set":
            held = []
        end = until or min((ko.valid_from for ko in held), default=self.said_at)
        begin = adjunct.valid_from if adjunct else None
        if begin is None or begin >= end:
            begin = end - timedelta(seconds=1)
        for value in values:
            self._state(
                Extraction(
                    subject=subject, predicate=predicate, object=value, confidence=_confidence(reading),
                    text=source, valid_from=begin, valid_to=end,
                )
            )  # fmt: skip
        self.subject = subject
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
        known = known or bool(self.reader.read_values(*slot))
        changed = (adjunct.valid_from if adjunct else None) or self.said_at
        if known or len(values) != 1:
            return
        self._state(
            Extraction(
                subject=subject, predicate=reading.predicate, object=values[0], confidence=_confidence(reading),
                text=source, valid_from=changed - timedelta(seconds=1), valid_to=changed,
            )
        )  # fmt: skip

    def _state(self, item: Extraction) -> None:
        """Add a statement unless this sentence has made it already."""
        for other in self.found[self.begun :]:
            if (other.subject, other.predicate, other.object, other.kind) == (
                item.subject, item.predicate, item.object, item.kind,
            ):  # fmt: skip
                return
        self.found.append(item)

    def end(self, reading: Reading, source: str, adjunct: Adjunct | None) -> str | None:
        """End exactly the fact that the sentence names; the words alone touch nothing else."""
        subject = self._subject_of(reading, source)
        if not subject:
            return "no subject to take it for"
        predicate = office_of(reading.predicate, subject)
        when = (adjunct.valid_from or adjunct.valid_to) if adjunct else None
        for value in self.values(predicate, reading.object):
            self.found.append(
                Extraction(subject=subject, predicate=predicate, object=value, kind="retract", confidence=_confidence(reading), text=source, valid_from=when)
            )  # fmt: skip
        self.subject = subject
        return None

    def last_of_speaker(self) -> tuple[str, str, Value] | None:
        for item in reversed(self.found):
            if item.kind == "assert" and item.subject == self.speaker:
                return item.subject, item.predicate, item.object
        facts = self.reader.facts(self.speaker)
        if not facts:
            return None
        latest = max(facts, key=lambda ko: ko.provenance.sequence)
        return latest.subject, latest.predicate, latest.object

    def _subject_of(self, reading: Reading, source: str) -> str | None:
        said = reading.subject
        if said is None:
            return self._topic(reading.predicate)
        if said.startswith(INHERITED):
            inherited = self.subject
            return f"{inherited}{said[1:]}" if inherited else None
        if said.startswith(ANTECEDENT):
            return f"{self.object}{said[1:]}" if self.object else None
        subject = self.discourse.resolve(self._unpacked(said, source), self.speaker)
        return self._stored(self._kin(self._country(subject, reading.predicate))) if subject else None

    def _topic(self, predicate: str) -> str | None:
        """Whom a bare label ("Budget: ...") is about: the topic of the text, not a person named in passing."""
        last, first = self.discourse.last, self.discourse.first_thing
        declared = self.reader.vocabulary.get(predicate)
        of_people = declared is None or "person" in declared.subject_kinds or "phone" in declared.object_kinds
        return first if last and first and not of_people and self.discourse.is_person(last) else last

    def _kin(self, name: str) -> str:
        """The one person whom "user's sister" is by what is known, or the description itself."""
        match = _RELATIVE_OF.match(name)
        if match is None or not self.is_relation(match["noun"]):
            return name
        owner, noun = match["owner"], match["noun"]
        declared = self.reader.vocabulary.get(noun)
        predicate = declared.name if declared else noun
        known: dict[str, None] = {
            item.object: None
            for item in self.found
            if (item.subject, item.predicate, item.kind) == (owner, predicate, "assert")
        }
        known.update((str(ko.object), None) for ko in self.reader.read_values(owner, predicate))
        fitting = kin_among(noun, known)
        return fitting[0] if len(fitting) == 1 and fitting[0][:1].isupper() else name

    def _stored(self, name: str) -> str:
        """The one stored subject that `name` is without its title ("M.R." for "Patient M.R."), or the name itself."""
        if self.listed or not _UNTITLED.match(name) or name == self.speaker:
            return name
        known = self.titled.get(name)
        if known is None:
            whole = {title: f"{title} {name}" for title in TITLES}
            stored = self.reader.find_subjects([name, *whole.values()])
            fitting = dict.fromkeys(stored.values())
            known = next(iter(fitting)) if len(fitting) == 1 and name not in stored else name
            self.titled[name] = known
        return known

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
        return (
            inner.subject
            if said.endswith(inner.subject)
            else inner.object
            if said.endswith(inner.object)
            else said
        )

    def _country(self, name: str, predicate: str) -> str:
        """A country keeps the name under which it was first a subject, whatever else it is called."""
        common = country_named(name) or (demonym_of(name) if predicate in _OF_A_PEOPLE else None)
        if common is None:
            return name
        known = self.countries.get(common)
        if known is None:
            stored = self.reader.find_subjects(list(dict.fromkeys((name, common)))) if name != common else {}
            known = stored.get(name) or stored.get(common) or (name if country_named(name) else common)
            self.countries[common] = known
        return known

    def _remember(self, subject: str, reading: Reading, values: list[Value]) -> None:
        """Keep what later clauses may refer to: the grammatical subject stands first in its clause."""
        declared = self.reader.vocabulary.get(reading.predicate)
        value = str(values[-1])
        if reading.subject is None or not reading.subject.startswith(ANTECEDENT):
            self.subject, self.object = (value, subject) if reading.inverted else (subject, value)
        self.predicate = reading.predicate
        spoken = [
            (value, declared.object_kinds if declared else ()),
            (subject, declared.subject_kinds if declared else ()),
        ]
        for name, kinds in spoken[::-1] if reading.inverted else spoken:
            told = name == subject or reading.inverted or "person" in kinds_of(name) or kinds in _ALIVE
            if told and name != "user":
                self.discourse.mention(name, kinds if len(kinds) == 1 else ())

    def _date_event(
        self, subject: str, predicate: str, adjunct: Adjunct, source: str, confidence: float
    ) -> None:
        declared = self.reader.vocabulary.get(predicate)
        if declared:
            value = value_of(adjunct.said, declared, self.said_at)
            self._state(
                Extraction(
                    subject=subject, predicate=predicate, object=value, confidence=confidence, text=source
                )
            )

    def _referent(self, text: str) -> str:
        """The name that stands for the subject or object of the clause before, if `text` refers to it."""
        if text.startswith(INHERITED):
            return self.subject or ""
        return (self.object or "") if text.startswith(ANTECEDENT) else text

    def _end_excluded(
        self, subject: str, excluded: str | None, value: Value, source: str, adjunct: Adjunct | None
    ) -> None:
        """What is liked now is not disliked any more: end the opposite statement about the same thing."""
        if excluded is None:
            return
        key = normalize_name(str(value))
        held = [ko.object for ko in self.reader.read_values(subject, excluded)]
        held += [
            item.object
            for item in self.found
            if (item.subject, item.predicate, item.kind) == (subject, excluded, "assert")
        ]
        for other in held:
            if normalize_name(str(other)) == key:
                self.found.append(
                    Extraction(subject=subject, predicate=excluded, object=other, kind="retract", text=source, valid_from=adjunct.valid_from if adjunct else None)
                )  # fmt: skip
                return

    def values(self, predicate: str, said: str) -> list[Value]:
        """Return the values that a clause gives for a predicate, in their types: several for a set."""
        declared = self.reader.vocabulary.get(predicate) or self.reader.vocabulary.get(
            predicate.split("_")[0]
        )
        text = clean(said)
        if predicate in _TASTES:
            text = _RATHER_THAN.sub("", text)
        if predicate == "indication":
            text = _TREATED.sub("", text)
        if not text or text.lower() in _NO_VALUES:
            return []
        if (
            declared
            and declared.cardinality == "set"
            and self.reader.vocabulary.cardinality(predicate) == "set"
        ):
            texts = [clean(item) for item in items(text)]
        else:
            texts = [text]
        values: list[Value] = []
        for item in map(self._referent, texts):
            if item.lower() in PRONOUNS or item.split(" ", 1)[0].lower() in FIRST_PERSON:
                resolved = self.discourse.resolve(item, self.speaker)
                item = resolved or ""
            if item:
                values.append(value_of(item, declared, self.said_at))
        return values


def _confidence(reading: Reading) -> float:
    if not reading.stated:
        return round(min(0.8, max(0.3, reading.score)), 2)
    certain = min(0.98, 0.78 + 0.06 * reading.score)
    return round(certain if reading.margin >= 0.3 else min(certain, 0.7), 2)

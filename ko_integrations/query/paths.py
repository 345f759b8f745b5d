"""Paths from a subject through its facts: each object that is itself a subject can be asked on."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ko_integrations.errors import UnknownPredicateError
from ko_integrations.identity import normalize_predicate
from ko_integrations.protocols import FactReader
from ko_integrations.query.chains import Slot
from ko_integrations.query.lexicon import Lexicon, Profile
from ko_integrations.query.question import Asked
from ko_integrations.query.scoring import Fit, fit
from ko_integrations.times import Moment
from ko_integrations.types import KnowledgeObject

__all__ = ["MAX_HOPS", "Candidate", "Walker", "canonical", "slots_of"]

MAX_HOPS = 4
BEAM = 10
FAN_OUT = 8
"""Objects of one set that are followed."""
_LONGEST_NAME = 200
_ABBREVIATED = re.compile(r"(?:\b[A-Z][a-z]{1,3}|\.[A-Z])$")
"""What may have ended in a full stop: "Apple Inc", "J.R", "Ann Jr"."""
_TICK = timedelta(seconds=1)
"""Record times run ahead of a clock that stands still; that is no other time."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A path and where it leads.

    Attributes:
        asked: the reading of the question, with the subject that the path starts from.
        profiles: the predicates, from the subject outwards.
        subjects: the subjects that the last predicate is read of (several after a set).
        facts: what holds on the way, without the last hop.
        values: the facts of the last hop; empty if nothing holds there now.
        inverse: the question comes from the object's side, and the subjects of `values` answer it.
        contrary: the predicate asked for, of which the last one is the contrary: its values say no.
    """

    asked: Asked
    profiles: tuple[Profile, ...]
    subjects: tuple[str, ...]
    facts: tuple[KnowledgeObject, ...]
    values: tuple[KnowledgeObject, ...]
    fit: Fit
    inverse: bool = False
    contrary: Profile | None = None

    @property
    def predicates(self) -> tuple[str, ...]:
        """Return the canonical names along the path."""
        return tuple(profile.name for profile in self.profiles)


def canonical(reader: FactReader, predicate: str) -> str:
    """Return the canonical name of a predicate as it was asserted."""
    try:
        return reader.vocabulary.canonical(predicate)
    except UnknownPredicateError:  # asserted before the vocabulary became strict
        return normalize_predicate(predicate)


@dataclass(slots=True)
class Walker:
    """Walks one reader; each subject is read once however many paths meet there.

    Facts are those that hold at `now`; with `as_of` what held then takes their place where something did.
    """

    reader: FactReader
    lexicon: Lexicon
    now: datetime
    as_of: datetime | None = None
    known_at: Moment | None = None
    _seen: dict[str, dict[str, list[KnowledgeObject]]] = field(default_factory=dict)

    def slots(self, subject: str) -> dict[str, list[KnowledgeObject]]:
        """Return the facts of a subject by canonical predicate."""
        if subject not in self._seen:
            facts = self.reader.facts(subject, known_at=self.known_at)
            if self.is_other_time(facts):
                facts = self.reader.facts(subject, as_of=self.now, known_at=self.known_at)
            slots = self._grouped(facts)
            if self.as_of is not None:
                past = self.reader.facts(subject, as_of=self.as_of, known_at=self.known_at)
                slots.update(self._grouped(past))
            self._seen[subject] = slots
        return self._seen[subject]

    def is_other_time(self, facts: Iterable[KnowledgeObject]) -> bool:
        """Tell whether `now` is clearly another time than the store's present, at which `facts` hold."""
        return any(
            ko.valid_from > self.now + _TICK or (ko.valid_to and ko.valid_to <= self.now) for ko in facts
        )

    def _grouped(self, facts: Iterable[KnowledgeObject]) -> dict[str, list[KnowledgeObject]]:
        slots: dict[str, list[KnowledgeObject]] = {}
        for ko in facts:
            slots.setdefault(canonical(self.reader, ko.predicate), []).append(ko)
        return slots

    def candidates(self, asked: Asked) -> list[Candidate]:
        """Return the paths that explain the question best, best first."""
        frontier = self._first(asked)
        found = list(frontier)
        for _ in range(MAX_HOPS - 1):
            frontier = self._next(_best(frontier))
            found += frontier
        return sorted(found, key=lambda candidate: -candidate.fit.score)

    def follow(self, asked: Asked, path: Sequence[str]) -> Candidate | None:
        """Return the path of these canonical predicates from the subject of `asked`, or None if it breaks off."""
        reached = [candidate for candidate in self._first(asked) if candidate.predicates == tuple(path[:1])]
        for depth in range(2, len(path) + 1):
            reached = [c for c in self._next(reached) if c.predicates == tuple(path[:depth])]
        return reached[0] if reached else None

    def _first(self, asked: Asked) -> list[Candidate]:
        subject = asked.mention.subject
        slots = self.slots(subject)
        names = dict.fromkeys([*slots, *self.reader.predicates(subject)])
        return [self._made(asked, (), (subject,), (), name, slots.get(name, ())) for name in names]

    def _next(self, frontier: Sequence[Candidate]) -> list[Candidate]:
        """Extend each path by every predicate of the subjects that it leads to."""
        names = {name for candidate in frontier for name in _names(candidate.values)}
        stored = self.reader.find_subjects(sorted(names)) if names else {}
        longer: list[Candidate] = []
        for candidate in frontier:
            leads = {stored[name]: ko for ko in candidate.values for name in _names((ko,)) if name in stored}
            origin = {candidate.asked.mention.subject, *candidate.subjects}
            by_predicate: dict[str, list[tuple[str, KnowledgeObject]]] = {}
            for subject, ko in list(leads.items())[:FAN_OUT]:
                if subject not in origin:
                    for name in self.slots(subject):
                        by_predicate.setdefault(name, []).append((subject, ko))
            for name, reached in by_predicate.items():
                subjects = tuple(subject for subject, _ in reached)
                facts = (*candidate.facts, *(ko for _, ko in reached))
                values = [ko for subject in subjects for ko in self.slots(subject)[name]]
                longer.append(self._made(candidate.asked, candidate.profiles, subjects, facts, name, values))
        return longer

    def _made(
        self, asked: Asked, before: tuple[Profile, ...], subjects: tuple[str, ...],
        facts: tuple[KnowledgeObject, ...], name: str, values: Iterable[KnowledgeObject],
    ) -> Candidate:  # fmt: skip
        profiles = (*before, self.lexicon.profile(name, subjects[0]))
        return Candidate(asked, profiles, subjects, facts, tuple(values), fit(asked, profiles, self.lexicon))


def _names(values: Iterable[KnowledgeObject]) -> list[str]:
    """Return the names that values may be as subjects, with the full stop that the end of a sentence took too."""
    names = [ko.object for ko in values if isinstance(ko.object, str) and 0 < len(ko.object) <= _LONGEST_NAME]
    return [*names, *(f"{name}." for name in names if _ABBREVIATED.search(name))]


def _best(frontier: Iterable[Candidate]) -> list[Candidate]:
    """Return the paths worth extending: those whose every hop accounts for something, then the rest."""

    def worth(candidate: Candidate) -> tuple[int, float]:
        return sum(support > 0 for support in candidate.fit.support), candidate.fit.loose

    return sorted(frontier, key=worth, reverse=True)[:BEAM]


def slots_of(candidate: Candidate, walker: Walker) -> list[Slot]:
    """Return the slots of the last hop, each with what holds there now."""
    predicate = candidate.profiles[-1].name
    slots = []
    for subject in candidate.subjects:
        current = list(candidate.values)
        if walker.as_of is not None or len(candidate.subjects) > 1 or not current:
            current = walker.reader.read_values(subject, predicate, known_at=walker.known_at)
            if walker.is_other_time(current):
                current = walker.reader.read_values(
                    subject, predicate, as_of=walker.now, known_at=walker.known_at
                )
        slots.append(Slot(walker.reader, subject, predicate, tuple(current), walker.now, walker.known_at))
    return slots

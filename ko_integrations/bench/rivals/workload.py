"""The workload that every system gets: what is said, in order of arrival, what is erased, what is asked.

Two tenants have the same subjects and predicates and no value in common. Each single-valued slot has two or
three values at different event times; in one slot of five an older value arrives after a newer one. One of
twelve slots is erased before anything is asked. Values of single-valued slots occur once in the whole
workload, so that a value found in a text or a file can come from one statement only.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice, product

from ko_integrations.bench.rivals.templates import (
    ABSENT,
    GIVEN_NAMES,
    SETS,
    SINGLES,
    STRANGERS,
    SUBJECT_SURNAMES,
    Template,
    values,
)

__all__ = ["Question", "Slot", "Statement", "Workload", "make_workload"]

TENANTS = ("acme", "globex")
_EPOCH = datetime(2016, 1, 4, tzinfo=UTC)
_LATE, _ERASED = 5, 12
_QUESTIONS = 2


@dataclass(frozen=True)
class Slot:
    """What a tenant knows under a subject and a predicate: (event time, value), oldest first."""

    tenant: str
    subject: str
    template: Template
    versions: tuple[tuple[datetime, str], ...]

    @property
    def predicate(self) -> str:
        """The name it is stored under."""
        return self.template.predicate

    @property
    def values(self) -> tuple[str, ...]:
        """Its values, oldest first."""
        return tuple(value for _, value in self.versions)

    @property
    def key(self) -> tuple[str, str, str]:
        """Tenant, subject, predicate."""
        return self.tenant, self.subject, self.predicate

    def moments(self) -> list[tuple[datetime, str | None]]:
        """Return (moment, what held then): before the first value, and in the middle of each one's time."""
        starts = [start for start, _ in self.versions]
        ends = [*starts[1:], starts[-1] + timedelta(days=60)]
        middles = [start + (end - start) / 2 for start, end in zip(starts, ends, strict=True)]
        held: list[tuple[datetime, str | None]] = [(starts[0] - timedelta(days=30), None)]
        return held + list(zip(middles, self.values, strict=True))


@dataclass(frozen=True)
class Statement:
    """One thing said: the triple, its event time, and the sentence."""

    slot: Slot
    value: str
    valid_from: datetime

    @property
    def text(self) -> str:
        """The sentence that systems of texts are given."""
        return self.slot.template.statement.format(s=self.slot.subject, v=self.value)


@dataclass(frozen=True)
class Question:
    """One question: about a slot, or unanswerable (`slot` is what was erased, or None)."""

    tenant: str
    text: str
    slot: Slot | None
    answerable: bool = True


@dataclass(frozen=True)
class Workload:
    """Statements in order of arrival, slots to erase afterwards, questions to ask after that."""

    statements: Sequence[Statement]
    singles: Sequence[Slot]
    sets: Sequence[Slot]
    erased: Sequence[Slot]
    questions: Sequence[Question]
    seed: int
    tenants: tuple[str, ...] = field(default=TENANTS)

    def values_of(self, tenant: str) -> set[str]:
        """Return every value that one tenant ever stated."""
        return {each.value for each in self.statements if each.slot.tenant == tenant}


def make_workload(*, subjects: int = 60, predicates: int = 3, seed: int = 7) -> Workload:
    """Return the workload of `subjects` with `predicates` single-valued slots each, per tenant.

    Every subject has one set-valued slot more, of two to four members.
    """
    rng = random.Random(seed)
    names = [f"{given} {surname}" for given, surname in product(GIVEN_NAMES, SUBJECT_SURNAMES)]
    names = rng.sample(names, subjects)
    kinds = cycle(SINGLES)
    chosen = {name: list(islice(kinds, predicates)) for name in names}
    chosen_sets = {name: SETS[number % len(SETS)] for number, name in enumerate(names)}
    pools = _pools(rng)
    singles = [
        _single(rng, tenant, name, template, pools[tenant, template.predicate])
        for tenant in TENANTS
        for name in names
        for template in chosen[name]
    ]
    sets = [
        _set(rng, tenant, name, chosen_sets[name], pools[tenant, chosen_sets[name].predicate])
        for tenant in TENANTS
        for name in names
    ]
    erased = rng.sample(singles, max(2, len(singles) // _ERASED))
    kept = [slot for slot in singles if slot not in erased]
    statements = _arrivals(rng, singles, sets)
    questions = _questions(rng, kept, sets, erased, chosen)
    return Workload(statements, kept, sets, erased, questions, seed)


def _pools(rng: random.Random) -> dict[tuple[str, str], list[str]]:
    """Deal each template's values out to the tenants."""
    pools = {}
    for template in (*SINGLES, *SETS):
        pool = values(template)
        rng.shuffle(pool)
        for number, tenant in enumerate(TENANTS):
            pools[tenant, template.predicate] = pool[number :: len(TENANTS)]
    return pools


def _single(rng: random.Random, tenant: str, subject: str, template: Template, pool: list[str]) -> Slot:
    moment = _EPOCH + timedelta(days=rng.randrange(700))
    versions = []
    for _ in range(rng.choice((2, 3, 3))):
        versions.append((moment, pool.pop()))
        moment += timedelta(days=rng.randrange(120, 700))
    return Slot(tenant, subject, template, tuple(versions))


def _set(rng: random.Random, tenant: str, subject: str, template: Template, pool: list[str]) -> Slot:
    members = rng.sample(pool, rng.choice((2, 3, 4)))
    moments = sorted(_EPOCH + timedelta(days=rng.randrange(2_500)) for _ in members)
    return Slot(tenant, subject, template, tuple(zip(moments, members, strict=True)))


def _arrivals(rng: random.Random, singles: Sequence[Slot], sets: Sequence[Slot]) -> list[Statement]:
    """Everything in order of event time, but for the older values that arrive last."""
    late = []
    on_time = [Statement(slot, value, moment) for slot in sets for moment, value in slot.versions]
    for slot in singles:
        said = [Statement(slot, value, moment) for moment, value in slot.versions]
        if rng.randrange(_LATE) == 0:
            late.append(said.pop(rng.randrange(len(said) - 1)))
        on_time += said
    on_time.sort(key=lambda statement: statement.valid_from)
    rng.shuffle(late)
    return on_time + late


def _questions(
    rng: random.Random,
    kept: Sequence[Slot],
    sets: Sequence[Slot],
    erased: Sequence[Slot],
    chosen: dict[str, list[Template]],
) -> list[Question]:
    asked = [
        Question(slot.tenant, wording.format(s=slot.subject), slot)
        for slot in (*kept, *sets)
        for wording in rng.sample(slot.template.questions, _QUESTIONS)
    ]
    gone = [
        Question(slot.tenant, rng.choice(slot.template.questions).format(s=slot.subject), slot, False)
        for slot in erased
    ]
    lacking = [
        Question(tenant, rng.choice(_lacking(rng, chosen[name])).format(s=name), None, False)
        for tenant in TENANTS
        for name in chosen
    ]
    strangers = [
        Question(tenant, rng.choice(template.questions).format(s=name), None, False)
        for tenant in TENANTS
        for name, template in zip(STRANGERS, rng.sample(SINGLES, len(STRANGERS)), strict=True)
    ]
    questions = asked + gone + lacking + strangers
    rng.shuffle(questions)
    return questions


def _lacking(rng: random.Random, had: Sequence[Template]) -> tuple[str, ...]:
    """Wordings for something that nobody said of a subject: a predicate of others, or of no one."""
    others = [template for template in SINGLES if template not in had]
    return rng.choice((rng.choice(others).questions, ABSENT))

"""DESIGN section 4, rules 5 to 15, as one property: after any history, every path of reading tells the same truth.

The oracle is the rules written down naively over a plain list of assertions, with none of the package's code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from ko_integrations import KnowledgeStore, Predicate, Vocabulary, search
from ko_integrations.testing.scattered import ScatteredEmbedder

START = datetime(2025, 1, 1, tzinfo=UTC)
SPACES = ((), ("acme",))
SUBJECTS = ("ann", "bob")
Slot = tuple[tuple[str, ...], str, str, str]  # namespace, subject, predicate, member of a set


@dataclass
class Stated:
    """An assertion as the rules speak of it; no value is a retraction."""

    slot: Slot
    value: str | None
    source: str
    start: datetime
    end: datetime | None
    withdrawn: bool = False


class Model:
    """What the rules say, over all assertions in order of record."""

    def __init__(self) -> None:
        self.stated: list[Stated] = []

    def value(self, slot: Slot, moment: datetime) -> str | None:
        """Return what holds: of the covering assertion with the greatest (start, record).

        A retraction covers, with no value, and ends whatever started before it.
        """
        order = [a for a in self.stated if a.slot == slot and not a.withdrawn]
        covering = None
        for number, one in enumerate(order):
            later = [a for a in order if a.start > one.start]
            end = min((a.start for a in later), default=None) if one.end is None else one.end
            ended = [
                a.start for place, a in enumerate(order)
                if a.value is None and (a.start, place) > (one.start, number)
            ]  # fmt: skip
            end = min([*ended, end] if end else ended, default=None)
            if one.start <= moment and (end is None or moment < end):
                covering = max(
                    covering or (one.start, number, one), (one.start, number, one), key=lambda x: x[:2]
                )
        return None if covering is None else covering[2].value

    def held(self, space: tuple[str, ...], moment: datetime) -> set[tuple[str, str, str]]:
        """Return (subject, predicate, value) of everything that holds in a namespace."""
        slots = {a.slot for a in self.stated if a.slot[0] == space}
        found = ((slot, self.value(slot, moment)) for slot in slots)
        return {(slot[1], slot[2], value) for slot, value in found if value is not None}


class Machine(RuleBasedStateMachine):
    """Drives a store and the model through one history."""

    make: Callable[[Callable[[], datetime]], KnowledgeStore]

    @initialize()
    def begin(self) -> None:
        self.now = START
        self.model = Model()
        self.names = count()
        self.moments = [START]
        self.store = self.make(lambda: self.now)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()

    def view(self, space: tuple[str, ...]) -> KnowledgeStore:
        return self.store.namespace(*space) if space else self.store

    @rule(
        space=st.sampled_from(SPACES), subject=st.sampled_from(SUBJECTS),
        predicate=st.sampled_from(("city", "pet")), value=st.sampled_from("xyz"), source=st.sampled_from("st"),
        start=st.none() | st.integers(-6, 4), length=st.none() | st.integers(1, 5),
    )  # fmt: skip
    def update(self, space, subject, predicate, value, source, start, length) -> None:
        self.tick()
        since = None if start is None else self.now + timedelta(days=start)
        until = None if length is None else (since or self.now) + timedelta(days=length)
        self.view(space).update(subject, predicate, value, source=source, valid_from=since, valid_to=until)
        slot = (space, subject, predicate, value if predicate == "pet" else "")
        self.model.stated.append(Stated(slot, value, source, since or self.now, until))

    @rule(
        space=st.sampled_from(SPACES), subject=st.sampled_from(SUBJECTS), back=st.none() | st.integers(0, 4)
    )
    def retract(self, space, subject, back) -> None:
        self.tick()
        moment = None if back is None else self.now - timedelta(days=back)
        slot = (space, subject, "city", "")
        known = any(a.slot == slot for a in self.model.stated)
        self.view(space).retract(subject, "city", at=moment)
        if known or moment is not None:
            self.model.stated.append(Stated(slot, None, "", moment or self.now, None))

    @rule(space=st.sampled_from(SPACES), source=st.sampled_from("st"))
    def withdraw(self, space, source) -> None:
        self.tick()
        self.view(space).withdraw_source(source)
        for a in self.model.stated:
            a.withdrawn = a.withdrawn or (a.slot[0] == space and a.source == source)

    @rule(space=st.sampled_from(SPACES), subject=st.sampled_from(SUBJECTS))
    def erase(self, space, subject) -> None:
        self.tick()
        self.view(space).erase(subject)
        self.model.stated = [a for a in self.model.stated if a.slot[:2] != (space, subject)]

    @rule()
    def roll_back(self) -> None:
        def fail() -> None:
            with self.store.batch():
                self.store.update("ann", "city", "never")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()

    @rule(days=st.integers(1, 3))
    def wait(self, days) -> None:
        self.now += timedelta(days=days)

    def tick(self) -> None:
        self.now += timedelta(seconds=1)
        self.moments.append(self.now)

    @invariant()
    def every_path_tells_what_holds(self) -> None:
        if not hasattr(self, "store"):
            return
        for space in SPACES:
            view, expected = self.view(space), self.model.held(space, self.now)

            def told(kos) -> list:
                return sorted((ko.subject, ko.predicate, ko.object) for ko in kos)

            everything = sorted(expected)
            assert told(view.snapshot()) == everything
            assert told(view.iter_heads()) == everything
            assert told(ko for subject in SUBJECTS for ko in view.facts(subject)) == everything
            assert told(hit.ko for hit in view.read("anything", 50)) == everything
            for name in expected:
                assert view.read(" ".join(name), 1)[0].ko.object == name[2]
            assert view.count() == len(everything)
            assert view.subjects() == sorted({name[0] for name in expected})
            assert told(view.get_many([ko.id for ko in view.snapshot()])) == everything
            for subject in SUBJECTS:
                head = view.read_exact(subject, "city")
                assert (head and head.object) == self.model.value((space, subject, "city", ""), self.now)

    @invariant()
    def the_past_is_what_the_rules_make_it(self) -> None:
        if not hasattr(self, "store"):
            return
        for moment in (self.now - timedelta(days=3), self.moments[len(self.moments) // 2]):
            for space in SPACES:
                held = self.view(space).snapshot(as_of=moment)
                expected = self.model.held(space, moment)
                assert {(ko.subject, ko.predicate, ko.object) for ko in held} == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "backend", ["memory", "folder", pytest.param("postgres", marks=pytest.mark.postgres)]
)
def test_any_history_reads_the_same_by_every_path(
    backend: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        search, "EXACT_LIMIT", 0
    )  # every semantic read goes through the index, where there is one
    numbers = count()
    vocabulary = Vocabulary([Predicate(name="city"), Predicate(name="pet", cardinality="set")])

    def make(clock: Callable[[], datetime]) -> KnowledgeStore:
        where: object = ":memory:"
        if backend == "folder":
            where = tmp_path / str(next(numbers))
        elif backend == "postgres":
            where = request.getfixturevalue("make_postgres_url")()
        return KnowledgeStore.open(where, embedder=ScatteredEmbedder(), vocabulary=vocabulary, clock=clock)  # type: ignore[arg-type]

    machine = type("StoreMachine", (Machine,), {"make": staticmethod(make)})
    examples = {"memory": 40, "folder": 8, "postgres": 8}[backend]
    chosen = settings(
        max_examples=examples, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(machine, settings=chosen)

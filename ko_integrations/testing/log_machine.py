"""A Hypothesis state machine that drives a version log beside the reference and compares every answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import normalize_name, normalize_predicate
from ko_integrations.log.contract import (
    Address,
    Assertion,
    Entry,
    Namespace,
    Naming,
    Pending,
    Scope,
    VersionLog,
)
from ko_integrations.testing.log_rows import NOW, address, entry
from ko_integrations.testing.reference_log import ReferenceLog

__all__ = ["compare_with_reference"]

T = TypeVar("T")

# Few names and moments close together, so that facts meet, tie, overlap and arrive late.
_NAMESPACES: tuple[Namespace, ...] = (("n",), ("n", "m"))
_SUBJECTS = ("Ann", "ANN", "Bob", "Robert")
_PREDICATES = ("city", "home town", "Home-Town")
_VALUES = ("A", "B", "ann", 3, 3.0, None, None)
_SOURCES = (None, "s", "t")

_Fact = dict[str, Any]
_facts = st.fixed_dictionaries(
    {
        "namespace": st.sampled_from((*_NAMESPACES, _NAMESPACES[0])),
        "subject": st.sampled_from(_SUBJECTS),
        "predicate": st.sampled_from(_PREDICATES),
        "value": st.sampled_from(_VALUES),
        "source": st.sampled_from(_SOURCES),
        "start": st.none() | st.integers(-12, 8),
        "length": st.none() | st.integers(1, 10),
        "verbatim": st.sampled_from((False, False, False, False, True)),
        "vector": st.none() | st.just(b"1234"),
    }
)
_batches = st.lists(_facts, min_size=1, max_size=4)
_namespaces = st.sampled_from((None, *_NAMESPACES, ("none",)))


class _Stopped(Exception):  # noqa: N818 - it is no error: it ends a transaction on purpose
    pass


def compare_with_reference(make_log: Callable[[], VersionLog], *, examples: int = 25) -> None:
    """Drive new logs of `make_log` and the reference through random histories; fail where they differ."""
    machine = type("LogMachine", (_LogMachine,), {"make_log": staticmethod(make_log)})
    chosen = settings(
        max_examples=examples, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(machine, settings=chosen)


class _LogMachine(RuleBasedStateMachine):
    make_log: Callable[[], VersionLog]

    @initialize()
    def begin(self) -> None:
        self.log = self.make_log()
        self.reference = ReferenceLog()
        self.clock = NOW
        self.aliased = self.renamed = False
        self.claimed: list[tuple[list[Pending], list[Pending]]] = []

    def teardown(self) -> None:
        if hasattr(self, "log"):
            self.log.close()

    def same(self, ask: Callable[..., T], *arguments: Any) -> T:
        """Ask both logs; the answers must be equal."""
        expected = ask(self.reference, *arguments)
        found = ask(self.log, *arguments)
        assert found == expected
        return expected

    def place(self, assertion: Assertion | Entry) -> Address:
        """Return where an assertion belongs by the names in force."""
        here = assertion.address
        if here.verbatim:
            return here
        subject, predicate = normalize_name(assertion.subject), normalize_predicate(assertion.predicate)
        subject = "bob" if self.aliased and subject == "robert" else subject
        predicate = "city" if self.renamed and predicate == "home_town" else predicate
        return address(subject, predicate, namespace=here.namespace)

    def entry(self, fact: _Fact) -> Entry:
        fact = dict(fact)
        start, length = fact.pop("start"), fact.pop("length")
        valid_from = None if start is None else self.clock + start
        # An end with no start may lie before the record time, and is refused then.
        valid_to = None if length is None else (self.clock if valid_from is None else valid_from) + length
        made = entry(**fact, valid_from=valid_from, valid_to=valid_to)
        return replace(made, address=self.place(made))

    # -- writes ---
    @rule(by=st.integers(1, 6))
    def wait(self, by: int) -> None:
        self.clock += by

    @rule(facts=_batches, back=st.integers(0, 3))
    def append(self, facts: Sequence[_Fact], back: int) -> None:
        entries = [self.entry(fact) for fact in facts]

        def add(log: VersionLog) -> Any:
            try:
                return log.append(entries, now=self.clock - back)
            except InvalidInputError as error:
                return error.field

        self.same(add)

    @rule(first=_batches, second=_batches, outer=st.booleans(), inner=st.booleans())
    def transact(self, first: Sequence[_Fact], second: Sequence[_Fact], outer: bool, inner: bool) -> None:
        parts = [[replace(self.entry(fact), valid_to=None) for fact in part] for part in (first, second)]

        def write(log: VersionLog) -> None:
            try:
                with log.transaction():
                    log.append(parts[0], now=self.clock)
                    try:
                        with log.transaction():
                            log.append(parts[1], now=self.clock)
                            if inner:
                                raise _Stopped
                    except _Stopped:
                        log.withdraw(("n",), "s", now=self.clock)
                    if outer:
                        raise _Stopped
            except _Stopped:
                pass

        self.same(write)

    @rule(namespace=st.sampled_from(_NAMESPACES), source=st.sampled_from(_SOURCES[1:]))
    def withdraw(self, namespace: Namespace, source: str) -> None:
        self.same(lambda log: log.withdraw(namespace, source, now=self.clock))

    @rule()
    def rename(self) -> None:
        self.renamed = not self.renamed
        naming = Naming("city" if self.renamed else "home_town", "single")

        def move(log: VersionLog) -> int:
            with log.transaction():
                if "home_town" in log.namings():
                    log.record_namings({"home_town": naming})
                return log.rekey(self.place, predicates=["home_town"], now=self.clock)

        self.same(move)

    @rule()
    def alias(self) -> None:
        self.aliased = not self.aliased

        def move(log: VersionLog) -> int:
            with log.transaction():
                for namespace in _NAMESPACES:
                    log.set_alias(namespace, "robert", "bob" if self.aliased else None)
                pairs = [(namespace, "robert") for namespace in _NAMESPACES]
                return log.rekey(self.place, subjects=pairs, now=self.clock)

        self.same(move)

    @rule(
        namespace=st.sampled_from(_NAMESPACES),
        subject=st.none() | st.sampled_from(("ann", "bob", "Ann")),
        predicate=st.none() | st.sampled_from(("city", "home_town")),
        verbatim=st.none() | st.booleans(),
    )
    def erase_scope(
        self, namespace: Namespace, subject: str | None, predicate: str | None, verbatim: bool | None
    ) -> None:
        scope = Scope(namespace, subject, predicate if subject else None, verbatim)
        self.same(lambda log: log.erase(scope, now=self.clock))
        self.aliased = self.aliased and all(map(self.reference.aliases, _NAMESPACES))

    @rule(pick=st.integers(0, 30), kind=st.sampled_from(("slots", "sequences", "source")))
    def erase_some(self, pick: int, kind: str) -> None:
        events = self.reference.events(0, 1_000)
        if not events:
            return
        event = events[pick % len(events)]
        selectors: dict[str, dict[str, Any]] = {
            "slots": {"slots": event.slots},
            "sequences": {"sequences": [event.sequence]},
            "source": {"source": (_NAMESPACES[pick % 2], "s")},
        }
        self.same(lambda log: log.erase(None, now=self.clock, **selectors[kind]))

    @rule()
    def finish_erasures(self) -> None:
        slots = [slot for _, slot in self.reference.erasing()]
        for log in (self.log, self.reference):
            log.erased(slots)

    # -- the outbox ---
    @rule(namespace=_namespaces)
    def claim(self, namespace: Namespace | None) -> None:
        found, expected = (log.claim(namespace, 100, now=self.clock) for log in (self.log, self.reference))
        assert {(p.slot, p.namespace) for p in found} == {(p.slot, p.namespace) for p in expected}
        order = {p.slot: n for n, p in enumerate(found)}
        self.claimed.append((found, sorted(expected, key=lambda p: order[p.slot])))

    @rule(pick=st.integers(0, 10), skip=st.integers(0, 2))
    def confirm(self, pick: int, skip: int) -> None:
        if self.claimed:
            found, expected = self.claimed[-1 - pick % len(self.claimed)]
            self.log.confirm(found[skip:])
            self.reference.confirm(expected[skip:])

    @rule()
    def mark_all(self) -> None:
        self.same(lambda log: log.mark_all())

    @rule(sequences=st.sets(st.integers(1, 30), max_size=3))
    def put_vectors(self, sequences: set[int]) -> None:
        self.same(lambda log: log.put_vectors(dict.fromkeys(sequences, b"5678")))

    # -- comparing ---
    @invariant()
    def answers_are_equal(self) -> None:
        if not hasattr(self, "log"):
            return
        events = self.same(lambda log: log.events(0, 1_000))
        slots = sorted({slot for event in events for slot in event.slots})
        for now in (self.clock - 5, self.clock, self.clock + 4):
            heads = self.same(lambda log, at: log.heads(slots, at), now)
            assert {slot: self.log.head(slot, now) for slot in slots} == {s: heads.get(s) for s in slots}
            for scope in map(Scope, _NAMESPACES):
                self.same(lambda log, s, at: log.scan(s, at, limit=3), scope, now)
        self.same(lambda log: log.chains(slots))
        moments = {event.recorded_at for event in events[-1:] + events[len(events) // 2 :][:1]}
        for moment in moments | {moment - 1 for moment in moments}:
            self.same(lambda log, at: log.chains(slots, known_at=at), moment)
            self.same(lambda log, at: log.chains(Scope(("n",)), known_at=at, limit=4), moment)
            self.same(lambda log, at: log.sequence_at(at), moment)
        sequences = [event.sequence for event in events]
        self.same(lambda log: dict(log.vectors(sequences)))

    @invariant()
    def surroundings_are_equal(self) -> None:
        if not hasattr(self, "log"):
            return
        for namespace in _NAMESPACES:
            self.same(lambda log, n: list(log.subjects(n)), namespace)
            self.same(lambda log, n: log.predicates(n, "bob"), namespace)
            self.same(lambda log, n: log.naming(n, "ann", 10), namespace)
            self.same(lambda log, n: log.aliases(n), namespace)
            self.same(lambda log, n: log.count(Scope(n)), namespace)
            self.same(lambda log, n: log.count(Scope(n, "ann", verbatim=False)), namespace)
            self.same(lambda log, n: log.pending(n), namespace)
            self.same(lambda log, n: log.next_due(n), namespace)
            self.same(
                lambda log, n: sorted(log.head_vectors(n, self.clock), key=lambda row: row[0]), namespace
            )
        for ask in ("aliased", "namespaces", "count", "erasing", "namings", "check", "pending"):
            self.same(lambda log, name: getattr(log, name)(), ask)

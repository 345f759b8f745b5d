"""What every `VersionLog` must do. Subclass the suite, give it a `make_log` fixture, run pytest.

```python
class TestMyLog(LogSuite):
    @pytest.fixture
    def make_log(self, tmp_path):
        return lambda: MyLog(tmp_path / uuid4().hex)  # a new, empty log each time
```
"""

from collections.abc import Callable, Iterator
from random import Random
from threading import Thread

import pytest

from ko_integrations.errors import InvalidInputError, StoreClosedError
from ko_integrations.identity import (
    MAX_NAME_BYTES,
    normalize_name,
)
from ko_integrations.log.contract import LAST, Address, Assertion, Naming, Scope, VersionLog
from ko_integrations.log.fold import fold
from ko_integrations.testing.log_machine import compare_with_reference
from ko_integrations.testing.log_rows import NOW, A, address, append, entry, values
from ko_integrations.testing.log_upkeep import UpkeepSpecs

__all__ = ["LogSuite"]


class LogSuite(UpkeepSpecs):
    """The conformance suite of version logs."""

    examples = 25  # random histories; fewer for a log that is slow to make

    @pytest.fixture
    def make_log(self) -> Callable[[], VersionLog]:
        """Return a function that makes a new, empty log. Override it."""
        pytest.skip("no log to test: override make_log")

    @pytest.fixture
    def log(self, make_log: Callable[[], VersionLog]) -> Iterator[VersionLog]:
        """Return one new log."""
        log = make_log()
        yield log
        log.close()

    def test_behaves_like_the_reference(self, make_log: Callable[[], VersionLog]) -> None:
        compare_with_reference(make_log, examples=self.examples)

    # -- chains ---
    def test_a_new_value_supersedes(self, log: VersionLog) -> None:
        assert append(log, entry("Ann", "city", "Rome")) == ["created"]
        (applied,) = log.append([entry("ANN", "city", "Oslo")], now=NOW + 5)
        assert applied.outcome == "superseded"
        assert applied.previous is not None
        assert (applied.previous.first.value, applied.previous.valid_to) == ("Rome", NOW + 5)
        head = log.head(A.slot, NOW + 9)
        assert head == applied.version
        assert head is not None
        assert (head.first.value, head.first.subject, head.number) == ("Oslo", "ANN", 2)
        assert head.previous == applied.previous.first.sequence

    def test_a_restated_value_confirms_and_is_not_marked_again(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "Rome", source="a"))
        log.confirm(log.claim(None, 10, now=NOW))
        (applied,) = log.append([entry("Ann", "city", "Rome", source="b")], now=NOW + 5)
        assert applied.outcome == "confirmed"
        head = log.head(A.slot, NOW + 9)
        assert head is not None
        assert (head.number, head.first.source, [c.source for c in head.confirmations]) == (1, "a", ["b"])
        assert log.pending() == 0

    def test_a_late_fact_takes_its_place(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "A", valid_from=1), entry("Ann", "city", "A", valid_from=3))
        assert append(log, entry("Ann", "city", "B", valid_from=2)) == ["backdated"]
        assert values(log, A.slot) == ["A", "B", "A"]

    def test_shuffled_arrival_gives_the_same_chain(self, make_log: Callable[[], VersionLog]) -> None:
        facts = [entry("Ann", "city", str(i % 3), valid_from=i // 2 * 2) for i in range(30)]
        facts += [
            entry("Ann", "city", None, valid_from=21),
            entry("Ann", "city", "x", valid_from=5, valid_to=9),
        ]
        chains = []
        for seed in range(3):
            # Facts that start together keep their order: it is the order of record that decides between them.
            starts = sorted({fact.valid_from or 0 for fact in facts})
            Random(seed).shuffle(starts)
            log = make_log()
            for start in starts:
                log.append([fact for fact in facts if fact.valid_from == start], now=NOW)
            found = fold(log.chains([A.slot])[A.slot])
            chains.append([(v.first.value, v.valid_from, v.valid_to, v.number) for v in found])
            head = log.head(A.slot, NOW)
            assert head is not None
            assert head.first.value == "2"
            assert log.check() == []
            log.close()
        assert chains[0] == chains[1] == chains[2]

    def test_a_retraction_ends_and_revives_nothing(self, log: VersionLog) -> None:
        append(
            log,
            entry("Ann", "city", "A", valid_from=1, valid_to=900),
            entry("Ann", "city", "B", valid_from=2),
        )
        (applied,) = log.append([entry("Ann", "city", None, valid_from=5)], now=NOW)
        assert applied.outcome == "superseded"
        assert applied.version is not None
        assert (applied.version.first.value, applied.version.valid_to) == ("B", 5)
        assert log.head(A.slot, NOW) is None
        assert log.count() == 0
        assert log.subjects(("n",)) == {}
        assert log.predicates(("n",), "ann") == ["city"]

    def test_heads_change_with_no_write(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "A", valid_from=1), entry("Ann", "city", "B", valid_from=NOW + 10))
        append(log, entry("Ann", "job", "C", valid_to=NOW + 20))
        job = address("Ann", "job").slot
        assert log.next_due(("n",)) == NOW + 10
        for moment, city, has_job in ((NOW + 9, "A", True), (NOW + 10, "B", True), (NOW + 20, "B", False)):
            heads = log.heads([A.slot, job], moment)
            assert (heads[A.slot].first.value, job in heads) == (city, has_job)
            assert {v.first.address.slot for v in log.scan(Scope(("n",)), moment)} == heads.keys()
            assert {slot for slot, _, _ in log.head_vectors(("n",), moment)} == heads.keys()
        log.confirm(log.claim(None, 10, now=NOW + 9))
        assert {p.slot for p in log.claim(None, 10, now=NOW + 20)} == {A.slot, job}
        assert log.count() == 1
        assert log.next_due(("n",)) is None
        assert log.check() == []

    def test_a_clock_that_goes_back_hides_nothing(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "A"), now=NOW)
        append(log, entry("Ann", "city", "B"), now=NOW - 500)
        head = log.head(A.slot, NOW - 500)
        assert head is not None
        assert (head.first.value, head.first.recorded_at) == ("B", NOW + 1)
        recorded = [event.recorded_at for event in log.events(0, 10)]
        assert recorded == sorted(set(recorded))

    def test_numbers_are_equal_by_value(self, log: VersionLog) -> None:
        append(log, entry("Ann", "age", 3))
        assert append(log, entry("Ann", "age", 3.0)) == ["confirmed"]
        assert append(log, entry("Ann", "age", "3")) == ["superseded"]

    def test_bad_intervals_store_nothing(self, log: VersionLog) -> None:
        with pytest.raises(InvalidInputError, match="valid_to"):
            append(log, entry("Ann", "city", "A", valid_from=9, valid_to=9))
        with pytest.raises(InvalidInputError, match=r"facts\[1\]\.valid_to"):
            append(log, entry("Ann", "city", "A"), entry("Ann", "job", "B", valid_to=NOW - 1))
        assert log.chains(Scope(("n",))) == {}
        assert log.events(0, 10) == []

    # -- what was known ---
    def test_known_at_shows_what_was_known(self, log: VersionLog) -> None:
        append(log, entry("Ann", "town", "A", source="s"), now=NOW)
        log.withdraw(("n",), "s", now=NOW + 10)
        append(log, entry("Ann", "town", "B"), now=NOW + 20)
        town, city = address("Ann", "town"), address("Ann", "city")
        log.rekey(lambda _: city, predicates=["town"], now=NOW + 30)

        def known(at: int) -> dict[bytes, list[str | None]]:
            return {
                slot: [a.value for a in chain]
                for slot, chain in log.chains(Scope(("n",), "ann"), known_at=at).items()
            }

        assert known(NOW - 1) == {}
        assert known(NOW) == known(NOW + 9) == {town.slot: ["A"]}
        assert known(NOW + 10) == {}
        assert known(NOW + 29) == {town.slot: ["B"]}
        assert known(NOW + 30) == {city.slot: ["B"]}
        assert log.chains([city.slot], known_at=NOW + 30)[city.slot][0].address == city
        assert log.chains([town.slot], known_at=NOW + 20)[town.slot][0].address == town

    def test_a_move_can_be_undone(self, log: VersionLog) -> None:
        append(log, entry("NYC", "mayor", "A", source="s"), entry("New York", "mayor", "B"))
        log.withdraw(("n",), "s", now=NOW)
        old, new = address("NYC", "mayor"), address("New York", "mayor")
        log.set_alias(("n",), "nyc", "new york")
        seen: list[Assertion] = []

        def place(assertion: Assertion) -> Address:
            seen.append(assertion)
            return new

        assert log.rekey(place, subjects=[(("n",), "nyc")], now=NOW) == 1
        assert [(a.subject, a.withdrawn) for a in seen] == [("NYC", True)]
        assert append(log, entry("NYC", "mayor", "C", at=new)) == ["superseded"]
        assert values(log, new.slot) == ["B", "C"]
        assert log.rekey(lambda _: old, subjects=[(("n",), "nyc")], now=NOW) == 2
        assert (values(log, old.slot), values(log, new.slot)) == (["C"], ["B"])
        assert [event.kind for event in log.events(0, 20)][-1] == "rekeyed"
        assert log.events(0, 20)[-1].slots == tuple(sorted([old.slot, new.slot]))
        assert log.check() == []

    def test_the_change_feed_is_in_order_and_pages(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "A", source="s"), entry("Ann", "city", None))
        log.withdraw(("n",), "s", now=NOW)
        append(log, entry("Bob", "city", "A", namespace=("m",)))
        log.erase(Scope(("m",)), now=NOW)
        events, after = [], 0
        while page := log.events(after, 2):
            events += page
            after = page[-1].sequence
        assert [event.kind for event in events] == ["asserted", "retracted", "withdrawn", "erased"]
        assert [event.slots for event in events] == [(A.slot,), (A.slot,), (A.slot,), ()]
        assert [event.namespace for event in events] == [("n",), ("n",), ("n",), ("m",)]
        assert log.sequence_at(LAST) == events[-1].sequence
        assert [log.sequence_at(e.recorded_at) for e in events] == [e.sequence for e in events]
        assert log.sequence_at(events[0].recorded_at - 1) == 0

    # -- transactions ---
    def test_a_transaction_is_all_or_nothing(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "A"))

        def fail() -> None:
            with log.transaction():
                append(log, entry("Ann", "city", "B"), entry("Bob", "city", "C"))
                log.set_state({"key": "value"})
                assert values(log, A.slot) == ["A", "B"]
                raise RuntimeError("stop")

        with pytest.raises(RuntimeError, match="stop"):
            fail()
        assert values(log, A.slot) == ["A"]
        assert (log.count(), log.get_state("key")) == (1, None)

    def test_a_part_of_a_transaction_can_fail_alone(self, log: VersionLog) -> None:
        with log.transaction():
            append(log, entry("Ann", "city", "A"))
            with pytest.raises(InvalidInputError):
                append(log, entry("Ann", "city", "B"), entry("Ann", "job", "C", valid_to=1))
            append(log, entry("Ann", "city", "D"), now=NOW + 1)
        assert values(log, A.slot) == ["A", "D"]
        assert log.check() == []

    def test_threads_lose_nothing(self, log: VersionLog) -> None:
        def work(thread: int) -> None:
            for i in range(20):
                append(log, entry("Ann", "city", f"{thread}/{i}"))
                assert log.head(A.slot, NOW) is not None

        threads = [Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(values(log, A.slot)) == {f"{n}/{i}" for n in range(4) for i in range(20)}
        assert [event.sequence for event in log.events(0, 100)] == list(range(1, 81))
        assert log.check() == []

    # -- scopes ---
    def test_pages_of_a_scope(self, log: VersionLog) -> None:
        append(
            log, *(entry(f"s{i}", "p", str(i)) for i in range(25)), entry("s1", "p", "x", namespace=("m",))
        )
        slots: list[bytes] = []
        while page := log.scan(Scope(("n",)), NOW, after=slots[-1] if slots else None, limit=7):
            slots += [version.first.address.slot for version in page]
        assert slots == sorted(address(f"s{i}", "p").slot for i in range(25))
        chains: list[bytes] = []
        while found := log.chains(Scope(("n",)), after=chains[-1] if chains else None, limit=7):
            chains += found
        assert chains == slots
        assert list(log.chains(slots, after=slots[4], limit=3)) == slots[5:8]
        assert log.count(Scope(("n",))) == 25
        assert log.count(Scope(("n",), "s1", "p")) == 1
        assert log.namespaces() == [("m",), ("n",)]

    def test_namespaces_are_whole_segments(self, log: VersionLog) -> None:
        for namespace in (("team",), ("team", "a"), ("team2",), ('team","a',), ()):
            append(log, entry("Ann", "city", "A", namespace=namespace))
        assert log.namespaces(("team",)) == [("team",), ("team", "a")]
        assert len(log.namespaces()) == 5
        assert log.count(Scope(("team",))) == 1

    def test_keys_are_kept_apart_from_facts(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "A"), entry("Ann", "city", "B", verbatim=True))
        append(log, entry("ann", "city", "C", verbatim=True))
        assert log.count(Scope(("n",), "ann")) == 2
        assert log.count(Scope(("n",), "Ann")) == 1
        assert log.count(Scope(("n",), "ann", verbatim=False)) == 1
        assert log.count(Scope(("n",), verbatim=True)) == 2
        assert log.subjects(("n",)) == {"ann": "Ann"}
        assert log.namings() == {"city": Naming("city", "single")}

    def test_subjects_by_prefix_and_by_key(self, log: VersionLog) -> None:
        names = ["Zoë", "Zoe", "zo", "Ångström", "Ω", "日本", "a" * 300, "a" * 299 + "b", "\U0001f600 face"]
        append(log, *(entry(name, "p", "v") for name in names))
        keys = sorted(map(normalize_name, names))
        assert list(log.subjects(("n",))) == keys
        for prefix in ("z", "zo", "日", "a" * 260, "a" * 299, "\U0001f600", "q"):
            assert list(log.subjects(("n",), prefix=prefix)) == [
                key for key in keys if key.startswith(prefix)
            ]
        assert log.subjects(("n",), keys=["zoë", "none", "a" * 300]) == {"a" * 300: "a" * 300, "zoë": "Zoë"}
        assert list(log.subjects(("n",), limit=3)) == keys[:3]

    def test_naming_finds_objects_that_name_a_subject(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "New  YORK"), entry("Bob", "city", "York"), entry("Bob", "age", 3))
        append(log, entry("Ann", "city", "new york", namespace=("m",)))
        assert log.naming(("n",), "new york", 10) == [A.slot]
        append(log, entry("Ann", "city", "Rome"), now=NOW + 1)
        assert log.naming(("n",), "new york", 10) == []

    def test_long_names_and_large_values(self, log: VersionLog) -> None:
        long = "日" * (MAX_NAME_BYTES // 3)
        append(log, entry(long + "x", long, "v" * 1_000_000, source=long, text="t" * 1_000_000))
        append(log, entry(long + "y", long, "w", namespace=(long,)))
        assert list(log.subjects(("n",), keys=[long + "x", long + "y"])) == [long + "x"]
        (version,) = log.scan(Scope(("n",), long + "x", long), NOW)
        assert (len(version.first.value or ""), version.first.source) == (1_000_000, long)
        assert log.namespaces((long,)) == [(long,)]
        assert log.withdraw(("n",), long, now=NOW) == [version.first.address.slot]

    def test_a_closed_log_says_so(self, make_log: Callable[[], VersionLog]) -> None:
        log = make_log()
        append(log, entry("Ann", "city", "A"))
        log.close()
        log.close()
        for use in (lambda: log.head(A.slot, NOW), lambda: log.append([entry("Ann", "city", "A")], now=NOW)):
            with pytest.raises(StoreClosedError):
                use()

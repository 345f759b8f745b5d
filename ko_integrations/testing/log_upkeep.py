"""What every `VersionLog` must do for those who keep an index of it, erase from it, and keep small state in it."""

import pytest

from ko_integrations.errors import InvalidInputError
from ko_integrations.log.contract import Naming, Scope, VersionLog
from ko_integrations.testing.log_rows import NOW, A, address, append, entry

__all__ = ["UpkeepSpecs"]


class UpkeepSpecs:
    """A part of `LogSuite`, which gives it the fixture `log`."""

    # -- the outbox ---
    def test_only_what_was_applied_is_confirmed(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "A"), entry("Bob", "city", "B", namespace=("m",)))
        assert (log.pending(), log.pending(("n",)), log.pending(("none",))) == (2, 1, 0)
        stale = log.claim(("n",), 10, now=NOW)
        assert [(p.slot, p.namespace) for p in stale] == [(A.slot, ("n",))]
        append(log, entry("Ann", "city", "C"))
        log.confirm(stale)
        assert log.pending(("n",)) == 1
        log.confirm(log.claim(None, 10, now=NOW))
        assert log.pending() == 0
        assert log.mark_all() == 2
        log.confirm(stale)
        assert [p.slot for p in log.claim(None, 1, now=NOW)] != []
        assert log.pending() == 2

    def test_vectors_follow_assertions(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "A", vector=b"1234"), entry("Bob", "city", "B"))
        first, second = sorted(sequence for _, sequence, _ in log.head_vectors(("n",), NOW))
        log.put_vectors({second: b"5678", 99: b"none"})
        assert dict(log.vectors([first, second, 99])) == {first: b"1234", second: b"5678"}
        assert {vector for _, _, vector in log.head_vectors(("n",), NOW)} == {b"1234", b"5678"}
        log.clear_vectors()
        assert {vector for _, _, vector in log.head_vectors(("n",), NOW)} == {None}

    # -- erasing ---
    def test_erasing_forgets_everything_of_a_subject(self, log: VersionLog) -> None:
        append(log, entry("Ann", "home town", "A", source="s", vector=b"1234"), entry("Bob", "city", "B"))
        log.set_alias(("n",), "annie", "ann")
        home = address("Ann", "home town").slot
        assert log.erase(Scope(("n",), "ann"), now=NOW) == [home]
        assert (log.chains([home]), log.chains([home], known_at=NOW), log.heads([home], NOW)) == ({}, {}, {})
        assert (log.aliases(("n",)), list(log.namings()), log.vectors([1])) == ({}, ["city"], {})
        assert log.erasing() == [(("n",), home)]
        log.erased([home])
        assert log.erasing() == []
        assert log.check() == []
        assert append(log, entry("Ann", "home town", "A")) == ["created"]

    def test_a_namespace_is_forgotten_when_its_last_alias_goes(self, log: VersionLog) -> None:
        log.append([entry("Ann", "city", "A")], now=NOW)
        log.set_alias(("n",), "robert", "bob")
        log.erased(log.erase(Scope(("n",), "ann"), now=NOW))
        assert [event.namespace for event in log.events(0, 10)] == [("n",)]
        log.set_alias(("n",), "robert", None)
        log.erased([])
        assert [event.namespace for event in log.events(0, 10)] == [None]

    def test_erasing_a_source_keeps_what_others_said(self, log: VersionLog) -> None:
        append(log, entry("Ann", "city", "A", source="s"), entry("Ann", "city", "A", source="t"))
        append(log, entry("Bob", "city", "B", source="s"))
        bob = address("Bob", "city").slot
        log.confirm(log.claim(None, 10, now=NOW))
        assert log.erase(None, source=(("n",), "s"), now=NOW) == sorted([A.slot, bob])
        head = log.head(A.slot, NOW)
        assert head is not None
        assert (head.first.source, head.confirmations) == ("t", ())
        assert [p.slot for p in log.claim(None, 10, now=NOW)] == [A.slot]
        assert log.heads([bob], NOW) == {}
        assert log.erase(None, sequences=[head.first.sequence], now=NOW) == [A.slot]
        assert log.chains(Scope(("n",))) == {}
        with pytest.raises(InvalidInputError):
            log.erase(Scope(("n",)), slots=[A.slot], now=NOW)

    def test_erasing_reaches_moved_and_withdrawn(self, log: VersionLog) -> None:
        append(log, entry("Ann", "town", "A", source="s"))
        log.rekey(lambda _: A, predicates=["town"], now=NOW)
        log.withdraw(("n",), "s", now=NOW)
        town = address("Ann", "town").slot
        assert log.erase(Scope(("n",), "ann", "city"), now=NOW) == sorted([A.slot, town])
        assert log.chains([A.slot, town], known_at=NOW) == {}
        assert log.namings() == {}

    # -- small state ---
    def test_state_aliases_and_namings(self, log: VersionLog) -> None:
        log.set_state({"a": "1", "b": "2"})
        log.set_state({"a": None, "b": "3"})
        assert (log.get_state("a"), log.get_state("b")) == (None, "3")
        seen = [log.generation()]
        append(log, entry("Ann", "home town", "A"))
        seen.append(log.generation())
        log.record_namings({"home_town": Naming("city", "set")})
        seen.append(log.generation())
        log.set_alias(("n",), "annie", "ann")
        seen.append(log.generation())
        assert len(set(seen)) == len(seen)
        assert log.namings() == {"home_town": Naming("city", "set")}
        assert log.aliases(("n",)) == {"annie": "ann"}
        assert log.aliased() == [("n",)]
        log.set_alias(("n",), "annie", None)
        assert (log.aliases(("n",)), log.aliased()) == ({}, [])
        append(log, entry("Bob", "home town", "A"))
        assert log.namings() == {"home_town": Naming("city", "set")}

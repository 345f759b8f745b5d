"""What one slot goes through in a write: from its stored head, by new assertions, to its next stored head."""

from bisect import insort
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ko_integrations.log.contract import Applied, Assertion, Outcome, Version
from ko_integrations.log.fold import covering, fold, next_change, same_value

__all__ = ["NO_HEAD", "Head", "SlotTail", "settle"]


class Head(NamedTuple):
    """A head as a slot row stores it: what holds from one moment until `changes_at`, if nobody writes.

    `tip` says that the head has no end, is the last version of the chain, and rests on one assertion, so
    that a newer assertion supersedes it without a look at the rest of the chain.
    """

    sequence: int | None = None
    number: int = 0
    previous: int | None = None
    support: int = 0
    valid_to: int | None = None
    changes_at: int | None = None
    tip: bool = False


NO_HEAD = Head()


def settle(chain: Sequence[Assertion], now: int) -> tuple[Head, Assertion | None]:
    """Return the head of a sorted chain at `now`, and the first assertion of its version."""
    changes_at = next_change(chain, now)
    found = covering(chain, now)
    if found is None or found.value is None:
        return NO_HEAD._replace(changes_at=changes_at), None
    versions = fold(chain)
    head = _resting_on(versions, found)
    support = 1 + len(head.confirmations)
    tip = (
        support == 1
        and changes_at is None
        and head.valid_to is None
        and head is versions[-1]
        and found is chain[-1]
    )
    stored = Head(head.first.sequence, head.number, head.previous, support, head.valid_to, changes_at, tip)
    return stored, head.first


def _resting_on(versions: Sequence[Version], assertion: Assertion) -> Version:
    return next(v for v in versions if v.first is assertion or any(c is assertion for c in v.confirmations))


class SlotTail:
    """One slot during one write."""

    __slots__ = ("_chain", "_load", "_new", "_versions", "first", "head")

    def __init__(self, head: Head, first: Assertion | None, load: Callable[[], list[Assertion]]) -> None:
        self.head = head
        self.first = first  # the head's first assertion
        self._load = load
        self._new: list[Assertion] = []  # applied so far, while the chain is not loaded
        self._chain: list[Assertion] | None = None
        self._versions: list[Version] = []

    def take(self, chain: list[Assertion]) -> None:
        """Give it the chain before it asks."""
        self._chain = chain
        self._versions = fold(chain)

    def can_follow(self, value: str | None, valid_from: int | None, valid_to: int | None) -> bool:
        """Tell whether such an assertion probably needs no look at the chain."""
        if self.first is None or not self.head.tip:
            return False
        return (
            value is not None
            and valid_to is None
            and (valid_from is None or valid_from >= self.first.valid_from)
        )

    def apply(self, assertion: Assertion) -> Applied:
        """Add an assertion and tell what it did at its record time."""
        if self._chain is None and self._is_plain(assertion):
            applied = self._supersede(assertion)
            if applied is not None:
                self._new.append(assertion)
                return applied
        if self._chain is None:
            self.take(sorted([*self._load(), *self._new], key=_place))
        return self._refold(assertion)

    def _is_plain(self, assertion: Assertion) -> bool:
        """Tell whether an assertion holds from now or before, without an end."""
        return (
            assertion.value is not None
            and assertion.valid_to is None
            and assertion.valid_from <= assertion.recorded_at
        )

    def _supersede(self, assertion: Assertion) -> Applied | None:
        """Put a plain assertion at the end of a chain whose end is known; None when it is not."""
        head, first = self.head, self.first
        if first is None:
            return None
        if not head.tip or assertion.valid_from < first.valid_from:
            return None
        if same_value(first, assertion):
            if head.number > 1:
                return None
            self.head = head._replace(support=2, tip=False)
            return Applied("confirmed", Version(first, first.valid_from, None, 1, None, (assertion,)), None)
        end = assertion.valid_from if assertion.valid_from > first.valid_from else None
        before = Version(first, first.valid_from, end, head.number, head.previous)
        self.first = assertion
        self.head = Head(assertion.sequence, head.number + 1, first.sequence, 1, None, None, True)
        after = Version(assertion, assertion.valid_from, None, head.number + 1, first.sequence)
        return Applied("superseded", after, before)

    def start(self, assertion: Assertion) -> Applied:
        """Apply the first assertion of a new slot."""
        if not self._is_plain(assertion):
            self.take([])
            return self._refold(assertion)
        self._new.append(assertion)
        self.first = assertion
        self.head = Head(assertion.sequence, 1, None, 1, None, None, True)
        return Applied("created", Version(assertion, assertion.valid_from, None, 1, None), None)

    def _refold(self, assertion: Assertion) -> Applied:
        assert self._chain is not None
        held = None if assertion.value is not None else covering(self._chain, assertion.valid_from)
        before = self._versions
        insort(self._chain, assertion, key=_place)
        after = self._versions = fold(self._chain)
        outcome = self._outcome(assertion, before, after)
        if assertion.value is None:
            if held is None or held.value is None:
                return Applied(outcome, None, None)
            return Applied(outcome, _resting_on(after, held), None)
        version = _resting_on(after, assertion)
        return Applied(outcome, version, after[version.number - 2] if version.number > 1 else None)

    def _outcome(self, assertion: Assertion, before: list[Version], after: list[Version]) -> Outcome:
        assert self._chain is not None
        if list(map(_shape, before)) == list(map(_shape, after)):
            return "confirmed"
        if not before:
            return "created"
        if (
            assertion.valid_from > assertion.recorded_at
            or covering(self._chain, assertion.recorded_at) is assertion
        ):
            return "superseded"
        return "backdated"

    def finish(self, now: int) -> Head:
        """Return the head to store."""
        if self._chain is not None:
            self.head, self.first = settle(self._chain, now)
        return self.head


def _place(assertion: Assertion) -> tuple[int, int]:
    return assertion.valid_from, assertion.sequence


def _shape(version: Version) -> tuple[int, int | None, str, str | None]:
    return version.valid_from, version.valid_to, version.first.kind, version.first.value

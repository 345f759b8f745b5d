"""The chain rules: what a slot's assertions amount to. Pure functions, whatever order they arrived in.

An assertion holds from its `valid_from` to its explicit `valid_to`, else to the next later `valid_from`
of the slot, and never past a later retraction, so that nothing older revives. The value at t is that of
the covering assertion with the greatest (valid_from, sequence).
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ko_integrations.identity import canonical_value, decode_value
from ko_integrations.log.contract import Assertion, Version

__all__ = ["fold", "head_at", "next_change", "same_value", "sort_chain"]


def sort_chain(assertions: Iterable[Assertion]) -> list[Assertion]:
    """Return assertions in chain order: by event time, then by record."""
    return sorted(assertions, key=lambda a: (a.valid_from, a.sequence))


def same_value(one: Assertion, other: Assertion) -> bool:
    """Tell whether two assertions state equal values (two retractions are equal too)."""
    if one.value is None or other.value is None:
        return one.value is other.value
    if one.kind == other.kind and one.value == other.value:
        return True
    if one.kind == other.kind == "i" or (one.kind != other.kind and not {one.kind, other.kind} <= {"i", "f"}):
        return False
    return canonical_value(decode_value(one.kind, one.value)) == canonical_value(
        decode_value(other.kind, other.value)
    )


def ends(chain: Sequence[Assertion]) -> list[int | None]:
    """Return the effective end of each assertion of a sorted chain; None is open."""
    result: list[int | None] = [None] * len(chain)
    next_start: int | None = None  # the least valid_from greater than this one's
    tombstone: int | None = None  # where the nearest later retraction starts
    for i in range(len(chain) - 1, -1, -1):
        assertion = chain[i]
        if i + 1 < len(chain) and chain[i + 1].valid_from > assertion.valid_from:
            next_start = chain[i + 1].valid_from
        end = next_start if assertion.valid_to is None else assertion.valid_to
        if tombstone is not None and (end is None or tombstone < end):
            end = tombstone
        result[i] = end
        if assertion.value is None:
            tombstone = assertion.valid_from
    return result


def fold(chain: Sequence[Assertion]) -> list[Version]:
    """Return the versions of a sorted chain, oldest first: equal neighbours that touch are one version.

    Retractions end versions and are none themselves.
    """
    versions: list[Version] = []
    run: list[Assertion] = []
    run_end: int | None = None

    def close() -> None:
        if run and run[0].value is not None:
            previous = versions[-1].first.sequence if versions else None
            number = len(versions) + 1
            versions.append(Version(run[0], run[0].valid_from, run_end, number, previous, tuple(run[1:])))

    for assertion, end in zip(chain, ends(chain), strict=True):
        touches = run_end is None or assertion.valid_from <= run_end
        if run and touches and same_value(run[-1], assertion):
            run.append(assertion)
            run_end = None if run_end is None or end is None else max(run_end, end)
        else:
            close()
            run, run_end = [assertion], end
    close()
    return versions


def head_at(chain: Sequence[Assertion], moment: int) -> Version | None:
    """Return the version that holds at `moment`, or None."""
    found = covering(chain, moment)
    if found is None or found.value is None:
        return None
    return next(
        version
        for version in fold(chain)
        if version.first is found or any(confirmation is found for confirmation in version.confirmations)
    )


def covering(chain: Sequence[Assertion], moment: int) -> Assertion | None:
    """Return the assertion (or retraction) that decides the value at `moment`, or None."""
    limit = ends(chain)
    for i in range(bisect_right(chain, moment, key=lambda a: a.valid_from) - 1, -1, -1):
        if (end := limit[i]) is None or moment < end:
            return chain[i]
    return None


def next_change(chain: Sequence[Assertion], now: int) -> int | None:
    """Return the next moment after `now` at which the value may change with no write, or None."""
    moments = [a.valid_from for a in chain if a.valid_from > now]
    moments += [end for end in ends(chain) if end is not None and end > now]
    return min(moments, default=None)

"""Timing two things side by side: interleaved, so that whatever else the machine does hits both."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Ratio", "side_by_side"]


@dataclass(frozen=True)
class Ratio:
    """What `side_by_side` found: seconds a call of each (medians), and the median of the rounds' ratios."""

    ours: float
    other: float
    ratio: float
    low: float
    high: float

    def note(self) -> str:
        """Return both times and the spread of the ratio, in words."""
        return f"{micros(self.ours)} against {micros(self.other)}; rounds {self.low:.3g} to {self.high:.3g}"


def micros(seconds: float) -> str:
    """Return a duration in a fitting unit.

    >>> micros(0.00025), micros(0.25)
    ('250 µs', '250 ms')
    """
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def side_by_side(
    ours: Callable[[int], object],
    other: Callable[[int], object],
    *,
    rounds: int,
    calls: int = 1,
    warm: int = 1,
    prepare: Callable[[int], object] | None = None,
) -> Ratio:
    """Time `ours` against `other`; each round calls both `calls` times with a running number, in turns of order.

    The first `warm` rounds are not counted, nor is the time of `prepare`, which each round starts with.
    """
    pairs = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        for number in range(warm + rounds):
            if prepare is not None:
                prepare(number)
            numbers = range(number * calls, (number + 1) * calls)
            first, second = (ours, other) if number % 2 else (other, ours)
            times = {id(first): _timed(first, numbers)}
            times[id(second)] = _timed(second, numbers)
            if number >= warm:
                pairs.append((times[id(ours)] / calls, times[id(other)] / calls))
            gc.collect()
    finally:
        if collecting:
            gc.enable()
    ratios = [mine / theirs for mine, theirs in pairs]
    return Ratio(
        statistics.median(mine for mine, _ in pairs),
        statistics.median(theirs for _, theirs in pairs),
        statistics.median(ratios),
        min(ratios),
        max(ratios),
    )


def _timed(call: Callable[[int], object], numbers: range) -> float:
    start = time.perf_counter()
    for number in numbers:
        call(number)
    return time.perf_counter() - start

"""Named points at which a test can break or kill the process. In ordinary use none is armed."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["POINTS", "arm", "armed", "disarm", "kill", "reach"]

POINTS = (
    "log:committed",  # the write is durable, the caller does not know yet
    "drain:claimed",  # slots taken from the outbox, nothing encoded
    "drain:upserted",  # in the index, still in the outbox
    "drain:confirmed",  # out of the outbox
    "erase:logged",  # gone from the log, still in the index
    "erase:scrubbed",  # gone from the index, the erasure still pending
    "erase:done",
    "rebuild:filled",  # the next generation is whole, the store still uses the old one
    "rebuild:switched",  # the store uses the new one, the old one still exists
)

_armed: dict[str, Callable[[], object]] = {}


def reach(point: str) -> None:
    """Say that `point` is reached: run what a test armed there, normally nothing."""
    if _armed and (action := _armed.get(point)) is not None:
        action()


def arm(point: str, action: Callable[[], object], *, after: int = 0) -> None:
    """Run `action` from the (`after` + 1)-th time on that the process reaches `point`.

    Raises:
        ValueError: there is no such point.
    """
    if point not in POINTS:
        raise ValueError(f"no fault point {point!r}; there are {', '.join(POINTS)}")
    left = after

    def act() -> None:
        nonlocal left
        if left <= 0:
            action()
        left -= 1

    _armed[point] = act


def disarm(point: str | None = None) -> None:
    """Forget what is armed at `point`, or everywhere."""
    if point is None:
        _armed.clear()
    else:
        _armed.pop(point, None)


@contextmanager
def armed(point: str, action: Callable[[], object], *, after: int = 0) -> Iterator[None]:
    """Arm `point` for the length of a `with` block."""
    arm(point, action, after=after)
    try:
        yield
    finally:
        disarm(point)


def kill() -> None:
    """End this process as a power cut would: no handler, no flush, no exit code of ours."""
    os.kill(os.getpid(), signal.SIGKILL)

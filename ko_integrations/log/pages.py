"""Whole scopes of a log, fetched a page at a time.

`each_chain` and `each_head` are for readers that take everything at once. A caller may keep an iterator open as
long as he likes: `each_head_now` and `each_held` look again at what they give, should the log have changed since
its page was read, so that nothing comes out of them after it was erased.
"""

from collections.abc import Callable, Iterator

from ko_integrations.log.contract import LAST, Assertion, Scope, Version, VersionReader
from ko_integrations.log.fold import head_at

__all__ = ["each_chain", "each_head", "each_head_now", "each_held"]

PAGE = 1_000


def each_chain(
    log: VersionReader, scope: Scope, known_at: int | None = None, *, withdrawn: bool = False
) -> Iterator[tuple[bytes, list[Assertion]]]:
    """Yield (slot, its assertions in chain order) of a scope, in order of slot id; `withdrawn` ones too if asked."""
    page = log.chains(scope, known_at=known_at, limit=PAGE, withdrawn=withdrawn)
    while page:
        yield from page.items()
        page = log.chains(scope, known_at=known_at, after=max(page), limit=PAGE, withdrawn=withdrawn)


def each_head(log: VersionReader, scope: Scope, now: int) -> Iterator[Version]:
    """Yield what holds in a scope at `now`, in order of slot id."""
    page = log.scan(scope, now, limit=PAGE)
    while page:
        yield from page
        page = log.scan(scope, now, after=page[-1].first.address.slot, limit=PAGE)


def each_head_now(log: VersionReader, scope: Scope, now: Callable[[], int]) -> Iterator[Version]:
    """Yield what holds in a scope at the moment it is asked for, in order of slot id."""
    after: bytes | None = None
    while True:
        sequence, due = log.sequence_at(LAST), log.next_due(scope.namespace)
        page = log.scan(scope, now(), after=after, limit=PAGE)
        if not page:
            return
        after = page[-1].first.address.slot
        for version in page:
            held: Version | None = version
            moment = now()
            if log.sequence_at(LAST) != sequence or (due is not None and due <= moment):
                held = log.head(version.first.address.slot, moment)
            if held is not None:
                yield held


def each_held(log: VersionReader, scope: Scope, moment: int, known_at: int | None) -> Iterator[Version]:
    """Yield what held in a scope at `moment`, as known when each is asked for or at `known_at`."""
    after: bytes | None = None
    while True:
        sequence = log.sequence_at(LAST)
        page = log.chains(scope, known_at=known_at, after=after, limit=PAGE)
        if not page:
            return
        after = max(page)
        for slot, chain in page.items():
            unchanged = log.sequence_at(LAST) == sequence
            current = chain if unchanged else log.chains([slot], known_at=known_at).get(slot, [])
            if (version := head_at(current, moment)) is not None:
                yield version

"""Whole scopes of a log, fetched a page at a time."""

from collections.abc import Iterator

from ko_integrations.log.contract import Assertion, Scope, Version, VersionReader

__all__ = ["each_chain", "each_head"]

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

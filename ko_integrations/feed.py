"""The change feed as a view sees it: forward from a cursor, or back from its end."""

from collections.abc import Callable, Sequence

from ko_integrations.log.contract import LAST, Event, Namespace, VersionReader
from ko_integrations.records import to_change
from ko_integrations.types import Change, Changes

__all__ = ["REACH", "changes_after", "latest_changes"]

REACH = 1_000
"""Entries of the store's feed that are looked at from its end."""

Concerns = Callable[[Namespace | None], bool]
"""Tells whether a view shows changes of a namespace."""


def changes_after(log: VersionReader, cursor: int, limit: int, concerns: Concerns) -> Changes:
    """Return a page of what changed after a cursor, oldest first; an empty one where there is no more."""
    mine: list[Event] = []
    # A page that holds nothing of ours is no end: an empty page means that there is no more.
    while not mine and (events := log.events(cursor, limit)):
        cursor = events[-1].sequence
        mine = [event for event in events if concerns(event.namespace)]
    return Changes(items=_told(log, mine), cursor=cursor)


def latest_changes(log: VersionReader, limit: int, concerns: Concerns) -> tuple[Change, ...]:
    """Return the last changes, the latest first, of those among the last of the store."""
    events = log.events(max(log.sequence_at(LAST) - REACH, 0), REACH)
    mine = [event for event in reversed(events) if concerns(event.namespace)]
    return _told(log, mine[:limit])


def _told(log: VersionReader, events: Sequence[Event]) -> tuple[Change, ...]:
    slots = list(dict.fromkeys(slot for event in events for slot in event.slots))
    chains = log.chains(slots) if slots else {}
    return tuple(to_change(event, chains) for event in events)

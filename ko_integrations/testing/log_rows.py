"""Entries for tests of version logs, and what those tests read back."""

from typing import Any

from ko_integrations.identity import (
    canonical_value,
    encode_value,
    normalize_name,
    normalize_predicate,
    slot_id,
)
from ko_integrations.log.contract import Address, Entry, Namespace, VersionLog
from ko_integrations.log.fold import fold
from ko_integrations.types import Value

__all__ = ["NOW", "A", "address", "append", "entry", "values"]

NOW = 1_000_000


def address(
    subject: str,
    predicate: str,
    *,
    namespace: Namespace = ("n",),
    member: Value | None = None,
    verbatim: bool = False,
) -> Address:
    """Return where a fact (or, `verbatim`, a key) belongs; `member` makes it one member of a set."""
    if not verbatim:
        subject, predicate = normalize_name(subject), normalize_predicate(predicate)
    framed = None if member is None else canonical_value(member)
    slot = slot_id(namespace, subject, predicate, framed, verbatim=verbatim)
    return Address(slot, namespace, subject, predicate, member is not None, verbatim)


def entry(
    subject: str,
    predicate: str,
    value: Value | None,
    *,
    namespace: Namespace = ("n",),
    at: Address | None = None,
    verbatim: bool = False,
    **more: Any,
) -> Entry:
    """Return an assertion for `append`; `value` None is a retraction, `at` another place than its own."""
    kind, text = ("s", None) if value is None else encode_value(value)
    place = at or address(subject, predicate, namespace=namespace, verbatim=verbatim)
    return Entry(place, subject, predicate, kind, text, **more)


A = address("Ann", "city")


def values(log: VersionLog, slot: bytes) -> list[str | None]:
    """Return the values of a slot's versions, oldest first."""
    return [version.first.value for version in fold(log.chains([slot]).get(slot, []))]


def append(log: VersionLog, *entries: Entry, now: int = NOW) -> list[str]:
    """Append and return the outcomes."""
    return [applied.outcome for applied in log.append(entries, now=now)]

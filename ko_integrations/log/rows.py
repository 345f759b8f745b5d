"""The one row shape that heads and chains are read in, and how it becomes assertions and versions."""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from ko_integrations.log.contract import Address, Assertion, Namespace, Version

__all__ = ["COLUMNS", "address_of", "assertion_of", "parts", "path_of", "text_of", "version_of"]

T = TypeVar("T")

# `s` slot, `n` namespace, `u` its subject, `c` its canonical predicate; `a` assertion, `w` the subject and
# `p` the predicate as asserted, `o` source.
PLACE = "s.ref, s.id, n.path, u.key, c.spelling, s.member, u.verbatim"
COLUMNS = f"""{PLACE}, s.head, s.number, s.previous, s.support, s.valid_to, s.changes_at,
    a.sequence, COALESCE(a.spelling, w.spelling, w.key, u.spelling, u.key), p.spelling, a.kind, a.value, a.valid_from,
    a.valid_to, a.recorded_at, o.name, a.confidence, a.metadata, a.text"""

REF, ID = 0, 1
HEAD, NUMBER, PREVIOUS, SUPPORT, VALID_TO, CHANGES_AT, SEQUENCE = range(7, 14)


def parts(items: Sequence[T], size: int = 1_000) -> Iterator[Sequence[T]]:
    """Yield a list in parts of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def text_of(path: Namespace) -> str:
    """Return a namespace as it is stored."""
    return json.dumps(path, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=4_096)
def path_of(path: str) -> Namespace:
    """Return the namespace of its stored path."""
    return tuple(json.loads(path))


def address_of(row: Any) -> Address:
    """Return where the slot of a row is."""
    return Address(row[1], path_of(row[2]), row[3], row[4], bool(row[5]), bool(row[6]))


def assertion_of(row: Any, address: Address, withdrawn: bool = False) -> Assertion:
    """Return the assertion of a row."""
    return Assertion(
        row[13], address, row[14], row[15], row[16], row[17], row[18], row[19], row[20], row[21], row[22], row[23],
        row[24], withdrawn,
    )  # fmt: skip


def version_of(row: Any) -> Version:
    """Return the head of a row that rests on one assertion."""
    return Version(assertion_of(row, address_of(row)), row[18], row[11], row[8], row[9])

"""LangGraph items in the store: an item is a verbatim fact, and each further text of it another.

The item's slot holds its value and is indexed by its first text. Where an item is indexed by more than one
text (several fields, or the elements of a list), each further one has a slot of its own beside it, so that
a search ranks an item by its nearest text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from langgraph.store.base import Item, SearchItem

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import canonical_value
from ko_integrations.memory.documents import key_id, latest_metadata
from ko_integrations.store import KnowledgeStore
from ko_integrations.times import Moment
from ko_integrations.types import Fact, KnowledgeObject

__all__ = [
    "ITEM",
    "StoredItem",
    "delete_item",
    "get_items",
    "item_history",
    "list_items",
    "put_item",
    "touch_item",
]

ITEM = "ko:item"


@dataclass(frozen=True)
class StoredItem:
    """An item and the version of it that was read."""

    ko: KnowledgeObject
    namespace: tuple[str, ...]

    @property
    def created_at(self) -> datetime:
        """When the item was first put, since it was last deleted: an overwrite leaves it."""
        stamp = latest_metadata(self.ko).get("created_at")
        return datetime.fromisoformat(stamp) if stamp else self.ko.provenance.recorded_at

    @property
    def updated_at(self) -> datetime:
        """When the item was last put; a refreshed time to live is no change."""
        stamp = latest_metadata(self.ko).get("updated_at")
        if stamp:
            return datetime.fromisoformat(stamp)
        confirmations = self.ko.provenance.confirmations
        return (confirmations[-1] if confirmations else self.ko.provenance).recorded_at

    def to_item(self) -> Item:
        """Return it as `get` does."""
        return Item(
            value=self.ko.object, key=self.ko.subject, namespace=self.namespace,
            created_at=self.created_at, updated_at=self.updated_at,
        )  # fmt: skip

    def to_search_item(self, score: float | None) -> SearchItem:
        """Return it as `search` does."""
        return SearchItem(
            self.namespace, self.ko.subject, self.ko.object, self.created_at, self.updated_at, score
        )


# -- writing ----------------------------------------------------------------------------------------------
def put_item(
    view: KnowledgeStore,
    key: str,
    value: Mapping[str, Any],
    texts: Sequence[str],
    ttl: float | None,
    now: datetime,
) -> None:
    """Put one item, indexed by `texts` (none: found by key and filter only), to end after `ttl` minutes.

    Raises:
        InvalidInputError: the key, the value or the time to live cannot be stored.
    """
    if not isinstance(value, Mapping):
        raise InvalidInputError("value", f"expected a mapping, got {type(value).__name__}")
    held = _head(view, key)
    value, valid_to = dict(value), _end(now, ttl)
    metadata: dict[str, Any] = {"texts": len(texts), "ttl": ttl, "unindexed": None if texts else True}
    since: datetime | None = None
    if held is not None:
        metadata["created_at"] = StoredItem(held, ()).created_at.isoformat()
        if not _extends(held, value, texts, valid_to):
            since = max(now, held.valid_from)
            view.retract(key, ITEM, at=since, verbatim=True)
        for number in range(max(1, len(texts)), latest_metadata(held).get("texts", 0)):
            view.retract(key, f"{ITEM} {number}", verbatim=True)
    metadata = {name: kept for name, kept in metadata.items() if kept is not None}
    facts = [_fact(key, ITEM, value, texts[0] if texts else key, valid_to, metadata, since)]
    for number, text in enumerate(texts[1:], start=1):
        facts.append(_fact(key, f"{ITEM} {number}", text, text, valid_to))
    view.update_many(facts)


def _end(now: datetime, ttl: float | None) -> datetime | None:
    if ttl is None:
        return None
    try:
        end = now + timedelta(minutes=ttl)
    except (OverflowError, ValueError) as error:
        raise InvalidInputError("ttl", f"{ttl} minutes from now is no date") from error
    if end <= now:
        raise InvalidInputError("ttl", f"expected minutes above 0, got {ttl}")
    return end


def _extends(
    held: KnowledgeObject, value: dict[str, Any], texts: Sequence[str], valid_to: datetime | None
) -> bool:
    """Tell whether a put can simply follow what holds, without ending it first.

    It cannot where an end in time is taken back (the older value would outlive the newer one, or show
    again after it), nor where what the log takes for the same value is to be kept or indexed otherwise.
    """
    same = canonical_value(held.object) == canonical_value(value)
    as_it_was = _equal(held.object, value) and _first_text(held) == (texts[0] if texts else None)
    if held.valid_to is None and valid_to is None:
        return as_it_was or not same
    return as_it_was and held.valid_to is not None and valid_to is not None and held.valid_to <= valid_to


def _equal(one: Any, other: Any) -> bool:
    """Tell whether two values are the same JSON; 1 and 1.0, or two spellings of one letter, are not."""
    return json.dumps(one, sort_keys=True, default=str) == json.dumps(other, sort_keys=True, default=str)


def _first_text(held: KnowledgeObject) -> str | None:
    return None if (held.provenance.metadata or {}).get("unindexed") else held.text


def _fact(
    key: str,
    predicate: str,
    value: Any,
    text: str,
    valid_to: datetime | None,
    metadata: dict[str, Any] | None = None,
    valid_from: datetime | None = None,
) -> Fact:
    return Fact(
        subject=key, predicate=predicate, object=value, text=text, metadata=metadata,
        valid_from=valid_from, valid_to=valid_to, verbatim=True,
    )  # fmt: skip


def delete_item(view: KnowledgeStore, key: str) -> None:
    """End an item; its history stays. A key that holds nothing is no error."""
    held = _head(view, key)
    if held is None:
        return
    view.retract(key, ITEM, verbatim=True)
    for number in range(1, latest_metadata(held).get("texts", 0)):
        view.retract(key, f"{ITEM} {number}", verbatim=True)


def touch_item(view: KnowledgeStore, key: str, now: datetime) -> None:
    """Start the time to live of an item anew, if it has one."""
    held = _head(view, key)
    ttl = None if held is None else latest_metadata(held).get("ttl")
    if held is None or ttl is None:
        return
    texts = _texts_of(view, held)
    metadata = {**latest_metadata(held), "updated_at": StoredItem(held, ()).updated_at.isoformat()}
    end = now + timedelta(minutes=ttl)
    facts = [_fact(key, ITEM, held.object, held.text, end, metadata)]
    facts += [_fact(key, text.predicate, text.object, text.text, end) for text in texts]
    view.update_many(facts)


def _texts_of(view: KnowledgeStore, held: KnowledgeObject) -> list[KnowledgeObject]:
    numbers = range(1, latest_metadata(held).get("texts", 0))
    ids = [key_id(view, held.subject, f"{ITEM} {number}") for number in numbers]
    return [ko for ko in view.get_many(ids) if ko is not None] if ids else []


# -- reading ----------------------------------------------------------------------------------------------
def _head(view: KnowledgeStore, key: str) -> KnowledgeObject | None:
    return view.read_exact(key, ITEM, verbatim=True)


def get_items(
    view: KnowledgeStore, keys: Sequence[str], *, as_of: Moment | None = None
) -> dict[str, KnowledgeObject]:
    """Return the items that hold, or held at `as_of`, under these keys."""
    if as_of is not None:
        found = [view.read_exact(key, ITEM, as_of=as_of, verbatim=True) for key in keys]
    else:
        found = view.get_many([key_id(view, key, ITEM) for key in keys]) if keys else []
    return {ko.subject: ko for ko in found if ko is not None}


def list_items(
    view: KnowledgeStore, *, as_of: Moment | None = None, page: int = 1_000
) -> Iterator[KnowledgeObject]:
    """Yield every item of exactly this namespace."""
    if as_of is not None:
        yield from (ko for ko in view.snapshot(as_of=as_of) if ko.predicate == ITEM)
        return
    cursor: str | None = None
    while True:
        heads = view.iter_heads(cursor, limit=page)
        yield from (ko for ko in heads.items if ko.predicate == ITEM)
        cursor = heads.cursor
        if cursor is None:
            return


def item_history(view: KnowledgeStore, key: str) -> list[KnowledgeObject]:
    """Return the versions of an item, oldest first; one that only changed how it is indexed is none."""
    versions: list[KnowledgeObject] = []
    for ko in view.history(key, ITEM, verbatim=True):
        touches = versions and versions[-1].valid_to is not None and ko.valid_from <= versions[-1].valid_to
        if not (touches and canonical_value(versions[-1].object) == canonical_value(ko.object)):
            versions.append(ko)
    return versions

"""Reading LangGraph items across namespaces: by key, by filter, by meaning."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from langgraph.store.base import ListNamespacesOp, MatchCondition, SearchOp

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import check_count
from ko_integrations.langchain.items import ITEM, StoredItem, get_items, list_items
from ko_integrations.store import KnowledgeStore
from ko_integrations.times import Moment
from ko_integrations.types import KnowledgeObject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Scored", "list_namespaces", "matches", "read_item", "search_items"]

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda value, operand: value > operand,
    "$gte": lambda value, operand: value >= operand,
    "$lt": lambda value, operand: value < operand,
    "$lte": lambda value, operand: value <= operand,
}


Scored = tuple[StoredItem, float | None]
"""An item and how near its nearest text is, None where none of it is indexed or nothing was asked."""


def read_item(
    store: KnowledgeStore, namespace: tuple[str, ...], key: str, *, as_of: Moment | None = None
) -> StoredItem | None:
    """Return an item that holds, or held at `as_of`."""
    ko = get_items(store.namespace(*namespace), [key], as_of=as_of).get(key)
    return None if ko is None else StoredItem(ko, namespace)


def search_items(
    store: KnowledgeStore, op: SearchOp, *, semantic: bool, as_of: Moment | None = None
) -> list[Scored]:
    """Return the page of items below a prefix that a search asks for, with their scores.

    With a query: the nearest first, then those that are not indexed; without one, in order of creation,
    namespace by namespace.

    Raises:
        InvalidInputError: offset or limit is below 0.
    """
    wanted = check_count(op.offset, "offset", 0) + check_count(op.limit, "limit", 0)
    namespaces = _below(store, op.namespace_prefix, as_of)
    if not wanted or not namespaces:
        return []
    if not (op.query and semantic):
        found: list[Scored] = [(item, None) for item in _listed(store, namespaces, op.filter, as_of)]
        return found[op.offset : wanted]
    vector = store.encode_query(op.query)
    scored: list[tuple[StoredItem, float]] = []
    for namespace in namespaces:
        scored += _nearest(store, namespace, vector, op.filter, wanted, as_of)
    scored.sort(key=lambda pair: -pair[1])
    page: list[Scored] = [*scored[op.offset : wanted]]
    if len(scored) < wanted:
        page += _unscored(store, namespaces, op, len(scored), as_of)
    return page


def _unscored(
    store: KnowledgeStore, namespaces: list[tuple[str, ...]], op: SearchOp, scored: int, as_of: Moment | None
) -> list[Scored]:
    """Return what fills the page after the scored items: those that no text of theirs is indexed of."""
    plain: list[Scored] = [
        (item, None) for item in _listed(store, namespaces, op.filter, as_of) if _is_unindexed(item.ko)
    ]
    start = max(0, op.offset - scored)
    return plain[start : start + op.limit - max(0, scored - op.offset)]


def _is_unindexed(ko: KnowledgeObject) -> bool:
    return bool((ko.provenance.metadata or {}).get("unindexed"))


def _nearest(
    store: KnowledgeStore,
    namespace: tuple[str, ...],
    vector: "NDArray[np.float32]",
    filter: dict[str, Any] | None,
    wanted: int,
    as_of: Moment | None,
) -> list[tuple[StoredItem, float]]:
    """Return the `wanted` items of one namespace nearest to a vector, each by its nearest text."""
    view, k = store.namespace(*namespace), 2 * wanted

    def may_be(ko: KnowledgeObject) -> bool:
        if ko.predicate == ITEM:
            return not _is_unindexed(ko) and matches(ko.object, filter)
        return ko.predicate.startswith(f"{ITEM} ")  # a further text of an item that is looked up below

    while True:
        hits = view.read(vector, k, where=may_be, as_of=as_of)
        best: dict[str, float] = {}
        for hit in hits:
            best.setdefault(hit.ko.subject, hit.score)
        items = get_items(view, list(best), as_of=as_of)
        found = [
            (StoredItem(items[key], namespace), score)
            for key, score in best.items()
            if key in items and matches(items[key].object, filter)
        ]
        if len(found) >= wanted or len(hits) < k:
            return found[:wanted]
        k *= 4


def _listed(
    store: KnowledgeStore,
    namespaces: list[tuple[str, ...]],
    filter: dict[str, Any] | None,
    as_of: Moment | None,
) -> Iterator[StoredItem]:
    """Yield the items that pass a filter, oldest first, namespace by namespace."""
    groups = []
    for namespace in namespaces:
        view = store.namespace(*namespace)
        group = [
            StoredItem(ko, namespace) for ko in list_items(view, as_of=as_of) if matches(ko.object, filter)
        ]
        if group:
            groups.append(sorted(group, key=lambda item: item.created_at))
    for group in sorted(groups, key=lambda group: group[0].created_at):
        yield from group


# -- namespaces ---------------------------------------------------------------------------------------------
def _below(store: KnowledgeStore, prefix: tuple[str, ...], as_of: Moment | None) -> list[tuple[str, ...]]:
    """Return the namespaces below a prefix, relative to the store's own.

    They are those that hold something now; of the past also the prefix itself, should it be empty by now.
    """
    depth = len(store.namespace_path)
    found = [namespace[depth:] for namespace in store.namespaces(prefix)]
    return found if as_of is None or prefix in found else [prefix, *found]


def list_namespaces(store: KnowledgeStore, op: ListNamespacesOp) -> list[tuple[str, ...]]:
    """Return the namespaces that hold an item and match every condition, cut at `max_depth`.

    Raises:
        InvalidInputError: offset or limit is below 0, or a condition is of an unknown kind.
    """
    end = check_count(op.offset, "offset", 0) + check_count(op.limit, "limit", 0)
    conditions = op.match_conditions or ()
    held = [
        namespace
        for namespace in _below(store, (), None)
        if namespace
        and all(_does_match(condition, namespace) for condition in conditions)
        and next(list_items(store.namespace(*namespace), page=20), None) is not None
    ]
    listed = sorted({namespace[: op.max_depth] for namespace in held})
    return listed[op.offset : end]


def _does_match(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if condition.match_type not in ("prefix", "suffix"):
        raise InvalidInputError("match_type", f"expected 'prefix' or 'suffix', got {condition.match_type!r}")
    if len(path) > len(namespace):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))


# -- filters ------------------------------------------------------------------------------------------------
def matches(value: Any, filter: Mapping[str, Any] | None) -> bool:
    """Tell whether an item's value passes a LangGraph filter.

    A field that is missing is unequal to everything, and neither more nor less than anything.

    Raises:
        InvalidInputError: an unknown operator.
    """
    return all(_passes(value.get(key), wanted) for key, wanted in (filter or {}).items())


def _passes(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_compare(value, operator, operand) for operator, operand in wanted.items())
        return isinstance(value, Mapping) and all(
            _passes(value.get(key), inner) for key, inner in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        same_length = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same_length and all(_passes(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compare(value: Any, operator: str, operand: Any) -> bool:
    if operator == "$eq":
        return bool(value == operand)
    if operator == "$ne":
        return bool(value != operand)
    if operator not in _ORDER:
        raise InvalidInputError("filter", f"unknown operator {operator!r}")
    try:
        return bool(_ORDER[operator](float(value), float(operand)))
    except (TypeError, ValueError):  # no numbers: dates, as JSON has them, and other words go by the alphabet
        words = isinstance(value, str) and isinstance(operand, str)
        return words and bool(_ORDER[operator](value, operand))

"""Conditions on facts, in the mapping form that vector stores use: `{"predicate": "phone"}`,
`{"year": {"$gte": 2020}}`, `{"$or": [{...}, {...}]}`.

Fields are `id`, `subject`, `predicate`, `object`, `source` and `confidence`; every other name is a key of the
caller's metadata, dots reaching inside it. `metadata.source` is the caller's own `source`; `text`, where the
metadata has no such key, is the text that the semantic index encodes. A missing field satisfies `$ne`, `$nin`
and `{"$exists": False}` only.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from ko_integrations.errors import InvalidInputError
from ko_integrations.types import KnowledgeObject

__all__ = ["Condition", "Where", "compile_where"]

Condition = Callable[[KnowledgeObject], bool]
Where = Mapping[str, Any] | Condition
"""A condition in mapping form, or as a test of one fact."""

_MISSING = object()


def compile_where(where: Where | None) -> Condition | None:
    """Return a test for one fact, or None when there is nothing to test.

    Raises:
        InvalidInputError: an unknown operator, or operands that do not fit it.

    >>> compile_where({"$nor": []})
    Traceback (most recent call last):
    ko_integrations.errors.InvalidInputError: where: unknown operator '$nor'
    """
    if where is None or callable(where):
        return where
    if not isinstance(where, Mapping):
        raise InvalidInputError("where", f"expected a mapping, got {type(where).__name__}")
    if not where:
        return None
    parts = [_compile_item(key, operand) for key, operand in where.items()]
    return parts[0] if len(parts) == 1 else lambda ko: all(part(ko) for part in parts)


def _compile_item(key: str, operand: Any) -> Condition:
    if not isinstance(key, str) or (
        isinstance(operand, Mapping) and not all(isinstance(n, str) for n in operand)
    ):
        raise InvalidInputError("where", f"names of fields and operators are strings: {key!r}")
    if key in ("$and", "$or"):
        if not isinstance(operand, list | tuple):
            raise InvalidInputError("where", f"{key} takes a list")
        branches = [compile_where(branch) or (lambda _: True) for branch in operand]
        decide = all if key == "$and" else any
        return lambda ko: decide(branch(ko) for branch in branches)
    if key == "$not":
        inner = compile_where(operand) or (lambda _: True)
        return lambda ko: not inner(ko)
    if key.startswith("$"):
        raise InvalidInputError("where", f"unknown operator {key!r}")
    if isinstance(operand, Mapping) and any(name.startswith("$") for name in operand):
        tests = [_compile_operator(name, value) for name, value in operand.items()]
        return lambda ko: all(test(_field(ko, key)) for test in tests)
    return lambda ko: _equal(_field(ko, key), operand)


def _compile_operator(name: str, operand: Any) -> Callable[[Any], bool]:
    if name in _ORDER:
        compare = _ORDER[name]
        return lambda value: _comparable(value, operand) and compare(value, operand)
    if name in ("$in", "$nin"):
        if not isinstance(operand, list | tuple | set | frozenset):
            raise InvalidInputError("where", f"{name} takes a list")
        wanted = name == "$in"
        return lambda value: any(_equal(value, item) for item in operand) == wanted
    if name not in _PLAIN:
        raise InvalidInputError("where", f"unknown operator {name!r}")
    test = _PLAIN[name]
    return lambda value: test(value, operand)


def _equal(value: Any, operand: Any) -> bool:
    # True == 1 in Python; a caller who filters for 1 does not mean True.
    return isinstance(value, bool) == isinstance(operand, bool) and bool(value == operand)


def _comparable(value: Any, operand: Any) -> bool:
    if isinstance(value, bool) or isinstance(operand, bool):
        return False
    if isinstance(value, int | float):
        return isinstance(operand, int | float)
    return (value is not _MISSING and type(value) is type(operand) and isinstance(value, str)) or (
        hasattr(value, "isoformat") and type(value) is type(operand)
    )  # fmt: skip


def _contains(value: Any, operand: Any) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    return isinstance(value, list | tuple) and any(_equal(item, operand) for item in value)


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le,
}  # fmt: skip

_PLAIN: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": _equal,
    "$ne": lambda value, operand: not _equal(value, operand),
    "$contains": _contains,
    "$icontains": lambda value, operand: (
        isinstance(value, str) and isinstance(operand, str) and operand.casefold() in value.casefold()
    ),
    "$exists": lambda value, operand: (value is not _MISSING) == bool(operand),
}


def _latest_metadata(ko: KnowledgeObject) -> Mapping[str, Any]:
    """Return what was last attached to the version: what is shown of it is what it is filtered by."""
    for confirmation in reversed(ko.provenance.confirmations):
        if confirmation.metadata is not None:
            return confirmation.metadata
    return ko.provenance.metadata or {}


def _field(ko: KnowledgeObject, name: str) -> Any:
    if name in ("id", "subject", "predicate", "object"):
        return getattr(ko, name)
    if name in ("source", "confidence"):
        return getattr(ko.provenance, name)
    value: Any = _latest_metadata(ko)
    if name in value:
        return value[name]
    if name == "text":
        return ko.text
    if name.startswith("metadata.") and "metadata" not in value:
        name = name.removeprefix("metadata.")
        if name in value:
            return value[name]
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _MISSING
        value = value[part]
    return value

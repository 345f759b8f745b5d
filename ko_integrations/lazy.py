"""Adapters that load on first use, and name the extra that is missing when they cannot."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ko_integrations.errors import MissingExtraError

__all__ = ["load"]


def load(package: str, name: str, homes: Mapping[str, str], needs: Mapping[str, tuple[str, str]]) -> Any:
    """Return attribute `name` of `package` from the module that `homes` names.

    `needs` maps a framework's top-level module to its distribution and the extra of ours that brings it.

    Raises:
        AttributeError: there is no such attribute.
        MissingExtraError: a framework in `needs` is not installed.
    """
    home = homes.get(name)
    if home is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    try:
        module = import_module(f"{package}.{home}")
    except ModuleNotFoundError as error:
        needed = needs.get((error.name or "").partition(".")[0])
        if needed is None:
            raise
        raise MissingExtraError(*needed) from error
    return getattr(module, name)

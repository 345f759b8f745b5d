"""The version log: the source of truth. `contract` says what it answers, `fold` what a chain means."""

from ko_integrations.log.contract import VersionLog, VersionReader
from ko_integrations.log.opening import open_log

__all__ = ["VersionLog", "VersionReader", "open_log"]

"""Under what circumstances something was measured: published with every figure."""

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

__all__ = ["circumstances"]

_DISTRIBUTIONS = (
    "ko_integrations", "chromadb", "langchain-core", "llama-index-core", "numpy", "scikit-learn",
    "sentence-transformers", "torch",
)  # fmt: skip


def circumstances() -> dict[str, Any]:
    """Return date (UTC), Python, system, processors, their load over the last minutes, and versions.

    `load` is how many processes wanted a processor, averaged over five minutes, None where the system does
    not say: well above what the measurement itself uses, times are of a busy machine.
    """
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[1], 1) if hasattr(os, "getloadavg") else None,
        "versions": {name: version for name in _DISTRIBUTIONS if (version := _version(name))},
    }


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None

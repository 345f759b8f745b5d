"""Print which requirements of `llama_index_suite` each backend fails, as Markdown tables.

```
python -m ko_integrations.testing.llama_index_report
```

Needs the extra `llama-index`, pytest, and llama-index-vector-stores-chroma for the comparison.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ko_integrations.errors import MissingExtraError

if TYPE_CHECKING:
    import pytest

__all__ = ["Results", "main", "run", "tables"]

Results = dict[str, dict[str, str]]
"""Backend -> requirement -> `passed`, `failed` or `skipped`."""

PAIRS = (
    ("KOVectorStore", "ChromaVectorStore"),
    ("KOMemoryBlock", "FactExtractionMemoryBlock"),
    ("KOPropertyGraphStore", "SimplePropertyGraphStore"),
)
_SHOWN = {"passed": "yes", "failed": "**no**", "skipped": "-"}


class _Collector:
    """A pytest plug-in that keeps the outcome of each test."""

    def __init__(self) -> None:
        self.results: Results = {}

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        """Note an outcome; a test fails if its set-up does."""
        if report.when == "call" or report.outcome != "passed":
            _, backend, requirement = report.nodeid.rsplit("::", 2)
            self.results.setdefault(backend.removeprefix("Test"), {})[_sentence(requirement)] = report.outcome


def run() -> Results:
    """Run the suites on every backend, silently.

    Raises:
        MissingExtraError: pytest is not installed.
    """
    try:
        import pytest
    except ModuleNotFoundError as error:
        raise MissingExtraError("pytest", "llama-index") from error
    collector = _Collector()
    file = Path(__file__).parent / "llama_index_suite" / "backends.py"
    # No configuration of whoever calls this, no cache, no output.
    without = [
        option for name in ("terminalreporter", "cacheprovider", "asyncio") for option in ("-p", f"no:{name}")
    ]
    pytest.main([str(file), *without, "-c", os.devnull], plugins=[collector])
    return collector.results


def tables(results: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the lines of the tables: how many requirements each backend meets, and those that one of a pair fails."""
    for ours, theirs in PAIRS:
        pair = [results.get(ours, {}), results.get(theirs, {})]
        met = [f"{sum(o == 'passed' for o in each.values())} of {len(each)}" for each in pair]
        yield f"| {ours} and {theirs} | {ours} | {theirs} |"
        yield "|---|---|---|"
        yield f"| requirements met | {met[0]} | {met[1]} |"
        for requirement in dict.fromkeys([*pair[0], *pair[1]]):
            outcomes = [each.get(requirement, "skipped") for each in pair]
            if outcomes != ["passed", "passed"]:
                yield f"| {requirement} | {_SHOWN[outcomes[0]]} | {_SHOWN[outcomes[1]]} |"
        yield ""


def _sentence(test: str) -> str:
    """Return a test's name as words; of a parametrised one with what it was run on."""
    name, _, parameters = test.removesuffix("]").partition("[")
    words = name.removeprefix("test_").replace("_", " ")
    return f"{words}: `{parameters}`" if parameters else words


def main() -> int:
    """Print the tables and the versions that were measured; return 1 if one of ours fails."""
    results = run()
    packages = ("llama-index-core", "llama-index-vector-stores-chroma", "chromadb")
    lines = [*tables(results), ", ".join(f"{package} {version(package)}" for package in packages)]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(any("failed" in results.get(ours, {}).values() for ours, _ in PAIRS))


if __name__ == "__main__":
    sys.exit(main())

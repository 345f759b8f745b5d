"""The adapters load lazily, and say which extra is missing."""

import subprocess
import sys

import pytest

import ko_integrations.llama_index as adapters

BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("llama_index", "llama_index_instrumentation"):
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Block())
import ko_integrations.llama_index as adapters
from ko_integrations.errors import MissingExtraError
for name in adapters.__all__:
    try:
        getattr(adapters, name)
    except MissingExtraError as error:
        print(name, error.extra, isinstance(error, ImportError), "ko_integrations[llama-index]" in str(error))
"""


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_the_package_loads_no_framework() -> None:
    code = "import sys, ko_integrations.llama_index; print([m for m in sys.modules if m.startswith('llama')])"
    assert printed(code) == "[]\n"


def test_a_missing_framework_is_named() -> None:
    assert printed(BLOCK).splitlines() == [f"{name} llama-index True True" for name in adapters.__all__]


def test_all_is_sorted_and_complete() -> None:
    assert adapters.__all__ == sorted(adapters.__all__)
    for name in adapters.__all__:
        assert getattr(adapters, name) is not None
    with pytest.raises(AttributeError):
        _ = adapters.nothing

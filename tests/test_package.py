"""What the package promises as a whole: light to import, tidy names, an async side, a README that runs."""

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ko_integrations
from ko_integrations import errors
from ko_integrations.store import KnowledgeStore

ROOT = Path(__file__).parents[1]
HEAVY = (
    "sqlalchemy",
    "numpy",
    "chromadb",
    "torch",
    "langchain",
    "langchain_core",
    "langgraph",
    "llama_index",
)
LEAVES = ("errors", "types", "times", "identity", "vocabulary", "protocols", "testing.faults", "log.fold")


def loaded_by(statement: str) -> set[str]:
    """Return which heavy packages a fresh interpreter has loaded after `statement`."""
    code = f"{statement}\nimport sys\nprint(*({HEAVY!r} & sys.modules.keys()))".replace(
        repr(HEAVY), repr(set(HEAVY))
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    assert (
        loaded_by("import ko_integrations; ko_integrations.Fact, ko_integrations.Vocabulary.general()")
        == set()
    )


@pytest.mark.parametrize("leaf", LEAVES)
def test_leaves_load_nothing_heavy(leaf):
    assert loaded_by(f"import ko_integrations.{leaf}") == set()


def test_using_a_store_loads_no_framework_and_no_model():
    used = (
        "from ko_integrations import KnowledgeStore\n"
        "with KnowledgeStore.open(':memory:') as store:\n"
        "    store.update('a', 'b', 'c'); store.read_exact('a', 'b'); store.history('a', 'b')"
    )
    assert not loaded_by(used) & {
        "torch",
        "chromadb",
        "langchain",
        "langchain_core",
        "langgraph",
        "llama_index",
    }


def test_help_of_the_command_line_loads_nothing_heavy():
    assert loaded_by("from ko_integrations import cli") == set()


def modules():
    for module in pkgutil.walk_packages(ko_integrations.__path__, "ko_integrations."):
        if not module.name.split(".")[-1].startswith("_"):
            yield module.name


@pytest.mark.parametrize("name", ["ko_integrations", *modules()])
def test_exported_names_exist(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if not name.startswith("ko_integrations.bench.rivals.in_"):
            raise
        pytest.skip(f"needs the optional group `rivals`: no {missing.name}")
    for each in getattr(module, "__all__", []):
        assert hasattr(module, each), f"{name} exports {each} and has none"


def test_exported_names_are_sorted():
    assert list(ko_integrations.__all__) == sorted(ko_integrations.__all__)
    assert list(errors.__all__) == sorted(errors.__all__)


def test_every_error_is_a_koerror_and_is_drawn_in_the_tree():
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), ko_integrations.KOError)
        assert name in errors.__doc__


OPERATIONS = {
    name: member
    for name, member in inspect.getmembers(KnowledgeStore, callable)
    if not name.startswith("_")
    and not inspect.iscoroutinefunction(member)
    and not inspect.isasyncgenfunction(member)
}
NO_TWIN = {
    "open": "opening builds the handle; the first await needs one",
    "namespace": "a view; does no input or output",
    "abatch": "is the twin of batch",
}


@pytest.mark.parametrize("name", sorted(OPERATIONS.keys() - NO_TWIN.keys()))
def test_every_operation_has_an_async_twin_of_the_same_parameters(name):
    twin = getattr(KnowledgeStore, f"a{name}", None)
    assert twin is not None, f"a{name} is missing"
    assert inspect.signature(twin).parameters.keys() == inspect.signature(OPERATIONS[name]).parameters.keys()


def test_every_operation_is_documented():
    assert [name for name, operation in OPERATIONS.items() if not inspect.getdoc(operation)] == []


README = ROOT / "README.md"
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not README.exists(), reason="there is no README.md")
def test_readme_runs(tmp_path, monkeypatch):
    """Every Python block runs, in order, one name space, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    blocks = CODE.findall(README.read_text(encoding="utf-8"))
    assert blocks
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "ANONYMIZED_TELEMETRY": "False"}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=environment, timeout=240
    )
    assert done.returncode == 0, done.stderr

"""The adapters load lazily, and say which extra is missing."""

import subprocess
import sys

import pytest

import ko_integrations.langchain as adapters
from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError

BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Block())
import ko_integrations.langchain as adapters
from ko_integrations import KnowledgeStore
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.errors import InvalidInputError
from ko_integrations.errors import MissingExtraError
try:
    getattr(adapters, {name!r})
except MissingExtraError as error:
    print(error.extra, isinstance(error, ImportError), error)
"""


def test_importing_the_package_loads_no_framework() -> None:
    code = "import sys, ko_integrations.langchain; print([m for m in sys.modules if m.startswith('lang')])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


@pytest.mark.parametrize("name", [name for name in adapters.__all__ if name != "KOConversationMemory"])
def test_a_missing_framework_is_named(name: str) -> None:
    code = BLOCK.format(blocked={"langchain", "langchain_core", "langgraph"}, name=name)
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("langchain True ")
    assert "ko_integrations[langchain]" in printed


def test_the_classic_package_has_an_extra_of_its_own() -> None:
    code = BLOCK.format(blocked={"langchain_classic"}, name="KOConversationMemory")
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "ko_integrations[langchain-classic]" in printed


def test_all_is_sorted_and_complete() -> None:
    assert adapters.__all__ == sorted(adapters.__all__)
    for name in adapters.__all__:
        assert getattr(adapters, name) is not None
    with pytest.raises(AttributeError):
        _ = adapters.nothing


def test_importing_everything_needs_no_classic_package() -> None:
    code = BLOCK.format(blocked={"langchain_classic"}, name="ko_ingest")
    code += "\nfrom ko_integrations.langchain import *\nprint(KOVectorStore.__name__)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "KOVectorStore\n"


def test_a_path_is_no_store() -> None:
    for adapter in (adapters.KOMemoryMiddleware, adapters.KOVectorStore, adapters.KOLangGraphStore):
        with pytest.raises(InvalidInputError, match="open it first"):
            adapter(store="agent-memory/")


def test_a_namespace_of_langgraph_is_no_string() -> None:
    with KnowledgeStore.open(":memory:", embedder=HashingEmbedder()) as store:
        items = adapters.KOLangGraphStore(store=store)
        with pytest.raises(InvalidInputError, match="namespace: expected a tuple"):
            items.put("memories", "profile", {"content": "Alice rows."})

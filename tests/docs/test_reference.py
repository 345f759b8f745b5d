"""Every public module has a page in the reference, and every name it exports is on it."""

import importlib
import re
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGES = sorted(page for page in REFERENCE.glob("*.md") if page.stem not in ("index", "testing"))
PLAIN = {
    "ko_integrations.router.Label",
    "ko_integrations.router.CLASSIFIERS",
    "ko_integrations.router.FEATURES",
}
"""Names for values that say themselves what they are."""


def shown(page: Path) -> list[str]:
    return re.findall(r"^::: ([\w.]+)", page.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_module_exports(page: Path) -> None:
    module = importlib.import_module(f"ko_integrations.{page.stem}")
    names = shown(page)
    if module.__name__ not in names:
        assert {f"{module.__name__}.{name}" for name in module.__all__} - PLAIN <= {*names}


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("*.md")), ids=lambda page: page.stem)
def test_what_a_page_shows_exists(page: Path) -> None:
    for name in shown(page):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            module, _, attribute = name.rpartition(".")
            assert hasattr(importlib.import_module(module), attribute), name


def test_the_index_lists_every_page() -> None:
    listed = re.findall(r"\]\((\w+)\.md\)", (REFERENCE / "index.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(page.stem for page in REFERENCE.glob("*.md") if page.stem != "index")

"""Links inside the documentation, the README and the notebooks lead somewhere; every page can be reached."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
PROSE = [*(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")), *PAGES]
FENCE = re.compile(r"^(`{3,}).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def without_code(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings get."""
    return {
        re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())
        for heading in HEADING.findall(without_code(page))
    }


def links(page: Path) -> Iterator[str]:
    for target in LINK.findall(without_code(page)):
        if not target.startswith(("http://", "https://", "mailto:")):
            yield target


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        found = page.parent / path if path else page
        assert found.exists(), f"{page.name} links to {target}"
        assert not anchor or found.suffix != ".md" or anchor in anchors(found), (
            f"{page.name} links to {target}"
        )
        if page.is_relative_to(DOCS):
            assert found.resolve().is_relative_to(DOCS.resolve()), f"{target} is not on the site"


def in_navigation(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from in_navigation(each)


def test_the_navigation_has_every_page_once() -> None:
    navigation = sorted(
        in_navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    )
    assert navigation == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


def test_the_list_of_notebooks_is_whole() -> None:
    listed = re.findall(r"`([\w]+\.ipynb)`", (DOCS / "notebooks.md").read_text(encoding="utf-8"))
    assert listed == sorted(file.name for file in (ROOT / "notebooks").glob("*.ipynb"))

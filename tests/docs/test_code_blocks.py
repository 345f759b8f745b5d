"""Every Python block of the documentation and of the README runs, and gives what its comments say.

The blocks of a page run in order, in one name space, in an empty folder. `<!-- setup` comments run too: they hold what
a page takes as given (a model, documents). A block that needs what a test cannot have says so in its fence:
```` ```python data-not-run="why" ````; it is compiled all the same. Where an expression stands before a comment that is
a Python literal (`store.count()  # 3`), its value must be that; nowhere else does such a comment stand.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ko_integrations import KnowledgeStore, handle
from ko_integrations.embeddings import HashingEmbedder

for needed in ("langchain", "langchain_chroma", "langchain_classic", "llama_index.core"):
    pytest.importorskip(needed, reason=f"the documentation uses {needed}")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^<!-- setup\n(?P<setup>.*?)^-->|^```python(?P<info>[^\n]*)\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL
)
NOT_RUN = re.compile(r'data-not-run="([^"]+)"')
COMMENT = re.compile(r"\s#\s(.+)$")


@dataclass(frozen=True)
class Block:
    """A piece of Python of a page; `code` is padded so that line numbers are those of the page."""

    code: str
    not_run: str | None


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        kind = "code" if found["code"] is not None else "setup"
        reason = NOT_RUN.search(found["info"] or "")
        padding = "\n" * text.count("\n", 0, found.start(kind))
        yield Block(padding + found[kind], reason[1] if reason else None)


def promised(line: str) -> tuple[Any] | None:
    """Return the value that the comment of a line states, in a tuple; None where it states none."""
    comment = COMMENT.search(line)
    try:
        return (ast.literal_eval(comment[1]),) if comment else None
    except (ValueError, SyntaxError):
        return None


def run(block: Block, page: Path, names: dict[str, Any]) -> None:
    lines = block.code.splitlines()
    compared: set[int] = set()
    for statement in ast.parse(block.code, str(page)).body:
        expected = promised(lines[(statement.end_lineno or 1) - 1])
        if isinstance(statement, ast.Expr) and expected is not None:
            value = eval(compile(ast.Expression(statement.value), str(page), "eval"), names)
            assert value == expected[0], f"{page.name}, line {statement.lineno}: {value!r}"
            compared.add(statement.end_lineno or 1)
        else:
            exec(compile(ast.Module([statement], []), str(page), "exec"), names)
    unread = [number for number, line in enumerate(lines, 1) if promised(line) and number not in compared]
    assert not unread, f"{page.name}: a value is stated that nothing is compared with, lines {unread}"


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, where a store opened without an embedder hashes words: no page is about meaning."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(handle, "SentenceTransformerEmbedder", lambda: HashingEmbedder(384))
    return tmp_path


def with_code() -> list[Path]:
    return [page for page in PAGES if page.exists() and any(blocks(page))]


@pytest.mark.parametrize("page", with_code(), ids=lambda page: page.relative_to(ROOT).as_posix())
@pytest.mark.usefixtures("empty_folder")
def test_the_blocks_of_a_page_run(page: Path) -> None:
    # Classes in a block look for their module by this name.
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        for block in blocks(page):
            if block.not_run:
                compile(block.code, str(page), "exec")
            else:
                run(block, page, names)
    finally:
        for value in list(names.values()):
            if isinstance(value, KnowledgeStore):
                value.close()


def test_few_blocks_are_left_out_and_each_says_why() -> None:
    left_out = [block.not_run for page in with_code() for block in blocks(page) if block.not_run]
    assert len(left_out) <= 2
    assert all("needs" in reason for reason in left_out)

"""Prose is spelt right: the documentation, the README, the notebooks' text and every docstring."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("codespell_lib", reason="group `test` brings codespell")

ROOT = Path(__file__).parents[2]
WORDS = "ines,nin,whats"
"""A given name, a filter operator (`$nin`), and how a hurried person types."""


def prose() -> Iterator[tuple[str, str]]:
    """Yield (name, text) of everything that is read as prose."""
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        yield str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
    for file in (ROOT / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(file, as_version=4).cells
        yield file.name, "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for file in (ROOT / "ko_integrations").rglob("*.py"):
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        docstrings = [ast.get_docstring(node) for node in nodes if isinstance(node, kinds)]
        yield str(file.relative_to(ROOT)), "\n\n".join(text for text in docstrings if text)


def test_spelling(tmp_path: Path) -> None:
    for name, text in prose():
        (tmp_path / name.replace("/", "--")).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", WORDS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout.replace(f"{tmp_path}/", "") + done.stderr

"""The README keeps what it promises: short examples that stand alone, and one picture."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("section", ["LangChain", "LlamaIndex", "Command line"])
def test_an_example_is_short_and_stands_alone(section: str) -> None:
    [code] = re.findall(r"^```[a-z]*\n(.*?)^```", SECTIONS[section], re.MULTILINE | re.DOTALL)
    lines = [line for line in code.splitlines() if line and not line.startswith(("from ", "import "))]
    assert len(lines) <= 10
    if section != "Command line":
        assert "from ko_integrations import KnowledgeStore" in code


def test_there_is_one_picture() -> None:
    [picture] = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert (ROOT / picture).exists()

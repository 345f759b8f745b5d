"""The README keeps what it promises: short examples, a picture, figures beside commands that exist."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from ko_integrations.cli import app
from ko_integrations.experiments import NAMES

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


def test_every_measured_row_names_a_command_that_exists() -> None:
    rows = re.findall(r"^\| `ko ([^`]+)` \| [^|]+ \| [^|]+ \|$", SECTIONS["Measured"], re.MULTILINE)
    assert len(rows) == SECTIONS["Measured"].count("\n|") - 2
    for row in rows:
        group, words = get_command(app), row.split()
        while getattr(group, "commands", None) and words:
            group = group.commands[words.pop(0)]
        if row.startswith("experiment"):
            assert words[0] in NAMES

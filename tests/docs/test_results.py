"""Every row of results names a command that exists, and what it runs has that name."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from ko_integrations.cli import app
from ko_integrations.experiments import NAMES

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| command"))
]
COMMANDS = sorted({match for row in ROWS for match in re.findall(r"`(ko [^`]+)`", row[0])})


def test_the_first_row_of_a_group_names_its_command() -> None:
    named = False
    for row in ROWS:
        named = named or row[0] != ""
        assert named, row
        assert row[2], f"no figure and no mark: {row}"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_exists(command: str) -> None:
    group, options = get_command(app), command.split()[1:]
    while getattr(group, "commands", None) and options:
        group = group.commands[options.pop(0)]
    known = {option for parameter in group.params for option in parameter.opts}
    assert {option for option in options if option.startswith("--")} <= known
    if command.startswith("ko experiment"):
        assert options[0] in NAMES


def test_every_experiment_is_listed() -> None:
    assert {command.split()[2] for command in COMMANDS if command.startswith("ko experiment")} == {*NAMES}

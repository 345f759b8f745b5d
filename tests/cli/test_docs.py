"""Every command explains itself and is in the documentation."""

from pathlib import Path

import pytest
from typer.main import get_command

from ko_integrations.cli import app

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def _commands(group, prefix="ko"):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


COMMANDS = dict(_commands(get_command(app)))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_command_has_help_and_is_documented(name):
    command = COMMANDS[name]
    assert command.help
    assert f"`{name}" in PAGE
    for parameter in command.params:
        if parameter.name != "help":
            assert parameter.help, f"{name}: {parameter.name} has no help"


def test_documentation_names_no_command_that_is_not_there():
    rows = [line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `ko ")]
    named = {" ".join(word for word in row.split() if word.islower()) for row in rows}
    assert named == set(COMMANDS)


def test_every_command_on_a_store_prints_json():
    """What measures, plays or writes pages has a form of its own for that, or none."""
    others = {"ko demo", "ko experiment", "ko results"}
    without = {
        name for name, command in COMMANDS.items() if "json" not in {each.name for each in command.params}
    }
    assert without <= others

import subprocess
import sys

import pytest

from ko_integrations.cli import facts


def test_update_supersedes_and_history_keeps(ko):
    assert (
        ko("update", "Alice", "phone", "555-1111", "--valid-from", "2024-01-01", "--json")["outcome"]
        == "created"
    )
    assert ko("update", "Alice", "phone", "555-2222", "--json")["outcome"] == "superseded"
    assert [fact["object"] for fact in ko("get", "alice", "Phone", "--json")] == ["555-2222"]
    assert [fact["object"] for fact in ko("get", "Alice", "--as-of", "2024-06", "--json")] == ["555-1111"]
    assert [version["object"] for version in ko("history", "Alice", "phone", "--json")] == [
        "555-1111",
        "555-2222",
    ]


def test_search_finds_only_what_holds(ko):
    ko("update", "Alice", "phone", "555-1111")
    ko("update", "Alice", "phone", "555-2222")
    hits = ko("search", "phone of Alice", "--json")
    assert [hit["ko"]["object"] for hit in hits] == ["555-2222"]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("int", "67", 67),
        ("float", "1.5", 1.5),
        ("bool", "no", False),
        ("date", "2025-03-18", "2025-03-18"),
        ("quantity", "1.2 cm", {"value": 1.2, "unit": "cm"}),
        ("quantity", "3 cm", {"value": 3, "unit": "cm"}),
        ("json", '["a", 1]', ["a", 1]),
        ("text", "67", "67"),
    ],
)
def test_values_are_read_as_the_type_asked(ko, kind, text, value):
    ko("update", "thing", "reading", text, "--type", kind)
    assert ko("get", "thing", "reading", "--json")[0]["object"] == value


def test_retract_ends_and_withdraw_falls_back(ko):
    ko("update", "Alice", "desk", "north", "--source", "plan", "--valid-from", "2024")
    ko("update", "Alice", "desk", "south", "--source", "rumour", "--valid-from", "2025")
    ko("withdraw", "rumour")
    assert ko("get", "Alice", "desk", "--json")[0]["object"] == "north"
    ko("retract", "Alice", "desk")
    ko("get", "Alice", "desk", code=1)
    assert len(ko("history", "Alice", "desk", "--json")) == 1


def test_erase_asks_first_and_leaves_nothing(ko, monkeypatch):
    monkeypatch.setattr(facts, "_has_terminal", lambda: True)
    ko("update", "Alice", "desk", "north")
    ko("erase", "Alice", input="n\n", code=1)
    assert ko("get", "Alice", "--json")
    report = ko("erase", "Alice", "--yes", "--json")
    assert report["complete"]
    assert ko("history", "Alice", "desk", "--json", code=1) == []


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_erase_asks_nobody_where_there_is_no_terminal(tmp_path, options):
    store = ("--store", str(tmp_path / "store"), "--embedder", "hashing")
    program = "from ko_integrations.cli import main; main()"
    ko = [sys.executable, "-c", program]
    subprocess.run([*ko, "update", "Alice", "desk", "north", *store], check=True, capture_output=True)
    erase = [*ko, "erase", "Alice", *options, *store]
    done = subprocess.run(erase, input="y\n", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --yes")
    done = subprocess.run([*erase, "--yes"], input="", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0


def test_commands_that_change_something_print_json_too(ko):
    ko("update", "Alice", "desk", "north", "--source", "plan")
    (ended,) = ko("retract", "Alice", "desk", "--json")
    assert ended["object"] == "north"
    assert ko("retract", "Nobody", "desk", "--json") == []
    assert ko("withdraw", "plan", "--json") == {"slots": [ended["id"]]}
    assert ko("withdraw", "plan", "--json") == {"slots": []}
    ko("update", "Bob", "desk", "south")
    assert ko("rebuild", "--json") == {"records": 1}


def test_erase_needs_exactly_one_scope(ko):
    ko("update", "Alice", "desk", "north")
    assert "subject" in ko("erase", "--yes", code=2).stderr
    assert "subject" in ko("erase", "Alice", "--everything", "--yes", code=2).stderr


def test_namespaces_do_not_see_each_other_wherever_the_option_stands(ko):
    ko("--namespace", "acme/alice", "update", "phone", "number", "1")
    assert ko("get", "phone", "number", "--namespace", "acme/alice", "--json")
    ko("get", "phone", "number", "--namespace", "acme", code=1)
    ko("get", "phone", "number", code=1)


def test_changes_can_be_followed_by_cursor(ko):
    ko("update", "Alice", "desk", "north")
    first = ko("changes", "--json")
    ko("update", "Alice", "desk", "south")
    second = ko("changes", first["cursor"], "--json")
    assert [change["ko"]["object"] for change in second["items"]] == ["south"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("update", " ", "desk", "north"), "subject"),
        (("update", "Alice", "desk", "x", "--confidence", "2"), "confidence"),
        (("update", "Alice", "desk", "x", "--valid-from", "soon"), "valid_from"),
        (("update", "Alice", "desk", "x", "--type", "int"), "object"),
        (("get", "Alice", "desk", "--as-of", "2025-01-01T10:00:00"), "as_of"),
    ],
)
def test_bad_input_is_one_line_on_stderr_and_exit_code_2(ko, arguments, field):
    ko("update", "Bob", "desk", "north")
    result = ko(*arguments, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert field in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_folder_of_something_else_is_left_alone(ko, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("hello")
    assert "error:" in ko("--store", tmp_path / "other", "stats", code=2).stderr
    assert [file.name for file in (tmp_path / "other").iterdir()] == ["letter.txt"]


def test_stats_verify_and_rebuild(ko):
    ko("update", "Alice", "desk", "north")
    ko("search", "desk", "--json")
    assert ko("stats", "--json")["facts"] == 1
    assert ko("verify", "--json")["missing"] == []
    ko("rebuild")
    assert ko("search", "desk", "--json")[0]["ko"]["object"] == "north"
    ko("rebuild", "--encode-with", "hashing")
    assert ko("verify", "--json")["extra"] == []


def test_stored_text_is_not_read_as_markup(ko):
    ko("update", "Alice", "note", "[bold]loud[/]")
    assert "[bold]loud[/]" in ko("get", "Alice", "note").stdout

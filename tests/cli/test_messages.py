"""What the command line says to people."""

import pytest


def test_verify_gives_its_verdict_first_and_no_python(ko):
    ko("update", "Alice", "desk", "north")
    printed = ko("verify").stdout
    assert printed.startswith("ok: log and index agree")
    assert "[]" not in printed
    assert "None" not in printed + ko("stats").stdout
    assert "indexed     yes" in ko("stats").stdout


READING = [
    ("get", "Alice"), ("search", "desk"), ("history", "Alice", "desk"), ("changes",), ("ask", "Where is Alice?"),
    ("export", "-"), ("stats",), ("verify",), ("rebuild",), ("retract", "Alice", "desk"), ("withdraw", "form"),
    ("erase", "Alice", "--yes"), ("renew-id",),
]  # fmt: skip


@pytest.mark.parametrize("command", READING, ids=lambda command: command[0])
def test_a_mistyped_path_is_no_empty_store(ko, tmp_path, command):
    ko("update", "Alice", "desk", "north")
    for path in (tmp_path / "stroe", tmp_path / "deep" / "stroe"):
        said = ko("--store", path, *command, code=2).stderr
        assert said == f"error: there is no store at {path}\n"
    (tmp_path / "empty").mkdir()
    assert "there is no store" in ko(*command, "--store", tmp_path / "empty", code=2).stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "store"]
    assert not any((tmp_path / "empty").iterdir())


def test_what_is_not_there_is_named(ko):
    ko("update", "Bob", "desk", "north")
    assert ko("get", "Alice", "desk", code=1).stderr == "nothing holds: Alice desk\n"
    assert ko("get", "Alice", "--as-of", "2010", code=1).stderr == "nothing holds then: Alice\n"
    assert ko("history", "Alice", "desk", code=1).stderr == "nothing was ever stated: Alice desk\n"
    assert ko("history", "Alice", "desk", "--json", code=1) == []
    assert ko("search", "desk", "--as-of", "2010", code=1).stderr == "nothing holds then\n"
    assert "--mentions: " in ko("erase", "--everything", "--mentions", "--yes", code=2).stderr
    assert ko("retract", "Alice", "desk").stdout == "nothing held: Alice desk\n"
    assert ko("erase", "Alice", "--yes").stdout == "nothing was stored there\n"


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("int", "old", "object: 'old' is not an int"),
        ("date", "1980", "object: '1980' is not a date, as in 2025-03-18"),
        ("quantity", "180cm", "object: '180cm' is not a quantity, as in '3 cm'"),
    ],
)
def test_a_value_that_cannot_be_read_shows_one_that_can(ko, kind, text, said):
    assert ko("update", "Alice", "x", text, "--type", kind, code=2).stderr == f"error: {said}\n"


def test_an_index_without_a_scheme_is_no_folder(ko):
    assert "http://localhost:8000" in ko("--index", "127.0.0.1:8000", "stats", code=2).stderr


def test_a_search_without_its_index_says_so(ko):
    ko("update", "Alice", "desk", "north")
    result = ko("--index", "http://127.0.0.1:9", "search", "desk")
    assert "north" in result.stdout
    assert "searched without the index" in result.stderr


def test_another_model_is_told_in_terms_of_the_command_line(ko):
    ko("update", "Alice", "desk", "north")
    ko("search", "desk")
    said = ko("search", "desk", "--embedder", "all-MiniLM-L6-v2", code=2).stderr
    assert "`ko rebuild --encode-with MODEL`" in said
    assert "rebuild_index" not in said


def test_an_error_of_several_lines_is_one(ko):
    said = ko("--store", "postgresql+psycopg://ko@127.0.0.1:9/ko", "get", "Alice", code=2).stderr
    assert said.startswith("error: ")
    assert said.count("\n") == 1


def test_a_copy_names_a_collection_of_its_own(ko, monkeypatch):
    ko("update", "Alice", "desk", "north")
    ko("--collection", "  ", "stats", code=2)
    monkeypatch.setenv("KO_COLLECTION", "of_the_copy")
    assert "north" in ko("search", "desk").stdout
    assert "north" in ko("search", "desk", "--collection", "of_another").stdout


def test_a_column_that_is_not_there_is_told_from_an_empty_cell(ko, tmp_path):
    file = tmp_path / "employees.csv"
    file.write_text("name,employer\nAnn,\n")
    said = ko("import", file, code=2).stderr
    assert "row 1: subject: no column 'subject', but name, employer; see --subject-column" in said
    said = ko(
        "import", file, "--subject-column", "name", "--predicate", "employer",
        "--object-column", "employer", code=2,
    ).stderr  # fmt: skip
    assert "row 1: object: no value in column 'employer'" in said


def test_an_export_says_how_much_it_wrote(ko, tmp_path):
    ko("update", "Alice", "desk", "north")
    result = ko("export", tmp_path / "facts.csv")
    assert (result.stdout, result.stderr) == ("", "wrote 1 fact(s)\n")
    assert ko("export", "-").stderr.endswith("wrote 1 assertion(s) and alias(es)\n")


def test_a_rebuild_with_another_model_says_how_to_open_the_store_from_then_on(ko):
    ko("update", "Alice", "desk", "north")
    assert ko("rebuild").stderr == ""
    assert ko("rebuild", "--encode-with", "hashing").stderr.endswith("--embedder hashing\n")


def test_a_copy_gets_an_id_of_its_own(ko):
    ko("update", "Alice", "desk", "north")
    ko("search", "desk")
    assert "are two" in ko("renew-id").stdout
    assert "north" in ko("search", "desk").stdout
    assert ko("renew-id", "--json") == {"renewed": True}
    assert ko("verify", "--json")["extra"] == []


def test_an_export_that_cannot_be_written_is_one_line(ko, tmp_path):
    ko("update", "Alice", "desk", "north")
    for format in ("csv", "jsonl"):
        said = ko("export", tmp_path / "nowhere" / f"facts.{format}", code=2).stderr
        assert said == f"error: file: {tmp_path}/nowhere/facts.{format}: No such file or directory\n"
    ko("export", tmp_path / "facts.csv", "--as-of", "soon", code=2)
    assert not (tmp_path / "facts.csv").exists()

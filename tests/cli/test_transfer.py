import csv
import json

import pytest
from typer.testing import CliRunner

from ko_integrations.cli import app, transfer


def test_csv_with_columns_of_its_own_and_reduced_dates(ko, tmp_path):
    file = tmp_path / "terms.csv"
    file.write_text(
        "who,what,since,until\nMadero,president,1911-00-00,1913\nHuerta,president,1913-02,1914-07-15\n"
    )
    named = ("--subject-column", "what", "--predicate", "holder", "--object-column", "who")
    report = ko(
        "import", file, *named, "--valid-from-column", "since", "--valid-to-column", "until", "--json"
    )
    assert sum(report["outcomes"].values()) == 2
    assert ko("get", "president", "holder", "--as-of", "1912-05", "--json")[0]["object"] == "Madero"
    assert ko("get", "president", "holder", "--as-of", "1914-07-14", "--json")[0]["object"] == "Huerta"
    ko("get", "president", "holder", "--as-of", "1913-01-15", code=1)


def test_a_bad_row_stores_nothing_or_is_listed(ko, tmp_path):
    file = tmp_path / "facts.csv"
    rows = [
        "Alice,desk,north,2024,",
        "Bob,desk,,2024,",
        "Carol,desk,south,2024,2023",
        "Dan,desk,east,someday,",
    ]
    file.write_text("\n".join(["subject,predicate,object,valid_from,valid_to", *rows]))
    assert "row 2" in ko("import", file, code=2).stderr
    ko("get", "Alice", code=1)
    report = ko("import", file, "--skip-bad", "--json")
    assert report["outcomes"] == {"created": 1}
    assert sorted((bad["row"], bad["field"]) for bad in report["refused"]) == [
        (2, "object"),
        (3, "valid_to"),
        (4, "valid_from"),
    ]


def test_jsonl_round_trip_keeps_every_version(ko, tmp_path):
    ko("update", "Alice", "desk", "north", "--valid-from", "2024", "--source", "plan")
    ko("update", "Alice", "desk", "south", "--valid-from", "2025")
    ko("update", "Alice", "age", "41", "--type", "int")
    ko("retract", "Alice", "age")
    ko("export", tmp_path / "all.jsonl")
    ko("--store", tmp_path / "copy", "import", tmp_path / "all.jsonl")
    before = ko("history", "Alice", "desk", "--json")
    after = ko("--store", tmp_path / "copy", "history", "Alice", "desk", "--json")
    kept = ("id", "object", "valid_from", "valid_to")
    assert [[v[key] for key in kept] for v in after] == [[v[key] for key in kept] for v in before]
    ko("--store", tmp_path / "copy", "get", "Alice", "age", code=1)


def test_plain_json_lines_keep_their_types(ko, tmp_path):
    file = tmp_path / "facts.jsonl"
    rows = [
        {"subject": "Alice", "predicate": "age", "object": 41},
        {"subject": "Alice", "predicate": "pets", "object": ["cat"]},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ko("import", file)
    assert {fact["predicate"]: fact["object"] for fact in ko("get", "Alice", "--json")} == {
        "age": 41,
        "pets": ["cat"],
    }


def test_csv_export_holds_what_holds_and_reads_back(ko, tmp_path):
    ko("update", "Alice", "desk", "north", "--valid-from", "2024")
    ko("update", "Alice", "desk", "south", "--valid-from", "2025")
    ko("update", "part", "length", "3 cm", "--type", "quantity")
    file = tmp_path / "now.csv"
    ko("export", file)
    rows = {(row["subject"], row["predicate"]): row for row in csv.DictReader(file.open())}
    assert rows["Alice", "desk"]["object"] == "south"
    ko("--store", tmp_path / "copy", "import", file)
    assert ko("--store", tmp_path / "copy", "get", "part", "--json")[0]["object"] == {
        "value": 3,
        "unit": "cm",
    }


def test_lines_that_are_not_json_are_named(ko, tmp_path):
    file = tmp_path / "broken.jsonl"
    file.write_text('{"subject": "Alice", "predicate": "age", "object": 1}\nnot json\n')
    assert "line 2" in ko("import", file, code=2).stderr
    ko("get", "Alice", code=1)


def test_an_export_tells_what_it_wrote_but_not_into_itself(ko, tmp_path):
    ko("update", "Alice", "desk", "north", "--valid-from", "2024")
    ko("update", "Alice", "desk", "south", "--valid-from", "2025")
    assert ko("export", tmp_path / "all.jsonl", "--json") == {"format": "jsonl", "written": 2}
    assert ko("export", tmp_path / "now.csv", "--json") == {"format": "csv", "written": 1}
    assert len(ko("export", "-").stdout.splitlines()) == 2
    refused = CliRunner().invoke(app, ["export", "-", "--json"])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--json" in refused.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"subject,predicate,object\nA,b,M\xfcnchen\n"),
        ("a.jsonl", b'{"subject":"A","predicate":"b","object":"M\xfcnchen"}\n'),
        (
            "export.jsonl",
            b'{"ko":1,"namespace":[],"subject":"A","predicate":"b","kind":"s","value":"x"}\n\xfc\n',
        ),
    ],
)
def test_a_file_in_another_encoding_stores_nothing(ko, tmp_path, name, content):
    ko("update", "Bob", "desk", "north")
    (tmp_path / name).write_bytes(content)
    said = ko("import", tmp_path / name, code=2).stderr
    assert said.startswith(f"error: {name}: not UTF-8: ")
    ko("get", "A", code=1)
    assert "not UTF-8" in ko("write", tmp_path / name, code=2).stderr


def test_a_row_is_named_by_its_number_in_the_file(ko, tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "_CHUNK", 2)
    file = tmp_path / "facts.csv"
    file.write_text("subject,predicate,object,confidence\nA,b,c,1\nB,b,c,1\nC,b,c,1\nD,b,c,7\n")
    assert ko("import", file, code=2).stderr.startswith("error: row 4: confidence: ")


def test_a_comma_that_is_not_quoted_cuts_no_value(ko, tmp_path):
    file = tmp_path / "facts.csv"
    file.write_text('subject,predicate,object\nAnn,home,"Paris, France"\nBob,home,Paris, Texas\n')
    assert "row 2: object: the row has more cells" in ko("import", file, code=2).stderr
    report = ko("import", file, "--skip-bad", "--json")
    assert [bad["row"] for bad in report["refused"]] == [2]
    assert ko("get", "Ann", "home", "--json")[0]["object"] == "Paris, France"


def test_a_long_value_comes_back_from_a_table(ko, tmp_path):
    (tmp_path / "long.jsonl").write_text(
        json.dumps({"subject": "A", "predicate": "b", "object": "x" * 200_000})
    )
    ko("import", tmp_path / "long.jsonl")
    ko("export", tmp_path / "long.csv")
    ko("--store", tmp_path / "copy", "import", tmp_path / "long.csv")
    assert len(ko("--store", tmp_path / "copy", "get", "A", "b", "--json")[0]["object"]) == 200_000

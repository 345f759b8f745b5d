"""`ko import` and `ko export`: JSON lines and CSV."""

import csv
import json as jsonlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

from ko_integrations.cli.options import (
    AsJson,
    AsOf,
    ValueType,
    moment,
    readable,
    value_of,
    with_store,
    with_store_or_new,
)
from ko_integrations.cli.output import console, escape, plain, print_json, progress, stderr
from ko_integrations.errors import BatchError, InvalidInputError
from ko_integrations.identity import MAX_VALUE_BYTES
from ko_integrations.times import parse_moment
from ko_integrations.types import Fact, KnowledgeObject, Quantity, RowError, Value

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

Format = Literal["jsonl", "csv"]
Columns = dict[str, str]

_CHUNK = 1_000
_STANDARD = Path("-")
_WIDEST = 100 * MAX_VALUE_BYTES
_CSV_FIELDS = ("subject", "predicate", "object", "type", "source", "confidence", "valid_from", "valid_to")


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("import")(import_)
    app.command()(export)


@with_store_or_new
def import_(
    store: "KnowledgeStore",
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="What `ko export` wrote, or any table.")
    ],
    format: Annotated[
        Format | None, typer.Option(help="How it is written.", show_default="by the file's ending")
    ] = None,
    subject_column: Annotated[str, typer.Option(help="Column of the subject.")] = "subject",
    predicate_column: Annotated[str, typer.Option(help="Column of the predicate.")] = "predicate",
    object_column: Annotated[str, typer.Option(help="Column of the value.")] = "object",
    type_column: Annotated[str, typer.Option(help="Column that says how to read the value.")] = "type",
    source_column: Annotated[str, typer.Option(help="Column of the source.")] = "source",
    confidence_column: Annotated[str, typer.Option(help="Column of the confidence.")] = "confidence",
    valid_from_column: Annotated[str, typer.Option(help="Column of the start; 2010 will do.")] = "valid_from",
    valid_to_column: Annotated[str, typer.Option(help="Column of the end (exclusive).")] = "valid_to",
    predicate: Annotated[str | None, typer.Option(help="One predicate for every row.")] = None,
    source: Annotated[str | None, typer.Option(help="One source for every row.")] = None,
    type: Annotated[ValueType, typer.Option(help="How to read values without a type.")] = "text",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out and list them.")] = False,
    json: AsJson = False,
) -> None:
    """Load facts; all of the file, or nothing when a row is bad (see --skip-bad)."""
    columns = {
        "subject": subject_column,
        "predicate": predicate_column,
        "object": object_column,
        "type": type_column,
        "source": source_column,
        "confidence": confidence_column,
        "valid_from": valid_from_column,
        "valid_to": valid_to_column,
    }
    kind = format or ("csv" if file.suffix.casefold() == ".csv" else "jsonl")
    with readable(file.name):
        if kind == "jsonl" and _is_export(file):
            with file.open(encoding="utf-8") as lines, stderr.status("importing"):
                loaded = store.import_jsonl(lines)
            outcomes, bad = {"imported": loaded}, list[RowError]()
        else:
            defaults = {"predicate": predicate, "source": source, "type": type}
            outcomes, bad = _load(store, file, kind, columns, defaults, skip_bad=skip_bad)
    if json:
        return print_json({"outcomes": outcomes, "refused": bad})
    console.print(
        ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()) or "nothing to import"
    )
    for error in bad:
        stderr.print(f"row {error.row}: {escape(error.field)}: {escape(error.reason)}")
    return None


def _load(
    store: "KnowledgeStore",
    file: Path,
    kind: Format,
    columns: Columns,
    defaults: dict[str, Any],
    *,
    skip_bad: bool,
) -> tuple[dict[str, int], list[RowError]]:
    """Store a table in chunks under one batch; return how many rows had which outcome, and the bad ones."""
    outcomes: dict[str, int] = {}
    bad: list[RowError] = []
    csv.field_size_limit(_WIDEST)  # what is too long for the store it refuses itself
    with (
        progress() as bars,
        bars.open(file, "rt", encoding="utf-8-sig", newline="", description=file.name) as lines,
    ):
        rows = enumerate(csv.DictReader(lines) if kind == "csv" else _json_rows(lines), start=1)
        with store.batch():
            for chunk in _chunks(rows, _CHUNK):
                numbers, facts = _facts(chunk, columns, defaults, bad if skip_bad else None)
                try:
                    results = store.update_many(facts, on_error="collect" if skip_bad else "raise")
                except BatchError as error:
                    row, first = error.errors[0]
                    raise InvalidInputError(f"row {numbers[row]}: {first.field}", first.reason) from error
                for number, result in zip(numbers, results, strict=True):
                    if result.error is None:
                        outcomes[result.outcome] = outcomes.get(result.outcome, 0) + 1
                    else:
                        bad.append(result.error.model_copy(update={"row": number}))
    return outcomes, bad


def _facts(
    rows: Iterable[tuple[int, dict[str, Any]]],
    columns: Columns,
    defaults: dict[str, Any],
    bad: list[RowError] | None,
) -> tuple[list[int], list[Fact]]:
    """Return the row numbers and facts of a chunk; bad rows go to `bad`, or raise when there is no such list."""
    numbers, facts = [], []
    for number, row in rows:
        try:
            facts.append(_fact(row, columns, defaults))
            numbers.append(number)
        except InvalidInputError as error:
            if bad is None:
                raise InvalidInputError(f"row {number}: {error.field}", error.reason) from error
            bad.append(RowError(row=number, field=error.field, reason=error.reason))
    return numbers, facts


def _fact(row: dict[str, Any], columns: Columns, defaults: dict[str, Any]) -> Fact:
    def cell(name: str) -> Any:
        value = row.get(columns[name])
        return defaults.get(name) if value is None or value == "" else value

    if None in row:  # as csv names the cells beyond the heading
        raise InvalidInputError("object", "the row has more cells than the heading; quote what holds a comma")
    values = {name: cell(name) for name in columns}
    for name in ("subject", "predicate", "object"):
        if values[name] is None:
            if columns[name] in row:
                raise InvalidInputError(name, f"no value in column {columns[name]!r}")
            there = ", ".join(str(column) for column in row if column is not None)
            raise InvalidInputError(name, f"no column {columns[name]!r}, but {there}; see --{name}-column")
    starts, ends = (
        None if values[name] is None else parse_moment(str(values[name]), name)
        for name in ("valid_from", "valid_to")
    )
    try:
        confidence = 1.0 if values["confidence"] is None else float(values["confidence"])
    except ValueError as error:
        raise InvalidInputError("confidence", f"{values['confidence']!r} is not a number") from error
    object = values["object"]
    return Fact(
        subject=str(values["subject"]),
        predicate=str(values["predicate"]),
        object=value_of(object, values["type"]) if isinstance(object, str) else object,
        source=values["source"],
        confidence=confidence,
        valid_from=starts,
        valid_to=ends,
    )


def _is_export(file: Path) -> bool:
    """Tell whether a file of JSON lines is what `ko export` wrote, rather than plain rows."""
    with file.open(encoding="utf-8") as lines:
        first = next(_json_rows(lines), {})
    return "ko" in first


def _json_rows(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = jsonlib.loads(line)
        except jsonlib.JSONDecodeError as error:
            raise InvalidInputError(f"line {number}", f"not JSON: {error.msg}") from error
        if not isinstance(row, dict):
            raise InvalidInputError(f"line {number}", "expected a JSON object")
        yield row


def _chunks(
    rows: Iterable[tuple[int, dict[str, Any]]], size: int
) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    chunk = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


@with_store
def export(
    store: "KnowledgeStore",
    file: Annotated[Path, typer.Argument(allow_dash=True, help="Where to, or - for standard output.")],
    format: Annotated[
        Format | None, typer.Option(help="How it is written.", show_default="by the file's ending")
    ] = None,
    as_of: AsOf = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON; not with a FILE of -.")] = False,
) -> None:
    """Write the namespace out: JSONL keeps every assertion, CSV holds what holds."""
    if json and file == _STANDARD:
        raise InvalidInputError("--json", "standard output is where the export goes; name a file")
    kind = format or ("csv" if file.suffix.casefold() == ".csv" else "jsonl")
    if kind == "jsonl" and as_of is not None:
        raise InvalidInputError("as_of", "JSONL holds the whole history; use --format csv for one moment")
    moment_asked = moment(as_of, "as_of")
    with _opened(file) as lines:
        if kind == "jsonl":
            with stderr.status("exporting"):
                written = store.export_jsonl(lines)
        else:
            written = _write_csv(store.snapshot(as_of=moment_asked), lines)
    if json:
        return print_json({"format": kind, "written": written})
    what = "assertion(s) and alias(es)" if kind == "jsonl" else "fact(s)"
    stderr.print(f"wrote {written} {what}")
    return None


@contextmanager
def _opened(file: Path) -> Iterator[IO[str]]:
    """Open a file to write to, or standard output.

    Raises:
        InvalidInputError: it cannot be written to.
    """
    if file == _STANDARD:
        yield typer.get_text_stream("stdout", encoding="utf-8")
        return
    try:
        with file.open("w", encoding="utf-8", newline="") as lines:
            yield lines
    except OSError as error:
        raise InvalidInputError("file", f"{file}: {error.strerror}") from error


def _write_csv(versions: Iterable[KnowledgeObject], file: IO[str]) -> int:
    """Write a row a version; return how many."""
    written = 0
    writer = csv.DictWriter(file, _CSV_FIELDS, lineterminator="\n")
    writer.writeheader()
    for ko in versions:
        kind, text = _typed_text(ko.object)
        writer.writerow(
            {
                "subject": ko.subject,
                "predicate": ko.predicate,
                "object": text,
                "type": kind,
                "source": ko.provenance.source or "",
                "confidence": ko.provenance.confidence,
                "valid_from": ko.valid_from.isoformat(),
                "valid_to": "" if ko.valid_to is None else ko.valid_to.isoformat(),
            }
        )
        written += 1
    return written


def _typed_text(value: Value) -> tuple[ValueType, str]:
    """Return a value as `value_of` reads it back."""
    match value:
        case str():
            return "text", value
        case bool():
            return "bool", str(value).casefold()
        case int():
            return "int", str(value)
        case float():
            return "float", repr(value)
        case Quantity():
            return "quantity", str(value)
    if isinstance(value, dict | list):
        return "json", jsonlib.dumps(plain(value), ensure_ascii=False)
    return ("datetime" if hasattr(value, "hour") else "date"), value.isoformat()

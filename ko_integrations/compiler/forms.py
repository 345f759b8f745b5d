"""Records in a text: forms ("Name: ..." and "Phone: ..." below each other) and tables with a heading."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Field", "Record", "blocks"]

_FIELD = re.compile(
    r"^\s*(?:[-*•‣–]\s+)?\**(?P<label>[^\W\d_][\w /.'’()-]{0,38}?)\**\s*(?::\**|=|\t)\s*(?P<value>\S.*)$"
)
_HEADING = re.compile(
    r"^(?:full |patient |customer |employee |client |company |contact |product |project |user )?(?:name|patient|employee|company|customer|client|contact|person|"
    r"product|project|organi[sz]ation|applicant|subject|member)$",
    re.IGNORECASE,
)
_CELLS = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"^[\s|:+=-]+$")


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a record, and the line it stands on."""

    label: str
    value: str
    line: str


@dataclass(frozen=True, slots=True)
class Record:
    """What a form or a row of a table says of one thing; `subject` is None where it does not name it."""

    subject: str | None
    fields: tuple[Field, ...]


def blocks(text: str, names_value: Callable[[str], bool]) -> Iterator[str | Record]:
    """Yield the prose of a text and the records between it, in order.

    `names_value` tells the label of a value ("Phone: ...") from a speaker or a heading.
    """
    prose: list[str] = []
    lines = text.splitlines()
    place = 0
    while place < len(lines):
        size, records = _table(lines, place) or _form(lines, place, names_value) or (0, [])
        if not size:
            prose.append(lines[place])
            place += 1
            continue
        if prose:
            yield "\n".join(prose)
            prose = []
        yield from records
        place += size
    if prose:
        yield "\n".join(prose)


def _form(
    lines: list[str], place: int, names_value: Callable[[str], bool]
) -> tuple[int, list[Record]] | None:
    """Read the lines from `place` on as a form, if at least two of them are fields and most labels are known."""
    fields: list[Field] = []
    for line in lines[place:]:
        match = _FIELD.match(line)
        if match is None or len(match["value"]) > 200:
            break
        fields.append(Field(match["label"].strip(), match["value"].strip().rstrip(";"), line.strip()))
    if len(fields) < 2:
        return None
    headed = bool(_HEADING.match(fields[0].label))
    known = sum(names_value(field.label.lower()) for field in fields[headed:])
    if known * 2 <= len(fields) - headed:
        return None
    subject = fields[0].value if headed else None
    return len(fields), [Record(subject, tuple(fields[1:] if headed else fields))]


def _table(lines: list[str], place: int) -> tuple[int, list[Record]] | None:
    """Read the lines from `place` on as a table whose first row names the columns and first column the subjects."""
    rows: list[list[str]] = []
    size = 0
    for line in lines[place:]:
        if line.count("|") < 2:
            break
        size += 1
        if not _RULE.match(line):
            rows.append([cell.strip() for cell in _CELLS.split(line.strip().strip("|"))])
    if len(rows) < 2 or len({len(row) for row in rows}) != 1:
        return None
    header, *body = rows
    return size, [
        Record(
            row[0],
            tuple(
                Field(label, cell, " | ".join(row))
                for label, cell in zip(header[1:], row[1:], strict=True)
                if cell
            ),
        )
        for row in body
        if row[0]
    ]

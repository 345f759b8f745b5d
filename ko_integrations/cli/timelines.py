"""The main job on real data: dated timelines in shuffled order, every answer checked against the file.

The file has one timeline a line: `entity`, `property`, `questions` (name -> text) and `versions` with
`value`, `start` and `end` in ISO 8601, perhaps of reduced precision, with gaps, overlaps and tied starts.
The check is a plain reading of the rules (DESIGN 4.5), written apart from the store's own.
"""

import csv
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ko_integrations.bench.report import Figure, Report
from ko_integrations.cli.output import console, progress
from ko_integrations.times import parse_moment

if TYPE_CHECKING:
    from ko_integrations.protocols import Embedder
    from ko_integrations.store import KnowledgeStore

__all__ = ["EXACT", "Row", "Tally", "chain_of", "check", "play", "read_timelines", "value_at", "write_csv"]

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True)
class Row:
    """One stated interval: `arrival` is its place in the order of arrival."""

    entity: str
    property: str
    value: str
    start: datetime
    end: datetime | None
    arrival: int = 0


EXACT = ("current value", "as-of values", "chains", "search hits that hold now")
"""What must be right every time."""
SHOWN = {
    "as-of values": "value at each boundary and the instants beside it",
    "chains": "whole version chain",
    "search hits that hold now": "by meaning: what is found holds now",
    "right slot first": "by meaning: the right slot is first",
    "right slot among five": "by meaning: the right slot is among five",
}
"""How the demo puts it, where a name alone says little."""


@dataclass
class Tally:
    """How many checks of a kind were right."""

    right: int = 0
    total: int = 0

    def add(self, right: bool) -> None:
        """Count one check."""
        self.right += right
        self.total += 1


def read_timelines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the timelines of a file."""
    with file.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


def write_csv(timelines: Iterable[dict[str, Any]], file: Path, *, seed: int) -> list[Row]:
    """Write every version as a CSV row, shuffled; return the rows that can hold, in order of arrival.

    A version that ends when it starts holds at no moment; the import refuses it, so it is not returned.
    """
    cells = [
        {
            "who": t["entity"],
            "what": t["property"],
            "value": v["value"],
            "start": v["start"],
            "end": v["end"] or "",
        }
        for t in timelines
        for v in t["versions"]
        if v["start"]
    ]
    random.Random(seed).shuffle(cells)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, ("who", "what", "value", "start", "end"))
        writer.writeheader()
        writer.writerows(cells)
    rows = [
        Row(
            c["who"],
            c["what"],
            c["value"],
            parse_moment(c["start"]),
            parse_moment(c["end"]) if c["end"] else None,
            i,
        )
        for i, c in enumerate(cells)
    ]
    return [row for row in rows if row.end is None or row.end > row.start]


def end_of(row: Row, rows: Iterable[Row]) -> datetime | None:
    """Return the effective end: the stated one, else the next later start."""
    return row.end or min((other.start for other in rows if other.start > row.start), default=None)


def value_at(rows: Iterable[Row], moment: datetime) -> str | None:
    """Return what holds at `moment`: of the rows that cover it the one that starts, then arrived, last."""
    rows = list(rows)
    covering = [
        row for row in rows if row.start <= moment and ((end := end_of(row, rows)) is None or moment < end)
    ]
    return max(covering, key=lambda row: (row.start, row.arrival)).value if covering else None


def chain_of(rows: Iterable[Row]) -> list[tuple[str, datetime]]:
    """Return (value, start) of every version: rows in order, equal neighbours that touch taken as one."""
    rows = sorted(rows, key=lambda row: (row.start, row.arrival))
    chain: list[tuple[str, datetime]] = []
    until: datetime | None = None
    for row in rows:
        end = end_of(row, rows)
        if chain and chain[-1][0] == row.value and (until is None or row.start <= until):
            until = None if until is None or end is None else max(until, end)
        else:
            chain.append((row.value, row.start))
            until = end
    return chain


def moments(rows: Iterable[Row]) -> list[datetime]:
    """Return the moments worth asking about: each boundary, and the instants beside it."""
    edges = {edge for row in rows for edge in (row.start, row.end) if edge is not None}
    return sorted({edge + step for edge in edges for step in (-_TICK, timedelta(0), _TICK)})


def check(store: "KnowledgeStore", rows: Iterable[Row], *, now: datetime | None = None) -> dict[str, Tally]:
    """Compare current value, as-of values and chain of every slot with the file."""
    now = now or datetime.now(UTC)
    slots: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        slots[row.entity, row.property].append(row)
    current, as_of, chains = Tally(), Tally(), Tally()
    for (entity, name), stated in slots.items():
        head = store.read_exact(entity, name)
        current.add((head.object if head else None) == value_at(stated, now))
        for moment in moments(stated):
            version = store.read_exact(entity, name, as_of=moment)
            as_of.add((version.object if version else None) == value_at(stated, moment))
        chain = [(ko.object, ko.valid_from) for ko in store.history(entity, name)]
        chains.add(chain == chain_of(stated))
    return {"current value": current, "as-of values": as_of, "chains": chains}


def play(file: Path, folder: Path, embedder: "Embedder", *, seed: int) -> Report:
    """Import through the command line, check through the API, search by meaning; report what was exact."""
    from ko_integrations.cli import app
    from ko_integrations.store import KnowledgeStore

    timelines = list(read_timelines(file))
    table, path = folder / "timelines.csv", folder / "store"
    rows = write_csv(timelines, table, seed=seed)
    arguments = ["--store", str(path), "import", str(table), "--skip-bad", "--source", "timelines"]
    columns = {
        "subject": "who",
        "predicate": "what",
        "object": "value",
        "valid-from": "start",
        "valid-to": "end",
    }
    for name, column in columns.items():
        arguments += [f"--{name}-column", column]
    console.print(
        f"\n[bold]Real timelines[/]: {len(timelines)} slots with {len(rows)} dated values, told in shuffled order. "
        "A value that ends before it starts is refused, as it should be.\n"
    )
    console.print(f"$ ko {' '.join(arguments[2:])}", soft_wrap=True, highlight=False)
    app(arguments, standalone_mode=False)
    console.print("\nEvery answer is compared with the file:")
    with KnowledgeStore.open(path, embedder=embedder) as store:
        tallies = check(store, rows)
        tallies |= _search(store, timelines)
        agree = store.verify()
        for name, tally in tallies.items():
            console.print(f"  {SHOWN.get(name, name):<52} {tally.right:>5} of {tally.total}")
        console.print(f"  {'log and index agree':<52} {'yes' if agree.ok else agree}")
    figures = [
        Figure(name, tally.right, tally.total if name in EXACT else None, "at least", f"of {tally.total}")
        for name, tally in tallies.items()
    ]
    figures.append(Figure("log and index agree", int(agree.ok), 1, "at least", "", "1: yes, 0: no"))
    return Report("demo", figures, {"timelines": file.name, "seed": seed, "embedder": embedder.model_id})


def _search(store: "KnowledgeStore", timelines: list[dict[str, Any]]) -> dict[str, Tally]:
    """Ask every phrasing of every slot by meaning: is each hit current, and the right one among them?"""
    holds, first, among = Tally(), Tally(), Tally()
    with progress() as bars:
        for timeline in bars.track(timelines, description="searching"):
            head = store.read_exact(timeline["entity"], timeline["property"])
            for question in timeline["questions"].values():
                hits = [hit.ko for hit in store.read(question, 5)]
                for ko in hits:
                    now = store.read_exact(ko.subject, ko.predicate)
                    holds.add(now is not None and now.reference == ko.reference)
                if head is not None:
                    first.add(bool(hits) and hits[0].id == head.id)
                    among.add(head.id in {ko.id for ko in hits})
    return {"search hits that hold now": holds, "right slot first": first, "right slot among five": among}

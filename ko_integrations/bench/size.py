"""The facts that the core measurements use, bytes a slot in the log, and memory against the number of slots."""

import multiprocessing
import random
import resource
import sqlite3
import statistics
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from ko_integrations.bench.report import Figure
from ko_integrations.bench.rows import log_file
from ko_integrations.types import Fact

__all__ = ["facts", "fill", "measure", "name", "question", "sentence", "value"]

_PREDICATES = ("desk", "badge", "locker", "shift", "extension")
_PLACES = ("north hall", "old mill", "harbour", "tower", "annex", "garden", "workshop", "library")


def name(i: int) -> tuple[str, str]:
    """Return subject and predicate of fact `i`."""
    return f"member {i // len(_PREDICATES)}", _PREDICATES[i % len(_PREDICATES)]


def value(i: int) -> str:
    """Return the object of fact `i`."""
    return f"{_PLACES[i % len(_PLACES)]} {i % 997}"


def sentence(i: int) -> str:
    """Return fact `i` as a sentence."""
    return f"{' '.join(name(i))} {value(i)}"


def question(i: int) -> str:
    """Return a question about fact `i`."""
    subject, predicate = name(7 * i + 3)
    return f"Which {predicate} does {subject} have?"


def facts(n: int, prefix: str = "") -> Iterator[Fact]:
    """Yield the first `n` facts."""
    for i in range(n):
        subject, predicate = name(i)
        yield Fact(subject=subject, predicate=predicate, object=prefix + value(i))


def fill(folder: Path, n: int) -> None:
    """Make a store of `n` slots in `folder`, without index and vectors, unless it is there."""
    from ko_integrations.store import KnowledgeStore

    if folder.exists():
        return
    with KnowledgeStore.open(folder, index=False) as store:
        chunk: list[Fact] = []
        for fact in facts(n):
            chunk.append(fact)
            if len(chunk) == 20_000:
                store.update_many(chunk)
                chunk = []
        store.update_many(chunk)


def measure(
    folder: Path, small: int, large: int, say: Callable[[str], None], *, samples: int
) -> Iterator[Figure]:
    """Report bytes a slot and how resident memory grows from `small` to `large` slots."""
    say("size and memory")
    for n in (small, large):
        fill(folder / f"store-{n}", n)
    file = log_file(folder / f"store-{large}")
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    note = _by_table(connection, large)
    connection.close()
    yield Figure(
        f"log, bytes a slot at {large:,} slots (short facts, no vectors)", file.stat().st_size / large, 400, unit="B",
        note=note,
    )  # fmt: skip
    yield _memory(folder, small, large, samples)


def _memory(folder: Path, small: int, large: int, samples: int) -> Figure:
    """Compare resident memory over the last tenfold of slots; below that SQLite's page cache still fills."""
    peaks = {}
    for n in (small, large // 10, large):
        fill(folder / f"store-{n}", n)
        peaks[n] = statistics.median(_resident(folder / f"store-{n}", n) for _ in range(samples))
    note = ", ".join(f"{peak / 1e6:.0f} MB at {n:,}" for n, peak in peaks.items())
    ratio = peaks[large] / peaks[large // 10]
    return Figure(f"resident memory, {large:,} slots to {large // 10:,}", ratio, 1.1, note=note)


def _by_table(connection: sqlite3.Connection, n: int) -> str:
    """Return bytes a slot by table and index, largest first, where SQLite was built to tell."""
    try:
        query = "SELECT name, SUM(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC LIMIT 6"
        rows = connection.execute(query).fetchall()
    except sqlite3.OperationalError:
        return "this SQLite was built without dbstat"
    return ", ".join(f"{name} {size / n:.0f}" for name, size in rows)


def _resident(folder: Path, n: int) -> float:
    """Return peak resident bytes of a process that reads and writes a store of `n` slots."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(folder, n, sender))
    worker.start()
    sender.close()
    peak: float = receiver.recv()
    worker.join()
    return peak


def _work(folder: Path, n: int, sender: Connection) -> None:
    from ko_integrations.store import KnowledgeStore

    rng = random.Random(0)
    with KnowledgeStore.open(folder, index=False) as store:
        for _ in range(5_000):
            store.read_exact(*name(rng.randrange(n)))
        for i in range(50):
            store.update(*name(rng.randrange(n)), f"moved {i}")
    sender.send(_peak())


def _peak() -> float:
    """Return the peak resident bytes of this process.

    Linux keeps the parent's peak in `ru_maxrss` across the start of a program, so there we ask /proc.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return float(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

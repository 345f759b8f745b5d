"""Run every system through the workload, side by side, and score what it says."""

import gc
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ko_integrations.bench.rivals.contestant import AnswersItself, Contestant, KeepsHistory, ReadsThePast
from ko_integrations.bench.rivals.workload import Question, Slot, Workload
from ko_integrations.protocols import Embedder
from ko_integrations.testing.traces import find_traces

__all__ = ["COLUMNS", "Column", "Entrant", "Score", "Tally", "race"]


@dataclass(frozen=True)
class Column:
    """One measure of what is right.

    Attributes:
        name: as it stands in the table.
        meaning: what is counted, in words.
        more_is_better: the sense.
        target: what our own system is held to.
    """

    name: str
    meaning: str
    more_is_better: bool
    target: float | None


COLUMNS: tuple[Column, ...] = (
    Column(
        "current@1", "the answer, or the top result, states the current value and no older one", True, 0.99
    ),
    Column("stale@1", "the answer, or the top result, states a superseded value", False, 0.0),
    Column("stale@5", "one of the five best results states a superseded or erased value", False, 0.0),
    Column("set recall", "members found of a set-valued predicate", True, None),
    Column("history", "slots whose history is exact: every value, by event time", True, 1.0),
    Column("as-of", "reads of the past that are exact, before the first value included", True, 1.0),
    Column("abstention", "unanswerable and erased questions that are not answered", True, 0.95),
    Column("leak", "replies that hold a value of another tenant", False, 0.0),
    Column("bytes left", "erased values that are still in a file", False, 0.0),
)


@dataclass
class Tally:
    """How often something was so, of how many times it could be. Nothing counted: not measured."""

    hits: float = 0.0
    of: int = 0

    def count(self, hit: float) -> None:
        """Add one time."""
        self.hits += hit
        self.of += 1

    @property
    def share(self) -> float | None:
        """Hits of all, 0 to 1."""
        return self.hits / self.of if self.of else None


@dataclass
class Score:
    """What one system did: a tally a column, seconds of each call, or why it was not measured.

    Attributes:
        own: it is ours, and so no rival.
        answers: seconds of each answer, of what answers itself.
        searches: seconds of each search for the five best results.
        settling: seconds spent on what writing left for later.
    """

    name: str
    version: str = ""
    failed: str = ""
    own: bool = False
    tallies: dict[str, Tally] = field(default_factory=lambda: {column.name: Tally() for column in COLUMNS})
    writes: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    settling: float = 0.0
    missed: list[str] = field(default_factory=list)

    def share(self, column: str) -> float | None:
        """Return a column's figure; None when it is not offered or could not be measured."""
        return None if self.failed else self.tallies[column].share

    @property
    def reads(self) -> list[float]:
        """Seconds to what stands as the answer: of a search, where a system does not answer itself."""
        return self.answers or self.searches

    @property
    def write_in_all(self) -> float | None:
        """Seconds a write, indexing included."""
        return (sum(self.writes) + self.settling) / len(self.writes) if self.writes else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "system": self.name,
            "version": self.version,
            "failed": self.failed,
            "own": self.own,
            **{column.name: self.share(column.name) for column in COLUMNS},
            **{f"write {name}": value for name, value in percentiles(self.writes).items()},
            "write in all": self.write_in_all,
            **{f"read {name}": value for name, value in percentiles(self.reads).items()},
            **{f"search {name}": value for name, value in percentiles(self.searches).items()},
        }


def percentiles(seconds: Sequence[float]) -> dict[str, float | None]:
    """Return the median and the 95th percentile."""
    if len(seconds) < 2:
        return {"p50": None, "p95": None}
    return {"p50": statistics.median(seconds), "p95": statistics.quantiles(seconds, n=20)[-1]}


@dataclass
class Entrant:
    """One system in the race: it falls out when it fails, and the table says why."""

    score: Score
    folder: Path
    contestant: Contestant | None = None

    def enter(self, kind: type[Contestant], embedder: Embedder) -> None:
        """Open the system, empty."""
        self.folder.mkdir(parents=True)
        self.contestant = self._attempt(lambda: kind(self.folder, embedder))

    def do(self, step: str, *arguments: Any, seconds: list[float] | None = None) -> Any:
        """Take one step unless it fell out; note how long it took."""
        if self.contestant is None:
            return None
        call = partial(getattr(self.contestant, step), *arguments)
        start = time.perf_counter()
        result = self._attempt(call)
        if seconds is not None:
            seconds.append(time.perf_counter() - start)
        return result

    def _attempt(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - other people's code may raise anything; the table says what
            self.score.failed = f"{type(error).__name__}: {error}".splitlines()[0]
            self.contestant = None
            return None


@dataclass(frozen=True)
class _Words:
    """Finds values in texts: whole, in any case."""

    workload: Workload

    @cached_property
    def others(self) -> dict[str, re.Pattern[str]]:
        """For each tenant a pattern of what only another tenant stated."""
        of = {tenant: self.workload.values_of(tenant) for tenant in self.workload.tenants}
        return {
            tenant: _pattern(set().union(*(of[other] for other in of if other != tenant)) - of[tenant])
            for tenant in of
        }

    def leaks(self, tenant: str, texts: Iterable[str]) -> bool:
        return any(self.others[tenant].search(text) for text in texts)


def _pattern(values: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<!\w){re.escape(value)}(?!\w)" for value in sorted(values)), re.I)


def states(text: str, values: Iterable[str]) -> set[str]:
    """Return those of `values` that a text states.

    >>> states("Ada lives in Elderhaven.", ["Elderhaven", "Norbridge"])
    {'Elderhaven'}
    """
    return {value for value in values if _pattern([value]).search(text)}


def race(entrants: Sequence[Entrant], workload: Workload, say: Callable[[str], object]) -> None:
    """Take all entrants through the workload, each step by all of them before the next, in turns of order."""
    words = _Words(workload)
    gc.collect()
    say(f"{len(workload.statements)} writes")
    for number, statement in enumerate(workload.statements):
        for entrant in _turned(entrants, number):
            entrant.do("write", statement, seconds=entrant.score.writes)
    for entrant in entrants:
        settling: list[float] = []
        entrant.do("settle", seconds=settling)
        entrant.score.settling = sum(settling)
    say(f"{len(workload.erased)} erasures")
    for slot in workload.erased:
        for entrant in entrants:
            entrant.do("erase", slot)
    say(f"{len(workload.questions)} questions")
    for number, question in enumerate(workload.questions):
        for entrant in _turned(entrants, number):
            _ask(entrant, question, words)
    say("the past")
    for slot in workload.singles:
        for entrant in entrants:
            _look_back(entrant, slot)
    for entrant in entrants:
        entrant.do("close")
        _look_for_bytes(entrant, workload.erased)


def _turned(entrants: Sequence[Entrant], number: int) -> list[Entrant]:
    start = number % len(entrants)
    return [*entrants[start:], *entrants[:start]]


def _ask(entrant: Entrant, question: Question, words: _Words) -> None:
    answer, found = _reply(entrant, question)
    if entrant.contestant is None:
        return
    score, slot = entrant.score, question.slot
    replies = [text for text in (answer, *found) if text is not None]
    score.tallies["leak"].count(words.leaks(question.tenant, replies))
    if not question.answerable:
        if entrant.contestant.abstains:
            _note(score, "abstention", answer is None, f"{question.text} -> {answer}")
        if slot is not None:
            score.tallies["stale@5"].count(any(states(text, slot.values) for text in replies))
    elif slot is not None and slot.template.many:
        told = found
        if isinstance(entrant.contestant, AnswersItself):
            told = entrant.do("members", question.tenant, question.text) or []
        members = states("\n".join(told), slot.values)
        share = len(members) / len(slot.values)
        _note(score, "set recall", share, f"{question.text} -> {sorted(members)}")
    elif slot is not None:
        *older, current = slot.values
        said = states(answer or "", slot.values)
        _note(score, "current@1", said == {current}, f"{question.text} -> {answer}, not {current}")
        score.tallies["stale@1"].count(bool(said & set(older)))
        score.tallies["stale@5"].count(any(states(text, older) for text in replies))


def _reply(entrant: Entrant, question: Question) -> tuple[str | None, list[str]]:
    """Return what a system answers, by its top result if it does not do so itself, and the five results it finds."""
    asked, score = (question.tenant, question.text), entrant.score
    if not isinstance(entrant.contestant, AnswersItself):
        found = entrant.do("search", *asked, seconds=score.searches) or []
        return (found[0] if found else None), found
    answer = entrant.do("answer", *asked, seconds=score.answers)
    return answer, entrant.do("search", *asked, seconds=score.searches) or []


def _look_back(entrant: Entrant, slot: Slot) -> None:
    if isinstance(entrant.contestant, KeepsHistory):
        history = entrant.do("history", slot)
        _note(entrant.score, "history", history == list(slot.values), f"history of {slot.key}: {history}")
    if isinstance(entrant.contestant, ReadsThePast):
        for moment, value in slot.moments():
            held = entrant.do("as_of", slot, moment)
            expected = [] if value is None else [value]
            _note(entrant.score, "as-of", held == expected, f"{slot.key} at {moment}: {held}, not {expected}")


def _note(score: Score, column: str, hit: float, what: str, *, right: float = 1) -> None:
    score.tallies[column].count(hit)
    if hit != right:
        score.missed.append(f"{column}: {what}")


def _look_for_bytes(entrant: Entrant, erased: Sequence[Slot]) -> None:
    """Count the erased values that a copy of the system's files still holds."""
    if entrant.contestant is None or not entrant.contestant.on_disk:
        return
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "copy"
        # By another process: closing a file of SQLite's here would drop the locks that this process holds on it.
        subprocess.run(["cp", "-r", str(entrant.folder), str(copy)], check=True)
        gone = {value: value for slot in erased for value in slot.values}
        left = find_traces(copy, texts=gone)
    for value in gone:
        _note(entrant.score, "bytes left", value in left, f"{value} is in {left.get(value)}", right=0)

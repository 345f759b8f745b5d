"""Measures of question answering on public data in their published formats, through `write` and `ask` alone.

Nothing here knows a sentence of any data set. Answers are scored as the benchmark does: a normalised gold
answer is a substring of the normalised answer (arXiv 2507.05257).
"""

import json
import random
import re
import statistics
import string
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from ko_integrations.errors import InvalidInputError
from ko_integrations.query.temporal import recognise
from ko_integrations.times import parse_moment
from ko_integrations.types import Answer, Fact
from ko_integrations.vocabulary import Vocabulary

__all__ = [
    "Asker",
    "Subset",
    "Tally",
    "Timeline",
    "ask_before_first",
    "ask_changes",
    "ask_past",
    "ask_present",
    "ask_subset",
    "ask_unanswerable",
    "encoder_seconds",
    "is_right",
    "load_timelines",
    "numbered_lines",
    "read_subsets",
    "read_timelines",
    "recognised_signals",
]

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LINE = re.compile(r"^\s*\d+\.\s+(.*\S)\s*$", re.MULTILINE)
_MONTHS = "January February March April May June July August September October November December".split()
_NOBODY = ("Zorblax Quimby", "the Velmar Institute", "Torvane", "Quenlin Falls", "Marta Ibsenhold")


class Asker(Protocol):
    """What is measured: a store."""

    def write(self, text: str, /) -> Any: ...

    def ask(self, question: str, /) -> Answer: ...

    def update_many(self, facts: Iterable[Fact], /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Subset:
    """One subset of FactConsolidation: a numbered list of facts, and questions with their gold answers."""

    name: str
    context: str
    questions: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class Tally:
    """Counts of one measure. `stale` are answers that an earlier line of the list gives and a later one replaced."""

    right: int = 0
    asked: int = 0
    abstained: int = 0
    stale: int = 0
    seconds: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def accuracy(self) -> float:
        """Share of right answers, in percent."""
        return 100 * self.right / self.asked if self.asked else 0.0

    @property
    def stale_rate(self) -> float:
        """Share of stale answers, in percent."""
        return 100 * self.stale / self.asked if self.asked else 0.0

    @property
    def abstention(self) -> float:
        """Share of questions without an answer, in percent."""
        return 100 * self.abstained / self.asked if self.asked else 0.0

    @property
    def p95(self) -> float:
        """95th percentile of the time of one question, in seconds."""
        return statistics.quantiles(self.seconds, n=20)[-1] if len(self.seconds) > 1 else 0.0

    def add(self, question: str, right: bool, answer: Answer, seconds: float, stale: bool = False) -> None:
        """Count one question."""
        self.asked += 1
        self.right += right
        self.abstained += answer.value is None
        self.stale += stale
        self.seconds.append(seconds)
        if not right:
            self.missed.append(question)


def _normal(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def is_right(answer: Answer, golds: Iterable[str]) -> bool:
    """Tell whether an answer contains a gold answer, both normalised.

    >>> is_right(Answer(value="The Beatles", route="exact"), ["beatles"])
    True
    """
    if answer.value is None:
        return False
    values = answer.value if isinstance(answer.value, list) else [answer.value]
    given = _normal(", ".join(map(str, values)))
    return any(_normal(gold) in given for gold in golds)


def _timed(store: Asker, question: str) -> tuple[Answer, float]:
    started = time.perf_counter()
    answer = store.ask(question)
    return answer, time.perf_counter() - started


# -- FactConsolidation -------------------------------------------------------------------------------------------
def read_subsets(path: str | Path, name: str | None = None) -> list[Subset]:
    """Read FactConsolidation as published: a JSON list of rows, or the same as JSON lines.

    Raises:
        InvalidInputError: another format, or no subset of that name.
    """
    text = Path(path).read_text(encoding="utf-8")
    try:
        rows = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(line) for line in text.splitlines()]
        )
        subsets = [
            Subset(
                str(row["metadata"].get("source", number)), row["context"], tuple(row["questions"]),
                tuple(tuple(golds if isinstance(golds, list) else [golds]) for golds in row["answers"]),
            )
            for number, row in enumerate(rows)
        ]  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError("path", f"{path} is not FactConsolidation as published: {error}") from error
    chosen = [subset for subset in subsets if name is None or subset.name.endswith(name)]
    if not chosen:
        raise InvalidInputError("subset", f"none is called {name!r}; there are {[s.name for s in subsets]}")
    return chosen


def numbered_lines(context: str) -> list[str]:
    """Return the statements of a numbered list, in order."""
    return _LINE.findall(context)


def ask_subset(store: Asker, subset: Subset) -> Tally:
    """Ask every question of a subset of a store that has read its context."""
    lines = numbered_lines(subset.context)
    tally = Tally()
    for question, golds in zip(subset.questions, subset.answers, strict=True):
        answer, seconds = _timed(store, question)
        right = is_right(answer, golds)
        tally.add(question, right, answer, seconds, stale=not right and _is_stale(answer, lines))
    return tally


def _is_stale(answer: Answer, lines: Sequence[str]) -> bool:
    """Tell whether a later line says the same of the answer's subject with another value."""
    if answer.value is None or not answer.facts:
        return False
    subject, value = answer.facts[-1].subject.lower(), str(answer.value).lower()
    for place, line in enumerate(lines):
        before, found, after = line.lower().rpartition(value)
        if found and subject in before + after:
            later = (other.lower() for other in lines[place + 1 :])
            if any(
                o.startswith(before) and o.endswith(after) and found not in o for o in later if before.strip()
            ):
                return True
    return False


# -- DyKnow ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Timeline:
    """One slot of DyKnow: an entity, a property, four ways to ask, and dated versions by start."""

    entity: str
    property: str
    questions: Mapping[str, str]
    versions: tuple[tuple[str, datetime, datetime | None], ...]

    def held(self, moment: datetime) -> str | None:
        """Return the value at a moment: of those that cover it the one that began last."""
        ends = [end or self._next(start) for _, start, end in self.versions]
        covering = [
            (start, place, value)
            for place, ((value, start, _), end) in enumerate(zip(self.versions, ends, strict=True))
            if start <= moment and (end is None or moment < end)
        ]
        return max(covering)[2] if covering else None

    def _next(self, start: datetime) -> datetime | None:
        return min((begin for _, begin, _ in self.versions if begin > start), default=None)

    def runs(self) -> list[str]:
        """Return the values in order, neighbours of equal value taken as one."""
        values = [value for value, _, _ in self.versions]
        return [value for i, value in enumerate(values) if i == 0 or value != values[i - 1]]


def read_timelines(path: str | Path) -> list[Timeline]:
    """Read DyKnow timelines as JSON lines; versions without a start, or of no length, are left out."""
    timelines = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        versions = [
            (v["value"], parse_moment(v["start"]), parse_moment(v["end"]) if v.get("end") else None)
            for v in row["versions"]
            if v.get("start")
        ]
        versions = [(value, start, end) for value, start, end in versions if end is None or start < end]
        versions.sort(key=lambda version: version[1])
        timelines.append(Timeline(row["entity"], row["property"], row["questions"], tuple(versions)))
    return timelines


def load_timelines(store: Asker, timelines: Iterable[Timeline], seed: int = 0) -> None:
    """Store the versions of all timelines; those of a slot that begin at different times in any order."""
    facts = [
        Fact(subject=t.entity, predicate=t.property, object=value, valid_from=start, valid_to=end)
        for t in timelines
        for value, start, end in t.versions
    ]
    rank = random.Random(seed)
    together: dict[tuple[str, str, Any], float] = {}  # equal starts are told apart by the order of record
    facts.sort(key=lambda f: together.setdefault((f.subject, f.predicate, f.valid_from), rank.random()))
    store.update_many(facts)


def ask_present(store: Asker, timelines: Iterable[Timeline], now: datetime) -> Tally:
    """Ask for the current value in every published wording."""
    tally = Tally()
    for timeline in timelines:
        value = timeline.held(now)
        if value is not None:
            for question in timeline.questions.values():
                _count(tally, store, question, value)
    return tally


def ask_past(
    store: Asker, timelines: Iterable[Timeline], now: datetime, each: int = 4, seed: int = 0
) -> Tally:
    """Ask "who was the P in <month> <year>" for moments inside random versions."""
    tally, rng = Tally(), random.Random(seed)
    for timeline in timelines:
        for _ in range(each):
            _, start, end = rng.choice(timeline.versions)
            moment = start + rng.random() * ((end or now) - start)
            value = timeline.held(moment)
            if value is not None and moment.year >= 1000:
                when = f"{_MONTHS[moment.month - 1]} {moment.year}"
                _count(tally, store, f"Who was the {timeline.property} in {when}?", value)
    return tally


def ask_changes(store: Asker, timelines: Iterable[Timeline], now: datetime) -> dict[str, Tally]:
    """Ask for the previous and the first value, and for the number of changes."""
    tallies = {"previous": Tally(), "first": Tally(), "count": Tally()}
    for timeline in timelines:
        name, runs = timeline.property, timeline.runs()
        _count(tallies["first"], store, f"Who was the first {name}?", runs[0])
        if len(runs) > 1 and timeline.held(now) == runs[-1]:
            _count(tallies["previous"], store, f"Who was the {name} before the current one?", runs[-2])
        question = f"How many times has the {name} changed?"
        answer, seconds = _timed(store, question)
        tallies["count"].add(question, answer.value == len(runs) - 1, answer, seconds)
    return tallies


def _count(tally: Tally, store: Asker, question: str, value: str) -> None:
    answer, seconds = _timed(store, question)
    tally.add(question, is_right(answer, [value]), answer, seconds)


# -- unanswerable ------------------------------------------------------------------------------------------------
def ask_unanswerable(
    store: Asker, subjects: Mapping[str, set[str]], vocabulary: Vocabulary, count: int = 200, seed: int = 0
) -> dict[str, Tally]:
    """Ask what cannot be known; right is to abstain.

    `subjects` are names with the predicates stored of them. Asked are question forms of the vocabulary, of
    made-up subjects and of stored ones without that predicate.
    """
    rng = random.Random(seed)
    askable = [predicate for predicate in vocabulary if predicate.question_forms]
    tallies = {"unknown subject": Tally(), "unknown predicate": Tally()}
    names = sorted(subjects)
    for _ in range(count):
        predicate, name = rng.choice(askable), rng.choice(names)
        form = rng.choice(predicate.question_forms)
        _abstains(tallies["unknown subject"], store, form, rng.choice(_NOBODY))
        if predicate.name not in subjects[name]:
            _abstains(tallies["unknown predicate"], store, form, name)
    return tallies


def ask_before_first(store: Asker, timelines: Iterable[Timeline]) -> Tally:
    """Ask for a time before the first version; right is to abstain."""
    tally = Tally()
    for timeline in timelines:
        before = timeline.versions[0][1] - timedelta(days=800)
        if before.year >= 1000:
            question = f"Who was the {timeline.property} in {_MONTHS[before.month - 1]} {before.year}?"
            answer, seconds = _timed(store, question)
            tally.add(question, answer.value is None, answer, seconds)
    return tally


def _abstains(tally: Tally, store: Asker, form: str, name: str) -> None:
    question = form.replace("[X]", name) + "?"
    question = question[0].upper() + question[1:]
    answer, seconds = _timed(store, question)
    tally.add(question, answer.value is None, answer, seconds)


# -- temporal signals and time -------------------------------------------------------------------------------------
_SIGNALS: Mapping[str, frozenset[str]] = {
    "OVERLAP": frozenset({"as_of", "when", "between"}),
    "BEFORE": frozenset({"before", "previous", "until"}),
    "AFTER": frozenset({"after"}),
    "ORDINAL": frozenset({"first", "latest", "nth", "when"}),
}


def recognised_signals(path: str | Path, now: datetime) -> Tally:
    """Compare the temporal operator of each question of TempQA-WD with its annotated signal."""
    tally = Tally()
    for row in json.loads(Path(path).read_text(encoding="utf-8")):
        signal = row["TEMPORAL_SIGNAL"][0].upper()
        asks_time = row["TYPE"][0].startswith("Temp")
        wanted = _SIGNALS.get(signal, frozenset({"when"}) if asks_time else frozenset({"current", "as_of"}))
        kind = recognise(row["TEXT"], now).kind
        if signal in _SIGNALS or signal == "NO SIGNAL":
            tally.add(row["TEXT"], kind in wanted, Answer(value=kind, route="temporal"), 0.0)
    return tally


def encoder_seconds(encode: Callable[[Sequence[str]], Any], questions: Sequence[str]) -> float:
    """Return the median time of encoding one question alone, in seconds."""
    encode(questions[:1])
    seconds = []
    for question in questions:
        started = time.perf_counter()
        encode([question])
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)

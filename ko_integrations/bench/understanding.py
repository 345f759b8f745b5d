"""`ko bench understanding`: from text to facts and from questions to slots, with no model.

Data sets are read by path, in a folder with one folder each: `pararel`, `dyknow`, `tempqa_wd`,
`factconsolidation`. One that is not there is reported as not measured.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

from ko_integrations.bench.measure import side_by_side
from ko_integrations.bench.report import Figure, Report
from ko_integrations.compiler.evaluation import (
    drift,
    pararel,
    patterned_statements,
    robustness,
    robustness_items,
)
from ko_integrations.compiler.offline import OfflineCompiler
from ko_integrations.query.evaluation import (
    Tally,
    ask_before_first,
    ask_changes,
    ask_past,
    ask_present,
    ask_subset,
    ask_unanswerable,
    encoder_seconds,
    is_right,
    load_timelines,
    numbered_lines,
    read_subsets,
    read_timelines,
    recognised_signals,
)
from ko_integrations.query.restating import restated
from ko_integrations.query.synthetic import synthetic_facts, synthetic_questions
from ko_integrations.store import KnowledgeStore
from ko_integrations.vocabulary import Vocabulary

__all__ = ["run"]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""The present of every store here: the measures do not change with the calendar."""

_SMALL, _LARGE = 2_310, 18_000
_BATCHES = 4


def run(data: str | Path) -> Report:
    """Measure understanding on the data sets in `data` and on the packaged items."""
    folder = Path(data)
    figures = [*_statements(), *_conditions()]
    for name, file, measure in (
        ("ParaRel", "pararel", _pararel),
        ("DyKnow", "dyknow/timelines.countries.jsonl", _timelines),
        ("TempQA-WD", "tempqa_wd/dev.json", _signals),
        ("FactConsolidation restated", "factconsolidation", _restated),
        ("unanswerable questions", "factconsolidation", _unanswerable),
    ):
        figures += _if_there(name, folder / file, measure)
    figures += _large()
    return Report("understanding", figures, {"data": folder.name})


def _if_there(name: str, path: Path, measure: Callable[[Path], Iterator[Figure]]) -> Iterator[Figure]:
    if path.exists():
        yield from measure(path)
    else:
        yield Figure(name, None, note=f"{path.name} is not there")


def _store(**options: object) -> KnowledgeStore:
    return KnowledgeStore.open(":memory:", clock=lambda: NOW, **options)  # type: ignore[arg-type]


def _percent(name: str, tally: Tally, target: float | None = None, note: str = "") -> Figure:
    return Figure(name, tally.accuracy, target, "at least", "%", note or f"{tally.asked} questions")


# -- from text to facts ------------------------------------------------------------------------------------------
def _statements() -> Iterator[Figure]:
    """Schema drift and the speed of compiling."""
    with _store() as store:
        names = drift(store.vocabulary)
        for origin, share, target in (("paper's", names.paper, 100), ("collected", names.collected, None)):
            yield Figure(f"drifting names in one slot, {origin}", 100 * share, target, "at least", "%")
        yield Figure("unrelated names wrongly merged", 100 * names.unrelated, unit="%")
        yield from _compiling(store)


def _compiling(store: KnowledgeStore) -> Iterator[Figure]:
    """The speed of compiling: statements that follow a pattern, and speech that need not; new ones each round.

    Where patterns of two predicates tie, the encoder is asked of which kind a name is: that is measured against
    encoding, as free speech is.
    """
    lines = [line for item in robustness_items() for line in item["text"].split("\n")]
    free = [lines[number::_BATCHES] for number in range(_BATCHES)]
    patterned = [patterned_statements(store.vocabulary, 1_000, seed=number) for number in range(_BATCHES)]
    _, speed, _ = _rates(store, patterned, OfflineCompiler(embedder=False))
    yield Figure("sentences a second, a vocabulary pattern matches", speed, 2_000, "at least", "/s")
    for name, batches in (("the same where patterns tie", patterned), ("free speech", free)):
        ratio, speed, encoded = _rates(store, batches, OfflineCompiler())
        note = f"{speed:.0f} sentences a second against {encoded:.0f}"
        yield Figure(f"compiling {name}, rate to encoding in a batch", ratio, 0.5, "at least", note=note)


def _rates(
    store: KnowledgeStore, batches: Sequence[Sequence[str]], compiler: OfflineCompiler
) -> tuple[float, float, float]:
    """Return compiling's rate to the encoder's, and both in sentences a second; the first batch warms up."""
    texts = ["\n".join(f"{row}. {line}" for row, line in enumerate(batch)) for batch in batches]

    def compiled(number: int) -> object:
        return compiler.compile(texts[number], reader=store, said_at=NOW)

    def encoded(number: int) -> object:
        return store.embedder.encode(batches[number])

    ratio = side_by_side(compiled, encoded, rounds=len(batches) - 1)
    return 1 / ratio.ratio, len(batches[-1]) / ratio.ours, len(batches[-1]) / ratio.other


def _conditions() -> Iterator[Figure]:
    """The five conditions of the follow-up paper: facts found, and questions answered after writing."""
    with _store() as store:
        found = robustness(compiler=OfflineCompiler(), reader=store)
        tallies: dict[str, Tally] = {}
        for number, item in enumerate(robustness_items()):
            view = store.namespace("condition", str(number))
            view.write(item["text"])
            answer = view.ask(item["question"])
            tally = tallies.setdefault(item["condition"], Tally())
            tally.add(item["question"], is_right(answer, [str(item["answer"])]), answer, 0.0)
        for condition, tally in tallies.items():
            target = 95.0 if "mess" in condition else 100.0
            share = 100 * found.share[condition]
            yield Figure(f"{condition}: facts found", share, target, "at least", "%")
            yield _percent(f"{condition}: questions answered", tally, target)


def _pararel(folder: Path) -> Iterator[Figure]:
    with _store() as store:
        score = pararel(folder, compiler=OfflineCompiler(), reader=store)
    apart = f"{100 * score.narrower:.1f} % in a narrower slot, {100 * score.missed:.1f} % missed"
    note = f"{score.patterns} patterns; {apart}"
    right = 100 * (score.right + score.narrower)
    yield Figure("ParaRel: right slot and direction", right, 90, "at least", "%", note)
    yield Figure("ParaRel: wrong merges", 100 * score.wrong, 3, "at most", "%")


def _restated(folder: Path) -> Iterator[Figure]:
    """Single-hop questions after the facts were told in the words of ParaRel."""
    patterns, clozes = folder.parent / "pararel" / "patterns.open.tsv", folder / "cloze_templates.json"
    data = next(iter(sorted(folder.glob("Conflict_Resolution*.json"))), None)
    if data is None or not patterns.exists() or not clozes.exists():
        yield Figure(
            "FactConsolidation restated", None, note="needs the questions, cloze_templates.json and ParaRel"
        )
        return
    for subset in read_subsets(data):
        if "sh_" in subset.name:
            told, count = restated(subset, clozes, patterns)
            with _store(vocabulary=Vocabulary.general(cardinality="single")) as store:
                store.write(told.context)
                note = f"{count} of {len(numbered_lines(told.context))} facts in other words"
                yield _percent(told.name, ask_subset(store, told), 85, note)


# -- from questions to slots -------------------------------------------------------------------------------------
def _timelines(file: Path) -> Iterator[Figure]:
    timelines = read_timelines(file)
    with _store() as store:
        load_timelines(store, timelines)
        store.read(timelines[0].property, 1)
        yield _percent("DyKnow: current value, every wording", ask_present(store, timelines, NOW), 98)
        yield _percent("DyKnow: value in a month", ask_past(store, timelines, NOW), 95)
        for name, tally in ask_changes(store, timelines, NOW).items():
            yield _percent(f"DyKnow: {name}", tally, 98)
        yield _percent("DyKnow: abstains before the first version", ask_before_first(store, timelines), 95)


def _signals(file: Path) -> Iterator[Figure]:
    yield _percent("TempQA-WD: temporal operator recognised", recognised_signals(file, NOW))


def _unanswerable(folder: Path) -> Iterator[Figure]:
    """What cannot be known, and whether what can is answered."""
    data = next(iter(sorted(folder.glob("Conflict_Resolution*.json"))), None)
    if data is None:
        yield Figure("unanswerable questions", None, note=f"no questions in {folder}")
        return
    vocabulary = Vocabulary.general(cardinality="single")
    subset = next(one for one in read_subsets(data) if "sh_" in one.name)
    with _store(vocabulary=vocabulary) as store:
        store.write(subset.context)
        subjects = {name: set(store.predicates(name)) for name in store.subjects()}
        for name, tally in ask_unanswerable(store, subjects, vocabulary).items():
            yield _percent(f"abstains: {name}", tally, 95)
        answered = ask_subset(store, subset)
        yield Figure(
            "wrongly abstains", answered.abstention, 3, "at most", "%", f"{answered.asked} questions"
        )


def _large() -> Iterator[Figure]:
    """The time of a question does not grow with the store."""
    small, note = _p95(_SMALL)
    yield Figure(f"ask p95 over one encoder call, {_SMALL} made-up facts", small, 6, note=note)
    large, note = _p95(_LARGE)
    yield Figure(f"ask p95, {_LARGE} made-up facts over {_SMALL}", large / small, 1.5, note=note)


def _p95(facts: int) -> tuple[float, str]:
    """Return the 95th percentile of `ask` in calls of the encoder, measured in turns."""
    questions = synthetic_questions(facts)
    with _store() as store:
        store.update_many(synthetic_facts(facts))
        store.read(questions[0], 1)
        tally, encoding = Tally(), []
        for question in questions:
            encoding.append(encoder_seconds(store.embedder.encode, [question]))
            started = perf_counter()
            answer = store.ask(question)
            tally.add(question, answer.value is not None, answer, perf_counter() - started)
    encode = median(encoding)
    note = f"{1e3 * tally.p95:.1f} ms over {1e3 * encode:.1f} ms; {tally.accuracy:.0f} % answered"
    return tally.p95 / encode, note

"""`ko bench factconsolidation`: superseded facts and paths over them, read with `write`, asked with `ask`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ko_integrations.bench.report import Figure, Report
from ko_integrations.query.evaluation import Subset, Tally, ask_subset, encoder_seconds, read_subsets
from ko_integrations.store import KnowledgeStore
from ko_integrations.vocabulary import Vocabulary

__all__ = ["run"]

# By the ending of a subset's name; what the project is held to.
_TARGETS = {"sh_6k": 100.0, "sh_32k": 98.0, "mh_6k": 90.0, "mh_32k": 81.0}
_STALE = 1.0
_LATENCY = 6.0


def run(path: str | Path, *, subset: str | None = None) -> Report:
    """Measure the subsets of `path` (or the one whose name ends in `subset`), a store for each context.

    Raises:
        InvalidInputError: not FactConsolidation as published, or no such subset.
    """
    subsets = read_subsets(path, subset)
    figures: list[Figure] = []
    for context in dict.fromkeys(one.context for one in subsets):
        figures += _measured([one for one in subsets if one.context == context])
    return Report("factconsolidation", figures, {"path": Path(path).name, "subset": subset or "all"})


def _measured(subsets: Sequence[Subset]) -> Iterator[Figure]:
    """Read one context, ask all questions about it."""
    with KnowledgeStore.open(":memory:", vocabulary=Vocabulary.general(cardinality="single")) as store:
        written = store.write(subsets[0].context)
        ignored = f"{len(written.not_understood)} pieces not understood"
        store.read(subsets[0].questions[0], 1)  # brings the semantic index up to date
        encode = encoder_seconds(store.embedder.encode, [q for one in subsets for q in one.questions][:50])
        seconds: list[float] = []
        for one in subsets:
            tally = ask_subset(store, one)
            seconds += tally.seconds
            yield from _figures(one.name, tally, ignored)
        p95 = Tally(seconds=seconds).p95
        yield Figure(
            f"ask p95 over one encoder call, {store.count()} facts", p95 / encode, _LATENCY,
            note=f"{1e3 * p95:.1f} ms over {1e3 * encode:.1f} ms",
        )  # fmt: skip


def _figures(name: str, tally: Tally, note: str) -> Iterator[Figure]:
    target = next((value for ending, value in _TARGETS.items() if name.endswith(ending)), None)
    yield Figure(f"{name} right answers", tally.accuracy, target, "at least", "%", note)
    yield Figure(f"{name} stale answers", tally.stale_rate, _STALE, "at most", "%")
    yield Figure(f"{name} abstained", tally.abstention, unit="%")

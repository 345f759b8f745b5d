"""`ko bench rivals`: our store beside other memories, on one workload with one embedder.

Each system is used through its own public API, as its documentation shows. What one does not offer is not
measured and shows "-". What does not install or raises is in the table with the reason.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module, metadata
from pathlib import Path

from ko_integrations.bench.report import Figure, Report
from ko_integrations.bench.rivals.contestant import Contestant
from ko_integrations.bench.rivals.ours import Ours, OursByName
from ko_integrations.bench.rivals.scoring import COLUMNS, Column, Entrant, Score, race
from ko_integrations.bench.rivals.workload import make_workload
from ko_integrations.protocols import Embedder

__all__ = ["NOT_MEASURED", "RIVALS", "compare", "report_of", "run"]

RIVALS: dict[str, tuple[str, ...]] = {
    "in_langchain": ("ChromaAppend", "ChromaUpsert", "LangGraphStore", "LangMemCreate", "LangMemUpdate"),
    "in_llama_index": ("VectorBlock",),
    "in_mem0": ("Mem0",),
    "in_memvara": ("MemvaraUndeclared", "MemvaraDeclared"),
}
"""Module of this package -> its contestants; known by name, so that one that does not import is still listed."""

NOT_MEASURED = {
    "Graphiti": "needs a language model at each write, which finds what a statement invalidates, and a graph database"
}
"""Rivals that cannot take part in a comparison without a language model, and why."""

SILENT = {
    "ANONYMIZED_TELEMETRY": "False",
    "MEM0_TELEMETRY": "False",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
}
"""What keeps the rivals from reporting home. Read when they are imported."""


def _silent(_: str) -> None:
    """Say nothing of how far it is."""


def run(
    *,
    quick: bool = False,
    seed: int = 7,
    embedder: Embedder | None = None,
    say: Callable[[str], object] = _silent,
) -> tuple[Report, list[Score]]:
    """Measure every system; return the report on ours and the scores of all, ours first."""
    if embedder is None:
        from ko_integrations.embeddings import SentenceTransformerEmbedder

        embedder = SentenceTransformerEmbedder()
    subjects = 12 if quick else 60
    scores = compare(embedder, subjects=subjects, seed=seed, say=say)
    settings = {"subjects": subjects, "seed": seed, "embedder": embedder.model_id, "quick": quick}
    return report_of(scores, settings), scores


def compare(
    embedder: Embedder, *, subjects: int, seed: int, say: Callable[[str], object] = _silent
) -> list[Score]:
    """Take our store (twice: as packaged, by name only) and every rival through one workload; ours first."""
    workload = make_workload(subjects=subjects, seed=seed)
    embedder.encode(["loaded before anything is timed"])
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        _environment(SILENT | {"MEM0_DIR": str(Path(folder) / "mem0")}),
    ):
        entrants = [_entered(kind, Path(folder), embedder) for kind in (Ours, OursByName)]
        for module, names in RIVALS.items():
            entrants += _entered_module(module, names, Path(folder), embedder)
        entrants += [
            Entrant(Score(name, failed=why), Path(folder) / name) for name, why in NOT_MEASURED.items()
        ]
        race(entrants, workload, say)
    return [entrant.score for entrant in entrants]


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _entered_module(module: str, names: Sequence[str], folder: Path, embedder: Embedder) -> list[Entrant]:
    try:
        found = import_module(f"{__name__}.{module}")
    except ImportError as error:
        reason = f"not installed ({error}); the dependency group `rivals` brings it"
        return [Entrant(Score(name, failed=reason), folder / name) for name in names]
    return [_entered(getattr(found, name), folder, embedder) for name in names]


def _entered(kind: type[Contestant], folder: Path, embedder: Embedder) -> Entrant:
    score = Score(kind.name, _version(kind.distribution), own=issubclass(kind, Ours))
    entrant = Entrant(score, folder / kind.__name__)
    entrant.enter(kind, embedder)
    return entrant


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:  # run from a checkout that was not installed
        return "unknown"


def report_of(scores: Sequence[Score], settings: dict[str, object]) -> Report:
    """Hold our figures, the first, to their targets and to the best rival's."""
    ours, rivals = scores[0], [score for score in scores if not score.own]
    figures = [
        Figure(
            column.name,
            ours.share(column.name),
            column.target,
            "at least" if column.more_is_better else "at most",
            unit="",
            note=f"{column.meaning}; best rival: {_best(column, rivals)}",
        )
        for column in COLUMNS
    ]
    ahead = [
        f"{column.name}: {rival.name}"
        for column in COLUMNS
        for rival in rivals
        if _better(column, rival, ours)
    ]
    figures.append(
        Figure("columns in which a rival is better", len(ahead), 0, unit="", note="; ".join(ahead))
    )
    rows = [score.to_dict() for score in scores]
    return Report("rivals", figures, {**settings, "systems": rows, "missed by ours": ours.missed})


def _better(column: Column, one: Score, other: Score) -> bool:
    """Tell whether `one` beats `other`; what is not offered beats nothing."""
    mine, theirs = one.share(column.name), other.share(column.name)
    if mine is None or theirs is None:
        return theirs is None and mine is not None
    return mine > theirs if column.more_is_better else mine < theirs


def _best(column: Column, rivals: Sequence[Score]) -> str:
    measured = [(share, rival.name) for rival in rivals if (share := rival.share(column.name)) is not None]
    if not measured:
        return "none offers it"
    share, name = (max if column.more_is_better else min)(measured, key=lambda pair: pair[0])
    return f"{name} {share:.3g}"

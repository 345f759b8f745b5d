"""`ko bench core`: what the store costs beside the bare parts that it is made of.

Every figure is the median of ratios measured in turns in one run. The bare sides do strictly less: no
identity, no chain, no verification, no typed result.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ko_integrations.bench import size
from ko_integrations.bench.measure import micros, side_by_side
from ko_integrations.bench.report import Figure, Report
from ko_integrations.bench.rows import Replay, bare_connection, snapshot
from ko_integrations.errors import MissingExtraError
from ko_integrations.identity import slot_id
from ko_integrations.types import Fact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ko_integrations.protocols import Embedder
    from ko_integrations.store import KnowledgeStore

__all__ = ["run"]

Say = Callable[[str], None]


@dataclass(frozen=True)
class Sizes:
    """How much a run measures."""

    small: int = 1_000
    large: int = 1_000_000
    reads: int = 2_000
    updates: int = 100
    bulk: int = 5_000
    drained: int = 512
    namespaces: tuple[int, ...] = (10, 1_000, 100_000)
    rounds: int = 7


QUICK = Sizes(
    large=50_000, reads=500, updates=30, bulk=1_000, drained=128, namespaces=(10, 1_000, 12_000), rounds=3
)


def run(*, quick: bool = False, say: Say = lambda _: None) -> Report:
    """Measure everything; `say` is told what is being measured."""
    sizes = QUICK if quick else Sizes()
    embedder, named = _embedder()
    figures: list[Figure] = []
    with TemporaryDirectory(prefix="ko-bench-") as name:
        folder = Path(name)
        for part in (_reads, _updates, _bulk, _drain, _semantic):
            say(part.__name__.strip("_"))
            figures += part(folder, sizes, embedder)
        figures += size.measure(folder, sizes.small, sizes.large, say, samples=max(1, sizes.rounds // 2))
    return Report("core", figures, {"sizes": sizes.__dict__, "embedder": named, "quick": quick})


def _embedder() -> "tuple[Embedder, str]":
    from ko_integrations.embeddings import HashingEmbedder, SentenceTransformerEmbedder

    try:
        embedder: Embedder = SentenceTransformerEmbedder()
        embedder.encode(["warm up"])
    except MissingExtraError:
        return (
            HashingEmbedder(),
            "hashing: ratios against an encoder call mean little, install ko_integrations[local]",
        )
    return embedder, embedder.model_id


# -- exact reads --------------------------------------------------------------------------------------------
class _Keyed:
    """`n` slots in the store and the same in one bare table by their 32-byte key; the same sample is read."""

    def __init__(self, folder: Path, n: int, sample: int) -> None:
        from ko_integrations.store import KnowledgeStore

        size.fill(folder / f"store-{n}", n)
        self.store: KnowledgeStore = KnowledgeStore.open(folder / f"store-{n}", index=False)
        self.bare = bare_connection(folder / f"bare-{n}.db")
        self.bare.execute(
            "CREATE TABLE slots (id BLOB PRIMARY KEY, subject, predicate, kind, value, valid_from, valid_to, "
            "recorded_at, source, confidence, sequence) WITHOUT ROWID"
        )
        self.bare.execute("BEGIN")
        self.bare.executemany(
            "INSERT INTO slots VALUES (?, ?, ?, 's', ?, ?, NULL, ?, NULL, 1.0, ?)",
            (
                (slot_id((), f.subject, f.predicate), f.subject, f.predicate, f.object, i, i, i)
                for i, f in enumerate(size.facts(n))
            ),
        )
        self.bare.execute("COMMIT")
        chosen = random.Random(0).choices(range(n), k=sample)
        self.names = [size.name(i) for i in chosen]
        self.keys = [slot_id((), *pair) for pair in self.names]
        for i in range(sample):
            self.ours(i)
            self.other(i)

    def ours(self, i: int) -> None:
        self.store.read_exact(*self.names[i % len(self.names)])

    def other(self, i: int) -> None:
        self.bare.execute("SELECT * FROM slots WHERE id = ?", (self.keys[i % len(self.keys)],)).fetchone()

    def close(self) -> None:
        self.store.close()
        self.bare.close()


def _reads(folder: Path, sizes: Sizes, _: object) -> Iterator[Figure]:
    small, large = (_Keyed(folder, n, sizes.reads) for n in (sizes.small, sizes.large))
    for keyed, n in ((small, sizes.small), (large, sizes.large)):
        ratio = side_by_side(keyed.ours, keyed.other, rounds=sizes.rounds, calls=sizes.reads)
        yield Figure(f"exact read, {n:,} slots, to a SELECT by key", ratio.ratio, 8, note=ratio.note())
    ours, other = [], []
    for number in range(sizes.rounds):
        pair = side_by_side(large.ours, small.ours, rounds=1, calls=sizes.reads, warm=number == 0)
        bare = side_by_side(large.other, small.other, rounds=1, calls=sizes.reads, warm=number == 0)
        ours.append(pair.ratio)
        other.append(bare.ratio)
    growth = statistics.median(mine / theirs for mine, theirs in zip(ours, other, strict=True))
    note = f"ours grows {statistics.median(ours):.3g}x, the SELECT {statistics.median(other):.3g}x"
    yield Figure(f"exact read, growth from {sizes.small:,} to {sizes.large:,} slots", growth, 1.1, note=note)
    small.close()
    large.close()


# -- acknowledged writes ---------------------------------------------------------------------------------------
def _updates(folder: Path, sizes: Sizes, embedder: "Embedder") -> Iterator[Figure]:
    total = sizes.updates * (sizes.rounds + 1)
    for title, values in (("new slot", ("a",)), ("superseding", ("a", "b"))):
        replay = _recorded(folder / title, total, values)
        store = _prepared(folder / title / "ours", total, values)

        def update(i: int, store: "KnowledgeStore" = store, value: str = values[-1]) -> None:
            store.update(*size.name(i), f"{value}{i}")

        ratio = side_by_side(update, replay.step, rounds=sizes.rounds, calls=sizes.updates)
        note = f"{ratio.note()}; {replay.rows_a_step:.1f} rows"
        yield Figure(
            f"update ({title}), acknowledged, to the same rows and a FULL commit", ratio.ratio, 3, note=note
        )
        store.close()
        replay.close()
    store, collection = _open(folder / "upsert", index=False), _collection(folder / "upsert-bare")

    def upsert(i: int) -> None:
        text = size.sentence(i)
        collection.upsert(
            ids=[str(i)], embeddings=embedder.encode([text]), documents=[text], metadatas=[{"ns": "a"}]
        )

    ratio = side_by_side(
        lambda i: store.update(*size.name(i), f"a{i}"), upsert, rounds=sizes.rounds, calls=20
    )
    yield Figure("update, acknowledged, to encode + collection.upsert", ratio.ratio, 0.2, note=ratio.note())
    store.close()


def _recorded(folder: Path, total: int, values: tuple[str, ...]) -> Replay:
    """Write `total` facts one by one in a recording store; return their rows, to be written over a copy."""
    folder.mkdir()
    store = _prepared(folder / "recording", total, values)
    store.close()
    before = snapshot(folder / "recording", folder / "bare.db")
    store = _open(folder / "recording", index=False)
    for i in range(total):
        store.update(*size.name(i), f"{values[-1]}{i}")
    store.close()
    return Replay(before, snapshot(folder / "recording", folder / "after.db"), steps=total)


def _prepared(folder: Path, total: int, values: tuple[str, ...]) -> "KnowledgeStore":
    store = _open(folder, index=False)
    for value in values[:-1]:
        store.update_many(size.facts(total, value))
    return store


def _bulk(folder: Path, sizes: Sizes, _: object) -> Iterator[Figure]:
    steps, n = sizes.rounds + 1, sizes.bulk
    facts = list(size.facts(steps * n))
    folder = folder / "bulk"
    folder.mkdir()
    recording = _open(folder / "recording", index=False)
    recording.close()
    before = snapshot(folder / "recording", folder / "bare.db")
    recording = _open(folder / "recording", index=False)
    for i in range(steps):
        recording.update_many(facts[i * n : (i + 1) * n])
    recording.close()
    replay = Replay(before, snapshot(folder / "recording", folder / "after.db"), steps=steps)
    store = _open(folder / "ours", index=False)
    ratio = side_by_side(
        lambda i: store.update_many(facts[i * n : (i + 1) * n]), replay.step, rounds=sizes.rounds
    )
    note = f"{n / ratio.ours:,.0f} facts/s against {n / ratio.other:,.0f}; {replay.rows_a_step / n:.1f} rows a fact"
    yield Figure(
        f"update_many of {n:,}, rate to executemany of the same rows",
        1 / ratio.ratio,
        0.4,
        "at least",
        note=note,
    )
    store.close()
    replay.close()


# -- the index ---------------------------------------------------------------------------------------------
def _drain(folder: Path, sizes: Sizes, embedder: "Embedder") -> Iterator[Figure]:
    n = sizes.drained
    store, collection = _open(folder / "drain", embedder=embedder), _collection(folder / "drain-bare")
    store.update("warm", "up", "now")
    store.drain()

    def prepare(number: int) -> None:
        store.update_many(_numbered(number * n, n))

    def upsert(number: int) -> None:
        texts = [size.sentence(i) for i in range(number * n, (number + 1) * n)]
        ids = [str(i) for i in range(number * n, (number + 1) * n)]
        collection.upsert(
            ids=ids, embeddings=embedder.encode(texts), documents=texts, metadatas=[{"ns": "a"}] * n
        )

    ratio = side_by_side(lambda _: store.drain(), upsert, rounds=max(3, sizes.rounds // 2), prepare=prepare)
    note = f"{n / ratio.ours:,.0f} facts/s against {n / ratio.other:,.0f}"
    yield Figure(
        f"drain of {n:,}, rate to encode + batch upsert", 1 / ratio.ratio, 0.8, "at least", note=note
    )
    store.close()


def _numbered(start: int, n: int) -> list[Fact]:
    return [
        Fact(subject=size.name(i)[0], predicate=size.name(i)[1], object=size.value(i))
        for i in range(start, start + n)
    ]


def _semantic(folder: Path, sizes: Sizes, embedder: "Embedder") -> Iterator[Figure]:
    """Read by meaning in namespaces of several sizes that share one store, as tenants do."""
    vectors = _vectors(embedder, max(sizes.namespaces))
    store, collection = _open(folder / "semantic", embedder=embedder), _collection(folder / "semantic-bare")
    for n in sizes.namespaces:
        _load(store, collection, f"tenant-{n}", vectors[:n])
    store.drain()
    for n in sizes.namespaces:
        yield _semantic_read(store.namespace(f"tenant-{n}"), collection, vectors[:n], embedder, sizes)
    store.close()


def _load(store: "KnowledgeStore", collection: Any, tenant: str, vectors: "NDArray[np.float32]") -> None:
    view = store.namespace(tenant)
    for start in range(0, len(vectors), 5_000):
        rows = range(start, min(start + 5_000, len(vectors)))
        facts = _numbered(start, len(rows))
        view.update_many(
            fact.model_copy(update={"vector": vectors[i].tolist()})
            for i, fact in zip(rows, facts, strict=True)
        )
        collection.upsert(
            ids=[f"{tenant}-{i}" for i in rows],
            embeddings=vectors[rows.start : rows.stop],
            documents=[size.sentence(i) for i in rows],
            metadatas=[{"ns": tenant}] * len(rows),
        )


def _vectors(embedder: "Embedder", n: int) -> "NDArray[np.float32]":
    """Return unit vectors spread like real ones: those of some sentences, each with noise of its own."""
    import numpy as np

    rng = np.random.default_rng(0)
    bases = embedder.encode([size.sentence(i) for i in range(200)])
    vectors = bases[rng.integers(len(bases), size=n)]
    vectors += rng.normal(scale=0.02, size=vectors.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def _semantic_read(
    view: "KnowledgeStore",
    collection: Any,
    vectors: "NDArray[np.float32]",
    embedder: "Embedder",
    sizes: Sizes,
) -> Figure:
    import numpy as np

    n, tenant = len(vectors), f"tenant-{len(vectors)}"
    texts = [size.sentence(i) for i in range(n)]

    def ours(i: int) -> None:
        view.read(size.question(i), 5)

    def by_chroma(i: int) -> None:
        collection.query(
            query_embeddings=embedder.encode([size.question(i)]), n_results=5, where={"ns": tenant}
        )

    def exactly(i: int) -> None:
        scores = vectors @ embedder.encode([size.question(i)])[0]
        best = np.argpartition(-scores, 5)[:5]
        [texts[row] for row in best[np.argsort(-scores[best])]]

    ratios, times = [], []
    for number in range(-1, 10 * sizes.rounds):
        row = [_seconds(side, number) for side in (ours, by_chroma, exactly)]
        if number >= 0:
            ratios.append(row[0] / min(row[1:]))
            times.append(row)
    mine, chroma, exact = (statistics.median(column) for column in zip(*times, strict=True))
    note = f"{micros(mine)} against {micros(chroma)} (query) and {micros(exact)} (exact), the encoder in all three"
    return Figure(
        f"semantic read, {n:,} facts, to encode + the faster of query and exact search",
        statistics.median(ratios), 1.3, note=note,
    )  # fmt: skip


def _seconds(call: Callable[[int], None], number: int) -> float:
    start = time.perf_counter()
    call(number)
    return time.perf_counter() - start


# -- helpers -----------------------------------------------------------------------------------------------
def _open(folder: Path, **options: Any) -> "KnowledgeStore":
    from ko_integrations.store import KnowledgeStore

    return KnowledgeStore.open(folder, **options)


def _collection(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    return client.create_collection(
        "bare", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )

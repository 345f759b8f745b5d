"""`ko demo`: the medical case of the main paper (4.2.9) over three dated sessions, beside a plain Chroma append."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ko_integrations.cli.output import console, stderr
from ko_integrations.errors import InvalidInputError, MissingExtraError
from ko_integrations.types import Quantity, Value

if TYPE_CHECKING:
    from ko_integrations.protocols import Embedder
    from ko_integrations.store import KnowledgeStore

PATIENT = "patient M.R."
JANUARY = datetime(2025, 1, 14, 9, 0, tzinfo=UTC)
MARCH = datetime(2025, 3, 18, 9, 0, tzinfo=UTC)
END_OF_JANUARY = datetime(2025, 1, 31, tzinfo=UTC)
NOVEMBER = datetime(2025, 11, 11, 9, 0, tzinfo=UTC)
QUESTION = "How large is the tumor of patient M.R.?"


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(demo)


def demo(
    store: Annotated[Path | None, typer.Option(help="Keep the store in this new folder.")] = None,
    timelines: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="Load and check these timelines (JSONL) instead of the story."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Order in which the timelines arrive.")] = 0,
    json: Annotated[
        Path | None, typer.Option("--json", help="With --timelines: also write the figures here.")
    ] = None,
) -> None:
    """Play a patient's case: facts change, the old values stay in the chain and out of the answers."""
    if json is not None and timelines is None:
        raise InvalidInputError("--json", "the story has no figures; give --timelines")
    embedder = default_embedder()
    with folder(store) as path:
        if timelines is not None:
            from ko_integrations.cli.timelines import play

            report = play(timelines, path, embedder, seed=seed)
            if json is not None:
                report.write_json(json)
            if not report.ok:
                raise typer.Exit(1)
        else:
            _play(path, embedder)


@contextmanager
def folder(kept: Path | None) -> Iterator[Path]:
    """Give the folder of the demo: the one to keep, or a temporary one.

    Raises:
        InvalidInputError: the one to keep is not new.
    """
    if kept is not None:
        if kept.exists() and (not kept.is_dir() or any(kept.iterdir())):
            raise InvalidInputError("--store", f"{kept} is there and not empty; name a new folder")
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
    else:
        with TemporaryDirectory(prefix="ko-demo-") as name:
            yield Path(name)


def default_embedder() -> "Embedder":
    """Return all-MiniLM-L6-v2; where it is not installed say so and return the hashing embedder."""
    from ko_integrations.embeddings import HashingEmbedder, SentenceTransformerEmbedder

    try:
        with stderr.status("loading all-MiniLM-L6-v2"):
            embedder: Embedder = SentenceTransformerEmbedder()
            embedder.encode(["warm up"])
    except MissingExtraError as error:
        console.print(f"[yellow]Embedder: hashing (words only, no meaning).[/] {error}")
        return HashingEmbedder()
    return embedder


class _Calendar:
    """The demo's clock: it stands at the date of the session that is being played."""

    today = JANUARY

    def __call__(self) -> datetime:
        return self.today


def _play(path: Path, embedder: "Embedder") -> None:
    from ko_integrations.store import KnowledgeStore

    console.print(
        "\nTwo memories hear the same about a patient: [bold]ko_integrations[/], and a [bold]Chroma[/] collection to "
        "which each sentence is appended. What do they know when something has changed?"
    )
    calendar = _Calendar()
    store = KnowledgeStore.open(path / "store", embedder=embedder, clock=calendar)
    plain = _PlainChroma(path / "plain", embedder)
    try:
        _january(store, plain)
        calendar.today = MARCH
        _march(store, plain)
        calendar.today = NOVEMBER
        _november(store)
        _beside(store, plain)
    finally:
        store.close()


def _january(store: "KnowledgeStore", plain: "_PlainChroma") -> None:
    _session(JANUARY, "the first findings")
    _state(store, plain, "age", 67)
    _state(store, plain, "diagnosis", "NSCLC stage IIB")
    _state(store, plain, "tumor_size", Quantity(3, "cm"))
    _state(store, plain, "tumor_location", "right upper lobe")


def _march(store: "KnowledgeStore", plain: "_PlainChroma") -> None:
    _session(MARCH, "a scan after chemotherapy")
    _say("size so far", _held(store, "tumor_size"))
    _state(store, plain, "tumor_size", Quantity(1.2, "cm"))
    _say("diagnosis", f"{_held(store, 'diagnosis')}, untouched")


def _november(store: "KnowledgeStore") -> None:
    _session(NOVEMBER, "looking back at the tumor's size")
    chain = store.history(PATIENT, "tumor_size")
    current = store.read_exact(PATIENT, "tumor_size")
    _say(
        "current value",
        f"[bold]{_held(store, 'tumor_size')}[/], since {current.valid_from:%d %B}" if current else "",
    )
    _say("previous value", str(chain[-2].object))
    _say("on 31 January", _held(store, "tumor_size", as_of=END_OF_JANUARY))
    _say("trajectory", " -> ".join(f"{ko.object} ({ko.valid_from:%B})" for ko in chain))
    table = Table("version", "size", "from", "to", title="\nIts version chain", title_justify="left")
    for ko in chain:
        until = f"{ko.valid_to:%Y-%m-%d}" if ko.valid_to else "[green]holds[/]"
        table.add_row(str(ko.provenance.version), str(ko.object), f"{ko.valid_from:%Y-%m-%d}", until)
    console.print(table)


def _beside(store: "KnowledgeStore", plain: "_PlainChroma") -> None:
    table = Table(
        "ko_integrations", "Chroma, appended", title=f"\nBoth are asked: {QUESTION}", title_justify="left"
    )
    ours = [f"{hit.score:.2f}  {hit.ko}" for hit in store.read(QUESTION, 2)]
    for left, right in zip(ours, plain.query(QUESTION, 2), strict=True):
        table.add_row(left, right)
    console.print(table)
    console.print(
        "A number says how near a sentence is to the question. Both sizes are near, so Chroma returns both, and "
        "nothing in it tells which one holds. The store returns the one that holds, and keeps the other as history.\n"
    )


def _held(store: "KnowledgeStore", predicate: str, *, as_of: datetime | None = None) -> str:
    found = store.read_exact(PATIENT, predicate, as_of=as_of)
    if found is None:
        console.print(f"[bold red]the store lost {predicate}[/]")
        raise typer.Exit(1)
    return str(found.object)


def _session(when: datetime, what: str) -> None:
    console.print(f"\n[bold]{when:%d %B %Y}[/]: {what}")


def _say(name: str, value: str) -> None:
    console.print(f"  {name:<16}{value}", highlight=False)


def _state(store: "KnowledgeStore", plain: "_PlainChroma", predicate: str, value: Value) -> None:
    result = store.update(PATIENT, predicate, value, source="physician")
    before = f", supersedes {result.previous.object}" if result.previous else ""
    _say(predicate.replace("_", " "), f"{value}{before}")
    if result.ko is not None:
        plain.append(result.ko.text)


class _PlainChroma:
    """What most memories do: embed the sentence, append it, hope for the best."""

    def __init__(self, path: Path, embedder: "Embedder") -> None:
        import chromadb
        from chromadb.config import Settings

        client = chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))
        self._collection = client.get_or_create_collection(
            "memory", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        self._embedder = embedder

    def append(self, text: str) -> None:
        self._collection.add(
            ids=[str(self._collection.count())], documents=[text], embeddings=self._embedder.encode([text])
        )

    def query(self, question: str, k: int) -> list[str]:
        found = self._collection.query(query_embeddings=self._embedder.encode([question]), n_results=k)
        documents, distances = found["documents"] or [[]], found["distances"] or [[]]
        return [
            f"{1 - distance:.2f}  {text}" for text, distance in zip(documents[0], distances[0], strict=True)
        ]

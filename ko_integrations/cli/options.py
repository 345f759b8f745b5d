"""How a command line names a store, and how it is opened: `--store`, `--namespace`, `--embedder` and so on.

The five may stand before the command (`ko --store memory get ...`) or after it.
"""

import csv
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from functools import wraps
from json import JSONDecodeError, loads
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ko_integrations.errors import InvalidInputError
from ko_integrations.times import parse_moment
from ko_integrations.types import Quantity, Value

if TYPE_CHECKING:
    from ko_integrations.protocols import Embedder
    from ko_integrations.store import KnowledgeStore

DEFAULT_STORE = "memory"

_MEANINGS: dict[str, tuple[str, str | bool]] = {
    "store": ("Folder, :memory: or database URL.", "./memory"),
    "namespace": ("Whose memory: segments joined by '/', e.g. acme/alice.", False),
    "embedder": ("A sentence-transformers model, or 'hashing' (no model, words only).", "all-MiniLM-L6-v2"),
    "index": ("URL of a Chroma server instead of the folder's own.", False),
    "collection": ("Name of the Chroma collection.", "knowledge_objects"),
}


def _option(name: str, *, environment: bool) -> Any:
    meaning, default = _MEANINGS[name]
    variable = f"KO_{name.upper()}" if environment else None
    return typer.Option(f"--{name}", envvar=variable, help=meaning, show_default=default)


# Before the command they may come from the environment; after it they are there only when given, and win.
Store = Annotated[str | None, _option("store", environment=True)]
Namespace = Annotated[str | None, _option("namespace", environment=True)]
EmbedderName = Annotated[str | None, _option("embedder", environment=True)]
Index = Annotated[str | None, _option("index", environment=True)]
Collection = Annotated[str | None, _option("collection", environment=True)]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="What held then (ISO 8601, also 2010 or 2010-03).")]
KnownAt = Annotated[str | None, typer.Option("--known-at", help="What the store knew then.")]
ValueType = Literal["text", "int", "float", "bool", "date", "datetime", "quantity", "json"]

_EXAMPLES = {"bool": "yes", "date": "2025-03-18", "quantity": "'3 cm'", "json": """'{"a": 1}'"""}


def with_store(function: Callable[..., None], *, create: bool = False) -> Callable[..., None]:
    """Give a command the store options; `function` takes the opened store as its first argument.

    A store that is not there is an error: a mistyped path is no empty memory.
    """
    signature = inspect.signature(function)
    own = list(signature.parameters.values())[1:]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    shared = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[str | None, _option(name, environment=False)],
        )
        for name in _MEANINGS
    ]

    @wraps(function)
    def command(ctx: typer.Context, **arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in _MEANINGS}
        inherited = ctx.find_root().obj or {}
        options = {name: given[name] or inherited.get(name) for name in _MEANINGS}
        with opened(**options, create=create) as store:
            function(store, **arguments)

    parameters = [context, *(p.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in own), *shared]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    del command.__wrapped__
    return command


def with_store_or_new(function: Callable[..., None]) -> Callable[..., None]:
    """As `with_store`, for commands that state facts: a store that is not there is made."""
    return with_store(function, create=True)


@contextmanager
def opened(
    store: str | None = None,
    namespace: str | None = None,
    embedder: str | None = None,
    index: str | None = None,
    collection: str | None = None,
    *,
    create: bool = True,
) -> "Iterator[KnowledgeStore]":
    """Open the store that the options name, as a bound view of the namespace; close it afterwards."""
    from ko_integrations.store import KnowledgeStore

    options: dict[str, Any] = {"namespace": segments(namespace), "create": create}
    if collection is not None:
        options["collection"] = collection
    if embedder is not None:
        options["embedder"] = make_embedder(embedder)
    if index is not None:
        if "://" not in index:
            raise InvalidInputError("--index", f"expected a URL, as in http://localhost:8000, got {index!r}")
        options["index"] = index
    opened_store = KnowledgeStore.open(store or DEFAULT_STORE, **options)
    try:
        yield opened_store
    finally:
        opened_store.close()


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Run the reading of a text file.

    Raises:
        InvalidInputError: it is not UTF-8, or no table.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise InvalidInputError(name, f"not UTF-8: {error.reason} at byte {error.start}") from error
    except csv.Error as error:
        raise InvalidInputError(name, f"not CSV: {error}") from error


def segments(namespace: str | None) -> tuple[str, ...]:
    """Split `acme/alice` into its segments."""
    return tuple(namespace.split("/")) if namespace else ()


def make_embedder(name: str) -> "Embedder":
    """Return the embedder that `--embedder` names."""
    from ko_integrations.embeddings import HashingEmbedder, SentenceTransformerEmbedder

    return HashingEmbedder() if name == "hashing" else SentenceTransformerEmbedder(name)


def moment(text: str | None, field: str) -> datetime | None:
    """Read a time option."""
    return None if text is None else parse_moment(text, field)


def value_of(text: str, kind: ValueType) -> Value:
    """Read an object from the command line as `kind`; a quantity is written `3 cm`.

    Raises:
        InvalidInputError: it is not one.
    """
    try:
        match kind:
            case "text":
                return text
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "bool":
                return {"true": True, "yes": True, "false": False, "no": False}[text.casefold()]
            case "date":
                return date.fromisoformat(text)
            case "datetime":
                return parse_moment(text, "object")
            case "quantity":
                number, unit = text.split(maxsplit=1)
                return Quantity(float(number) if "." in number else int(number), unit)
            case "json":
                return loads(text)  # type: ignore[no-any-return]
    except (ValueError, KeyError, JSONDecodeError) as error:
        if isinstance(error, InvalidInputError) and error.field == "object":
            raise
        article = "an" if kind == "int" else "a"
        example = _EXAMPLES.get(kind)
        raise InvalidInputError(
            "object", f"{text!r} is not {article} {kind}" + (f", as in {example}" if example else "")
        ) from error

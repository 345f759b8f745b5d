"""The packaged queries, and reading labelled queries from anybody's CSV."""

import csv
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Final, Literal, get_args

from ko_integrations.errors import InvalidInputError

__all__ = ["Label", "Link", "Queries", "packaged", "packaged_links", "read_labelled"]

Label = Literal["factual", "fuzzy"]
Link = Literal["slot", "subject", "none"]
Set = Literal["train", "held_out", "other_styles", "many_styles", "many_styles_seen", "people", "adversarial"]
LABELS: Final[tuple[Label, ...]] = get_args(Label)
_PACKAGE: Final = "ko_integrations.router"


@dataclass(frozen=True, slots=True)
class Queries:
    """Labelled queries. `styles` says, for the packaged ones, in what manner each is written."""

    texts: tuple[str, ...]
    labels: tuple[Label, ...]
    styles: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)


@lru_cache
def packaged(name: Set = "train") -> Queries:
    """Return a packaged set. No query stands in two of them.

    `train` fits the router. `held_out` is balanced and written in the manner of the paper's experiment 5;
    `other_styles` holds questions as search logs and quizzes have them beside creative, role-play and explanatory
    prompts; `many_styles` holds fourteen styles (search logs, quizzes, statements, voice, chat, yes-no, one to three
    words, office, code, tasks, role-play, ...) and `many_styles_seen` its other half, whose errors were looked at
    while the training queries were written; `people` holds what people of many ages, countries and trades would type
    into search boxes, quiz apps, chats, memories and voice assistants, written when the training queries were;
    `adversarial` mixes the words of one kind into the other.
    """
    rows = _rows(name)
    texts, styles = tuple(row["query"] for row in rows), tuple(row["style"] for row in rows)
    return Queries(texts, tuple(_label(row["label"]) for row in rows), styles)


@lru_cache
def packaged_links() -> tuple[tuple[str, Label, Link], ...]:
    """Return (query, label, what a store would say it names): what fits the weight of a subject linker."""
    return tuple((row["query"], _label(row["label"]), _link(row["link"])) for row in _rows("linked"))


def _rows(name: str) -> list[dict[str, str]]:
    text = files(_PACKAGE).joinpath("data", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(StringIO(text, newline="")))


def _label(text: str) -> Label:
    for label in LABELS:
        if text == label:
            return label
    raise InvalidInputError("label", f"expected 'factual' or 'fuzzy', got {text!r}")


def _link(text: str) -> Link:
    for link in get_args(Link):
        if text == link:
            return link  # type: ignore[no-any-return]
    raise InvalidInputError("link", f"expected 'slot', 'subject' or 'none', got {text!r}")


def read_labelled(
    path: str | Path,
    *,
    query_column: str = "query",
    label_column: str = "label",
    factual: Collection[str] = ("factual",),
    skip: Collection[str] = (),
) -> Queries:
    """Return the labelled queries of a CSV file with a header.

    A label in `factual` counts as factual, one in `skip` leaves the row out, any other is fuzzy.

    Raises:
        InvalidInputError: the file cannot be read, lacks a column or has no row.

    Example:
        >>> read_labelled("train.csv", query_column="question", label_column="category",
        ...               factual={"FACTOID"}, skip={"NOT-A-QUESTION"})  # NF-CATS  # doctest: +SKIP
    """
    texts: list[str] = []
    labels: list[Label] = []
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:  # as spreadsheets write it
            for row in csv.DictReader(file):
                text, label = row.get(query_column), row.get(label_column)
                if text is None or label is None:
                    raise InvalidInputError(
                        "path", f"{path} lacks column {query_column!r} or {label_column!r}"
                    )
                if text.strip() and label not in skip:
                    texts.append(text)
                    labels.append("factual" if label in factual else "fuzzy")
    except (OSError, UnicodeDecodeError, csv.Error) as exc:
        raise InvalidInputError("path", f"{path} cannot be read: {exc}") from exc
    if not texts:
        raise InvalidInputError("path", f"{path} holds no labelled query")
    return Queries(tuple(texts), tuple(labels))

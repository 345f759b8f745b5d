"""The fact corpora of the experiments: where the keys are crowded, where they are not, and with which values.

The papers publish templates and densities, not their corpora. Everything here is drawn from short public
lists by a seeded generator, so that a trial can be repeated and a corpus described in one line.
"""

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ko_integrations.errors import InvalidInputError
from ko_integrations.experiments.words import ANIMALS, CITIES, COUNTRIES, MATERIALS, PEOPLE, WORDS
from ko_integrations.fast_weight import question_form
from ko_integrations.types import Fact

__all__ = ["CORPORA", "OWN", "VALUES", "Corpus", "Item", "Names", "numbered", "read_corpus"]

Rng = np.random.Generator


@dataclass(frozen=True)
class Item:
    """A fact, the question that asks for it (its key text), and the same question in other words."""

    subject: str
    predicate: str
    value: str
    question: str
    reworded: str

    @property
    def fact(self) -> Fact:
        """The fact as the store takes it."""
        return Fact(subject=self.subject, predicate=self.predicate, object=self.value)


@dataclass(frozen=True)
class Corpus:
    """A family of facts: keys from `draw`, values from a family of values.

    Attributes:
        name: short.
        keys: how the questions look, for the reader of a figure.
        values: name of the family of values.
        draw: (n, generator) to n different (subject, predicate, question) triples.
        own_values: values that belong to the keys (real data), by (subject, predicate).
    """

    name: str
    keys: str
    values: str
    draw: Callable[[int, Rng], list[tuple[str, str, str]]]
    largest: int = 1_000
    own_values: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)

    def sample(self, n: int, seed: int, part: int = 0) -> list[Item]:
        """Return `n` facts; the same seed and part give the same facts.

        Raises:
            InvalidInputError: the corpus has fewer than `n` facts.
        """
        if n > self.largest:
            raise InvalidInputError("n", f"{self.name} has {self.largest} facts, {n} were asked for")
        rng = np.random.default_rng([seed, part])
        keys = self.draw(n, rng)
        values = (
            [self.own_values[s, p] for s, p, _ in keys] if self.own_values else VALUES[self.values](n, rng)
        )
        return [
            Item(s, p, value, question, f"I would like to know the {p.replace('_', ' ')} that {s} has.")
            for (s, p, question), value in zip(keys, values, strict=True)
        ]

    def with_values(self, values: str) -> "Corpus":
        """Return the corpus with the same keys and another family of values."""
        return Corpus(self.name, self.keys, values, self.draw, self.largest)


def _tagged(prefix: str) -> Callable[[int, Rng], list[str]]:
    return lambda n, rng: [f"{prefix}{i:03d}" for i in rng.permutation(1_000)[:n]]


def _plain_numbers(n: int, rng: Rng) -> list[str]:
    return [str(i) for i in 1_000 + rng.permutation(9_000)[:n]]


def _words(n: int, rng: Rng) -> list[str]:
    """Single words while they last, then pairs of them."""
    if n <= len(WORDS):
        return [WORDS[i] for i in rng.permutation(len(WORDS))[:n]]
    cells = rng.permutation(len(WORDS) ** 2)[:n]
    return [f"{WORDS[i // len(WORDS)]} {WORDS[i % len(WORDS)]}" for i in cells]


VALUES: dict[str, Callable[[int, Rng], list[str]]] = {
    "Value_NNN": _tagged("Value_"),
    "four-digit numbers": _plain_numbers,
    "ordinary words": _words,
}
"""Families of values. All values of a sample differ, and none repeats the number of its key."""

OWN = "of the real data"
"""Values that belong to their keys."""

RECORD = ("name", "status", "type", "category", "code", "owner", "region", "date")
SPECIFICATION = tuple("height weight length width depth volume price color rating capacity".split())
COUNTRY = ("capital", "currency", "population", "anthem", "president", "area", "climate", "main export")
PERSON = (
    "birthday", "phone number", "employer", "hobby", "home town", "favorite food", "shoe size", "dentist",
)  # fmt: skip


def numbered(
    name: str,
    entity: str,
    attributes: Sequence[str],
    used: int,
    values: str = "Value_NNN",
    *,
    indices: int = 1_000,
) -> Corpus:
    """Return "What is the [attribute] of [entity]?" over numbered entities and `used` attributes a sample.

    `entity` is a format with the index. Attributes take turns; which ones is drawn with each sample.
    """

    def draw(n: int, rng: Rng) -> list[tuple[str, str, str]]:
        chosen = [attributes[i] for i in rng.permutation(len(attributes))[:used]]
        subjects = [entity.format(i) for i in rng.permutation(indices)[:n]]
        pairs = [(subject, chosen[i % used]) for i, subject in enumerate(subjects)]
        return [(s, p.replace(" ", "_"), question_form(s, p)) for s, p in pairs]

    keys = f"What is the [{used} of {len(attributes)} attributes] of {entity.format(42)}?"
    return Corpus(name, keys, values, draw, largest=indices)


def named(name: str, subjects: Sequence[str], attributes: Sequence[str], values: str = "Value_NNN") -> Corpus:
    """Return "What is the [attribute] of [entity]?" over named entities, all attributes of each possible."""
    cells = [(s, a) for s in subjects for a in attributes]

    def draw(n: int, rng: Rng) -> list[tuple[str, str, str]]:
        pairs = [cells[i] for i in rng.permutation(len(cells))[:n]]
        return [(s, a.replace(" ", "_"), question_form(s, a)) for s, a in pairs]

    keys = f"What is the [{len(attributes)} attributes] of {subjects[0]}?"
    return Corpus(name, keys, values, draw, largest=len(cells))


_DOMAINS: tuple[tuple[str, Sequence[str], tuple[tuple[str, str], ...]], ...] = (
    ("people", PEOPLE, (("employer", "Who employs {}?"), ("hobby", "How does {} spend a free weekend?"))),
    (
        "countries",
        COUNTRIES,
        (("capital", "Which city governs {}?"), ("currency", "People in {} pay with what?")),
    ),
    ("cities", CITIES, (("river", "Name the river that runs through {}."), ("mayor", "Who runs {}?"))),
    ("animals", ANIMALS, (("diet", "What does a {} eat?"), ("lifespan", "How long can a {} live?"))),
    ("materials", MATERIALS, (("density", "How heavy is {}?"), ("use", "What do engineers make out of {}?"))),
)


def _diverse(n: int, rng: Rng) -> list[tuple[str, str, str]]:
    """Different domains, question structures and kinds of entity, in turn."""
    cells = [
        (subject, predicate, form.format(subject))
        for _, subjects, forms in _DOMAINS
        for subject in subjects
        for predicate, form in forms
    ]
    return [cells[i] for i in rng.permutation(len(cells))[:n]]


CORPORA: dict[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        numbered("one attribute, tags", "Entity_{:03d}", RECORD, 1, indices=100),
        numbered("one attribute, numbers", "Entity {}", RECORD, 1),
        numbered("records", "Entity_{:03d}", RECORD, 2),
        numbered("specifications", "Entity_{:03d}", SPECIFICATION, 4),
        numbered("specifications, plain", "Entity {}", SPECIFICATION, 10),
        numbered("products", "Product {}", SPECIFICATION, 10),
        named("people", PEOPLE, PERSON),
        named("countries", COUNTRIES, COUNTRY),
        Corpus(
            "diverse",
            "ten question structures over people, countries, cities, animals, materials",
            "Value_NNN",
            _diverse,
            largest=sum(len(subjects) * len(forms) for _, subjects, forms in _DOMAINS),
        ),
    )
}
"""From crowded to sparse. `records` is the corpus of tables 2 and 5: rho about 0.70."""


@dataclass(frozen=True)
class Names:
    """Invented names, as Zorbia or Crystite: no embedding model has learnt a fact about them."""

    rng: Rng

    def take(self, n: int, ending: str) -> list[str]:
        """Return `n` different names with this ending."""
        found: dict[str, None] = {}
        while len(found) < n:
            onsets = [self.rng.choice(_ONSETS) for _ in range(2)]
            found["".join(o + self.rng.choice(_VOWELS) for o in onsets).capitalize() + ending] = None
        return list(found)


_ONSETS = tuple("b d dr f g gl h k kr l m n p qu r s st t v z".split())
_VOWELS = tuple("a e i o u ae or".split())


def read_corpus(path: Path) -> Corpus:
    """Read real facts from a file: JSON Lines, CSV or TSV.

    A row needs a subject (`subject` or `entity`), a predicate (`predicate`, `property` or `relation`) and a
    value (`value`, `object` or `answer`; of a `versions` list the last value). A question (`question`, or the
    first of a `questions` mapping) is used where there is one. Rows without a value, and second rows of one
    slot, are left out.

    Raises:
        InvalidInputError: no usable row, another kind of file, or one that cannot be read.
    """
    rows = _rows(path)
    questions: dict[tuple[str, str], str] = {}
    values: dict[tuple[str, str], str] = {}
    for row in rows:
        slot = (_first(row, "subject", "entity"), _first(row, "predicate", "property", "relation"))
        value = _value(row)
        if not all(slot) or not value or slot in values:
            continue
        asked = row.get("questions")
        question = _first(asked, *asked) if isinstance(asked, dict) else _first(row, "question")
        questions[slot], values[slot] = question or question_form(*slot), value
    if not values:
        raise InvalidInputError("data", f"no row with a subject, a predicate and a value in {path.name}")
    cells = [(subject, predicate, question) for (subject, predicate), question in questions.items()]

    def draw(n: int, rng: Rng) -> list[tuple[str, str, str]]:
        return [cells[i] for i in rng.permutation(len(cells))[:n]]

    return Corpus(f"real: {path.stem}", cells[0][2], OWN, draw, len(cells), values)


def _rows(path: Path) -> list[dict[str, object]]:
    if path.suffix not in (".jsonl", ".csv", ".tsv"):
        raise InvalidInputError("data", f"expected a .jsonl, .csv or .tsv file, got {path.name}")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # as spreadsheets write it
            if path.suffix == ".jsonl":
                return [_object(line) for line in file if line.strip()]
            return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    except (OSError, ValueError, csv.Error) as error:
        raise InvalidInputError("data", f"{path.name} cannot be read: {error}") from error


def _object(line: str) -> dict[str, object]:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError(f"expected one JSON object a line, got {line.strip()[:40]!r}")
    return row


def _first(row: dict[str, object], *names: str) -> str:
    return next((str(row[name]).strip() for name in names if row.get(name) not in (None, "")), "")


def _value(row: dict[str, object]) -> str:
    versions = row.get("versions")
    if isinstance(versions, list) and versions:
        last = versions[-1]
        return _first(last, "value") if isinstance(last, dict) else str(last)
    return _first(row, "value", "object", "answer")

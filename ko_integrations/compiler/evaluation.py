"""How well text is understood: ParaRel, schema drift, the five conditions of the follow-up paper, speed.

Public data sets are read by path in their published formats. The property ids below serve to score and
nothing else: no compiler knows them.
"""

import csv
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ko_integrations.compiler.naming import bare
from ko_integrations.identity import normalize_name
from ko_integrations.protocols import Compiler, Embedder, Extraction, FactReader
from ko_integrations.types import Quantity
from ko_integrations.vocabulary import Vocabulary

__all__ = [
    "DriftScore",
    "ListScore",
    "MergePoint",
    "PararelScore",
    "RobustnessScore",
    "drift",
    "merge_point",
    "numbered_list",
    "pararel",
    "patterned_statements",
    "robustness",
    "robustness_items",
]

SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)
_DATA = Path(__file__).parent.parent / "data"

PREDICATES = {
    "P1001": "jurisdiction", "P101": "field_of_work", "P103": "native_language", "P106": "occupation", "P108": "employer",
    "P127": "owner", "P1303": "instrument", "P131": "location", "P136": "genre", "P1376": "capital", "P138": "named_after",
    "P140": "religion", "P1412": "languages_spoken", "P159": "headquarters", "P17": "country", "P176": "manufacturer",
    "P178": "developer", "P19": "birth_place", "P190": "twin_town", "P20": "death_place", "P264": "record_label",
    "P27": "citizenship", "P276": "location", "P279": "subclass_of", "P30": "continent", "P36": "capital", "P361": "part_of",
    "P364": "language_of_work", "P37": "official_language", "P39": "position_held", "P407": "language_of_work",
    "P413": "playing_position", "P449": "original_network", "P463": "member_of", "P47": "shares_border_with",
    "P495": "country_of_origin", "P530": "diplomatic_relation", "P740": "founding_place", "P937": "work_location",
}  # fmt: skip
"""Wikidata property of a ParaRel pattern -> our predicate. P131 and P276 share one slot here, P364 and P407 too."""
_INVERSE = frozenset(("P1376",))
_SYMMETRIC = frozenset(("P190", "P47", "P530"))
_NARROWER = dict.fromkeys(("P131", "P276", "P361"), ("country", "continent"))
"""What "is located in" or "is part of" states of a country or continent is kept in the slot for that: counted apart."""


@dataclass(frozen=True)
class PararelScore:
    """Shares of the patterns, each pattern weighing the same.

    Attributes:
        right: the statement landed in the slot of its property, subject and object the right way round.
        narrower: "is located in" or "part of" a country or continent, kept in the slot for countries or continents.
        reversed: the predicate is right, subject or object is not.
        wrong: another property's slot: a wrong merge.
        other: a predicate that none of the properties maps to.
        missed: nothing was taken from it; it was reported.
        by_pattern: the share right of each pattern.
    """

    patterns: int
    right: float
    narrower: float
    reversed: float
    wrong: float
    other: float
    missed: float
    by_pattern: dict[tuple[str, str], float] = field(repr=False, default_factory=dict)


def pararel(
    folder: str | Path,
    *,
    compiler: Compiler,
    reader: FactReader,
    facts: int = 10,
    wanted: Callable[[str, str], bool] = lambda _property, _lemma: True,
    patterns: str = "patterns.open.tsv",
) -> PararelScore:
    """Fill the patterns of ParaRel with `facts` facts each and see where the statements land.

    `wanted(property, lemma)` chooses patterns, for example to score lemmas that were left out of development.
    """
    folder = Path(folder)
    pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in _rows(folder / "facts_50_per_relation.tsv"):
        pairs[row["property"]].append((row["subject"], row["object"]))
    totals: Counter[str] = Counter()
    by_pattern = {}
    for row in _rows(folder / patterns):
        if row["property"] not in PREDICATES or not wanted(row["property"], row["lemma"]):
            continue
        outcomes: Counter[str] = Counter()
        for subject, value in pairs[row["property"]][:facts]:
            text = row["pattern"].replace("[X]", subject).replace("[Y]", value)
            found = compiler.compile(text, reader=reader, said_at=SAID_AT).extractions
            outcomes[_outcome(row["property"], subject, value, found)] += 1
        for outcome, count in outcomes.items():
            totals[outcome] += count / outcomes.total()  # type: ignore[assignment]
        by_pattern[row["property"], row["pattern"]] = outcomes["right"] / max(1, outcomes.total())
    count = max(1, len(by_pattern))
    shares = {
        name: totals[name] / count for name in ("right", "narrower", "reversed", "wrong", "other", "missed")
    }
    return PararelScore(patterns=len(by_pattern), **shares, by_pattern=by_pattern)


def _rows(file: Path) -> Iterable[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream, delimiter="\t")


def _outcome(property_id: str, subject: str, value: str, found: Sequence[Extraction]) -> str:
    if property_id in _INVERSE:
        subject, value = value, subject
    wanted = {(_same(subject), _same(value))}
    if property_id in _SYMMETRIC:
        wanted.add((_same(value), _same(subject)))
    outcome = "missed"
    for item in found:
        held = (_same(item.subject), _same(str(item.object))) in wanted
        if item.predicate == PREDICATES[property_id]:
            if held:
                return "right"
            outcome = "reversed"
        elif held and item.predicate in _NARROWER.get(property_id, ()):
            return "narrower"
        elif outcome != "reversed" and item.predicate in PREDICATES.values():
            outcome = "wrong"
        elif outcome == "missed":
            outcome = "other"
    return outcome


def _same(name: str) -> str:
    return normalize_name(bare(name)[0])


@dataclass(frozen=True)
class DriftScore:
    """Names that models gave one predicate, and the slot they land in.

    Attributes:
        paper: share of the variants that the main paper recorded (5.7) that land in their slot.
        collected: the same for the packaged further variants.
        unrelated: share of unrelated names, made of the same words, that were wrongly merged.
        misses: (variant, expected, got).
    """

    paper: float
    collected: float
    unrelated: float
    counts: dict[str, int]
    misses: tuple[tuple[str, str | None, str], ...]


def drift(vocabulary: Vocabulary, *, embedder: Embedder | None = None) -> DriftScore:
    """Replay the drifting predicate names; deterministic resolution alone, unless an `embedder` is given."""
    right: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    misses = []
    for item in _items(_DATA / "schema_drift.jsonl"):
        found = vocabulary.resolve(item["variant"], embedder)
        good = found.how == "new" if item["predicate"] is None else found.predicate == item["predicate"]
        counts[item["origin"]] += 1
        right[item["origin"]] += good
        if not good:
            misses.append((item["variant"], item["predicate"], found.predicate))
    share = {origin: right[origin] / count for origin, count in counts.items()}
    return DriftScore(
        share["paper"], share["collected"], 1.0 - share["unrelated"], dict(counts), tuple(misses)
    )


@dataclass(frozen=True)
class MergePoint:
    """Merging names by embedding alone: every declared name against all the others."""

    similarity: float
    margin: float
    precision: float
    recall: float
    names: int


def merge_point(
    vocabulary: Vocabulary, embedder: Embedder, *, similarity: float, margin: float
) -> MergePoint:
    """Return precision and recall of merges at a similarity and a margin, each name left out in turn."""
    import numpy as np

    owners = [
        (name, predicate.name) for predicate in vocabulary for name in (predicate.name, *predicate.aliases)
    ]
    vectors = np.asarray(embedder.encode([name.replace("_", " ") for name, _ in owners]), dtype=np.float32)
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -1.0)
    owner = np.array([predicate for _, predicate in owners])
    merged = right = 0
    for number in range(len(owners)):
        best = int(scores[number].argmax())
        rival = float(scores[number][owner != owner[best]].max(initial=-1.0))
        if scores[number, best] >= similarity and scores[number, best] - rival >= margin:
            merged += 1
            right += bool(owner[best] == owner[number])
    return MergePoint(similarity, margin, right / max(1, merged), right / max(1, len(owners)), len(owners))


@dataclass(frozen=True)
class RobustnessScore:
    """Share of the items whose every fact was found, by condition, and what went wrong in the others."""

    share: dict[str, float]
    count: dict[str, int]
    misses: tuple[dict[str, Any], ...]


def robustness_items() -> list[dict[str, Any]]:
    """Return the packaged items: `condition`, `text`, `facts` ([subject, predicate, object]), `question`, `answer`."""
    return list(_items(_DATA / "robustness.jsonl"))


def robustness(*, compiler: Compiler, reader: FactReader) -> RobustnessScore:
    """Compile the items of the five conditions and look for their facts (follow-up paper, table 6)."""
    right: Counter[str] = Counter()
    count: Counter[str] = Counter()
    misses = []
    for item in robustness_items():
        found = compiler.compile(item["text"], reader=reader, said_at=SAID_AT).extractions
        facts = {_fact(each.subject, each.predicate, each.object) for each in found if each.kind == "assert"}
        lacking = [fact for fact in item["facts"] if _fact(*fact) not in facts]
        count[item["condition"]] += 1
        right[item["condition"]] += not lacking
        if lacking:
            misses.append({**item, "lacking": lacking, "found": sorted(facts)})
    return RobustnessScore({name: right[name] / count[name] for name in count}, dict(count), tuple(misses))


def _fact(subject: str, predicate: str, value: object) -> tuple[str, str, str]:
    shown = str(value) if isinstance(value, Quantity) else f"{value}"
    return normalize_name(subject), predicate, normalize_name(shown).replace(",", "")


def _items(file: Path) -> Iterable[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@dataclass(frozen=True)
class ListScore:
    """A numbered list of statements: how many gave exactly one fact, and the lines that did not."""

    lines: int
    compiled: int
    others: tuple[str, ...]


def numbered_list(text: str, *, compiler: Compiler, reader: FactReader) -> ListScore:
    """Compile the numbered lines of `text` in one go."""
    lines = [line.partition(". ")[2] for line in text.splitlines() if line.partition(". ")[0].isdigit()]
    found = Counter(item.text for item in compiler.compile(text, reader=reader, said_at=SAID_AT).extractions)
    seen = Counter(lines)
    others = tuple(line for line in seen if found[line] != seen[line])
    return ListScore(len(lines), len(lines) - sum(seen[line] for line in others), others)


def patterned_statements(vocabulary: Vocabulary, count: int, *, seed: int = 0) -> list[str]:
    """Return made-up statements: wordings of the vocabulary's own patterns, each about other names."""
    rng = random.Random(seed)
    forms = [
        (form, predicate.value_type)
        for predicate in vocabulary
        for form in predicate.statement_forms
        if "[X]" in form
    ]
    return [
        form.replace("[X]", _name(rng)).replace("[Y]", _VALUES.get(kind, _name)(rng)) + "."
        for form, kind in rng.choices(forms, k=count)
    ]


def _name(rng: random.Random) -> str:
    """Return a first and a last name of two to three syllables each."""
    syllables = ("ka", "lo", "mi", "ra", "ten", "vor", "sel", "dun", "pa", "ri")
    return " ".join("".join(rng.choices(syllables, k=rng.randint(2, 3))).title() for _ in range(2))


_VALUES: Mapping[str, Callable[[random.Random], str]] = {
    "number": lambda rng: str(rng.randint(2, 900)),
    "quantity": lambda rng: f"{rng.randint(2, 900)} km",
    "date": lambda rng: f"{rng.randint(1, 28)} May {rng.randint(1900, 2020)}",
}

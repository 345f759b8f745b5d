"""The facts of FactConsolidation told again in other words: does it still land in the same slots?"""

import csv
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from ko_integrations.query.evaluation import Subset, numbered_lines

__all__ = ["restated"]


def restated(
    subset: Subset, clozes: str | Path, patterns: str | Path, *, seed: int = 0,
    wanted: Callable[[str, str], bool] = lambda _property, _lemma: True,
) -> tuple[Subset, int]:  # fmt: skip
    """Return `subset` with every fact told by a ParaRel pattern of its property, and how many facts were.

    `clozes` is MQuAKE's file of cloze templates, by which the list was written; `patterns` is ParaRel's table.
    `wanted(property, lemma)` chooses patterns, for example of lemmas left out of development. A fact whose
    property has no such pattern stays as it is.
    """
    forms = _forms(Path(patterns), wanted)
    readers = [
        (property_id, _reader(template))
        for property_id, template in json.loads(Path(clozes).read_text(encoding="utf-8")).items()
    ]
    rng, told, lines = random.Random(seed), 0, []
    for number, line in enumerate(numbered_lines(subset.context)):
        property_id, subject, value = _read(line, readers)
        choices = forms.get(property_id, ())
        if choices:
            told += 1
            line = rng.choice(choices).replace("[X]", subject).replace("[Y]", value)
        lines.append(f"{number}. {line}")
    return Subset(f"{subset.name} restated", "\n".join(lines), subset.questions, subset.answers), told


def _forms(file: Path, wanted: Callable[[str, str], bool]) -> dict[str, list[str]]:
    forms: dict[str, list[str]] = defaultdict(list)
    with file.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if wanted(row["property"], row["lemma"]):
                forms[row["property"]].append(re.sub(r"\s+([.,])", r"\1", row["pattern"]))
    return forms


def _reader(template: str) -> re.Pattern[str]:
    before, _, after = template.partition("[X]")
    middle = after.removesuffix("__")
    return re.compile(f"{re.escape(before)}(?P<x>.+?){re.escape(middle)}(?P<y>.+?)\\.?$")


def _read(line: str, readers: list[tuple[str, re.Pattern[str]]]) -> tuple[str, str, str]:
    """Return property, subject and value of a line, by the template that leaves the shortest names."""
    found = [(property_id, match) for property_id, reader in readers if (match := reader.match(line))]
    if not found:
        return "", "", ""
    property_id, match = min(found, key=lambda pair: len(pair[1]["x"]) + len(pair[1]["y"]))
    return property_id, match["x"], match["y"]

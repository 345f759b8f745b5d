"""One predicate: what it is called, what it holds, how people state and ask it."""

import re
from functools import cached_property
from itertools import product
from typing import Literal

from pydantic import ConfigDict, field_validator

from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import check_text, normalize_predicate
from ko_integrations.morphology import PREPOSITIONS
from ko_integrations.types import Checked

__all__ = ["Cardinality", "Predicate", "ValueType", "expand"]

Cardinality = Literal["single", "set"]
ValueType = Literal["any", "text", "name", "number", "quantity", "date", "boolean"]

MAX_WORDINGS = 512
_ALTERNATIVES = re.compile(r"\(([^()]*)\)")
_SPACES = re.compile(r"\s+")


class Predicate(Checked):
    """One predicate of a vocabulary.

    Attributes:
        name: the canonical name, snake_case.
        aliases: other names of the same predicate; case, `_`, `-` and blanks do not matter.
        cardinality: `single` (a new value supersedes the old one) or `set` (members live apart).
        value_type: what it holds: `any`, `text`, `name`, `number`, `quantity`, `date`, `boolean`.
        description: one line, for people and for a model's prompt.
        patterns: statement forms with `[X]` for the subject and `[Y]` for the object; `(a|b)` stands for
            either wording, `(a|)` for an optional one. Without `[X]` the subject is the one spoken of.
        questions: question forms with `[X]` for the subject, in the same notation.
        inverse: name of the predicate that states the same fact from the object's side (itself: symmetric).
        excludes: name of a predicate that cannot hold of the same value: stating one ends the other.
        subject_kinds: kinds that a subject is of (`person`, `organisation`, `country` ...), as far as they tell.
        object_kinds: kinds that the object is of; they tell apart predicates that share a wording.

    Raises:
        InvalidInputError: a field is missing, unknown or cannot be used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    aliases: tuple[str, ...] = ()
    cardinality: Cardinality = "single"
    value_type: ValueType = "any"
    description: str = ""
    patterns: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    inverse: str | None = None
    excludes: str | None = None
    subject_kinds: tuple[str, ...] = ()
    object_kinds: tuple[str, ...] = ()

    @field_validator("name")
    @classmethod
    def _name_is_canonical(cls, name: str) -> str:
        return normalize_predicate(check_text(name, "name"))

    @field_validator("patterns")
    @classmethod
    def _patterns_hold_the_object(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            if pattern.count("[Y]") != 1 or pattern.count("[X]") > 1:
                raise ValueError(f"a pattern has [Y] once and [X] at most once: {pattern!r}")
        return patterns

    @cached_property
    def nouns(self) -> tuple[str, ...]:
        """Names under which it is a noun: "birth place", not "born in"."""
        names = (normalize_predicate(name) for name in (self.name, *self.aliases))
        return tuple(dict.fromkeys(name.replace("_", " ") for name in names if _is_nominal(name)))

    @cached_property
    def statement_forms(self) -> tuple[str, ...]:
        """Every wording of `patterns`, the alternatives written out."""
        return tuple(dict.fromkeys(form for pattern in self.patterns for form in expand(pattern)))

    @cached_property
    def question_forms(self) -> tuple[str, ...]:
        """Every wording of `questions`, and "what is [X]'s N" and "what is the N of [X]" for its nouns."""
        asked = "who" if "person" in self.object_kinds else "what"
        forms = [form for question in self.questions for form in expand(question)]
        for noun in self.nouns:
            forms += [f"{asked} is [X]'s {noun}", f"{asked} is the {noun} of [X]"]
        return tuple(dict.fromkeys(forms))


def expand(pattern: str) -> tuple[str, ...]:
    """Return every wording of a pattern with alternatives.

    >>> expand("[X] (lives|is) in [Y]")
    ('[X] lives in [Y]', '[X] is in [Y]')

    Raises:
        InvalidInputError: more than 512 wordings.
    """
    parts = _ALTERNATIVES.split(pattern)
    choices = [part.split("|") if number % 2 else [part] for number, part in enumerate(parts)]
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > MAX_WORDINGS:
        raise InvalidInputError("patterns", f"{total} wordings of {pattern!r}, the limit is {MAX_WORDINGS}")
    return tuple(_SPACES.sub(" ", "".join(choice)).strip() for choice in product(*choices))


_VERBS = frozenset(
    "is was has had does can called named died lives works plays speaks uses makes sells holds takes sings follows "
    "replaces succeeds means costs weighs drives loves likes like love enjoys enjoy prefers adores hates hate dislike "
    "detests contains includes comprises inhibits targets leads decided vetoes visited requires feels thinks wants "
    "wakes goes gets commutes pays moved relocated runs airs stands competes depends supports roots stars raised born "
    "released published founded established incorporated dissolved abolished enrolled prescribed rejected banned "
    "speaking dating married tall long where when how".split()
)


def _is_nominal(name: str) -> bool:
    words = name.split("_")
    if words[-1] in PREPOSITIONS or words[0] in _VERBS or words[0] in PREPOSITIONS:
        return False
    return not (words[0].endswith("ed") and len(words) > 1 and words[1] in PREPOSITIONS)

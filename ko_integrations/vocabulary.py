"""The controlled set of predicates: what they are called, what they hold, how people state and ask them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from ko_integrations.errors import InvalidInputError, UnknownPredicateError
from ko_integrations.identity import check_text, normalize_predicate

__all__ = ["Cardinality", "Predicate", "Vocabulary"]

Cardinality = Literal["single", "set"]


class Predicate(BaseModel):
    """One predicate of a vocabulary.

    Attributes:
        name: the canonical name, snake_case.
        aliases: other names of the same predicate; case, `_`, `-` and blanks do not matter.
        cardinality: `single` (a new value supersedes the old one) or `set` (members live apart).
        value_type: what it holds: `any`, `text`, `name`, `number`, `quantity`, `date`, `boolean`.
        description: one line, for people and for a model's prompt.
        patterns: statement forms with `[X]` for the subject and `[Y]` for the object.
        questions: question forms with `[X]` for the subject.
        inverse: name of the predicate that states the same fact from the object's side.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    aliases: tuple[str, ...] = ()
    cardinality: Cardinality = "single"
    value_type: str = "any"
    description: str = ""
    patterns: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    inverse: str | None = None

    @field_validator("name")
    @classmethod
    def _name_is_canonical(cls, name: str) -> str:
        return normalize_predicate(check_text(name, "name"))


class Vocabulary:
    """An immutable set of predicates.

    `mode="open"` takes predicates it does not know as new and single-valued, as in the paper;
    `mode="strict"` refuses them. `cardinality="single"` makes every predicate single-valued, for
    corpora whose stated rule is that the newest statement wins.

    Raises:
        InvalidInputError: two predicates claim one name or alias, or a name is blank.
    """

    def __init__(
        self,
        predicates: Iterable[Predicate] = (),
        *,
        mode: Literal["open", "strict"] = "open",
        cardinality: Literal["declared", "single"] = "declared",
    ) -> None:
        if mode not in ("open", "strict"):
            raise InvalidInputError("mode", f"expected 'open' or 'strict', got {mode!r}")
        if cardinality not in ("declared", "single"):
            raise InvalidInputError("cardinality", f"expected 'declared' or 'single', got {cardinality!r}")
        self.mode = mode
        self.default_cardinality = cardinality
        self._predicates = {predicate.name: predicate for predicate in predicates}
        self._names: dict[str, str] = {}
        for predicate in self._predicates.values():
            for name in (predicate.name, *predicate.aliases):
                key = normalize_predicate(check_text(name, "aliases"))
                if self._names.setdefault(key, predicate.name) != predicate.name:
                    raise InvalidInputError("aliases", f"{name!r} names {self._names[key]} and {predicate.name}")

    @classmethod
    def general(cls, *, cardinality: Literal["declared", "single"] = "declared") -> "Vocabulary":
        """Return the packaged vocabulary of people, organisations, places, works, products, projects and health."""
        folder = Path(__file__).parent / "data"
        predicates: list[Predicate] = []
        for file in sorted(folder.glob("*.yaml")):
            predicates += cls.from_yaml(file)
        return cls(predicates, cardinality=cardinality)

    @classmethod
    def from_yaml(cls, file: str | Path) -> "Vocabulary":
        """Read a vocabulary from a YAML (or JSON) file: a mapping of options and `predicates`."""
        import yaml

        return cls.from_dict(yaml.safe_load(Path(file).read_text(encoding="utf-8")))

    @classmethod
    def from_json(cls, file: str | Path) -> "Vocabulary":
        """Read a vocabulary from a JSON file."""
        return cls.from_dict(json.loads(Path(file).read_text(encoding="utf-8")))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Vocabulary":
        """Build a vocabulary from plain data, as `to_dict` gives it."""
        options = {key: value for key, value in data.items() if key != "predicates"}
        return cls((Predicate.model_validate(item) for item in data.get("predicates", ())), **options)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that `from_dict` reads back."""
        predicates = [predicate.model_dump(mode="json", exclude_defaults=True) for predicate in self]
        return {"mode": self.mode, "cardinality": self.default_cardinality, "predicates": predicates}

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self._predicates.values())

    def __len__(self) -> int:
        return len(self._predicates)

    def __contains__(self, name: str) -> bool:
        return normalize_predicate(name) in self._names

    def get(self, name: str) -> Predicate | None:
        """Return the predicate that `name` (or an alias) declares, or None."""
        return self._predicates.get(self._names.get(normalize_predicate(name), ""))

    def canonical(self, name: str) -> str:
        """Return the canonical, normalised name; an undeclared one stands for itself.

        Raises:
            UnknownPredicateError: undeclared, and the vocabulary is strict.
        """
        key = normalize_predicate(name)
        declared = self._names.get(key)
        if declared is None and self.mode == "strict":
            raise UnknownPredicateError("predicate", f"{name!r} is not in the vocabulary")
        return declared or key

    def cardinality(self, name: str) -> Cardinality:
        """Return `single` or `set`; an undeclared predicate is single-valued."""
        if self.default_cardinality == "single":
            return "single"
        predicate = self.get(name)
        return predicate.cardinality if predicate else "single"

    def with_predicates(self, *predicates: Predicate) -> "Vocabulary":
        """Return a vocabulary in which `predicates` are added, or replace those of the same name."""
        merged = {**self._predicates, **{predicate.name: predicate for predicate in predicates}}
        return Vocabulary(merged.values(), mode=self.mode, cardinality=self.default_cardinality)

    def with_alias(self, name: str, alias: str) -> "Vocabulary":
        """Return a vocabulary in which `alias` is another name of predicate `name` (declared if need be)."""
        predicate = self.get(name) or Predicate(name=name)
        return self.with_predicates(predicate.model_copy(update={"aliases": (*predicate.aliases, alias)}))

    @cached_property
    def strict(self) -> bool:
        """Whether undeclared predicates are refused."""
        return self.mode == "strict"

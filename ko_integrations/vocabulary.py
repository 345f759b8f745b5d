"""The controlled set of predicates, and which of them a name means."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from ko_integrations.errors import InvalidInputError, UnknownPredicateError
from ko_integrations.identity import check_text, normalize_predicate
from ko_integrations.morphology import ARTICLES, BE, HAVE, PREPOSITIONS, is_participle, lemma
from ko_integrations.predicates import Cardinality, Predicate, expand

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ko_integrations.protocols import Embedder

__all__ = ["Cardinality", "Predicate", "Resolution", "Vocabulary", "expand"]

MERGE_SIMILARITY = 0.90
MERGE_MARGIN = 0.15
"""Where `resolve` merges by embedding: cosine to the nearest name, and its lead over the next predicate's.

With all-MiniLM-L6-v2, each packaged name against all the others: precision 0.98 at recall 0.22; of 85
unrelated names made of the same words ("birth_weight", "capital_gains"), 2 merged wrongly. At 0.80 and 0.10
it would be 0.95 at 0.46, and 13 of 85. `ko bench understanding` prints the point again.
"""
_DIRECTED = re.compile(r"^(?:is|was|are|were|be)_|_(?:of|by|to)$")
"""Names that state a fact from one side ("capital_of", "is_ceo"): likeness does not tell which."""
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")


class Resolution(BaseModel):
    """Which predicate a name was taken for, and why.

    Attributes:
        predicate: the canonical name; the normalised name itself when `how` is `new`.
        how: `exact`, `alias`, `morphology` (inflection, word order, `is_`/`has_`, camelCase), `embedding` or `new`.
        score: 1.0 for the deterministic ways, the cosine similarity for `embedding`, 0.0 for `new`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    predicate: str
    how: Literal["exact", "alias", "morphology", "embedding", "new"]
    score: float


def _signature(name: str) -> tuple[str, ...]:
    """The name's lemmas in order, less an empty verb in front: `has_`, or `is_` before a participle.

    `is_member` keeps its `is_`: it states the fact from the other side than `member`.
    """
    words = [word for word in name.split("_") if word not in ARTICLES] or [name]
    while len(words) > 1 and (
        words[0] in HAVE or words[0] in ("current", "currently") or (words[0] in BE and _verbal(words[1:]))
    ):
        words = words[1:]
    return tuple(lemma(word) for word in words)


def _verbal(words: list[str]) -> bool:
    return is_participle(words[0]) or words[0] in BE or (words[-1] in PREPOSITIONS and words[-1] != "of")


def _bag(signature: tuple[str, ...]) -> tuple[str, ...] | None:
    """The lemmas whatever their order (`place_of_birth`, `birth_place`), if order tells nothing."""
    if signature[-1] in PREPOSITIONS or signature[0] in PREPOSITIONS or len(signature) < 2:
        return None
    content = [word for word in signature if word != "of"]
    if len(content) < 2 or any(word in PREPOSITIONS for word in content):
        return None
    return ("~", *sorted(content))  # apart from the names themselves


class Vocabulary:
    """An immutable set of predicates.

    `mode="open"` takes predicates it does not know as new and single-valued, as in the paper;
    `mode="strict"` refuses them. `cardinality="single"` makes every predicate single-valued, for
    corpora whose stated rule is that the newest statement wins.

    Raises:
        InvalidInputError: two predicates claim one name or alias, a name is blank, or an option is unknown.
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
        self._predicates: dict[str, Predicate] = {}
        for predicate in _expected(predicates):
            if self._predicates.setdefault(predicate.name, predicate) is not predicate:
                raise InvalidInputError("predicates", f"{predicate.name!r} is declared twice")
        self._names: dict[str, str] = {}
        self._resolved: dict[str, Resolution] = {}
        self._vectors: dict[str, tuple[list[str], NDArray[np.float32]]] = {}
        for predicate in self._predicates.values():
            for name in (predicate.name, *predicate.aliases):
                key = normalize_predicate(check_text(name, "aliases"))
                if self._names.setdefault(key, predicate.name) != predicate.name:
                    raise InvalidInputError(
                        "aliases", f"{name!r} names {self._names[key]} and {predicate.name}"
                    )

    @classmethod
    def general(cls, *, cardinality: Literal["declared", "single"] = "declared") -> "Vocabulary":
        """Return the packaged vocabulary of people, organisations, places, works, products, projects and health."""
        return _general(cardinality)

    @classmethod
    def from_yaml(cls, file: str | Path) -> "Vocabulary":
        """Read a vocabulary from a YAML (or JSON) file: a mapping of options and `predicates`.

        Raises:
            InvalidInputError: it cannot be read, or does not hold a vocabulary.
        """
        with _reading(file):
            data = _read_yaml(Path(file))
        return cls.from_dict(data)

    @classmethod
    def from_json(cls, file: str | Path) -> "Vocabulary":
        """Read a vocabulary from a JSON file.

        Raises:
            InvalidInputError: it cannot be read, or does not hold a vocabulary.
        """
        with _reading(file):
            data = json.loads(Path(file).read_text(encoding="utf-8"))
        return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Vocabulary":
        """Build a vocabulary from plain data, as `to_dict` gives it.

        Raises:
            InvalidInputError: names the option or the predicate's field that cannot be used.
        """
        if not isinstance(data, Mapping):
            raise InvalidInputError("vocabulary", f"expected a mapping, got {type(data).__name__}")
        if unknown := data.keys() - {"mode", "cardinality", "predicates"}:
            raise InvalidInputError("vocabulary", f"no option is named {min(map(str, unknown))!r}")
        options = {key: value for key, value in data.items() if key != "predicates"}
        return cls(_predicates(data.get("predicates", ())), **options)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that `from_dict` reads back."""
        predicates = [predicate.model_dump(mode="json", exclude_defaults=True) for predicate in self]
        return {"mode": self.mode, "cardinality": self.default_cardinality, "predicates": predicates}

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self._predicates.values())

    def __len__(self) -> int:
        return len(self._predicates)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} predicates, mode={self.mode!r})"

    def __contains__(self, name: str) -> bool:
        return normalize_predicate(name) in self._names

    def get(self, name: str) -> Predicate | None:
        """Return the predicate that `name` (or an alias) declares, or None."""
        return self._predicates.get(self._names.get(normalize_predicate(name), ""))

    def canonical(self, name: str) -> str:
        """Return the canonical, normalised name, by exact match, alias or morphology; else the name itself.

        Deterministic: no model is asked.

        Raises:
            UnknownPredicateError: undeclared, and the vocabulary is strict.
        """
        return self.resolve(name).predicate

    def resolve(self, name: str, embedder: "Embedder | None" = None) -> Resolution:
        """Return the predicate that `name` means and how that was decided.

        Exact name, alias, morphology, and with an `embedder` the nearest declared name by meaning, if it is
        near and well ahead of the next predicate; else the name stands for itself as a new predicate.
        A wrong merge is worse than a missed one: what is ambiguous stays new.

        Raises:
            UnknownPredicateError: nothing declared fits, and the vocabulary is strict.

        >>> Vocabulary([Predicate(name="birth_place", aliases=("born_in",))]).resolve("place_of_birth").how
        'morphology'
        """
        key = normalize_predicate(name)
        found = self._resolved.get(key) or self._remember(key, self._by_form(key))
        if found.how == "new" and _CAMEL.search(name):
            split = self._by_form(normalize_predicate(_CAMEL.sub("_", name)))
            found = found if split.how == "new" else split.model_copy(update={"how": "morphology"})
        if found.how == "new" and embedder is not None and key and not _DIRECTED.search(key):
            found = self._by_meaning(key, embedder) or found
        if found.how == "new" and self.strict:
            raise UnknownPredicateError("predicate", f"{name!r} is not in the vocabulary")
        return found

    def _remember(self, key: str, resolution: Resolution) -> Resolution:
        if len(self._resolved) > 16_384:
            self._resolved.clear()
        self._resolved[key] = resolution
        return resolution

    def _by_form(self, key: str) -> Resolution:
        declared = self._names.get(key)
        if declared is not None:
            return Resolution(predicate=declared, how="exact" if declared == key else "alias", score=1.0)
        if key:
            signature = _signature(key)
            forms = [signature, _bag(signature)]
            if len(signature) > 1 and signature[-1] in ("in", "at", "on"):
                forms.insert(1, signature[:-1])
            for form in forms:
                owner = self._forms.get(form) if form else None
                if owner is not None:
                    return Resolution(predicate=owner, how="morphology", score=1.0)
        return Resolution(predicate=key, how="new", score=0.0)

    @cached_property
    def _forms(self) -> dict[tuple[str, ...], str]:
        """Signatures and bags of the declared names; those that two predicates share are left out."""
        plain: dict[tuple[str, ...], set[str]] = {}
        stripped: dict[tuple[str, ...], set[str]] = {}
        for name, predicate in self._names.items():
            whole = tuple(lemma(word) for word in name.split("_") if word not in ARTICLES) or (name,)
            plain.setdefault(whole, set()).add(predicate)
            signature = _signature(name)
            for form in {signature, _bag(signature) or signature} - {whole}:
                stripped.setdefault(form, set()).add(predicate)
        # A name as it is declared goes before what is left of another one ("current_location").
        owners = {**stripped, **plain}
        return {form: next(iter(names)) for form, names in owners.items() if len(names) == 1}

    def _by_meaning(self, key: str, embedder: "Embedder") -> Resolution | None:
        import numpy as np

        cached = self._vectors.get(embedder.model_id)
        if cached is None:
            names = list(self._names)
            if not names:
                return None
            vectors = np.asarray(
                embedder.encode([name.replace("_", " ") for name in names]), dtype=np.float32
            )
            cached = self._vectors.setdefault(embedder.model_id, (names, vectors))
        names, vectors = cached
        scores = vectors @ np.asarray(embedder.encode([key.replace("_", " ")]), dtype=np.float32)[0]
        order = np.argsort(-scores)
        best = self._names[names[order[0]]]
        rival = next((float(scores[i]) for i in order if self._names[names[i]] != best), -1.0)
        score = float(scores[order[0]])
        if score < MERGE_SIMILARITY or score - rival < MERGE_MARGIN:
            return None
        return Resolution(predicate=best, how="embedding", score=min(score, 1.0))

    def cardinality(self, name: str) -> Cardinality:
        """Return `single` or `set`; an undeclared predicate is single-valued."""
        if self.default_cardinality == "single":
            return "single"
        key = normalize_predicate(name)
        found = self._resolved.get(key) or self._remember(key, self._by_form(key))
        predicate = self._predicates.get(found.predicate)
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


def _expected(predicates: Iterable[Predicate]) -> Iterator[Predicate]:
    if not isinstance(predicates, Iterable):
        raise InvalidInputError("predicates", f"expected Predicates, got {type(predicates).__name__}")
    for predicate in predicates:
        if not isinstance(predicate, Predicate):
            raise InvalidInputError("predicates", f"expected Predicates, got {type(predicate).__name__}")
        yield predicate


def _predicates(items: Any) -> Iterator[Predicate]:
    """Make the predicates of plain data; what is wrong with one is told with its number, from 0."""
    if not isinstance(items, Iterable) or isinstance(items, str | Mapping):
        raise InvalidInputError("predicates", f"expected a list, got {type(items).__name__}")
    for number, item in enumerate(items):
        place = f"predicates[{number}]"
        if not isinstance(item, Mapping):
            raise InvalidInputError(place, f"expected a mapping, got {type(item).__name__}")
        try:
            yield Predicate(**{str(name): value for name, value in item.items()})
        except InvalidInputError as error:
            raise InvalidInputError(f"{place}.{error.field}", error.reason) from error


@contextmanager
def _reading(file: str | Path) -> Iterator[None]:
    """Raises InvalidInputError where a file is missing or is not what its name says."""
    from yaml import YAMLError

    try:
        yield
    except (OSError, ValueError, YAMLError) as error:
        raise InvalidInputError("file", f"{file}: {error}") from error


def _read_yaml(file: Path) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(file.read_text(encoding="utf-8"), Loader=loader)


@lru_cache(maxsize=2)
def _general(cardinality: Literal["declared", "single"]) -> Vocabulary:
    folder = Path(__file__).parent / "data" / "general"
    items = [item for file in sorted(folder.glob("*.yaml")) for item in _read_yaml(file)["predicates"]]
    return Vocabulary(_predicates(items), cardinality=cardinality)

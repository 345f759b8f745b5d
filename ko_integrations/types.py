"""The things the public API takes and gives: immutable, typed, times in aware UTC."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from html import escape
from reprlib import Repr
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, FiniteFloat, StrictInt, ValidationError, field_validator

from ko_integrations.errors import InvalidInputError

__all__ = [
    "Answer",
    "Change",
    "Changes",
    "Confirmation",
    "EraseReport",
    "Fact",
    "HeadPage",
    "Hit",
    "KnowledgeObject",
    "NotUnderstood",
    "Provenance",
    "Quantity",
    "RowError",
    "Value",
    "WriteReport",
    "WriteResult",
]


class _Bare(str):
    """A text that shows without quotes."""

    def __repr__(self) -> str:
        return str(self)


_short = Repr()  # room for a sentence: a value may be a whole document
_short.maxstring = _short.maxother = 80


class Checked(BaseModel):
    """A model that callers fill in: what does not fit is an error of ours.

    Raises:
        InvalidInputError: names the field that is missing, unknown or of the wrong type, and the reason.
    """

    if not TYPE_CHECKING:  # to a type checker the fields are the signature

        def __init__(self, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                raise _refusal(error, type(self).__name__.casefold()) from error


def _refusal(error: ValidationError, model: str) -> InvalidInputError:
    """Return what is wrong with the first field at fault, as an error of ours."""
    place = (errors := error.errors())[0]["loc"][:1]
    last = [each for each in errors if each["loc"][:1] == place][-1]  # of a union: the widest of its types
    raised = last.get("ctx", {}).get("error")  # by a validator of ours
    if isinstance(raised, InvalidInputError):
        return InvalidInputError(raised.field, raised.reason)
    return InvalidInputError(str(place[0]) if place else model, str(raised or last["msg"]))


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Show what says something: fields that are not at their default, times in ISO 8601."""
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if field.is_required() or value != field.default:
                yield name, _Bare(value.isoformat()) if isinstance(value, datetime) else value


class Quantity(_Frozen, Checked):
    """A number with its unit: `Quantity(value=3, unit="cm")` or `Quantity(3, "cm")`.

    Raises:
        InvalidInputError: the value is no finite number, or the unit is blank.
    """

    value: StrictInt | FiniteFloat
    unit: str

    def __init__(self, value: float, unit: str) -> None:
        super().__init__(value=value, unit=unit)  # type: ignore[call-arg]

    @field_validator("unit")
    @classmethod
    def _unit_is_named(cls, unit: str) -> str:
        if not unit.strip() or "\0" in unit:
            raise ValueError("a unit is a non-blank string")
        return unit

    def __str__(self) -> str:
        return f"{self.value} {self.unit}"


Value = str | int | float | bool | date | datetime | Quantity | dict[str, Any] | list[Any]
"""What a fact can hold. It comes back in the type it went in."""


class Fact(_Frozen, Checked):
    """One statement to store, as `update_many` takes it.

    `text` replaces the "subject predicate object" sentence that the semantic index encodes, and
    `vector` (length: the embedder's dimension) saves the encoding. With `verbatim` the subject and
    predicate are the caller's own keys: addressed as they are, never normalised, never resolved.

    Nothing is converted: a confidence of `"0.5"` or a time of `5` is refused, as `update` refuses it.

    Raises:
        InvalidInputError: a field is missing, unknown or of the wrong type; what it holds is checked on writing.
    """

    model_config = ConfigDict(strict=True)

    subject: str
    predicate: str
    object: Any
    source: str | None = None
    confidence: float = 1.0
    valid_from: datetime | date | None = None
    valid_to: datetime | date | None = None
    metadata: Mapping[str, Any] | None = None
    text: str | None = None
    vector: Sequence[float] | None = None
    verbatim: bool = False

    @field_validator("vector", mode="before")
    @classmethod
    def _array_as_list(cls, vector: Any) -> Any:
        # Chroma and embedders give numpy arrays, which are no sequences to pydantic.
        return vector.tolist() if hasattr(vector, "tolist") else vector


class Confirmation(_Frozen):
    """A later assertion of the same version: who else said so, and when."""

    source: str | None
    recorded_at: datetime
    confidence: float
    valid_from: datetime
    metadata: Mapping[str, Any] | None = None


class Provenance(_Frozen):
    """Where a version comes from (main paper A.1).

    Attributes:
        source: who asserted it first.
        recorded_at: record time, when the store learned it.
        confidence: of the first assertion, 0 to 1.
        version: place in the version chain, from 1.
        previous: reference of the version before it in the chain, or None.
        sequence: the store-wide record sequence of the first assertion.
        metadata: whatever the caller attached.
        confirmations: later assertions that the same version rests on.
    """

    source: str | None
    recorded_at: datetime
    confidence: float
    version: int
    previous: str | None
    sequence: int
    metadata: Mapping[str, Any] | None = None
    confirmations: tuple[Confirmation, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Everyone who asserted this version, in order of record, each once."""
        named = [self.source, *(confirmation.source for confirmation in self.confirmations)]
        return tuple(dict.fromkeys(source for source in named if source is not None))


class KnowledgeObject(_Frozen):
    """One version of one slot (main paper A.1): a fact, where it comes from, when it holds.

    Attributes:
        id: slot id, 64 hex digits; the same for every version of the slot.
        valid_from: event time at which it starts to hold.
        valid_to: event time at which it stops (exclusive), or None while no end is known.
        text: the sentence that the semantic index encodes.
    """

    id: str
    namespace: tuple[str, ...]
    subject: str
    predicate: str
    object: Any
    provenance: Provenance
    valid_from: datetime
    valid_to: datetime | None = None
    text: str = ""

    @property
    def reference(self) -> str:
        """Name this version for ever: the slot id and the record sequence."""
        return f"{self.id}@{self.provenance.sequence}"

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate.replace('_', ' ')} {self.object}"

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Show the fact, which version it is and when it holds, on one line; `ko.provenance` has the rest."""
        for value in (self.subject, self.predicate, self.object):
            yield None, _Bare(_short.repr(value))
        yield "version", self.provenance.version
        yield "valid_from", _Bare(_moment(self.valid_from))
        if self.valid_to is not None:
            yield "valid_to", _Bare(_moment(self.valid_to))
        if self.provenance.sources:
            yield "source", ", ".join(self.provenance.sources)
        if self.namespace:
            yield "namespace", self.namespace

    def _repr_html_(self) -> str:
        return chain_html([self])


def chain_html(chain: Sequence[KnowledgeObject]) -> str:
    """Return a small HTML table of versions, for Jupyter."""
    head = "".join(f"<th>{name}</th>" for name in _HTML_COLUMNS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _html_cells(ko)) + "</tr>" for ko in chain
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


_HTML_COLUMNS = ("subject", "predicate", "object", "from", "to", "version", "source")


def _html_cells(ko: KnowledgeObject) -> tuple[str, ...]:
    until = "" if ko.valid_to is None else _moment(ko.valid_to)
    return (
        ko.subject, ko.predicate, str(ko.object), _moment(ko.valid_from), until,
        str(ko.provenance.version), ", ".join(ko.provenance.sources),
    )  # fmt: skip


def _moment(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


class Chain(list[KnowledgeObject]):
    """A version chain, oldest first: a list that Jupyter shows as a table."""

    def _repr_html_(self) -> str:
        return chain_html(self)


class HeadPage(_Frozen):
    """A page of what holds; `cursor` goes to the next call, None after the last page."""

    items: tuple[KnowledgeObject, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[KnowledgeObject]:  # type: ignore[override]
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Hit(_Frozen):
    """One result of a semantic read: what holds, and its cosine similarity to the query (-1 to 1)."""

    ko: KnowledgeObject
    score: float

    def __str__(self) -> str:
        return f"{self.score:.3f} {self.ko}"

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield "score", round(self.score, 3)
        yield "ko", self.ko


class RowError(_Frozen):
    """A row of a batch that was refused (`on_error="collect"`)."""

    row: int
    field: str
    reason: str


class WriteResult(_Frozen):
    """What one statement did.

    Attributes:
        outcome: `created` (first version of its slot), `superseded` (it is the head, or becomes it
            when its time comes), `confirmed` (the chain stays as it was), `backdated` (it took an
            older place), or `refused` (a bad row of a batch that collects errors).
        ko: the version that the statement supports; None only when refused.
        previous: the version before it in the chain.
        error: why it was refused.
    """

    outcome: Literal["created", "superseded", "confirmed", "backdated", "refused"]
    ko: KnowledgeObject | None
    previous: KnowledgeObject | None = None
    error: RowError | None = None


class NotUnderstood(_Frozen):
    """A piece of text that no fact was taken from, and why."""

    text: str
    reason: str


class WriteReport(_Frozen):
    """What `write` stored, retracted, and did not understand.

    `repeated` says that the text had been written before under the same `once`, and nothing was done.
    """

    results: tuple[WriteResult, ...] = ()
    not_understood: tuple[NotUnderstood, ...] = ()
    retracted: tuple[KnowledgeObject, ...] = ()
    tokens: int = 0
    repeated: bool = False


class Answer(_Frozen):
    """What `ask` found.

    Attributes:
        value: the answer; None when it abstains; a list for a set-valued predicate.
        route: how it was found.
        facts: the versions that it rests on, in the order of the path.
        confidence: calibrated probability that the value is right, 0 to 1.
        text: one sentence.
        path: the (subject, predicate) pairs that were followed.
    """

    value: Any
    route: Literal["exact", "temporal", "multi_hop", "semantic", "abstain"]
    facts: tuple[KnowledgeObject, ...] = ()
    confidence: float = 0.0
    text: str = ""
    path: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.text or str(self.value)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        shown = dict(super().__repr_args__()) | {"confidence": round(self.confidence, 3)}
        shown.pop("path", None)  # subject and predicate of the facts
        yield from shown.items()


class Change(_Frozen):
    """One entry of the change feed.

    Attributes:
        sequence: store-wide, strictly increasing.
        kind: what happened. An erasure names nothing but its namespace.
        ids: the slots that it touched.
        ko: the version asserted, where there is one and it was not taken back since.
    """

    sequence: int
    kind: Literal["asserted", "retracted", "withdrawn", "rekeyed", "erased"]
    namespace: tuple[str, ...] | None
    recorded_at: datetime
    ids: tuple[str, ...] = ()
    ko: KnowledgeObject | None = None

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return (pair for pair in super().__repr_args__() if self.ko is None or pair[0] != "ids")


class Changes(_Frozen):
    """A page of the change feed and the cursor to go on from; an empty page means: no more for now."""

    items: tuple[Change, ...]
    cursor: int


class EraseReport(_Frozen):
    """What an erasure reached.

    Attributes:
        complete: no byte of it is left in any file this store owns.
        remaining: where bytes may live on, in words.
        erased: number of slots that something was erased from, whether or not other values stay in them; where
            a statement was moved by an alias, the slots it stood in before count as well.
    """

    complete: bool
    remaining: tuple[str, ...] = ()
    erased: int = 0

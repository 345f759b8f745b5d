"""The things the public API takes and gives: immutable, typed, times in aware UTC."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from html import escape
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


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Quantity(_Frozen):
    """A number with its unit, for example `Quantity(value=3, unit="cm")` or `Quantity(3, "cm")`."""

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


class Fact(_Frozen):
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

    if not TYPE_CHECKING:  # to a type checker the fields are the signature

        def __init__(self, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                first = error.errors()[0]
                field = str(first["loc"][0]) if first["loc"] else "fact"
                raise InvalidInputError(field, first["msg"]) from error

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
    until = "" if ko.valid_to is None else f"{ko.valid_to:%Y-%m-%d %H:%M}"
    since = f"{ko.valid_from:%Y-%m-%d %H:%M}"
    return (
        ko.subject, ko.predicate, str(ko.object), since, until,
        str(ko.provenance.version), ", ".join(ko.provenance.sources),
    )  # fmt: skip


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

"""What the parts ask of each other. Anything with these methods fits; nothing needs to inherit."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from pydantic import ConfigDict

from ko_integrations.times import Moment
from ko_integrations.types import Answer, Checked, Hit, KnowledgeObject, NotUnderstood, Value
from ko_integrations.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Compilation", "Compiler", "Embedder", "Extraction", "FactReader", "QueryParser", "TextModel"]


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors. `model_id` and `dimension` may be plain attributes.

    An optional `encode_query(text)` gives the vector of a query, where queries are encoded differently.
    """

    @property
    def model_id(self) -> str:
        """Name the model; recorded with the store, so that vectors of two models never mix."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return an array of shape (len(texts), dimension), rows of length 1."""
        ...


class TextModel(Protocol):
    """A language model as the LLM compiler and parser use it: a prompt in, text and its cost out."""

    def complete(self, system: str, prompt: str, *, schema: dict[str, Any] | None = None) -> tuple[str, int]:
        """Return (text, tokens used). `schema` asks for JSON that fits it.

        Raises:
            ModelError: the model failed.
        """
        ...


class Extraction(Checked):
    """One statement found in a text: to assert, or to retract.

    `object` is None only in a retraction of whatever holds. `text` is the piece it was read from.

    Raises:
        InvalidInputError: a field is missing, unknown or of the wrong type.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    subject: str
    predicate: str
    object: Any = None
    kind: Literal["assert", "retract"] = "assert"
    confidence: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    text: str = ""


class Compilation(Checked):
    """What a compiler made of a text. `tokens` counts what a model used, 0 offline.

    Raises:
        InvalidInputError: a field is unknown or of the wrong type.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    extractions: tuple[Extraction, ...] = ()
    not_understood: tuple[NotUnderstood, ...] = ()
    tokens: int = 0


class FactReader(Protocol):
    """What compilers and query parsers see of a store: one namespace, reading only.

    `KnowledgeStore` is one. Every method sees only what holds at `as_of` (default: now), as known at
    `known_at` (default: now).
    """

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def embedder(self) -> Embedder: ...

    def find_subjects(self, names: Sequence[str]) -> dict[str, str]:
        """Return, of `names`, those that are stored subjects (or aliases of one) -> the subject as stored.

        One look-up however many facts there are; spelling differences that identity joins do not matter.
        """
        ...

    def facts(
        self, subject: str, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> list[KnowledgeObject]:
        """Return every fact of `subject`."""
        ...

    def facts_naming(self, object: str, *, limit: int = 100) -> list[KnowledgeObject]:
        """Return the current facts whose object is the name `object` (the inverse look-up)."""
        ...

    def predicates(self, subject: str) -> list[str]:
        """Return the canonical predicates that `subject` has, or once had, a value for."""
        ...

    def read_values(
        self, subject: str, predicate: str, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> list[KnowledgeObject]:
        """Return the value of a slot as a list of at most one, or the members of a set."""
        ...

    def history(
        self, subject: str, predicate: str, *, object: Value | None = None, known_at: Moment | None = None
    ) -> list[KnowledgeObject]:
        """Return every version, oldest first."""
        ...

    def read(
        self, query: str, k: int = 5, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> list[Hit]:
        """Return the k nearest facts by meaning."""
        ...


class Compiler(Protocol):
    """Text to statements. It never stores anything and never guesses what a text does not state."""

    def compile(self, text: str, *, reader: FactReader, said_at: datetime) -> Compilation:
        """Return the statements of `text`; relative dates count from `said_at`.

        `reader` tells what is known already (for "my phone changed to ...", for pronouns), and holds
        the vocabulary. A compiler that takes `before: str` too is given what was said before, where something
        was: whom "she" means may stand there; what it states is not stated again.
        """
        ...


class QueryParser(Protocol):
    """A question to an answer from stored facts."""

    def answer(
        self, question: str, *, reader: FactReader, now: datetime, known_at: Moment | None = None
    ) -> Answer:
        """Return what the store knows; abstain (`value is None`) without evidence."""
        ...

"""Text to facts with no language model: declared wordings, general English forms, and what the text said before."""

from datetime import datetime
from weakref import WeakKeyDictionary

from ko_integrations.compiler.clauses import ClauseSplitter
from ko_integrations.compiler.forms import Record, blocks
from ko_integrations.compiler.reading import ClauseReader
from ko_integrations.compiler.relations import RelationFinder
from ko_integrations.compiler.session import Session
from ko_integrations.compiler.text import sentences, without_code
from ko_integrations.errors import InvalidInputError
from ko_integrations.protocols import Compilation, Embedder, FactReader
from ko_integrations.types import NotUnderstood
from ko_integrations.vocabulary import Vocabulary

__all__ = ["OfflineCompiler"]


class OfflineCompiler:
    """Turns text into facts by rule, with an embedder only for wordings that no rule covers.

    It never guesses a fact that a sentence does not state: questions, suppositions, instructions, quotations
    and what a machine says give nothing, and what it could not read is reported in `not_understood`.
    Instructions inside a text are text: they never name a predicate, an alias or a deletion.

    `embedder` replaces the reader's own; `embedder=False` does without.

    Source: main paper 4.2.5 (the KO compiler), here without a model.
    """

    def __init__(self, *, embedder: Embedder | bool | None = None) -> None:
        self._embedder = embedder
        self._parts: WeakKeyDictionary[Vocabulary, tuple[ClauseReader, ClauseSplitter, RelationFinder]] = (
            WeakKeyDictionary()
        )

    def compile(self, text: str, *, reader: FactReader, said_at: datetime, before: str = "") -> Compilation:
        """Return the statements of `text`; relative dates count from `said_at`, in its zone.

        `before` is what was said before: pronouns and short names may mean whom it names; it states nothing.

        Raises:
            InvalidInputError: `said_at` is naive, or `text` is not a string.
        """
        if not isinstance(text, str):
            raise InvalidInputError("text", f"expected a string, got {type(text).__name__}")
        if said_at.utcoffset() is None:
            raise InvalidInputError(
                "said_at", "naive datetime; give it a time zone, e.g. tzinfo=timezone.utc"
            )
        session = Session(reader, said_at, *self._parts_of(reader))
        found, missed = session.statements.found, session.missed
        begun = (0, 0)
        for part in (before, text):
            begun = len(found), len(missed)
            session.corrections.settled = len(found)
            prose, code = without_code(part)
            if code:
                missed.append(NotUnderstood(text=code, reason="code"))
            for block in blocks(prose, session.names_value):
                if isinstance(block, Record):
                    session.record(block)
                    continue
                for sentence in sentences(block, session.names_value):
                    session.sentence(sentence)
        return Compilation(extractions=tuple(found[begun[0] :]), not_understood=tuple(missed[begun[1] :]))

    def _parts_of(self, reader: FactReader) -> tuple[ClauseReader, ClauseSplitter, RelationFinder]:
        vocabulary = reader.vocabulary
        parts = self._parts.get(vocabulary)
        if parts is None:
            clause_reader = ClauseReader(vocabulary)
            parts = (
                clause_reader,
                ClauseSplitter(clause_reader.index, clause_reader.fits),
                RelationFinder(clause_reader),
            )
            self._parts[vocabulary] = parts
        embedder = self._embedder
        if embedder is None or embedder is True:
            embedder = reader.embedder
        chosen = embedder or None
        parts[0].use(chosen)
        parts[2].embedder = chosen
        return parts

"""Wordings that no pattern declares."""

from ko_integrations.compiler.reading import ClauseReader, Reading
from ko_integrations.protocols import Embedder


class RelationFinder:
    def __init__(self, clauses: ClauseReader) -> None:
        self._clauses = clauses
        self.embedder: Embedder | None = None

    def find(self, text: str) -> Reading | None:
        return None

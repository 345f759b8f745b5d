"""A reader with nothing behind it but what a test puts there."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from ko_integrations.compiler import OfflineCompiler
from ko_integrations.embeddings import HashingEmbedder
from ko_integrations.protocols import Compilation
from ko_integrations.types import KnowledgeObject, Provenance
from ko_integrations.vocabulary import Vocabulary

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Reader:
    """The part of `FactReader` that compilers use."""

    def __init__(
        self, vocabulary: Vocabulary | None = None, facts: Sequence[tuple[str, str, Any]] = ()
    ) -> None:
        self.vocabulary = Vocabulary.general() if vocabulary is None else vocabulary
        self.embedder = HashingEmbedder(dimension=64)
        self.stored = [_stored(number, *fact) for number, fact in enumerate(facts, 1)]

    def find_subjects(self, names: Sequence[str]) -> dict[str, str]:
        stored = {ko.subject.lower(): ko.subject for ko in self.stored}
        return {name: stored[name.lower()] for name in names if name.lower() in stored}

    def facts(self, subject: str, **_: Any) -> list[KnowledgeObject]:
        return [ko for ko in self.stored if ko.subject == subject]

    def facts_naming(self, object: str, **_: Any) -> list[KnowledgeObject]:
        return [ko for ko in self.stored if ko.object == object]

    def read_values(self, subject: str, predicate: str, **_: Any) -> list[KnowledgeObject]:
        return [ko for ko in self.stored if (ko.subject, ko.predicate) == (subject, predicate)]


def _stored(number: int, subject: str, predicate: str, value: Any) -> KnowledgeObject:
    provenance = Provenance(
        source=None, recorded_at=NOW, confidence=1.0, version=1, previous=None, sequence=number
    )
    return KnowledgeObject(
        id="0" * 64, namespace=(), subject=subject, predicate=predicate, object=value, provenance=provenance,
        valid_from=NOW,
    )  # fmt: skip


class Reads:
    """Compile a text and show its statements as plain tuples."""

    def __init__(self, compiler: Any) -> None:
        self.compiler = compiler

    def compile(
        self,
        text: str,
        *,
        facts: Sequence[tuple[str, str, Any]] = (),
        said_at: datetime = NOW,
        before: str = "",
        **options: Any,
    ) -> Compilation:
        reader = Reader(facts=facts, **options)
        return self.compiler.compile(
            text, reader=reader, said_at=said_at, **({"before": before} if before else {})
        )

    def __call__(self, text: str, **options: Any) -> list[tuple[str, str, Any]]:
        found = self.compile(text, **options).extractions
        return [(item.subject, item.predicate, item.object) for item in found if item.kind == "assert"]

    def ended(self, text: str, **options: Any) -> list[tuple[str, str, Any]]:
        found = self.compile(text, **options).extractions
        return [(item.subject, item.predicate, item.object) for item in found if item.kind == "retract"]

    def reasons(self, text: str, **options: Any) -> list[str]:
        return [item.reason for item in self.compile(text, **options).not_understood]


@pytest.fixture(scope="session")
def reads() -> Reads:
    return Reads(OfflineCompiler(embedder=False))

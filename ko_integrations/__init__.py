"""Memory for agents in which a fact that changed is superseded, not appended."""

from typing import TYPE_CHECKING, Any

from ko_integrations.errors import KOError
from ko_integrations.types import (
    Answer,
    Fact,
    Hit,
    KnowledgeObject,
    Provenance,
    Quantity,
    WriteReport,
    WriteResult,
)
from ko_integrations.vocabulary import Predicate, Vocabulary

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Fact",
    "Hit",
    "KOError",
    "KnowledgeObject",
    "KnowledgeStore",
    "Predicate",
    "Provenance",
    "Quantity",
    "Vocabulary",
    "WriteReport",
    "WriteResult",
]


def __getattr__(name: str) -> Any:
    # The store brings SQLAlchemy along; whoever only needs the types does not pay for it.
    if name == "KnowledgeStore":
        from ko_integrations.store import KnowledgeStore

        return KnowledgeStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

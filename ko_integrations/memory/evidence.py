"""Facts for a question: those that answer it, then the nearest."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ko_integrations.filters import Where, compile_where
from ko_integrations.identity import check_count
from ko_integrations.memory.prompt import described
from ko_integrations.memory.recall import named_chains
from ko_integrations.memory.routing import is_sure
from ko_integrations.times import Moment
from ko_integrations.types import Answer, KnowledgeObject

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore

__all__ = ["Evidence", "evidence_metadata", "gather"]


@dataclass(frozen=True)
class Evidence:
    """A fact and how it was found.

    Attributes:
        route: `exact`, `temporal`, `multi_hop`, `semantic`, `subject` (of a chain), or the name of another memory.
        score: cosine similarity to the question, where it was found by meaning.
    """

    ko: KnowledgeObject
    route: str
    score: float | None = None


def gather(
    store: "KnowledgeStore",
    question: str,
    k: int = 5,
    *,
    where: Where | None = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    answer: Answer | None = None,
    chains: bool = False,
) -> list[Evidence]:
    """Return up to k facts for a question: what `ask` rests its answer on, then the nearest that hold.

    `answer` saves asking again. `as_of` asks and searches at that moment. With `chains`, a question that `ask`
    is not sure of and that names stored subjects brings every version of their facts (`named_chains`), so
    that a change can be told (main paper 4.2.9).

    Raises:
        InvalidInputError: a bad filter, or `k` below 1.
    """
    check_count(k, "k")
    condition = compile_where(where)
    if answer is None:
        answer = store.ask(question, now=as_of, known_at=known_at)
    if chains and not is_sure(answer):
        told = named_chains(store, question, condition=condition, as_of=as_of, known_at=known_at)
        if told:
            return [Evidence(ko, "subject") for ko in told]
    facts = answer.facts if answer.value is not None else ()
    found = [Evidence(ko, answer.route) for ko in facts if condition is None or condition(ko)][:k]
    if len(found) < k:
        taken = {piece.ko.id for piece in found}
        hits = store.read(question, k + len(taken), where=where, as_of=as_of, known_at=known_at)
        fill = [Evidence(hit.ko, "semantic", hit.score) for hit in hits if hit.ko.id not in taken]
        found += fill[: k - len(found)]
    return found


def evidence_metadata(piece: Evidence) -> dict[str, Any]:
    """Return what a framework's document or node says of a fact, as JSON: slot, version, route and times."""
    ko, provenance = piece.ko, piece.ko.provenance
    metadata = {
        **described(ko),
        "id": ko.id,
        "reference": ko.reference,
        "source": provenance.source,
        "sources": list(provenance.sources),
        "confidence": provenance.confidence,
        "route": piece.route,
    }
    return metadata if piece.score is None else metadata | {"score": piece.score}

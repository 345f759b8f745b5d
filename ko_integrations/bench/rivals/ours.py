"""Our own contestants: `KnowledgeStore` with the packaged vocabulary, and with predicates known by name only."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ko_integrations.bench.rivals.contestant import TOP, AnswersItself, Contestant, KeepsHistory, ReadsThePast
from ko_integrations.bench.rivals.templates import BY_PREDICATE
from ko_integrations.bench.rivals.workload import Slot, Statement
from ko_integrations.protocols import Embedder
from ko_integrations.store import KnowledgeStore
from ko_integrations.vocabulary import Predicate, Vocabulary

__all__ = ["Ours", "OursByName"]


class Ours(Contestant, AnswersItself, KeepsHistory, ReadsThePast):
    """`update`, `ask`, `read`, `history`, `read_values(as_of=)`, `erase`."""

    name = "ko_integrations"
    distribution = "ko_integrations"
    abstains = True
    on_disk = True

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._store = KnowledgeStore.open(folder, embedder=embedder, vocabulary=self._vocabulary())

    def _vocabulary(self) -> Vocabulary:
        return Vocabulary.general()

    def write(self, statement: Statement) -> None:
        slot = statement.slot
        self._view(slot.tenant).update(
            slot.subject, slot.predicate, statement.value, valid_from=statement.valid_from
        )

    def settle(self) -> None:
        self._store.drain()

    def search(self, tenant: str, question: str) -> list[str]:
        return [hit.ko.text for hit in self._view(tenant).read(question, k=TOP)]

    def answer(self, tenant: str, question: str) -> str | None:
        value = self._view(tenant).ask(question).value
        return None if value is None else "; ".join(_texts(value))

    def members(self, tenant: str, question: str) -> Sequence[str]:
        return _texts(self._view(tenant).ask(question).value)

    def history(self, slot: Slot) -> list[str]:
        return [str(ko.object) for ko in self._view(slot.tenant).history(slot.subject, slot.predicate)]

    def as_of(self, slot: Slot, moment: datetime) -> list[str]:
        held = self._view(slot.tenant).read_values(slot.subject, slot.predicate, as_of=moment)
        return [str(ko.object) for ko in held]

    def erase(self, slot: Slot) -> None:
        self._view(slot.tenant).erase(slot.subject, slot.predicate)

    def close(self) -> None:
        self._store.close()

    def _view(self, tenant: str) -> KnowledgeStore:
        return self._store.namespace(tenant)


class OursByName(Ours):
    """The same without the packaged vocabulary: of each predicate only its name and how many values it holds.

    For what we did not foresee, and like against like: this is what is declared to memvara too.
    """

    name = "ko_integrations, names only"

    def _vocabulary(self) -> Vocabulary:
        return Vocabulary().with_predicates(
            *(
                Predicate(name=name, cardinality="set" if template.many else "single")
                for name, template in BY_PREDICATE.items()
            )
        )


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]

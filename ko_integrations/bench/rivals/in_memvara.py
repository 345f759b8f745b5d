"""memvara, a bitemporal memory: with its own predicates only, and with the workload's declared.

It cannot open a store with an SQLite older than 3.42 (its text index needs the option `secure-delete`), which
the Python of many systems still has; then it is given the newer one that the package `pysqlite3-binary` brings.
"""

import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from ko_integrations.bench.rivals.contestant import TOP, AnswersItself, Contestant, KeepsHistory, ReadsThePast
from ko_integrations.bench.rivals.templates import BY_PREDICATE
from ko_integrations.bench.rivals.workload import Slot, Statement
from ko_integrations.protocols import Embedder

__all__ = ["CONTESTANTS"]


@contextmanager
def _newer_sqlite() -> Iterator[None]:
    """Let what is imported meanwhile find an SQLite from 3.42 on under the name `sqlite3`."""
    own = sys.modules["sqlite3"]
    if sqlite3.sqlite_version_info < (3, 42):
        sys.modules["sqlite3"] = import_module("pysqlite3")
    try:
        yield
    finally:
        sys.modules["sqlite3"] = own


with _newer_sqlite():
    memvara: Any = import_module("memvara")


class _Embedder:
    """Our embedder as memvara takes one."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.model_id
        self.dim = embedder.dimension
        self.encode = embedder.encode


class MemvaraUndeclared(Contestant, AnswersItself, KeepsHistory, ReadsThePast):
    """`remember`, `search`, `ask`, `history`, `erase`; a user a tenant.

    `anchored` is how it abstains: only what the question names. It is also given the sentence as `text`, as
    every system of texts is. Of `search` and `ask` it answers with the one that does better: with `ask`, which
    gives all values in force of one slot, for several values, and for one value where predicates are declared.
    """

    name = "memvara, not declared"
    distribution = "memvara"
    abstains = True
    on_disk = True

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._memory = memvara.Memvara(
            str(folder / "memory.db"),
            embedder=_Embedder(embedder),
            llm=memvara.NullLLM(),
            registry=self._registry(),
        )

    def _registry(self) -> Any:
        return memvara.PredicateRegistry()

    def write(self, statement: Statement) -> None:
        slot = statement.slot
        self._scope(slot.tenant).remember(
            slot.subject,
            slot.predicate,
            statement.value,
            valid_from=statement.valid_from,
            text=statement.text,
        )

    def search(self, tenant: str, question: str) -> list[str]:
        return [each.text for each in self._scope(tenant).search(question, k=TOP, anchored=True)]

    def answer(self, tenant: str, question: str) -> str | None:
        found = self._scope(tenant).search(question, k=1, anchored=True)
        return found[0].text if found else None

    def members(self, tenant: str, question: str) -> Sequence[str]:
        readings = self._scope(tenant).ask(question, anchored=True).readings
        return [claim.text for claim in readings[0].now] if readings else []

    def history(self, slot: Slot) -> list[str]:
        claims = self._scope(slot.tenant).history(slot.subject, slot.predicate)
        return [claim.object for claim in sorted(claims, key=lambda claim: claim.valid_from)]

    def as_of(self, slot: Slot, moment: datetime) -> list[str]:
        held = self._scope(slot.tenant).history(slot.subject, slot.predicate, valid_at=moment)
        return [claim.object for claim in held]

    def erase(self, slot: Slot) -> None:
        scope = self._scope(slot.tenant)
        for claim in scope.history(slot.subject, slot.predicate):
            scope.erase(claim.id, sources=True)

    def close(self) -> None:
        self._memory.close()

    def _scope(self, tenant: str) -> Any:
        return self._memory.scope(user=tenant)


class MemvaraDeclared(MemvaraUndeclared):
    """The same, with every predicate of the workload declared single- or many-valued."""

    name = "memvara, declared"

    def answer(self, tenant: str, question: str) -> str | None:
        return "; ".join(self.members(tenant, question)) or None

    def _registry(self) -> Any:
        registry = super()._registry()
        for name, template in BY_PREDICATE.items():
            if not registry.known(name):
                cardinality = memvara.Cardinality.MANY if template.many else memvara.Cardinality.ONE
                registry.register(memvara.PredicateSpec(name, cardinality, project_scoped=False))
        return registry


CONTESTANTS: tuple[type[Contestant], ...] = (MemvaraUndeclared, MemvaraDeclared)

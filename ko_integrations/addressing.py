"""From what a caller names to the slot that it means: aliases followed, names normalised, members split off."""

import threading
from collections.abc import Iterable, Sequence
from typing import TypeVar

from ko_integrations.errors import InvalidInputError, SetValuedError
from ko_integrations.identity import canonical_value, check_text, normalize_name, normalize_predicate, slot_id
from ko_integrations.log.contract import Address, Namespace, Naming, VersionLog
from ko_integrations.types import Value
from ko_integrations.vocabulary import Vocabulary

__all__ = ["Addresser", "check_namespace", "several"]

T = TypeVar("T")


def check_namespace(parts: Sequence[str]) -> Namespace:
    """Return a namespace, verbatim.

    Raises:
        InvalidInputError: not a sequence of storable, non-blank strings.
    """
    if isinstance(parts, str) or not isinstance(parts, Sequence):
        raise InvalidInputError("namespace", f"expected separate strings, got one {type(parts).__name__}")
    return tuple(check_text(part, "namespace") for part in parts)


def several(field: str, items: Iterable[T]) -> list[T]:
    """Return the items of an argument that takes several.

    Raises:
        InvalidInputError: it is one thing, a string for example.
    """
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise InvalidInputError(field, f"expected several, got one {type(items).__name__}")
    return list(items)


class Addresser:
    """Resolves names against the vocabulary and what the log has recorded of it.

    A predicate that the log knows keeps the canonical name it was recorded with, whatever vocabulary
    this process has; `generation` tells when another process changed that.
    """

    def __init__(self, log: VersionLog, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._log = log
        self._lock = threading.Lock()
        self.generation = -1
        self._namings: dict[str, Naming] = {}
        self._aliases: dict[Namespace, dict[str, str]] = {}

    def refresh(self) -> None:
        """Read the recorded namings and aliases again if they changed. Cheap when they did not."""
        generation = self._log.generation()
        if generation == self.generation:
            return
        # Read before taking the lock: a log in memory is read under its write lock, whose holder may come here.
        namings = dict(self._log.namings())
        with self._lock:
            self._namings, self._aliases, self.generation = namings, {}, generation

    def forget(self) -> None:
        """Read everything again at the next refresh (a transaction was rolled back)."""
        self.generation = -1

    def naming(self, predicate: str) -> Naming:
        """Return canonical name and cardinality of a predicate as asserted."""
        key = normalize_predicate(predicate)
        recorded = self._namings.get(key)
        if recorded is not None:
            return recorded
        return Naming(self.vocabulary.canonical(predicate), self.vocabulary.cardinality(predicate))

    def subject_key(self, namespace: Namespace, subject: str) -> str:
        """Return the canonical key of a subject: normalised, aliases followed."""
        key = normalize_name(subject)
        known = self._aliases  # this one: what is read now must not outlive a refresh of another thread
        aliases = known.get(namespace)
        if aliases is None:
            aliases = known[namespace] = dict(self._log.aliases(namespace))
        return aliases.get(key, key)

    def place(
        self,
        namespace: Namespace,
        subject: str,
        predicate: str,
        value: Value | None = None,
        *,
        verbatim: bool = False,
    ) -> Address:
        """Return the address of a slot; `value` names the member where the predicate is set-valued.

        Raises:
            InvalidInputError: subject or predicate cannot be stored, or a member is needed and missing.
            UnknownPredicateError: undeclared under a strict vocabulary.
        """
        check_text(subject, "subject", blank=verbatim)
        check_text(predicate, "predicate")
        if verbatim:
            slot = slot_id(namespace, subject, predicate, verbatim=True)
            return Address(slot, namespace, subject, predicate, False, True)
        naming = self.naming(predicate)
        if not naming.canonical:
            raise InvalidInputError("predicate", f"{predicate!r} holds nothing but separators")
        subject_key = self.subject_key(namespace, subject)
        if naming.cardinality == "single":
            slot = slot_id(namespace, subject_key, naming.canonical)
            return Address(slot, namespace, subject_key, naming.canonical, False, False)
        if value is None:
            raise SetValuedError("predicate", f"{predicate!r} holds a set; name a member, or use read_values")
        slot = slot_id(namespace, subject_key, naming.canonical, canonical_value(value))
        return Address(slot, namespace, subject_key, naming.canonical, True, False)

    def is_set(self, predicate: str) -> bool:
        """Tell whether a predicate is set-valued."""
        return self.naming(predicate).cardinality == "set"

"""What happens to stored facts when names change: a predicate's alias or cardinality, a subject's alias.

Assertions keep the names they were asserted under; only their place changes. So a change is undone by
changing the names back, and `known_at` before it still sees the old places.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ko_integrations.addressing import Addresser
from ko_integrations.errors import InvalidInputError
from ko_integrations.identity import decode_value, normalize_name
from ko_integrations.log.contract import Address, Assertion, Entry, Namespace, Naming, VersionLog
from ko_integrations.log.fold import covering, same_value, sort_chain
from ko_integrations.types import Value
from ko_integrations.vocabulary import Vocabulary

__all__ = ["CARRIED", "alias_subject", "apply_vocabulary"]

CARRIED = "ko:rekey:"  # source of retractions that were carried over a change of cardinality


def apply_vocabulary(log: VersionLog, addresser: Addresser, vocabulary: Vocabulary, *, now: int) -> int:
    """Move every assertion whose predicate `vocabulary` names or counts otherwise than the log recorded.

    Return how many moved. One transaction.
    """
    if not _renamed(log, vocabulary):
        return 0
    with log.transaction():
        changed = _renamed(log, vocabulary)  # again, now that nobody else can write
        affected = _asserted_under(log, predicates=sorted(changed), now=now)
        for namespace, canonical in sorted(
            {(a.address.namespace, a.address.predicate_key) for a in affected}
        ):
            log.withdraw(namespace, CARRIED + canonical, now=now)
        log.record_namings(changed)
        addresser.refresh()
        moved = log.rekey(_placer(addresser, affected), predicates=sorted(changed), now=now)
        if carried := _carry_retractions(addresser, affected):
            log.append(carried, now=now)
        return moved


def alias_subject(
    log: VersionLog, addresser: Addresser, namespace: Namespace, alias: str, subject: str, *, drop: bool = False,
    now: int,
) -> int:  # fmt: skip
    """Make `alias` another name of `subject` in one namespace, or (`drop`) its own name again.

    What was named after `alias` follows it. Return how many assertions moved. One transaction.

    Raises:
        InvalidInputError: the one to drop is a name of another subject.
    """
    alias_key = normalize_name(alias)
    with log.transaction():
        target = addresser.subject_key(namespace, subject)
        aliases = log.aliases(namespace)
        if drop and aliases.get(alias_key, target) != target:
            raise InvalidInputError("drop", f"{alias!r} is another name of {aliases[alias_key]!r}")
        if not drop and target == alias_key:
            return 0  # it is its own name already, maybe by way of others
        following = [name for name, named in aliases.items() if named == alias_key]
        log.set_alias(namespace, alias_key, None if drop else target)
        if not drop:
            for name in following:
                log.set_alias(namespace, name, target)
        addresser.refresh()
        moving = [(namespace, name) for name in (alias_key, *following)]
        affected = _asserted_under(log, subjects=moving, now=now)
        return log.rekey(_placer(addresser, affected), subjects=moving, now=now)


def _renamed(log: VersionLog, vocabulary: Vocabulary) -> dict[str, Naming]:
    return {
        key: naming
        for key, recorded in log.namings().items()
        if (naming := _named_by(vocabulary, key)) != recorded
    }


def _named_by(vocabulary: Vocabulary, key: str) -> Naming:
    # A strict vocabulary refuses new statements; what is stored under another name stays readable.
    canonical = vocabulary.canonical(key) if key in vocabulary or not vocabulary.strict else key
    return Naming(canonical, vocabulary.cardinality(key))


def _asserted_under(
    log: VersionLog,
    *,
    predicates: Sequence[str] = (),
    subjects: Sequence[tuple[Namespace, str]] = (),
    now: int,
) -> list[Assertion]:
    """Collect the assertions that a re-key would touch, by asking it to move each to where it stands."""
    found: list[Assertion] = []

    def stay(assertion: Assertion) -> Address:
        if not assertion.withdrawn:
            found.append(assertion)
        return assertion.address

    log.rekey(stay, predicates=predicates, subjects=subjects, now=now)
    return found


def _placer(addresser: Addresser, affected: Sequence[Assertion]) -> Callable[[Assertion], Address]:
    """Return where each assertion belongs now. A member's retraction goes where its member goes."""
    member_values: dict[bytes, Value] = {
        a.address.slot: decode_value(a.kind, a.value)
        for a in affected
        if a.address.member and a.value is not None
    }

    def place(assertion: Assertion) -> Address:
        was = assertion.address
        becomes_set = addresser.is_set(assertion.predicate)
        if assertion.value is not None:
            value: Value | None = decode_value(assertion.kind, assertion.value)
        elif becomes_set != was.member:
            return was  # a retraction does not cross a change of cardinality; it is carried, see below
        else:
            value = member_values.get(was.slot)
            if was.member and value is None:
                return was
        return addresser.place(was.namespace, assertion.subject, assertion.predicate, value)

    return place


def _carry_retractions(addresser: Addresser, affected: Sequence[Assertion]) -> list[Entry]:
    """Return retractions that keep ended what was ended, on the other side of a change of cardinality."""
    chains: dict[bytes, list[Assertion]] = {}
    for assertion in affected:
        chains.setdefault(assertion.address.slot, []).append(assertion)
    singles: dict[bytes, list[Assertion]] = {}
    for assertion in affected:
        if assertion.value is not None and not addresser.is_set(assertion.predicate):
            target = addresser.place(assertion.address.namespace, assertion.subject, assertion.predicate)
            singles.setdefault(target.slot, []).append(assertion)
    entries: dict[tuple[bytes, int], Entry] = {}
    for chain in map(sort_chain, chains.values()):
        for tombstone in (a for a in chain if a.value is None and not (a.source or "").startswith(CARRIED)):
            if addresser.is_set(tombstone.predicate) == tombstone.address.member:
                continue
            for ended in (a for a in chain if a.value is not None and a.valid_from <= tombstone.valid_from):
                value = decode_value(ended.kind, ended.value or "")
                target = addresser.place(ended.address.namespace, ended.subject, ended.predicate, value)
                held = covering(sort_chain(singles.get(target.slot, [ended])), tombstone.valid_from)
                if target.member or (held is not None and same_value(held, ended)):
                    entries[target.slot, tombstone.valid_from] = _retraction(target, ended, tombstone)
    return list(entries.values())


def _retraction(target: Address, ended: Assertion, tombstone: Assertion) -> Entry:
    return Entry(
        address=replace(target), subject=ended.subject, predicate=ended.predicate, kind="s", value=None,
        valid_from=tombstone.valid_from, source=CARRIED + target.predicate_key,
    )  # fmt: skip

"""What erasing does: forget in the log, then finish in the index and the files, and report what may be left."""

from collections.abc import Callable

from ko_integrations.handle import Handle
from ko_integrations.identity import canonical_value, check_text, normalize_name
from ko_integrations.log.contract import Assertion, Namespace, Scope
from ko_integrations.log.pages import each_chain
from ko_integrations.records import canonical_assertion
from ko_integrations.testing import faults
from ko_integrations.types import EraseReport, Value

__all__ = ["erase", "erase_selected"]


def erase(
    handle: Handle,
    namespace: Namespace,
    subject: str,
    predicate: str | None,
    value: Value | None,
    *,
    mentions: bool,
    verbatim: bool,
) -> EraseReport:
    """Erase a subject, one of its predicates, or one value; with `mentions` also the facts naming it."""
    handle.refuse_in_batch("erase")
    check_text(subject, "subject", blank=verbatim)
    if predicate is not None:
        check_text(predicate, "predicate")
    subject_key = subject if verbatim else handle.addresser.subject_key(namespace, subject)
    canonical = predicate if verbatim or predicate is None else handle.addresser.naming(predicate).canonical
    scope = Scope(namespace, subject_key, canonical, verbatim=verbatim)
    touched: set[bytes] = set()
    with handle.batch():
        now = handle.now()
        if value is None:
            touched.update(handle.log.erase(scope, now=now))
        else:
            wanted = canonical_value(value)
            touched.update(_erase_where(handle, scope, lambda a: canonical_assertion(a) == wanted))
        if mentions:
            names = {subject_key, normalize_name(subject)}
            touched.update(_erase_where(handle, Scope(namespace), lambda a: _names_one_of(a, names)))
    return _finish(handle, len(touched))


def erase_selected(
    handle: Handle, scope: Scope | None, *, source: tuple[Namespace, str] | None = None
) -> EraseReport:
    """Erase a whole scope, or what one source asserted."""
    handle.refuse_in_batch("erase")
    touched = handle.log.erase(scope, source=source, now=handle.now())
    return _finish(handle, len(touched))


def _finish(handle: Handle, erased: int) -> EraseReport:
    faults.reach("erase:logged")
    handle.wrote(erased)
    remaining = handle.sync.finish_erasures()
    return EraseReport(complete=not remaining, remaining=tuple(remaining), erased=erased)


def _erase_where(handle: Handle, scope: Scope, matches: Callable[[Assertion], bool]) -> list[bytes]:
    """Erase the assertions of a scope whose value matches; a slot that is left without any value goes whole."""
    slots: list[bytes] = []
    sequences: list[int] = []
    for slot, chain in each_chain(handle.log, scope, withdrawn=True):
        stated = [assertion for assertion in chain if assertion.value is not None]
        hit = [assertion.sequence for assertion in stated if matches(assertion)]
        if hit and len(hit) == len(stated):
            slots.append(slot)
        else:
            sequences += hit
    touched: list[bytes] = []
    if slots:
        touched += handle.log.erase(None, slots=slots, now=handle.now())
    if sequences:
        touched += handle.log.erase(None, sequences=sequences, now=handle.now())
    return touched


def _names_one_of(assertion: Assertion, names: set[str]) -> bool:
    return assertion.kind == "s" and assertion.value is not None and normalize_name(assertion.value) in names

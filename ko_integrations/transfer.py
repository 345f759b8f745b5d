"""Export and import: subject aliases and every assertion that stands, a JSON object a line.

Of each namespace first its aliases, then its assertions in order of record: read in this order, a fact finds
the slot that it was exported from.
"""

import json
from collections.abc import Iterator
from itertools import chain
from typing import IO, Any

from ko_integrations.addressing import check_namespace
from ko_integrations.errors import InvalidInputError
from ko_integrations.handle import Handle
from ko_integrations.identity import check_text, decode_value
from ko_integrations.log.contract import Assertion, Entry, Namespace, Scope
from ko_integrations.log.pages import each_chain
from ko_integrations.records import decode_metadata
from ko_integrations.rekey import alias_subject
from ko_integrations.times import from_micros, parse_moment, to_micros
from ko_integrations.writing import append_entries, to_entry, to_fact

__all__ = ["export_jsonl", "import_jsonl"]

FORMAT = 1
_PAGE = 5_000


def export_jsonl(handle: Handle, namespace: Namespace, file: IO[str], *, below: bool) -> int:
    """Write what stands in a namespace, or in all `below` it; return the number of lines."""
    if not callable(getattr(file, "write", None)):
        raise InvalidInputError("file", f"expected an open text file, got {type(file).__name__}")
    namespaces = _namespaces(handle, namespace) if below else [namespace]
    count = 0
    for each in namespaces:
        lines = [
            {"ko": FORMAT, "namespace": list(each), "subject": subject, "alias": alias}
            for alias, subject in sorted(handle.log.aliases(each).items())
        ]
        rows = sorted(_assertions(handle, each), key=lambda row: row[0].sequence)
        for line in chain(lines, (_to_line(assertion, member) for assertion, member in rows)):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        count += len(lines) + len(rows)
    return count


def _namespaces(handle: Handle, prefix: Namespace) -> list[Namespace]:
    """Return the namespaces below `prefix` in which anything was ever stated, or an alias declared.

    The log lists those that hold something now; one whose facts all ended has a history to export too.
    """
    found = set(handle.log.aliased())
    page = handle.log.events(0, _PAGE)
    while page:
        found.update(event.namespace for event in page if event.namespace is not None)
        page = handle.log.events(page[-1].sequence, _PAGE)
    return sorted(namespace for namespace in found if namespace[: len(prefix)] == prefix)


def _assertions(handle: Handle, namespace: Namespace) -> Iterator[tuple[Assertion, Assertion]]:
    """Yield (assertion, one that states the value of its slot's member); retractions state none themselves."""
    for _, stated in each_chain(handle.log, Scope(namespace)):
        member = next((assertion for assertion in stated if assertion.value is not None), stated[0])
        if member.value is not None or not member.address.member:  # else: the end of a member nobody stated
            yield from ((assertion, member) for assertion in stated)


def _to_line(assertion: Assertion, member: Assertion) -> dict[str, Any]:
    retracts = assertion.value is None
    stated = member if retracts and assertion.address.member else assertion
    line = {
        "ko": FORMAT,
        "namespace": list(assertion.address.namespace),
        "subject": assertion.subject,
        "predicate": assertion.predicate,
        "kind": stated.kind if stated.value is not None else None,
        "value": stated.value,
        "retracts": retracts or None,
        "valid_from": from_micros(assertion.valid_from).isoformat(),
        "valid_to": None if assertion.valid_to is None else from_micros(assertion.valid_to).isoformat(),
        "recorded_at": from_micros(assertion.recorded_at).isoformat(),
        "source": assertion.source,
        "confidence": assertion.confidence,
        "metadata": decode_metadata(assertion.metadata),
        "text": assertion.text,
        "verbatim": assertion.address.verbatim or None,
    }
    return {name: value for name, value in line.items() if value is not None}


def import_jsonl(handle: Handle, namespace: Namespace, file: IO[str], *, below: bool) -> int:
    """Assert what `export_jsonl` wrote and declare its aliases, in one transaction; return how many assertions.

    A view takes lines of its own namespace only, the root handle those of any below it.
    """
    if not callable(getattr(file, "read", None)):
        raise InvalidInputError("file", f"expected an open text file, got {type(file).__name__}")
    entries: list[Entry] = []
    with handle.batch():
        handle.addresser.refresh()
        for number, text in enumerate(file, start=1):
            try:
                if text.strip() and (entry := _take(handle, namespace, _read_line(text), below=below)):
                    entries.append(entry)
            except InvalidInputError as error:
                raise InvalidInputError(f"line {number}: {error.field}", error.reason) from error
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                reason = f"damaged: {type(error).__name__}: {error}"
                raise InvalidInputError(f"line {number}", reason) from error
        append_entries(handle, entries)
    return len(entries)


def _read_line(text: str) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError("line", f"not JSON: {error}") from error
    if not isinstance(line, dict) or line.get("ko") != FORMAT:
        raise InvalidInputError("ko", f"not a line of an export of format {FORMAT}")
    return line


def _take(handle: Handle, namespace: Namespace, line: dict[str, Any], *, below: bool) -> Entry | None:
    """Declare the alias of a line, or return the assertion that it states."""
    target = check_namespace(line.get("namespace", ()))
    if target != namespace and not (below and target[: len(namespace)] == namespace):
        raise InvalidInputError("namespace", f"{target!r} is not {namespace!r}")
    if "alias" not in line:
        return _to_entry(handle, target, line)
    alias, subject = check_text(line["alias"], "alias"), check_text(line["subject"], "subject")
    alias_subject(handle.log, handle.addresser, target, alias, subject, now=handle.now())
    return None


def _to_entry(handle: Handle, target: Namespace, line: dict[str, Any]) -> Entry:
    value = None if line.get("value") is None else decode_value(line.get("kind", ""), line["value"])
    times = {name: parse_moment(line[name], name) for name in ("valid_from", "valid_to") if name in line}
    if line.get("retracts"):
        address = handle.addresser.place(
            target,
            line.get("subject", ""),
            line.get("predicate", ""),
            value,
            verbatim=line.get("verbatim", False),
        )
        start = to_micros(times["valid_from"], "valid_from") if "valid_from" in times else None
        return Entry(
            address=address, subject=line["subject"], predicate=line["predicate"], kind="s", value=None,
            valid_from=start, source=line.get("source"),
        )  # fmt: skip
    kept = ("subject", "predicate", "source", "confidence", "metadata", "text", "verbatim")
    fact = to_fact({name: line[name] for name in kept if name in line} | {"object": value} | times)
    return to_entry(handle, target, fact)

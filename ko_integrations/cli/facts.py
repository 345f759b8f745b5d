"""Commands on facts: state, read, look back, take back."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ko_integrations.cli.options import (
    AsJson,
    AsOf,
    KnownAt,
    ValueType,
    moment,
    readable,
    value_of,
    with_store,
    with_store_or_new,
)
from ko_integrations.cli.output import advancing, console, escape, plain, print_json, print_versions, stderr
from ko_integrations.errors import InvalidInputError
from ko_integrations.times import parse_moment

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore
    from ko_integrations.types import EraseReport, WriteResult

Subject = Annotated[str, typer.Argument(help="Who or what the fact is about.")]
PredicateName = Annotated[str, typer.Argument(help="Which property of it.")]
Source = Annotated[str | None, typer.Option("--source", help="Who says so.")]
Type = Annotated[ValueType, typer.Option("--type", help="How to read OBJECT; a quantity is '3 cm'.")]
K = Annotated[int, typer.Option("-k", min=1, help="How many.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (update, get, search, history, changes, retract, withdraw, erase, write, ask):
        app.command()(command)


@with_store_or_new
def update(
    store: "KnowledgeStore",
    subject: Subject,
    predicate: PredicateName,
    object: Annotated[str, typer.Argument(help="The value.")],
    type: Type = "text",
    source: Source = None,
    confidence: Annotated[float, typer.Option(help="0 to 1.")] = 1.0,
    valid_from: Annotated[str | None, typer.Option(help="Since when it holds.", show_default="now")] = None,
    valid_to: Annotated[str | None, typer.Option(help="Until when (exclusive).")] = None,
    json: AsJson = False,
) -> None:
    """State a fact; a newer value supersedes the one before it."""
    result = store.update(
        subject,
        predicate,
        value_of(object, type),
        source=source,
        confidence=confidence,
        valid_from=moment(valid_from, "valid_from"),
        valid_to=moment(valid_to, "valid_to"),
    )
    if json:
        return print_json(result)
    console.print(_result_line(result))
    return None


def _result_line(result: "WriteResult") -> str:
    if result.ko is None:
        return f"refused: {escape(str(result.error))}"
    before = f" (before: {escape(str(result.previous.object))})" if result.previous else ""
    return f"{result.outcome}: {escape(str(result.ko))}{before}"


@with_store
def get(
    store: "KnowledgeStore",
    subject: Subject,
    predicate: Annotated[str | None, typer.Argument(help="Which property; every one when left out.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    json: AsJson = False,
) -> None:
    """Show what holds: one property, or every fact of a subject."""
    when: dict[str, Any] = {"as_of": moment(as_of, "as_of"), "known_at": moment(known_at, "known_at")}
    found = (
        store.facts(subject, **when) if predicate is None else store.read_values(subject, predicate, **when)
    )
    if json:
        print_json(found)
    elif found:
        print_versions(found)
    if not found:
        asked = subject if predicate is None else f"{subject} {predicate}"
        stderr.print(f"nothing holds{' then' if as_of or known_at else ''}: {escape(asked)}")
        raise typer.Exit(1)


@with_store
def search(
    store: "KnowledgeStore",
    query: Annotated[str, typer.Argument(help="Any words.")],
    k: K = 5,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    json: AsJson = False,
) -> None:
    """Find facts by meaning; only what holds is found."""
    when: dict[str, Any] = {"as_of": moment(as_of, "as_of"), "known_at": moment(known_at, "known_at")}
    with advancing("indexing what waits") as advance:
        store.drain(progress=advance)
    hits = store.read(query, k, **when)
    degraded = store.handle.sync.trouble()
    if degraded is not None:
        stderr.print(f"[yellow]note:[/] searched without the index: {escape(degraded)}", soft_wrap=True)
    if json:
        print_json(hits)
    elif hits:
        print_versions([hit.ko for hit in hits], scores=[hit.score for hit in hits])
    if not hits:
        stderr.print(f"nothing holds{' then' if as_of or known_at else ''}")
        raise typer.Exit(1)


@with_store
def history(
    store: "KnowledgeStore",
    subject: Subject,
    predicate: PredicateName,
    known_at: KnownAt = None,
    json: AsJson = False,
) -> None:
    """Show every version of a fact, oldest first."""
    chain = store.history(subject, predicate, known_at=moment(known_at, "known_at"))
    if json:
        print_json(chain)
    elif chain:
        print_versions(chain)
    if not chain:
        stderr.print(f"nothing was ever stated: {escape(f'{subject} {predicate}')}")
        raise typer.Exit(1)


@with_store
def changes(
    store: "KnowledgeStore",
    since: Annotated[str, typer.Argument(help="A cursor (+1234 when it has four digits), or a time.")] = "0",
    json: AsJson = False,
) -> None:
    """List what changed since a cursor or a time, and the cursor to go on from."""
    # A year has four digits; so has a cursor now and then, which a leading + tells from it.
    is_cursor = since.removeprefix("+").isdigit() and len(since) != 4
    page = store.changes_since(int(since) if is_cursor else parse_moment(since, "since"))
    if json:
        return print_json(page)
    for change in page.items:
        what = escape(str(change.ko)) if change.ko else ", ".join(slot[:12] for slot in change.ids)
        console.print(
            f"{change.sequence:>8}  {change.recorded_at:%Y-%m-%d %H:%M:%S}  {change.kind:<9}  {what}"
        )
    console.print(f"cursor: {page.cursor}")
    return None


@with_store
def retract(
    store: "KnowledgeStore",
    subject: Subject,
    predicate: PredicateName,
    object: Annotated[str | None, typer.Argument(help="Which member, of a set-valued property.")] = None,
    type: Type = "text",
    at: Annotated[str | None, typer.Option(help="When it stopped holding.", show_default="now")] = None,
    source: Source = None,
    json: AsJson = False,
) -> None:
    """End a fact; its history stays."""
    member = None if object is None else value_of(object, type)
    ended = store.retract(subject, predicate, member, at=moment(at, "at"), source=source)
    if json:
        return print_json(ended)
    console.print(
        "\n".join(f"retracted: {escape(str(ko))}" for ko in ended)
        or f"nothing held{' then' if at else ''}: {escape(f'{subject} {predicate}')}"
    )
    return None


@with_store
def withdraw(
    store: "KnowledgeStore",
    source: Annotated[str, typer.Argument(help="Whose statements.")],
    json: AsJson = False,
) -> None:
    """Take back everything that a source stated; the best of the rest shows."""
    slots = store.withdraw_source(source)
    print_json({"slots": slots}) if json else console.print(f"withdrawn from {len(slots)} slot(s)")


@with_store
def erase(
    store: "KnowledgeStore",
    subject: Annotated[
        str | None, typer.Argument(help="Whose facts; all of the namespace with --everything.")
    ] = None,
    predicate: Annotated[str | None, typer.Argument(help="Only this property.")] = None,
    object: Annotated[str | None, typer.Argument(help="Only this member of a set.")] = None,
    type: Type = "text",
    source: Annotated[str | None, typer.Option(help="What this source stated, instead of a subject.")] = None,
    mentions: Annotated[bool, typer.Option("--mentions", help="Also facts whose value is SUBJECT.")] = False,
    everything: Annotated[bool, typer.Option("--everything", help="The whole namespace.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: AsJson = False,
) -> None:
    """Delete for good, from log, index and files; nothing brings it back."""
    if sum((subject is not None, source is not None, everything)) != 1:
        raise InvalidInputError("subject", "name a subject, or --source, or --everything")
    if mentions and subject is None:
        raise InvalidInputError("--mentions", "whose? it goes with a subject")
    if not yes:
        if not _has_terminal():
            raise InvalidInputError("--yes", "erasing needs it where there is no terminal to ask at")
        typer.confirm("Erase for good?", abort=True, err=True)
    if subject is not None:
        member = None if object is None else value_of(object, type)
        report = store.erase(subject, predicate, member, mentions=mentions)
    elif source is not None:
        report = store.erase_source(source)
    else:
        report = store.erase_namespace()
    print_json(report) if json else _print_erasure(report)


def _has_terminal() -> bool:
    return sys.stdin.isatty()


def _print_erasure(report: "EraseReport") -> None:
    if not report.erased and not report.remaining:
        return console.print("nothing was stored there")
    console.print(
        f"erased from {report.erased} slot(s); "
        + ("no byte is left" if report.complete else "bytes may live on in:")
    )
    for place in report.remaining:
        console.print(f"  {escape(place)}", soft_wrap=True)
    return None


@with_store_or_new
def write(
    store: "KnowledgeStore",
    file: Annotated[
        typer.FileText, typer.Argument(encoding="utf-8", help="A text file, or - for standard input.")
    ],
    source: Source = None,
    said_at: Annotated[
        str | None, typer.Option(help="When it was said; relative dates count from it.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Read a text, store the facts it states, and say what was not understood."""
    named = None if file is sys.stdin else Path(getattr(file, "name", "")).name or None
    with readable(named or "-"):
        text = file.read()
    report = store.write(text, source=source or named, said_at=moment(said_at, "said_at"))
    if json:
        return print_json(report)
    for result in report.results:
        console.print(_result_line(result))
    for ko in report.retracted:
        console.print(f"retracted: {escape(str(ko))}")
    for piece in report.not_understood:
        console.print(f"[yellow]not understood[/] ({escape(piece.reason)}): {escape(piece.text)}")
    return None


@with_store
def ask(
    store: "KnowledgeStore",
    question: Annotated[str, typer.Argument(help="In plain words.")],
    now: Annotated[str | None, typer.Option(help="Answer as if it were then.")] = None,
    known_at: KnownAt = None,
    json: AsJson = False,
) -> None:
    """Answer a question from the stored facts, or say that they do not answer it."""
    answer = store.ask(question, now=moment(now, "now"), known_at=moment(known_at, "known_at"))
    if json:
        print_json(answer)
    elif answer.value is not None:
        console.print(escape(answer.text or str(plain(answer.value))))
        console.print(f"[dim]{answer.route}, confidence {answer.confidence:.2f}[/]")
        print_versions(answer.facts)
    if answer.value is None:
        stderr.print(escape(answer.text or "the store does not answer that"))
        raise typer.Exit(1)

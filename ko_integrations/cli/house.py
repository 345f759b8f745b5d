"""Commands that look after a store: figures, checks, the index."""

from typing import TYPE_CHECKING, Annotated

import typer

from ko_integrations.cli.options import AsJson, make_embedder, with_store
from ko_integrations.cli.output import advancing, console, escape, plain, print_json, print_mapping, stderr

if TYPE_CHECKING:
    from ko_integrations.store import KnowledgeStore


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (stats, verify, rebuild):
        app.command()(command)
    app.command("renew-id")(renew_id)


@with_store
def stats(store: "KnowledgeStore", json: AsJson = False) -> None:
    """Show how much the store holds, and how its index is."""
    figures = plain(store.stats())
    print_json(figures) if json else print_mapping(figures)


@with_store
def verify(store: "KnowledgeStore", json: AsJson = False) -> None:
    """Compare log and index; exits 1 when something is wrong."""
    with stderr.status("verifying"):
        report = store.verify()
    if json:
        print_json(report)
    else:
        console.print("[green]ok[/]: log and index agree" if report.ok else "[bold red]not ok[/]")
        print_mapping(plain(report))
    if not report.ok:
        raise typer.Exit(1)


@with_store
def rebuild(
    store: "KnowledgeStore",
    encode_with: Annotated[
        str | None,
        typer.Option(help="Encode everything anew with this model; without it, stored vectors are reused."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Build the semantic index anew from the log."""
    embedder = None if encode_with is None else make_embedder(encode_with)
    with advancing("rebuilding") as advance:
        count = store.rebuild_index(embedder=embedder, progress=advance)
    if json:
        return print_json({"records": count})
    console.print(f"rebuilt, {count} record(s)")
    if encode_with is not None:
        stderr.print(f"from now on it is opened with --embedder {escape(encode_with)}", soft_wrap=True)
    return None


@with_store
def renew_id(store: "KnowledgeStore", json: AsJson = False) -> None:
    """Give a copy of a store an id of its own, so that it leaves the original's index alone."""
    store.renew_id()
    done = "from now on this store and the one it was copied from are two"
    print_json({"renewed": True}) if json else console.print(
        f"{done}; on one Chroma server, name a --collection"
    )

"""The command line: `ko`.

A typed error is one line on stderr and exit code 2; exit code 1 says that a target is missed, a check
failed or nothing was found.
"""

from typing import Any

import typer
from typer.core import TyperGroup

from ko_integrations import __version__
from ko_integrations.cli import bench, demo, experiment, facts, house, transfer
from ko_integrations.cli.options import Collection, EmbedderName, Index, Namespace, Store
from ko_integrations.cli.output import escape, one_line, stderr
from ko_integrations.errors import KOError

__all__ = ["app", "main"]


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KOError as error:
            stderr.print(f"[bold red]error:[/] {escape(one_line(error))}", soft_wrap=True)
            raise typer.Exit(2) from error


app = typer.Typer(
    name="ko",
    cls=_Commands,
    help="Memory in which a fact that changed is superseded, not appended.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_show_locals=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    store: Store = None,
    namespace: Namespace = None,
    embedder: EmbedderName = None,
    index: Index = None,
    collection: Collection = None,
    _: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Memory in which a fact that changed is superseded, not appended."""
    ctx.obj = {
        "store": store, "namespace": namespace, "embedder": embedder, "index": index, "collection": collection,
    }  # fmt: skip


for _module in (demo, facts, transfer, house, bench, experiment):
    _module.register(app)


def main() -> None:
    """Run the command line."""
    app()

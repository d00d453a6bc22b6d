"""`wh serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.output import notice
from warehouse.errors import ExitCode

PAGE = "docs/serve.md"
EXAMPLES = ("wh serve", "wh serve --port 8080", "wh serve --port 0 --name warehouse.example.org")
INTERRUPTED = "the server has stopped"


def command(
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="address to listen on; beyond this machine tokens are needed")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="port to listen on; 0 takes a free one", min=0, max=65535)] = 8042,
    names: Annotated[
        list[str] | None, typer.Option("--name", metavar="NAME", help="a host name that visitors use; can be repeated", show_default=False)
    ] = None,
    rate: Annotated[int, typer.Option("--rate", metavar="N", help="requests that a visitor may make in a minute", min=1)] = 3000,
) -> ExitCode:
    """Pages, the same as data, and tools for agents, over HTTP. Without tokens only this machine can be served."""
    from warehouse.project.project import find_project
    from warehouse.surfaces.web.serving import serve

    serve(find_project(), host, port, frozenset(names or ()), rate, lambda address: notice(f"serving {address} (Ctrl-C stops it)"))
    return ExitCode.OK

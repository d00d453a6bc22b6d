"""`wh mcp`."""

from __future__ import annotations

from warehouse.errors import ExitCode, WarehouseError

PAGE = "docs/mcp.md"
EXAMPLES = ("wh mcp",)
INTERRUPTED = "the server has stopped"


def command() -> ExitCode:
    """The Model Context Protocol over standard input and output. Tools: search, numbers, lineage, verification, comparisons, SQL."""
    from warehouse.project.project import find_project
    from warehouse.surfaces.answering import Answers

    try:
        from warehouse.surfaces.agents.server import serve_stdio
    except ImportError as error:
        raise WarehouseError("WH006", f"{error.name} is not installed", hint="pip install 'perf-warehouse[mcp]'") from error
    serve_stdio(Answers(find_project()))
    return ExitCode.OK

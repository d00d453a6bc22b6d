"""`wh columns`."""

from __future__ import annotations

import shlex
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.completion import table_names
from warehouse.cli.output import SCREEN, first_of, notice, print_json, say, table_of_first
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.transform.lineage.columns import ColumnGraph, Edge
    from warehouse.transform.lineage.derived import ColumnRef


PAGE = "docs/models.md"
EXAMPLES = ("wh columns indicator_results.median", "wh columns indicator_results", "wh columns benchmark_run_fact.* --down")


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="TABLE[.COLUMN]", help="a column; a table: all its columns; TABLE.*: what decides its rows", autocompletion=table_names
        ),
    ],
    down: Annotated[bool, typer.Option("--down", help="show what is computed from it, not what it is computed from")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the edges as JSON")] = False,
) -> ExitCode:
    from warehouse.project.project import find_project
    from warehouse.transform.lineage.columns import project_columns
    from warehouse.transform.lineage.derived import ROWS, ColumnRef

    graph, every = project_columns(find_project()), shlex.join(["wh", "columns", "-v", *(["--down"] if down else []), name])
    name, column = graph.find(name)
    starts = [ColumnRef(name, each) for each in ((*graph.columns[name], ROWS) if column is None else (column,))]
    if column is None:
        direct = graph.dependents if down else graph.sources
        edges = [edge for start in starts for edge in direct.get(start, ())]
    else:
        edges = list(graph.walk(*starts, down=down))
    tables = {name, *(edge.target.table for edge in edges)}
    unknown = {model: reason for model, reason in graph.unknown.items() if model in tables}
    if as_json:
        document = {"table": name, "column": column, "down": down, "unknown": unknown}
        print_json({**document, "edges": [edge_document(edge) for edge in edges]})
    elif column is None:
        say(table_of_first(["column", "kind", "to" if down else "from"], _rows(graph, starts, down=down), SCREEN - 2, every))
    else:
        say("\n".join(first_of(column_tree(graph, starts[0], down=down), SCREEN, every)))
    for model, reason in unknown.items():
        notice(not_understood(model, reason))
    return ExitCode.OK


def not_understood(model: str, reason: str) -> str:
    """What is reported of a model whose SQL was not understood."""
    return f"{model} is not understood ({printable(reason)}): each of its columns may depend on everything that it reads"


def edge_document(edge: "Edge") -> dict[str, object]:
    """An edge as JSON has it."""
    return {
        "source": {"table": edge.source.table, "column": edge.source.column},
        "target": {"table": edge.target.table, "column": edge.target.column},
        "kind": edge.kind,
        "is_copy": edge.is_copy,
    }


def _direct(graph: "ColumnGraph", column: "ColumnRef", down: bool) -> "list[tuple[str, ColumnRef]]":
    """Direct edges as kind and other end, but for those between a table's rows and its own columns."""
    edges = (graph.dependents if down else graph.sources).get(column, ())
    return [
        ("copy" if edge.is_copy else edge.kind, edge.target if down else edge.source)
        for edge in edges
        if edge.source.table != edge.target.table
    ]


def _rows(graph: "ColumnGraph", starts: "list[ColumnRef]", *, down: bool) -> list[list[str]]:
    rows = []
    for start in starts:
        nothing = [("constant" if _is_constant(graph, start) and not down else "", "")]
        shown = [(kind, printable(str(other))) for kind, other in _direct(graph, start, down)] or nothing
        names = [start.column, *[""] * (len(shown) - 1)]
        rows += [[name, *cells] for name, cells in zip(names, shown, strict=True)]
    return rows


def _is_constant(graph: "ColumnGraph", column: "ColumnRef") -> bool:
    """Whether a model's column depends on nothing that could change but its SQL."""
    is_known = column in graph.sources and column.table not in graph.unknown
    return is_known and not _direct(graph, column, down=False)


def column_tree(graph: "ColumnGraph", start: "ColumnRef", *, down: bool) -> list[str]:
    """One line an edge. The sources of a column are listed where the column occurs first; upwards nothing is listed under a
    condition, for what lies behind all conditions is listed at the end."""
    from warehouse.transform.lineage.derived import ROWS

    def shown(column: "ColumnRef") -> str:
        return printable(str(column)) + "  (constant)" * (not down and _is_constant(graph, column))

    lines = [shown(start)]
    seen = {start}
    stack = _hung(_direct(graph, start, down), "")
    while stack:
        (kind, column), mark, indent = stack.pop()
        below = _direct(graph, column, down) if down or kind != "condition" else []
        is_again = bool(below) and column in seen
        lines.append(f"{mark}{kind}  {shown(column)}" + "  (see above)" * is_again)
        if below and not is_again:
            seen.add(column)
            stack += _hung(below, indent)
    deciding = [] if down else graph.conditions(start)
    if deciding:
        lines.append("which rows it has, and from which rows, is decided by")
    for name, columns in groupby(deciding, key=lambda column: column.table):
        names = ("rows" if column.column == ROWS else printable(column.column) for column in columns)
        lines.append(f"   {printable(name)}: {', '.join(names)}")
    return lines


def _hung(edges: "list[tuple[str, ColumnRef]]", indent: str) -> "list[tuple[tuple[str, ColumnRef], str, str]]":
    """Edges as a stack, the first on top: each with the mark of its own line and the indent of those below it."""
    last = len(edges) - 1
    return [
        (edge, indent + ("└─ " if place == last else "├─ "), indent + ("   " if place == last else "│  "))
        for place, edge in reversed(list(enumerate(edges)))
    ]

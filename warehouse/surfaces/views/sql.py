"""The SQL workbench: a query on the build, its result, and the queries at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warehouse.digest import domain_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.surfaces.doors import column_of
from warehouse.surfaces.parts import Choice, Column, Fact, Facts, Form, Page, Part, Table, Text
from warehouse.surfaces.view import Parameter, View, Visit
from warehouse.surfaces.workbench.queries import LIMITS, MOST_ROWS, ROWS, Queries
from warehouse.transform.finished.query import distinct_names

if TYPE_CHECKING:
    import pyarrow as pa

QUERIES = Queries()
_LISTED = 200  # rows on the page; the files have all
_EXAMPLE = "select run_id, benchmark_case_id, started_at, state\nfrom benchmark_run_fact\norder by started_at desc\nlimit 20"
_RUNNING = (
    Column("query_id", "query", "number"), Column("visitor"), Column("began_at", "began", "moment"), Column("sql", "SQL", "code"),
)


def _workbench(visit: Visit) -> Page:
    sql = visit["query"]
    form = Form("ask", "/sql", (
        Choice("query", "SQL", sql or _EXAMPLE, form="text"), Choice("rows", "rows at most", str(visit["rows"])),
    ), "Run")
    about = Text("about", (
        "One statement that reads the build: SELECT, FROM, VALUES, PIVOT, DESCRIBE, SHOW, SUMMARIZE. It can reach nothing else. "
        f"It may take {LIMITS.timeout:g} seconds and {LIMITS.memory} of memory. The address of this page has the query: send it to share it."
    ))
    doors = {"Tables and columns": "/catalogue", "Queries at work": "/sql/running"}
    if not sql:
        return Page("SQL", (form, about), next_steps=doors)
    assert visit.build
    found, has_more = QUERIES.run(visit.build.path, sql, visit["rows"], visit.visitor)
    cited = Facts("citation", (
        Fact("query_digest", domain_digest("wh/ad-hoc-query/1", sql), kind="code", note="of the text of the query"),
        Fact("build_digest", visit.build.digest, kind="code"),
    ), "What it was computed from")
    warned = ("Exploratory: no policy has judged these figures. Published numbers are under Numbers.",)
    parts: tuple[Part, ...] = (form, result_table("result", found, has_more), cited)
    return Page("SQL", parts, notices=warned, next_steps=doors)


def result_table(name: str, found: "pa.Table", has_more: bool) -> Table:
    """A result as a table, in which what is named as a key leads to what it is the key of. Raises WH213 for a date that Python does not have."""
    import pyarrow.types as types

    columns = tuple(
        column_of(
            name, (field.metadata or {}).get(b"unit", b"").decode() or None,
            types.is_integer(field.type) or types.is_floating(field.type) or types.is_decimal(field.type),
        )
        for name, field in zip(distinct_names(found.schema.names), found.schema, strict=True)
    )
    rows = tuple(zip(*(_values(column, name) for column, name in zip(found.columns, found.schema.names, strict=True)), strict=True))
    return Table(name, columns, rows, "Result", empty="no rows", is_cut=has_more, listed=_LISTED)


def _values(column: "pa.ChunkedArray", name: str) -> list[Any]:
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError) as error:  # infinity, and years that are not within 1 and 9999
        message = printable(f"{name} has a date or time that is not within the years 1 and 9999")
        raise WarehouseError("WH213", message, "query", "cast it: column::varchar", ExitCode.USAGE) from error


def _running(visit: Visit) -> Page:
    mine = None if visit.role == "admin" else visit.visitor
    found = QUERIES.running(mine)
    rows = tuple((each.query_id, each.visitor, each.began_at, each.sql) for each in found)
    cancel = tuple(
        Form(f"cancel-{each.query_id}", f"/sql/running/{each.query_id}/cancel", (), f"Cancel query {each.query_id}", method="post") for each in found
    )
    return Page("Queries at work", (Table("queries", _RUNNING, rows, empty="none"), *cancel), crumbs=(("SQL", "/sql"),))


def _cancel(visit: Visit) -> Page:
    QUERIES.cancel(visit["query_id"], None if visit.role == "admin" else visit.visitor)
    return Page(f"Query {visit['query_id']} was cancelled", (), crumbs=(("SQL", "/sql"), ("Queries at work", "/sql/running")))


VIEWS = (
    View(
        "sql", "/sql", "SQL", "Run one query that reads the build, and see its first rows.", _workbench,
        (
            Parameter("query", "One SQL statement that reads.", is_long=True),
            Parameter("rows", "How many rows to return at most.", int, ROWS, bounds=(1, MOST_ROWS)),
        ), menu="SQL", is_fresh=True,
    ),
    View(
        "sql_running", "/sql/running", "Queries at work", "List your queries that are at work; an admin sees all.", _running, needs_build=False,
        is_fresh=True,
    ),
    View(
        "sql_cancel", "/sql/running/{query_id}/cancel", "Cancel a query", "End a query of yours that is at work; an admin may end any.", _cancel,
        (Parameter("query_id", "The query's number.", int, bounds=(1, 2**53)),), needs_build=False, is_act=True,
    ),
)

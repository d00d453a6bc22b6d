"""The SQL workbench: a query on the build, its result, and the queries at work."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from warehouse.digest import domain_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.surfaces.doors import column_of
from warehouse.surfaces.parts import Chart, Choice, Column, Facets, Fact, Facts, Form, Page, Part, Table, Text
from warehouse.surfaces.view import Parameter, View, Visit, address
from warehouse.surfaces.views.facts.reading import reader
from warehouse.surfaces.workbench.queries import LIMITS, MOST_ROWS, ROWS, Queries
from warehouse.transform.finished.query import distinct_names
from warehouse.transform.sql.duck import quote

if TYPE_CHECKING:
    import pyarrow as pa

QUERIES = Queries()
_LISTED = 200  # rows on the page; the files have all
_EXAMPLE = "select run_id, benchmark_case_id, started_at, state\nfrom benchmark_run_fact\norder by started_at desc\nlimit 20"
# What people ask first, each with the table that it needs.
_EXAMPLES = (
    ("Runs by day", "benchmark_run_fact", "select started_at::date as day, count(*) as runs\nfrom benchmark_run_fact\nwhere started_at is not null\n"
     "group by day\norder by day"),
    ("Runs by state", "benchmark_run_fact", "select state, count(*) as runs\nfrom benchmark_run_fact\ngroup by state\norder by runs desc"),
    ("Throughput by load", "serving_outcome_fact", "select concurrency_point, median(output_token_throughput_per_s) as tokens_per_s\n"
     "from serving_outcome_fact\nwhere concurrency_point is not null\ngroup by concurrency_point\norder by concurrency_point"),
    ("What a metric means", "metric_definition_dim",
     "select metric, display_name, display_unit, definition\nfrom metric_definition_dim\norder by metric"),
)
_MOST_TABLES, _MOST_COLUMNS = 50, 60  # beside the box
_MOST_BARS = 40
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
    schema = _schema(visit, sql or _EXAMPLE)
    doors = {"Tables and columns": "/catalogue", "Queries at work": "/sql/running"}
    if not sql:
        return Page("SQL", (schema, form, about), next_steps=doors)
    assert visit.build
    found, has_more = QUERIES.run(visit.build.path, sql, visit["rows"], visit.visitor)
    cited = Facts("citation", (
        Fact("query_digest", domain_digest("wh/ad-hoc-query/1", sql), kind="code", note="of the text of the query"),
        Fact("build_digest", visit.build.digest, kind="code"),
    ), "What it was computed from")
    warned = ("Exploratory: no policy has judged these figures. Published numbers are under Numbers.",)
    result = result_table("result", found, has_more)
    parts: tuple[Part, ...] = (schema, form, replace(result, chart=_chart(result)), cited)
    return Page("SQL", parts, notices=warned, next_steps=doors)


def _schema(visit: Visit, sql: str) -> Facets:
    """What a query can be made of: the columns of the tables that it names, examples, and the tables that have rows."""
    with reader(visit) as found:
        tables = found.rows(
            "select m.schema_name, m.name as table_name from catalog.model as m join catalog.model_result as r"
            " on r.model = m.schema_name || '.' || m.name where m.schema_name in ('main', 'mart', 'rollup') and r.rows > 0 order by all"
        )
        names = {each["table_name"] for each in tables}
        words = {*re.findall(r"\w+", sql)} & names
        columns = found.rows(
            "select schema_name, table_name, column_name, data_type from duckdb_columns() where database_name = current_database()"
            " and list_contains(?, table_name) and schema_name in ('main', 'mart', 'rollup') order by table_name, column_index", [sorted(words)],
        )
    examples = Facts("examples", tuple(
        Fact(words, None, link=address("/sql", query=text), title=words) for words, table, text in _EXAMPLES if table in names
    ), "Examples")
    groups = [examples] if examples.items else []
    for name in sorted(words):
        own = [each for each in columns if each["table_name"] == name]
        items = [
            Fact(each["column_name"], _type(each["data_type"]), link=f"/catalogue/{each['schema_name']}.{name}", title=each["column_name"])
            for each in own
        ]
        more = [Fact("more", None, title=f"{len(own) - _MOST_COLUMNS} more")] if len(own) > _MOST_COLUMNS else []
        groups.append(Facts(name, (*items[:_MOST_COLUMNS], *more), name))
    items = [
        Fact(name, None, link=address("/sql", query=f"from {each['schema_name']}.{quote(name)}\nlimit 20"), title=name)
        for each in tables for name in [each["table_name"]]
    ]
    more = [Fact("more", None, title=f"{len(items) - _MOST_TABLES} more")] if len(items) > _MOST_TABLES else []
    groups.append(Facts("tables", (*items[:_MOST_TABLES], *more), "Tables with rows"))
    return Facets("schema", tuple(groups), "Tables and examples")


def _type(name: str) -> str:
    """A type in a word."""
    return {"timestamp with time zone": "timestamptz"}.get(name.lower(), name.lower().partition("(")[0])


def _chart(table: Table) -> Chart | None:
    """A drawing of a result of one x and one y: over time or a number as points, over a few texts as bars."""
    if len(table.columns) != 2 or len(table.rows) < 2:
        return None
    x, y = table.columns
    values = [row for row in table.rows if None not in row]
    if not values or y.kind != "number":
        return None
    if all(isinstance(row[0], date) for row in values) or x.kind == "number":
        return Chart("trend", x.name, y.name)
    return Chart("bars", x.name, y.name) if len(table.rows) <= _MOST_BARS and all(isinstance(row[0], str) for row in values) else None


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
    return Page("Queries at work", (Table("queries", _RUNNING, rows, empty="none"), *cancel), crumbs=(("SQL", "/sql"),), next_steps={"SQL": "/sql"})


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

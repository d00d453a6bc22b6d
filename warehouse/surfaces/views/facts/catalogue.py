"""Catalogue: what each metric means and where it is published, and every table of the build with its columns, tests, SQL and a few rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warehouse.surfaces.doors import column_of
from warehouse.surfaces.parts import Choice, Column, Fact, Facts, Form, Page, Part, Table, Text
from warehouse.surfaces.view import Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.wording import choices
from warehouse.surfaces.views.facts.reading import Reader, reader
from warehouse.transform.export.tables import TableDescription, describe_table, list_tables
from warehouse.transform.project.model import PUBLIC_SCHEMAS, RESERVED_COLUMNS
from warehouse.transform.sql.duck import quote

_PATH = "/catalogue"
_TABLE = "/catalogue/{table}"
_MOST = 300
_SAMPLE = 5
_METRICS = "main.metric_definition_dim"


def _catalogue(visit: Visit) -> Page:
    wanted = (visit["find"] or "").lower()
    tables = [each for each in list_tables(visit.project) if visit["internal"] == "yes" or not each.is_internal]
    found_tables = [each for each in tables if wanted in f"{each.schema}.{each.table} {each.description}".lower()]
    columns = (
        Column("name", "table", link=_TABLE.replace("{table}", "{name}")), Column("kind"), Column("rows", kind="number"),
        Column("description"),
    )
    rows = tuple((f"{each.schema}.{each.table}", each.kind, each.rows, each.description) for each in found_tables[:_MOST])
    with reader(visit) as found:
        metrics = _metrics(found, wanted)
    form = Form("filter", _PATH, (Choice("find", "name or words", visit["find"] or ""), *(
        (Choice("internal", value="yes", form="hidden"),) if visit["internal"] == "yes" else ()
    )))
    offered = [("facts, marts and rollups", "no", None), ("all steps in between too", "yes", None)]
    which = choices("internal", _PATH, visit.values, "internal", offered)
    return Page(
        "Catalogue", (form, metrics, which, Table("tables", columns, rows, "Tables", total=len(found_tables), empty="no table is like that")),
        "What each metric means, and every table of this build.",
        next_steps={"Workloads": "/workloads", "Hardware": "/hardware", "Software": "/software"},
    )


def _metrics(found: Reader, wanted: str) -> Table:
    """Each metric with the tables that have it and the queries that publish it."""
    columns = (
        Column("metric", link="/explore?metric={pattern}"), Column("definition"), Column("unit"), Column("better", "better is"),
        Column("version", kind="number"), Column("computed_in", "computed in"), Column("published_by", "published by"),
        Column("pattern", is_hidden=True),
    )
    if not {"metric", "version", "definition", "unit", "better"} <= found.columns(_METRICS):
        return Table("metrics", columns, (), "Metrics", empty=f"this project has no table {_METRICS}, which says what metrics mean")
    rows = found.rows(
        # A definition may be of several columns: names and patterns, with commas.
        f"with named as (select metric, version, unnest(string_split(metric, ', ')) as pattern from {_METRICS}),"
        " held as (select named.metric, named.version,"
        " list(distinct c.table_name order by c.table_name) filter (c.schema_name = 'main') as facts,"
        " list(distinct c.table_name order by c.table_name) filter (c.schema_name = 'rollup') as queries"
        " from named inner join catalog.model_column as c on c.column_name glob named.pattern where c.schema_name in ('main', 'rollup')"
        " group by all)"
        f" select m.metric, m.definition, m.unit, m.better, m.version, held.facts, held.queries from {_METRICS} as m"
        " left join held using (metric, version) where contains(lower(m.metric || ' ' || m.definition), ?)"
        f" order by m.metric, m.version limit {_MOST}", [wanted],
    )
    shown = tuple(
        (*list(row.values())[:5], *(", ".join(row[name] or ()) for name in ("facts", "queries")), row["metric"].partition(",")[0]) for row in rows
    )
    return Table("metrics", columns, shown, "Metrics", empty="no metric is like that")


def _table(visit: Visit) -> Page:
    described = describe_table(visit.project, visit["table"])
    summary = described.summary
    name = f"{summary.schema}.{summary.table}"
    with reader(visit) as found:
        model = next(iter(found.rows("select * from catalog.model where schema_name = ? and name = ?", [summary.schema, summary.table])), {})
        result = next(iter(found.rows("select * from catalog.model_result where model = ?", [name])), {})
        readers = found.rows("select schema_name || '.' || name as name from catalog.model where list_contains(reads, ?) order by 1", [name])
        tests = found.rows("select * from catalog.test_result where starts_with(test, ? || '.') order by status = 'pass', test", [summary.table])
        known = {row["name"] for row in found.rows("select schema_name || '.' || name as name from catalog.model")}
        parts: list[Part] = [
            _facts(described, model, result), _columns(described), _neighbours("reads", "It reads", model.get("reads") or (), known),
            _neighbours("read_by", "What reads it", [row["name"] for row in readers], known), *_sample(found, described), _tests(tests),
            *_sql(model, known),
        ]
    kinds = () if summary.schema in PUBLIC_SCHEMAS else ("a step in between",)
    return Page(
        name, tuple(parts), summary.description, kinds, crumbs=(("Catalogue", _PATH),),
        next_steps={"Query it": address("/sql", query=f"select * from {name} limit 100")},
    )


def _facts(described: TableDescription, model: Mapping[str, Any], result: Mapping[str, Any]) -> Facts:
    summary = described.summary
    facts = [
        Fact("kind", summary.kind), Fact("rows", summary.rows, kind="number"),
        Fact("grain", ", ".join(described.grain) or None, title="one row for each"), Fact("role", model.get("role")),
        Fact("file", model.get("place")),
        Fact("digest", model.get("digest"), kind="code"), Fact("action", result.get("action"), title="last build", note=result.get("reason") or ""),
        Fact("seconds", result.get("seconds"), "s", kind="number", title="took"),
    ]
    return Facts("table", tuple(fact for fact in facts if fact.value is not None))


def _columns(described: TableDescription) -> Table:
    columns = (Column("name", "column"), Column("type"), Column("unit"), Column("description"))
    rows = tuple((each.name, each.type, each.unit, each.description) for each in described.columns)
    return Table("columns", columns, rows, "Columns")


def _neighbours(name: str, title: str, tables: Sequence[str], known: set[str]) -> Table:
    columns = (Column("name", "table", link="/catalogue/{model}"), Column("model", is_hidden=True), Column("kind"))
    rows = tuple((each, each if each in known else None, "" if each in known else "landing table or file") for each in tables[:_MOST])
    return Table(name, columns, rows, title, total=len(tables), empty="nothing")


def _sample(found: Reader, described: TableDescription) -> Iterator[Part]:
    """A few rows of a table that is stored; a view would be computed whole."""
    summary = described.summary
    if summary.rows is None:
        yield Text("sample", "A view: its rows are computed whenever it is asked.", title="A few rows")
        return
    order = f" order by {', '.join(map(quote, described.grain))}" if described.grain else ""
    result = found.con.execute(f"select * from {quote(summary.schema)}.{quote(summary.table)}{order} limit {_SAMPLE}")
    kept = [place for place, column in enumerate(result.description) if column[0] not in RESERVED_COLUMNS]
    names = [result.description[place][0] for place in kept]
    rows = tuple(tuple(row[place] for place in kept) for row in result.fetchall())
    units = {each.name: each.unit for each in described.columns}
    columns = tuple(
        column_of(name, units.get(name), any(isinstance(row[place], int | float) and not isinstance(row[place], bool) for row in rows))
        for place, name in enumerate(names)
    )
    yield Table("sample", columns, rows, "A few rows", total=summary.rows, empty="no row", is_folded=True)


def _tests(tests: Sequence[Mapping[str, Any]]) -> Table:
    columns = (Column("test"), Column("status", kind="state"), Column("failing_rows", kind="number"))
    rows = tuple((row["test"], row["status"], row["failing_rows"]) for row in tests)
    broken = sum(row["status"] != "pass" for row in tests)
    note = f"{broken} of {len(tests)} do not hold" if broken else f"all {len(tests)} hold" if tests else ""
    return Table("tests", columns, rows, "Tests", note, empty="it has no test", is_folded=not broken)


def _sql(model: Mapping[str, Any], known: set[str]) -> Iterator[Text]:
    if not model.get("sql"):
        return
    links = {name: address(_TABLE, table=name) for name in known}
    links |= {name.partition(".")[2]: place for name, place in links.items() if name.partition(".")[0] in PUBLIC_SCHEMAS}
    links |= {name.partition(".")[2]: place for name, place in links.items() if name.startswith("staging.")}
    yield Text("sql", model["sql"], "sql", "Its SQL", links={name: place for name, place in links.items() if name in _read_names(model)})


def _read_names(model: Mapping[str, Any]) -> set[str]:
    reads = model.get("reads") or ()
    return {*reads, *(name.partition(".")[2] for name in reads)}


VIEWS = (
    View(
        "catalogue", _PATH, "Catalogue", "What each metric means, its unit and direction, where it is computed and published; and all tables.",
        _catalogue, (
            Parameter("find", "Only metrics and tables whose name or description has this."),
            Parameter("internal", "Whether the tables of the steps in between are listed.", default="no", choices=("no", "yes")),
        ), menu="Catalogue", is_further=True,
    ),
    View(
        "table", _TABLE, "Table", "One table: its columns with units, what it reads and what reads it, a few rows, its tests and its SQL.", _table,
        (Parameter("table", "The table's name, with or without its schema."),),
    ),
)

"""Models as written: headers, names, layers, feeds, the graph, and the check that binds them before a byte moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from standard import standard_project

from warehouse.errors import WarehouseError
from warehouse.landing.parse.batches import schemas
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.project_check import check
from warehouse.transform.inputs.landing_tables import landing_types
from warehouse.transform.project.model_files import load_models, load_queries, read_model


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A bare project: no model but what a test writes."""
    return init_project(tmp_path / "project", bare=True)


def write(project: Project, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def checked(project: Project, files: Mapping[str, str]) -> CheckedProject:
    write(project, files)
    return check(load_models(project), load_queries(project), landing_types(schemas({})), project.root)


def refusal(project: Project, files: Mapping[str, str]) -> WarehouseError:
    with pytest.raises(WarehouseError) as caught:
        checked(project, files)
    return caught.value


# --- headers -----------------------------------------------------------------------------------------------------

# A file, the line:column its fault is at (None: the file as a whole), and a part of the message.
BAD_HEADERS = {
    "not YAML": ("/*\ndescription: x\n  bad: y\n*/ select 1 as a", "3:6", "not YAML"),
    "not YAML, on the first line": ("/* grain: [ */ select 1 as a", "1:11", "not closed"),
    "a control character": ("/*\ndescription: \x07\n*/ select 1 as a", "2:14", "not YAML"),
    "a tag that would run code": ("/*\ndescription: !!python/object x\n*/ select 1 as a", "2:14", "not YAML"),
    "unknown key": ("/*\ndescription: x\ndescripton: y\n*/ select 1 as a", "3:1", "unknown key 'descripton'"),
    "unknown key after lines of blanks": ("\n\n  /* note: x */ select 1 as a", "3:6", "unknown key 'note'"),
    "description": ("/*\ndescription: [a]\n*/ select 1 as a", "2:1", "description is text"),
    "materialisation": ("/*\nmaterialized: viw\n*/ select 1 as a", "2:1", "'viw' is not known"),
    "grain as text": ("/*\ngrain: a\n*/ select 1 as a", "2:1", "grain is a list"),
    "grain of numbers": ("/*\ngrain: [1]\n*/ select 1 as a", "2:1", "grain is a list"),
    "feeds": ("/*\nfeeds: [a]\n*/ select 1 as a", "2:1", "feeds is text"),
    "collects": ("/*\ncollects: {a: 1}\n*/ select 1 as a", "2:1", "collects is text"),
    "claim as text": ("/*\nclaim: all\n*/ select 1 as a", "2:1", "claim is a mapping"),
    "claim with a date": ("/*\nclaim: {since: 2025-01-01}\n*/ select 1 as a", "2:1", "claim cannot be written as JSON"),
    "columns as a list": ("/*\ncolumns: [a]\n*/ select 1 as a", "2:1", "columns is a mapping"),
    "type that is a number": ("/*\ncolumns:\n  a: {type: 1}\n*/ select 1 as a", "3:7", "type is text"),
    "column as text": ("/*\ncolumns:\n  é: int\n  a: int\n*/ select 1 as a", "3:3", "column é states no type"),
    "column that YAML reads as truth": ("/*\ncolumns:\n  on: {type: int}\n*/ select 1", "3:3", "True is no name"),
    "key of a column": ("/*\ncolumns:\n  a: {type: int, tets: []}\n*/ select 1 as a", "3:18", "unknown key 'tets'"),
    "unit": ("/*\ncolumns:\n  a: {type: int, unit: 1}\n*/ select 1 as a", "3:18", "unit is text"),
    "type that is none": ("/*\ncolumns:\n  a: {type: integr}\n*/ select 1 as a", "3:7", "no type integr"),
    "tests as text": ("/*\ncolumns:\n  a: {type: int, tests: unique}\n*/ select 1 as a", "3:18", "are a list"),
    "unknown test": ("/*\ncolumns:\n  a: {type: int, tests: [uniqe]}\n*/ select 1 as a", "3:26", "test 'uniqe'"),
    "a test that is a list": ("/*\ncolumns:\n  a: {type: int, tests: [[]]}\n*/ select 1 as a", "3:26", "unknown test"),
    "a test that is empty": ("/*\ncolumns:\n  a: {type: int, tests: [{}]}\n*/ select 1 as a", "3:26", "unknown test"),
    "argument where none belongs": (
        "/*\ncolumns:\n  a: {type: int, tests: [{unique: b}]}\n*/ select 1 as a", "3:27", "test unique is not written"),
    "accepted_values without values": (
        "/*\ncolumns:\n  a: {type: int, tests: [accepted_values]}\n*/ select 1 as a", "3:26", "test accepted_values"),
    "range without bounds": (
        "/*\ncolumns:\n  a: {type: int, tests: [{range: {}}]}\n*/ select 1 as a", "3:27", "test range is not written"),
    "range with another bound": (
        "/*\ncolumns:\n  a: {type: int, tests: [{range: {low: 1}}]}\n*/ select 1 as a", "3:27", "test range"),
    "relationship without a column": (
        "/*\ncolumns:\n  a: {type: int, tests: [{relationships: b}]}\n*/ select 1 as a", "3:27", "test relationships"),
}


@pytest.mark.parametrize("case", BAD_HEADERS)
def test_bad_headers(case: str, project: Project) -> None:
    text, place, message = BAD_HEADERS[case]
    error = refusal(project, {"models/a.sql": text})
    assert error.code == "WH201"
    assert error.place == "models/a.sql" + (f":{place}" if place else "")
    assert message in error.message


def test_unknown_keys_and_tests_list_the_known_ones(project: Project) -> None:
    hint = refusal(project, {"models/a.sql": "/*\nmaterialised: view\n*/ select 1 as a"}).hint
    assert hint and "materialized" in hint
    hint = refusal(project, {"models/a.sql": "/*\ncolumns:\n  a: {type: int, tests: [notnull]}\n*/ select 1 as a"}).hint
    assert hint and "not_null" in hint


# A leading comment that is no header leaves the model with defaults.
ORDINARY_COMMENTS = [
    "/* just words */ select 1 as a", "/* */ select 1 as a", "/*\n- a list\n*/ select 1 as a", "select 1 as a",
    "-- a description: x\nselect 1 as a", "/* words */ select 1 as a -- description: x", "-- https://x.org/description\nselect 1 as a",
    "/* words */\nselect 1 as a /*\nmaterialized: view\n*/", "select '\n-- materialized: view\n' as a",
]


@pytest.mark.parametrize("text", ORDINARY_COMMENTS)
def test_an_ordinary_comment_is_no_header(text: str, project: Project) -> None:
    write(project, {"models/a.sql": text})
    model = load_models(project)["a"]
    assert (model.description, model.materialized, model.grain, dict(model.columns)) == ("", "table", (), {})


def test_a_header_is_read(project: Project) -> None:
    write(project, {"models/a.sql": """\
/*
description: >
  One row per a:
  it's so.
materialized: view
grain: [a]
claim: {what: all}
columns:
  a: {type: integer, unit: ms, description: "The a", tests: [not_null, {range: {min: 1, max: 2}}]}
  "on": {type: varchar, feed: false}
*/
select 1 as a, 'x' as "on"
"""})
    model = load_models(project)["a"]
    assert model.description == "One row per a: it's so."
    assert (model.materialized, model.grain, model.claim) == ("view", ("a",), {"what": "all"})
    a, on = model.columns.values()
    assert (a.name, a.type, a.unit, a.description, a.in_feed) == ("a", "integer", "ms", "The a", True)
    assert [(test.kind, test.argument) for test in a.tests] == [("not_null", None), ("range", {"min": 1, "max": 2})]
    assert (on.name, on.unit, on.description, on.tests, on.in_feed) == ("on", None, "", (), False)


# --- names, schemas, layers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["A", "1a", "a-b", "a b", "é", "a.b"])
def test_a_file_name_must_be_a_table_name(name: str, project: Project) -> None:
    error = refusal(project, {f"models/{name}.sql": "select 1 as a"})
    assert (error.code, error.place) == ("WH201", f"models/{name}.sql")


def test_a_file_that_is_not_utf8(project: Project) -> None:
    (project.root / "models" / "a.sql").write_bytes(b"select '\xff' as a")
    assert refusal(project, {}).code == "WH201"


FOLDERS = {
    "models/a.sql": "main.a",
    "models/facts/a.sql": "main.a",
    "models/dims/a.sql": "main.a",
    "models/staging/a.sql": "staging.a",
    "models/staging/deep/down/a.sql": "staging.a",
    "models/reference/a.sql": "staging.a",
    "models/marts/a.sql": "mart.a",
    "models/other/a.sql": "main.a",
}


@pytest.mark.parametrize("file", FOLDERS)
def test_the_folder_gives_the_schema(file: str, project: Project) -> None:
    write(project, {file: "select 1 as a"})
    assert load_models(project)["a"].qualified == FOLDERS[file]


def test_hidden_and_private_files_are_no_models(project: Project) -> None:
    write(project, {"models/_draft.sql": "nonsense", "models/.git/x.sql": "nonsense", "models/a.sql": "select 1 as a"})
    assert list(load_models(project)) == ["a"]


def test_one_name_twice_in_a_layer(project: Project) -> None:
    error = refusal(project, {"models/facts/a.sql": "select 1 as a", "models/marts/a.sql": "select 1 as a"})
    assert (error.code, error.place) == ("WH205", "models/marts/a.sql")
    assert "models/facts/a.sql" in error.message


def test_a_model_a_query_and_a_landing_table_share_no_name(project: Project) -> None:
    files = {"models/a.sql": "select 1 as a", "queries/a.sql": "/*\ngrain: [a]\n*/ select 1 as a, 2 as b"}
    assert refusal(project, files).code == "WH205"
    (project.root / "queries" / "a.sql").unlink()
    error = refusal(project, {"models/evidence_file.sql": "select 1 as a"})
    assert error.code == "WH205"
    assert "landing table" in error.message


def test_a_query_states_its_grain(project: Project) -> None:
    error = refusal(project, {"queries/q.sql": "select 1 as a"})
    assert (error.code, error.place) == ("WH201", "queries/q.sql:1:1")


def test_a_project_s_model_replaces_the_standard_one(tmp_path: Path) -> None:
    project = standard_project(tmp_path / "project")
    standard = load_models(project)
    assert standard["order_statistic_median"].place.startswith("standard/models/")
    write(project, {"models/order_statistic_median.sql": "select 1 as n", "models/mine.sql": "select 1 as a"})
    layered = load_models(project)
    assert layered["order_statistic_median"].text == "select 1 as n"
    assert layered["order_statistic_median"].place == "models/order_statistic_median.sql"
    assert layered.keys() - standard.keys() == {"mine"}


def test_a_bare_project_has_only_its_own(project: Project) -> None:
    result = checked(project, {"models/a.sql": "select 1 as a"})
    assert list(result.models) == ["a"]
    assert result.columns == {"a": {"a": "INTEGER"}}


def test_the_standard_project_checks() -> None:
    from warehouse.landing.registry import find_ingestors

    project = Project(standard_folder(), "standard", Path("store"), Path("builds"), 1, True)
    result = check(load_models(project), load_queries(project), landing_types(schemas(find_ingestors(project))), project.root)
    assert {"benchmark_run_fact", "raw_artifact", "mlperf_inference_results"} <= result.models.keys()


# --- feeds -------------------------------------------------------------------------------------------------------

COLLECTOR = """\
/*
collects: outcome
columns:
  run_id: {type: varchar, tests: [not_null]}
  speed: {type: double}
  kind: {type: varchar, feed: false}
*/
select run_id, speed, 'x' as kind from feed.outcome
"""


def feeder(sql: str, feed: str = "outcome") -> str:
    return f"/*\nfeeds: {feed}\n*/\n{sql}"


def test_a_feed_is_the_union_by_name_of_its_feeders(project: Project) -> None:
    import duckdb

    result = checked(project, {
        "models/all_outcomes.sql": COLLECTOR,
        "models/staging/one.sql": feeder("select 1.5::double as speed, 'r1' as run_id"),
        "models/staging/two.sql": feeder("select 'r2' as run_id"),
    })
    assert result.graph.models["all_outcomes"] == {"feed.outcome"}
    assert result.graph.models["feed.outcome"] == {"one", "two"}
    assert result.columns["feed.outcome"] == {"run_id": "VARCHAR", "speed": "DOUBLE"}
    con = duckdb.connect()
    con.execute("create schema staging")
    for name in ("one", "two"):
        con.execute(f"create table staging.{name} as {result.models[name].text}")
    rows = con.execute(f"select * from ({result.models['feed.outcome'].text}) order by run_id").fetchall()
    assert rows == [("r1", 1.5), ("r2", None)]


def test_a_feed_without_feeders_is_empty(project: Project) -> None:
    assert "all_outcomes" in checked(project, {"models/all_outcomes.sql": COLLECTOR}).models


# The feeder's file, the place of the fault, a part of the message, a part of the hint.
BAD_FEEDERS = {
    "unknown feed": (feeder("select 'r' as run_id", "outcom"), "2:1", "no model collects feed outcom", "outcome"),
    "a column the feed does not have": (feeder("select 'r' as run_id, 1.0::double as sped"), "4:38", "no column sped", "speed"),
    "a column that is the collector's own": (feeder("select 'r' as run_id, 'x' as kind"), "4:30", "no column kind", "leave it out"),
    "a wrong type": (feeder("select 'r' as run_id, 1 as speed"), "4:28", "column speed is INTEGER", "speed::double"),
}


@pytest.mark.parametrize("case", BAD_FEEDERS)
def test_bad_feeders(case: str, project: Project) -> None:
    text, place, message, hint = BAD_FEEDERS[case]
    error = refusal(project, {"models/all_outcomes.sql": COLLECTOR, "models/staging/one.sql": text})
    assert (error.code, error.place) == ("WH208", f"models/staging/one.sql:{place}")
    assert message in error.message
    assert error.hint and hint in error.hint


def test_two_collectors_of_one_feed(project: Project) -> None:
    error = refusal(project, {"models/a.sql": COLLECTOR, "models/b.sql": COLLECTOR})
    assert (error.code, error.place) == ("WH208", "models/b.sql:2:1")
    assert "models/a.sql" in error.message


# --- the graph ---------------------------------------------------------------------------------------------------


def test_order_follows_the_reads(project: Project) -> None:
    result = checked(project, {
        "models/a.sql": "with b as (select * from c) select b.x, (select max(n) from d) as m from b",
        "models/b.sql": "select 1 as unused",
        "models/c.sql": "select 1 as x",
        "models/staging/d.sql": "select count(*) as n from evidence_file",
    })
    assert result.graph.models["a"] == {"c", "d"}  # b is the CTE, not the model
    assert result.graph.landing["d"] == {"evidence_file"}
    order = result.graph.order
    assert order.index("c") < order.index("a") and order.index("d") < order.index("a")


def test_names_may_be_qualified_and_of_any_case(project: Project) -> None:
    result = checked(project, {"models/staging/a.sql": "select 1 as x", "models/b.sql": 'select * from Staging."A"'})
    assert result.graph.models["b"] == {"a"}


def test_a_chain_of_two_thousand_models_has_an_order(project: Project) -> None:
    import duckdb

    from warehouse.transform.project.graph import build_graph

    write(project, {"models/m.sql": "select 1 as a"})
    first = load_models(project)["m"]
    texts = {"m0": "select 1 as a", **{f"m{i}": f"select a from m{i - 1}" for i in range(1, 2000)}}
    chain = {name: replace(first, name=name, text=text) for name, text in texts.items()}
    graph, faults = build_graph(duckdb.connect(), chain, ())
    assert (graph.order, faults) == (tuple(texts), [])


CIRCLES = {
    "a reads itself": ({"models/a.sql": "select * from a"}, "models/a.sql:1:15"),
    "a -> b -> a": ({"models/a.sql": "select * from b", "models/b.sql": "select * from a"}, "models/b.sql:1:15"),
    "a -> c -> b -> a": (
        {"models/a.sql": "select * from c", "models/b.sql": "select * from a", "models/c.sql": "select 1 as x from b"},
        "models/b.sql:1:15",
    ),
}


@pytest.mark.parametrize("case", CIRCLES)
def test_circles(case: str, project: Project) -> None:
    files, place = CIRCLES[case]
    error = refusal(project, files)
    assert (error.code, error.place) == ("WH206", place)
    assert error.message.splitlines()[0].endswith(case)


def test_a_circle_of_five_thousand_models_is_told_shortly(project: Project) -> None:
    from warehouse.transform.project.graph import build_graph
    from warehouse.transform.sql.duck import connect

    write(project, {"models/m.sql": "select 1 as a"})
    first = load_models(project)["m"]
    circle = {
        f"m{i:04}": replace(first, name=f"m{i:04}", text=f"select a from m{(i + 1) % 5000:04}") for i in range(5000)
    }
    graph, (fault,) = build_graph(connect(), circle, ())
    assert graph.order == ()
    assert "m0003 -> (4993 more) -> m4997" in fault.message and "and 4995 more" in str(fault.hint)


def test_what_reads_a_circle_is_not_in_it(project: Project) -> None:
    error = refusal(project, {
        "models/a.sql": "select * from z", "models/y.sql": "select * from z", "models/z.sql": "select * from y",
    })
    assert error.message.splitlines()[0] == "models read each other in a circle: y -> z -> y"
    assert error.also == ()


# --- SQL that does not parse or bind ------------------------------------------------------------------------------

# SQL of models/b.sql beside models/run_fact.sql; code, line:column, part of the message, of the hint, the caret's line.
BAD_SQL = {
    "syntax": ("select\n    a,,\nfrom run_fact", "WH202", "2:7", "syntax error", None, "    a,,"),
    "cut short": ("select a from (\n", "WH202", "1:15", "", None, "select a from ("),
    "two statements": (
        "select 1 as a; select 2 as b", "WH202", "1:16", "second statement", "file of its own", "select 1 as a; select 2 as b"),
    "no statement": ("-- nothing", "WH202", "1:1", "no SQL", None, "-- nothing"),
    "not a query": (
        "create table x as select 1 as a", "WH202", "1:1", "not create", "select alone", "create table x as select 1 as a"),
    "unknown table": ("select 1 as a\nfrom run_fct", "WH203", "2:6", "run_fct", "run_fact", "from run_fct"),
    "unknown table of a schema": (
        "select * from mart.run_fact", "WH203", "1:15", "mart.run_fact", "main.run_fact", None),
    "unknown column": (
        "select\n    host,\n    'é' as é, hostid\nfrom run_fact",
        "WH204", "3:15", "hostid", "host_id", "    'é' as é, hostid",
    ),
    "unknown column after a header": (
        "/*\ndescription: é\n*/\nselect hostid\nfrom run_fact", "WH204", "4:8", "hostid", "host_id", "select hostid"
    ),
    "unknown function": ("select nosuch(host) as a from run_fact", "WH204", "1:8", "nosuch", None, None),
    "wrong type": ("select host + date '2025-01-01' as a from run_fact", "WH204", "1:13", "+", None, None),
}


@pytest.mark.parametrize("case", BAD_SQL)
def test_bad_sql(case: str, project: Project) -> None:
    text, code, place, message, hint, line = BAD_SQL[case]
    error = refusal(project, {"models/run_fact.sql": "select 'h' as host, 1 as host_id", "models/b.sql": text})
    assert (error.code, error.place) == (code, "models/b.sql" + (f":{place}" if place else ""))
    assert message in error.message
    assert hint is None or (error.hint and hint in error.hint)
    if line is not None and place:
        *_, shown, caret = error.message.split("\n")
        assert (shown, caret) == (line, " " * (int(place.split(":")[1]) - 1) + "^")


def test_a_view_on_a_landing_table_is_refused(project: Project) -> None:
    view = "/*\nmaterialized: view\n*/ select * from "
    error = refusal(project, {"models/a.sql": view + "evidence_file"})
    assert (error.code, error.place) == ("WH204", "models/a.sql:2:1")
    assert error.hint and "materialized" in error.hint


def test_a_view_on_a_table_is_fine(project: Project) -> None:
    result = checked(project, {
        "models/a.sql": "/*\nmaterialized: view\n*/ select * from b",
        "models/b.sql": "select raw_path from evidence_file",
    })
    assert result.columns["a"] == {"raw_path": "VARCHAR"}


# --- contracts ---------------------------------------------------------------------------------------------------

# The header's lines, the SQL, line:column, a part of the message, of the hint.
BROKEN_CONTRACTS = {
    "a column missing": (
        "columns: {host: {type: varchar}, hosts: {type: varchar}}", "select 'h' as host", "2:34", "hosts",
        "take it out of the header"),
    "a column of another name": (
        "columns: {hosts: {type: varchar}}", "select 'h' as host", "2:11", "hosts", "did you mean host?"),
    "a column too many": (
        "columns: {host: {type: varchar}}", "select 'h' as host, 1 as b", "3:29", "column b", "leave it out"),
    "another type": ("columns: {n: {type: bigint}}", "select 1 as n", "2:15", "n is INTEGER", "n::bigint"),
    "another precision": (
        "columns: {n: {type: 'decimal(9, 2)'}}", "select 1::decimal(9, 3) as n", "2:15", "DECIMAL(9,3)",
        "n::decimal(9, 2)"),
    "grain": ("grain: [run_id]", "select 1 as n", "2:9", "run_id", "columns are: n"),
}


@pytest.mark.parametrize("case", BROKEN_CONTRACTS)
def test_broken_contracts(case: str, project: Project) -> None:
    header, sql, place, message, hint = BROKEN_CONTRACTS[case]
    error = refusal(project, {"models/a.sql": f"/*\n{header}\n*/ {sql}"})
    assert (error.code, error.place) == ("WH207", f"models/a.sql:{place}")
    assert error.also == ()
    assert message in error.message
    assert error.hint and hint in error.hint


# A type may be written as people write it.
SAME_TYPES = {
    "int": "1", "Text": "'a'", "timestamp with time zone": "timestamptz '2026-01-01 00:00:00Z'", "decimal(9,2)": "1::decimal(9, 2)", "int[]": "[1]",
    "struct(a int, b text)": "{'a': 1, 'b': 'x'}", "map(text, int)": "map {'a': 1}", "double": "1e0",
}


@pytest.mark.parametrize("written", SAME_TYPES)
def test_types_have_synonyms(written: str, project: Project) -> None:
    sql = f"/*\ncolumns:\n  n: {{type: '{written}'}}\n*/ select {SAME_TYPES[written]} as n"
    assert "a" in checked(project, {"models/a.sql": sql}).models


def test_read_model_reads_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sql"
    path.write_text("select  1 AS a -- one\n", encoding="utf-8")
    model = read_model(path, "mart", "models/marts/a.sql")
    assert (model.qualified, model.canonical_sql, model.text) == ("mart.a", "select 1 as a", "select  1 AS a -- one\n")


def test_a_cte_with_the_name_of_the_table_that_it_reads_hides_no_dependency() -> None:
    from warehouse.transform.project.model import Model
    from warehouse.transform.sql.duck import connect
    from warehouse.transform.sql.tree import references

    cases = {
        "with t as (select * from t) select * from t": {"t"},
        "with a as (select 1), b as (select * from a join c on true) select * from b, d": {"c", "d"},
        "with recursive r as (select 1 as n union all select n + 1 from r where n < 3) select * from r": set(),
        "select * from x where exists (with y as (select * from y) select 1 from y)": {"x", "y"},
        "with a as (with b as (select * from e) select * from b) select * from a, b": {"b", "e"},
    }
    for sql, expected in cases.items():
        model = Model("m", "main", "m.sql", sql)
        assert {reference.name for reference in references(connect(), model)} == expected, sql


def test_the_check_binds_and_runs_nothing(project: Project) -> None:
    result = checked(
        project,
        {
            "models/huge.sql": "select count(*) as n from range(1000000000000000)",
            "models/bad_value.sql": "select cast(x as integer) as n from (values ('one')) as t (x)",
        },
    )
    assert result.columns == {"bad_value": {"n": "INTEGER"}, "huge": {"n": "BIGINT"}}

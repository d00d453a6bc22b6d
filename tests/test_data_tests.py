"""Data tests: how headers and SQL files state them, what the check says of bad ones, and what a build does with the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from bare_project import project as project
from bare_project import write
from conftest import Wh

from warehouse.errors import WarehouseError
from warehouse.landing.parse.batches import schemas
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.project_check import check
from warehouse.transform.finished.builds import find_current
from warehouse.transform.inputs.landing_tables import landing_types
from warehouse.transform.project.data_tests import data_tests, load_sql_tests
from warehouse.transform.project.model_files import load_models, load_queries
from warehouse.transform.sql.duck import connect
from warehouse.transform.testing import run_tests


def checked(project: Project, files: Mapping[str, str]) -> CheckedProject:
    write(project, files)
    return check(load_models(project), load_queries(project), landing_types(schemas({})), project.root, load_sql_tests(project))


def refusal(project: Project, files: Mapping[str, str]) -> WarehouseError:
    with pytest.raises(WarehouseError) as caught:
        checked(project, files)
    return caught.value


# --- headers that are not written as they must be ------------------------------------------------------------------

# Lines of the header, where the fault is, a part of the message, of the hint. The model has columns a and b.
BAD_HEADERS = {
    "tests as a mapping": ("tests: {row_count: {min: 1}}", "2:1", "tests are a list", "row_count"),
    "unknown test": ("tests:\n  - expresion: a > b", "3:5", "unknown test 'expresion'", "did you mean expression?"),
    "a column's test on the table": ("tests: [not_null]", "2:9", "unknown test 'not_null'", "a test of a column"),
    "a table's test on a column": (
        "columns:\n  a: {type: int, tests: [{row_count: {min: 1}}]}", "3:26", "unknown test 'row_count'", "whole table"),
    "two tests in one entry": (
        "columns:\n  a: {type: int, tests: [{not_null: , unique: }]}", "3:26", "not_null and unique are two", "each"),
    "options alone": ("tests:\n  - severity: warn", "3:5", "unknown test", "row_count, expression"),
    "unknown option": ("tests:\n  - expression: a > b\n    sevrity: warn", "3:5", "sevrity", "did you mean severity?"),
    "unknown severity": (
        "tests:\n  - expression: a > b\n    severity: warning", "4:5", "severity 'warning' is not known", "error, warn"),
    "where that is empty": ("tests:\n  - expression: a > b\n    where: ''", "4:5", "where is a condition", "where:"),
    "expression that is a number": ("tests:\n  - expression: 1", "3:5", "test expression is not written", "expression:"),
    "row_count without bounds": ("tests: [row_count]", "2:9", "test row_count is not written", "{min: 1, max: 100}"),
    "row_count below nothing": ("tests:\n- row_count: {min: -1}", "3:3", "test row_count is not written", "min"),
    "row_count that is no count": ("tests:\n- row_count: {min: 1.5}", "3:3", "test row_count is not written", "min"),
    "range of truth": (
        "columns:\n  a: {type: int, tests: [{range: {min: true}}]}", "3:27", "test range is not written", "min"),
    "range that never ends": (
        "columns:\n  a: {type: int, tests: [{range: {max: .inf}}]}", "3:27", "test range is not written", "min"),
    "range of nothing": (
        "columns:\n  a: {type: int, tests: [{range: {min: null}}]}", "3:27", "test range is not written", "min"),
    "accepted_values with NULL": (
        "columns:\n  a: {type: int, tests: [{accepted_values: [1, null]}]}", "3:27", "accepted_values is not", "[a, b]"),
}


@pytest.mark.parametrize("case", BAD_HEADERS)
def test_bad_headers(case: str, project: Project) -> None:
    lines, place, message, hint = BAD_HEADERS[case]
    error = refusal(project, {"models/m.sql": f"/*\n{lines}\n*/ select 1 as a, 2 as b"})
    assert (error.code, error.place) == ("WH201", f"models/m.sql:{place}")
    assert message in error.message
    assert error.hint and hint in error.hint


# --- tests that do not bind ----------------------------------------------------------------------------------------

CONTRACT = "columns:\n  a: {type: int}\n  b: {type: date, tests: [%s]}\n"
OTHERS = {
    "models/staging/host.sql": "select 1 as id, 'é' as name",
    "models/file.sql": "select raw_path from evidence_file",
}

# Lines of the header, code, place, a part of the message, of the hint, the line with the caret.
UNBOUND_HEADERS = {
    "syntax, inside a text in quotes": (
        'tests:\n  - expression: "a > > 1"', "WH202", "3:22", "syntax error", None, '  - expression: "a > > 1"'),
    "unknown column, inside a plain text": (
        "description: é\ntests:\n  - expression: a > 1 and bb is null", "WH204", "4:27", "bb", "did you mean b?",
        "  - expression: a > 1 and bb is null"),
    "unknown column of a condition": (
        "tests:\n  - expression: a > 1\n    where: c = 1", "WH204", "4:12", '"c"', None, "    where: c = 1"),
    "condition of a count": ("tests:\n  - {row_count: {min: 1}, where: c = 1}", "WH204", "3:34", '"c"', None, None),
    "condition of a column's test": (
        CONTRACT % "{not_null: , where: c = 1}", "WH204", "4:47", '"c"', None, None),
    "several lines: the last of them": (
        "tests:\n  - expression: |-\n      a > 1\n      and c", "WH204", "3:5", '"c"', None, None),
    "a text with escapes: the entry": ('tests:\n  - expression: "c\\x20= 1"', "WH204", "3:5", '"c"', None, None),
    "more than a condition": (
        'tests:\n  - expression: "true); drop table m; select (true"', "WH202", "3:5", "not one", "semicolon", None),
    "wrong types": ("tests:\n  - expression: b > 1", "WH204", "3:17", "DATE", None, "  - expression: b > 1"),
    "aggregate": ("tests:\n  - expression: sum(a) > 1", "WH204", "3:17", "aggregates", None, None),
    "no condition, but a tuple": ("tests:\n  - expression: (a, a)", "WH204", "3:5", "true or false, this is TUPLE", "compare", None),
    "no condition, but a number": ("tests:\n  - {row_count: {min: 1}, where: a}", "WH204", "3:27", "this is INTEGER", "n > 0", None),
    "a value that the column cannot have": (CONTRACT % "{accepted_values: [yesterday]}", "WH204", "4:28", "yesterday", None, None),
    "YAML's booleans": (CONTRACT % "{accepted_values: [yes, no]}", "WH204", "4:28", "the column is DATE", "in quotes", None),
    "unknown table of a subquery": (
        "tests:\n  - expression: a in (select id from hosts)", "WH203", "3:38", "hosts", "host", None),
    "landing table of a subquery": (
        "tests:\n  - expression: a in (select 1 from evidence_file)", "WH203", "3:5",
        "cannot read landing table evidence_file", "staging model", None),
    "the time of day: the entry": (
        "tests:\n  - expression: a > hour(now())", "WH226", "3:5", "now gives another value", None,
        "  - expression: a > hour(now())"),
    "a place in a file, in a condition": (
        "tests:\n  - {row_count: {min: 1}, where: rowid > 0}", "WH226", "3:27", "rowid is a row's place", None, None),
    "a file in a condition": (
        "tests:\n  - expression: a in (from 'x.csv')", "WH220", "3:5", "a test cannot read files", "test a model", None),
    "relationship to no model": (
        CONTRACT % "{relationships: hosts.id}", "WH203", "4:28", "no model or feed is named hosts", "did you mean host?", None),
    "relationship to no column": (
        CONTRACT % "{relationships: staging.host.idd}", "WH204", "4:28", "staging.host has no column idd",
        "did you mean id?", None),
    "relationship to a landing table": (
        CONTRACT % "{relationships: evidence_file.raw_path}", "WH203", "4:28", "no model or feed", None, None),
    "relationship of other types": (CONTRACT % "{relationships: host.id}", "WH204", "4:28", "DATE", None, None),
    "bound that the column cannot have": (
        CONTRACT % "{range: {min: yesterday}}", "WH204", "4:28", "yesterday", None, None),
}


@pytest.mark.parametrize("case", UNBOUND_HEADERS)
def test_tests_in_headers_are_bound_before_a_byte_moves(case: str, project: Project) -> None:
    lines, code, place, message, hint, line = UNBOUND_HEADERS[case]
    sql = "select 1 as a, date '2025-01-01' as b"
    error = refusal(project, {**OTHERS, "models/m.sql": f"/*\n{lines}\n*/ {sql}"})
    assert (error.code, error.place) == (code, f"models/m.sql:{place}")
    assert message in error.message
    assert hint is None or (error.hint and hint in error.hint)
    if line is not None:
        *_, shown, caret = error.message.split("\n")
        assert (shown, caret) == (line, " " * (int(place.split(":")[1]) - 1) + "^")


# The file, code, place, a part of the message, of the hint.
BAD_SQL_TESTS = {
    "syntax": ("select * from host\nwhere id >", "WH202", "2:10", "syntax error", None),
    "unknown column": ("/*\nseverity: warn\n*/\nselect é, idd from host", "WH204", "4:8", "é", None),
    "unknown table": ("select *\nfrom hots", "WH203", "2:6", "hots", "host"),
    "landing table": ("select * from evidence_file", "WH203", None, "cannot read landing table", "staging model"),
    "the time of day": ("select * from host\nwhere now() > '2030-01-01'", "WH226", "2:7", "now gives another value", None),
    "a file": ("select * from host\nsemi join 'ids.csv' using (id)", "WH220", "2:11", "a test cannot read files", None),
    "two statements": ("select 1; select 2", "WH202", "1:11", "a second statement", "file of its own"),
    "not a query": ("drop table staging.host", "WH202", "1:1", "not drop", "select alone"),
    "nothing": ("-- nothing", "WH202", "1:1", "no SQL", "delete the file"),
    "unknown key": ("/*\ngrain: [a]\n*/ select 1", "WH201", "2:1", "unknown key 'grain'", "description, severity"),
    "unknown severity": ("/*\nseverity: fatal\n*/ select 1", "WH201", "2:1", "severity 'fatal'", "error, warn"),
}


@pytest.mark.parametrize("case", BAD_SQL_TESTS)
def test_sql_tests_are_bound_before_a_byte_moves(case: str, project: Project) -> None:
    text, code, place, message, hint = BAD_SQL_TESTS[case]
    error = refusal(project, {**OTHERS, "data_tests/t.sql": text})
    assert (error.code, error.place) == (code, "data_tests/t.sql" + (f":{place}" if place else ""))
    assert message in error.message
    assert hint is None or (error.hint and hint in error.hint)


def test_a_file_name_must_be_a_name(project: Project) -> None:
    assert refusal(project, {"data_tests/No Orphans.sql": "select 1"}).code == "WH201"


def test_tests_know_their_names_and_what_they_read(project: Project) -> None:
    header = """\
grain: [a]
tests:
  - expression: a > 0
  - expression: a in (select id from staging.host)
  - row_count: {min: 1}
columns:
  a: {type: int, tests: [not_null, {relationships: host.id}, {range: {min: 1}, where: a > 3}, {range: {max: 9}}]}
"""
    result = checked(project, {
        **OTHERS, "models/m.sql": f"/*\n{header}*/ select 1 as a",
        "data_tests/deep/orphans.sql": "select a from m anti join host on host.id = m.a",
    })
    assert {test.name: set(test.reads) for test in result.tests} == {
        "m.grain": {"m"},
        "m.a_not_null": {"m"},
        "m.a_relationships": {"m", "host"},
        "m.a_range": {"m"},
        "m.a_range_2": {"m"},
        "m.expression": {"m"},
        "m.expression_2": {"m", "host"},
        "m.row_count": {"m"},
        "deep/orphans": {"m", "host"},
    }


def test_hidden_and_private_files_are_no_tests(project: Project) -> None:
    files = {"data_tests/_draft.sql": "nonsense", "data_tests/.old/x.sql": "nonsense", "data_tests/notes.md": "words"}
    assert checked(project, files).tests == ()


def test_a_file_of_a_later_layer_replaces_the_one_at_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standard, own = init_project(tmp_path / "standard", bare=True), init_project(tmp_path / "own")
    monkeypatch.setattr("warehouse.project.project.standard_folder", lambda: standard.root)
    write(standard, {"data_tests/a.sql": "select 1", "data_tests/b.sql": "select 1", "data_tests/x/a.sql": "select 1"})
    write(own, {"data_tests/a.sql": "select 2", "data_tests/c.sql": "select 2"})
    assert {test.name: test.place for test in load_sql_tests(own)} == {
        "a": "data_tests/a.sql", "b": "standard/data_tests/b.sql", "x/a": "standard/data_tests/x/a.sql",
        "c": "data_tests/c.sql",
    }


# --- what holds and what breaks --------------------------------------------------------------------------------------

# The test, the rows of a (integer) and b (integer), and how many rows break it.
FORMS = {
    "row_count, enough": ("tests: [{row_count: {min: 2, max: 2}}]", "(1, 1), (2, 2)", 0),
    "row_count, too few": ("tests: [{row_count: {min: 3}}]", "(1, 1), (2, 2)", 1),
    "row_count, too many": ("tests: [{row_count: {max: 1}}]", "(1, 1), (2, 2)", 1),
    "row_count where": ("tests: [{row_count: {max: 1}, where: a > 1}]", "(1, 1), (2, 2)", 0),
    "row_count of an empty table": ("tests: [{row_count: {min: 1}}]", "", 1),
    "row_count of nothing": ("tests: [{row_count: {max: 0}}]", "", 0),
    "expression, true": ("tests: [{expression: a <= b}]", "(1, 1), (1, 2)", 0),
    "expression, false": ("tests: [{expression: a < b}]", "(1, 1), (1, 2), (3, 2)", 2),
    "expression, NULL breaks nothing": ("tests: [{expression: a < b}]", "(null, 1), (1, null)", 0),
    "expression with or": ("tests: [{expression: a = 1 or b = 1}]", "(1, 2), (2, 1), (2, 2)", 1),
    "expression with a comment": ("tests: [{expression: a = 1 -- one}]", "(1, 2), (2, 1)", 1),
    "expression where": ("tests: [{expression: a < b, where: b > 1 or a is null}]", "(5, 1), (5, 2)", 1),
    "expression where NULL": ("tests: [{expression: a < b, where: b > 1}]", "(5, null)", 0),
    "expression over another table": ("tests: [{expression: a in (select id from host)}]", "(1, 0), (7, 0)", 1),
    "not_null where": ("columns: {a: {type: int, tests: [{not_null: , where: b > 0}]}, b: {type: int}}",
                       "(null, 0), (null, 1)", 1),
    "unique where": ("columns: {a: {type: int, tests: [{unique: , where: b > 0}]}, b: {type: int}}",
                     "(1, 0), (1, 1), (2, 1), (2, 1)", 1),
    "range where": ("columns: {a: {type: int, tests: [{range: {max: 5}, where: b > 0}]}, b: {type: int}}",
                    "(9, 0), (9, 1), (9, 2), (3, 1)", 2),
    "relationships where": ("columns: {a: {type: int, tests: [{relationships: host.id, where: b > 0}]}, b: {type: int}}",
                            "(9, 0), (9, 1), (1, 1)", 1),
    "accepted_values counts rows": ("columns: {a: {type: int, tests: [{accepted_values: [1]}]}, b: {type: int}}",
                                    "(2, 0), (2, 1), (1, 1)", 2),
}


@pytest.mark.parametrize("case", FORMS)
def test_forms(case: str, project: Project) -> None:
    header, rows, failing = FORMS[case]
    values = f"select a::int as a, b::int as b from (values {rows or '(0, 0)'}) as v (a, b)"
    sql = values if rows else f"{values} where false"
    models = checked(project, {"models/host.sql": "select 1 as id", "models/m.sql": f"/*\n{header}\n*/ {sql}"}).models
    con = connect()
    for name, model in models.items():
        con.execute(f"create table {name} as {model.text}")
    (result,) = run_tests.run_tests(con, data_tests(models))
    assert (result.status, result.failing_rows) == ("fail" if failing else "pass", failing)


# --- builds ------------------------------------------------------------------------------------------------------------

RUNS = """\
/*
grain: [run_id]
tests:
  - row_count: {min: 1}
  - {expression: ended_s >= started_s, severity: warn}
columns:
  run_id: {type: bigint, tests: [not_null]}
  speed: {type: double, tests: [{range: {min: 0}}]}
  started_s: {type: bigint}
  ended_s: {type: bigint}
*/
select i as run_id, %s::double as speed, 5 as started_s, %s as ended_s from range(1, %d) as r (i)
"""
RUNS = RUNS.replace("5 as started_s", "5::bigint as started_s").replace("%s as ended_s", "(%s)::bigint as ended_s")
GOOD = RUNS % ("i * 1.5", "9", 4)
LATE = RUNS % ("i * 1.5", "i * 3", 4)  # run 1 ends at 3, before it started
SLOW = RUNS % ("i - 3", "9", 6)  # runs 1 and 2 have a negative speed
SLOW_AND_LATE = RUNS % ("i - 3", "i * 3", 6)


def test_every_test_runs_and_one_error_tells_of_all_that_failed(project: Project) -> None:
    write(project, {"models/run.sql": GOOD})
    build(project)
    before = find_current(project)
    write(project, {
        "models/run.sql": SLOW_AND_LATE,
        "data_tests/many.sql": "/*\ndescription: there are at most four runs\n*/\nselect run_id from run where run_id > 4;",
    })
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert (caught.value.code, caught.value.place) == ("WH210", "models/run.sql:8:33")
    assert caught.value.message == """\
2 of 6 tests failed
fail run.speed_range (models/run.sql:8:33): speed: range min 0: broken by 2 rows
  run_id  speed  started_s  ended_s
  ------  -----  ---------  -------
  1       -2.0   5          3
  2       -1.0   5          6
fail many (data_tests/many.sql): there are at most four runs: broken by 1 row
  run_id
  ------
  5"""
    assert caught.value.hint == """all rows: wh sql --failures 'from "run.speed_range"'"""
    assert find_current(project) == before


def test_a_warning_is_told_and_does_not_block(project: Project, wh: Wh) -> None:
    write(project, {"models/run.sql": LATE})
    status, out, err = wh("build")
    assert status == 0
    assert "main.run" in out
    assert err.startswith("""\
warn run.expression (models/run.sql:5:5): expression ended_s >= started_s: broken by 1 row
  run_id  speed  started_s  ended_s
  ------  -----  ---------  -------
  1       1.5    5          3
built 1 in """)
    assert find_current(project) is not None


def test_a_sql_test_of_severity_warn_does_not_block(project: Project) -> None:
    write(project, {"models/run.sql": GOOD, "data_tests/t.sql": "/*\nseverity: warn\n*/ select run_id from run"})
    results = {result.name: (result.status, result.failing_rows) for result in build(project).tests}
    assert results["t"] == ("warn", 3)
    assert {found for name, found in results.items() if name != "t"} == {("pass", 0)}


def test_a_new_sql_test_alone_is_run(project: Project) -> None:
    write(project, {"models/run.sql": GOOD})
    build(project)
    write(project, {"data_tests/t.sql": "select run_id from run"})
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert (caught.value.code, caught.value.place) == ("WH210", "data_tests/t.sql")
    write(project, {"data_tests/t.sql": "select run_id from run where run_id > 3"})
    assert build(project).is_new


def test_tests_of_a_query_spec_run_on_its_rollup(project: Project) -> None:
    spec = "/*\ngrain: [run_id]\ntests: [{expression: speed < 4}]\n*/\nselect run_id, speed from run"
    write(project, {"models/run.sql": GOOD, "queries/fastest.sql": spec})
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert (caught.value.code, caught.value.place) == ("WH210", "queries/fastest.sql:3:9")
    assert "broken by 1 row" in caught.value.message


def test_a_test_that_cannot_run_is_a_failure_of_any_severity(project: Project) -> None:
    header = "tests:\n  - {expression: a::int > 0, severity: warn}\n  - row_count: {min: 2}"
    write(project, {"models/m.sql": f"/*\n{header}\n*/ select 'one' as a"})
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert (caught.value.code, caught.value.place) == ("WH210", "models/m.sql:3:5")
    assert "2 of 2 tests failed" in caught.value.message
    assert "could not run: could not convert string 'one'" in caught.value.message
    assert "row_count min 2" in caught.value.message, "the tests after it run all the same"


def test_of_tests_that_are_not_run_again_nothing_is_said(project: Project) -> None:
    tested = "/*\ntests: [{row_count: {min: 1}}]\n*/\nselect 1 as a"
    write(project, {"models/run.sql": tested, "models/host.sql": tested})
    assert [result.status for result in build(project).tests] == ["pass", "pass"]
    write(project, {"models/host.sql": f"{tested} where false"})
    with pytest.raises(WarehouseError) as caught:
        build(project)
    first, told, *_ = caught.value.message.splitlines()
    assert (first, told.split(" ")[:2]) == ("1 of 2 tests failed", ["fail", "host.row_count"])
    assert "run.row_count" not in caught.value.message and "not run" not in caught.value.message


def test_long_wide_and_odd_rows_stay_readable(project: Project) -> None:
    wide = ", ".join(f"'value {i}' as column_{i}" for i in range(20))
    sql = f"select unnest(range(12)) as a, 'x' || chr(27) || repeat('y', 100) as b, null as c, {wide}"
    write(project, {"models/m.sql": sql, "data_tests/t.sql": "select * from m"})
    with pytest.raises(WarehouseError) as caught:
        build(project)
    lines = caught.value.message.splitlines()
    assert all(len(line) <= 110 and line.isprintable() for line in lines)
    assert "x\\x1byyyyy" in lines[4] and "..." in lines[4] and "NULL" in lines[4]
    assert lines[-2].startswith("  and ") and "more columns: column_" in lines[-2]
    assert lines[-1] == "  and 9 more"


# --- kept rows -----------------------------------------------------------------------------------------------------------


def test_failing_rows_are_kept_until_the_next_build_that_tests(project: Project, wh: Wh) -> None:
    write(project, {"models/run.sql": SLOW_AND_LATE})
    status, _, err = wh("build")
    assert status == 1
    assert """\n  hint: all rows: wh sql --failures 'from "run.speed_range"'\ndone before that: main.run; """ in err
    assert wh("sql", "--failures", 'from "run.speed_range"', "--format", "csv") == (
        0, "run_id,speed,started_s,ended_s\n1,-2.0,5,3\n2,-1.0,5,6\n", ""
    )
    listed = "select test, status, failing_rows, kept_rows from catalog.test_result where status <> 'pass'"
    _, out, _ = wh("sql", "--failures", listed, "--format", "csv")
    assert out == "test,status,failing_rows,kept_rows\nrun.speed_range,fail,2,2\nrun.expression,warn,1,1\n"
    write(project, {"models/run.sql": LATE})
    assert wh("build")[0] == 0
    assert wh("sql", "--failures", 'from "run.expression"', "--format", "csv")[1].splitlines()[1:] == ["1,1.5,5,3"]
    assert wh("sql", "--failures", 'from "run.speed_range"')[0] == 1
    write(project, {"models/run.sql": GOOD})
    assert wh("build")[0] == 0
    status, out, err = wh("sql", "--failures", "select 1")
    assert (status, out) == (5, "")
    assert err.startswith("WH242 ")


def test_so_many_rows_are_kept_and_all_are_counted(project: Project) -> None:
    write(project, {
        "models/m.sql": "select i, i::hugeint * 10::hugeint ** 20 as big from range(2500) as r (i)",
        "data_tests/t.sql": "/*\nseverity: warn\n*/ select i, sum(big) as big from m group by i order by i desc",
    })
    build(project)
    con = duckdb.connect(str(project.builds / "failures.duckdb"), read_only=True)
    assert con.execute("select count(*), max(i), min(i) from t").fetchall() == [(1000, 2499, 1500)]
    assert con.execute("select failing_rows, kept_rows from catalog.test_result").fetchall() == [(2500, 1000)]
    # A type that Arrow does not have is kept as what it is.
    assert con.execute("select typeof(big) from t limit 1").fetchall() == con.execute("select typeof(max(big)) from t").fetchall()
    con.close()


def test_what_a_dead_builder_left_is_removed(project: Project) -> None:
    write(project, {"models/run.sql": GOOD})
    project.builds.mkdir(parents=True)
    for name in (".failures-1.duckdb", ".failures-1.duckdb.wal"):
        (project.builds / name).write_bytes(b"half")
    build(project)
    assert not list(project.builds.glob(".failures-*"))


# --- wh test --------------------------------------------------------------------------------------------------------------


def test_wh_test_runs_on_the_current_build(project: Project, wh: Wh) -> None:
    write(project, {"models/run.sql": LATE, "data_tests/t.sql": "select run_id from run where run_id = 7"})
    assert wh("build")[0] == 0
    files = {path: path.stat().st_mtime_ns for path in project.builds.iterdir()}
    status, out, err = wh("test")
    assert status == 0
    assert [line.split()[:3] for line in out.splitlines()[2:]] == [
        ["run.grain", "pass", "0"], ["run.run_id_not_null", "pass", "0"], ["run.speed_range", "pass", "0"],
        ["run.row_count", "pass", "0"], ["run.expression", "warn", "1"], ["t", "pass", "0"],
    ]
    assert err.startswith("warn run.expression (models/run.sql:5:5)")
    assert err.endswith("\n6 tests: 5 passed, 1 warned\n")
    assert {path: path.stat().st_mtime_ns for path in project.builds.iterdir()} == files


def test_wh_test_fails_with_a_test_that_was_made_stricter(project: Project, wh: Wh) -> None:
    write(project, {"models/run.sql": GOOD})
    wh("build")
    write(project, {"models/run.sql": GOOD.replace("min: 0", "max: 3")})
    status, out, err = wh("test", "--json")
    found = {result["name"]: result for result in json.loads(out)}
    assert status == 1
    assert found["run.speed_range"] | {"seconds": 0, "sql": ""} == {
        "name": "run.speed_range", "model": "run", "place": "models/run.sql:8:33", "promise": "speed: range max 3",
        "severity": "error", "status": "fail", "failures": 1, "error": None,
        "columns": ["run_id", "speed", "started_s", "ended_s"], "rows": [[3, 4.5, 5, 9]], "sql": "", "seconds": 0,
    }
    assert err.splitlines()[-1] == "5 tests: 4 passed, 1 failed"
    # The SQL of a test finds its rows with wh sql as it is.
    assert wh("sql", found["run.speed_range"]["sql"], "--format", "csv")[1].splitlines()[1:] == ["3,4.5,5,9"]


def test_a_test_without_a_description_says_what_it_asks(project: Project, wh: Wh) -> None:
    write(project, {"models/run.sql": GOOD, "data_tests/t.sql": "select run_id from run"})
    (told,) = [line for line in wh("build")[2].splitlines() if line.startswith("fail t ")]
    assert told == "fail t (data_tests/t.sql): it must select no rows: broken by 3 rows"


def test_a_test_that_does_not_fit_the_build_is_told_and_the_others_run(project: Project, wh: Wh) -> None:
    write(project, {"models/run.sql": GOOD})
    wh("build")
    write(project, {"models/a_new_one.sql": "/*\ntests: [{row_count: {min: 1}}]\n*/ select 1 as a"})
    status, out, err = wh("test")
    assert status == 1
    assert "could not run" in err and "a_new_one" in err
    assert len(out.splitlines()) == 2 + 6


# Arguments, and the tests that run: header tests of a model, a test by name, a SQL test by what it reads.
CHOICES: dict[str, tuple[list[str], list[str]]] = {
    "a model": (["host"], ["host.row_count", "t"]),
    "a test": (["run.grain"], ["run.grain"]),
    "a pattern": (["run.*_range", "host.*"], ["run.speed_range", "host.row_count"]),
    "a SQL test": (["t"], ["t"]),
}


@pytest.mark.parametrize("case", CHOICES)
def test_wh_test_takes_names(case: str, project: Project, wh: Wh) -> None:
    names, expected = CHOICES[case]
    host = "/*\ntests: [{row_count: {min: 1}}]\n*/ select 1 as id"
    write(project, {
        "models/run.sql": GOOD, "models/staging/host.sql": host, "data_tests/t.sql": "select 1 from staging.host where id = 2",
    })
    wh("build")
    _, out, _ = wh("test", "--json", *names)
    assert [result["name"] for result in json.loads(out)] == expected


def test_a_name_that_nothing_has(project: Project, wh: Wh) -> None:
    write(project, {"models/run.sql": GOOD})
    wh("build")
    status, out, err = wh("test", "rnu")
    assert (status, out) == (5, "")
    assert err == "WH241 nothing to test is named rnu\n  hint: did you mean run?\n"


def test_without_a_build_or_without_tests(project: Project, wh: Wh) -> None:
    status, _, err = wh("test")
    assert (status, err.split()[0]) == (1, "WH211")
    write(project, {"models/m.sql": "select 1 as a"})
    wh("build")
    assert wh("test") == (0, "", "there are no tests\n")


def test_kept_rows_hold_types_and_names_as_they_are(tmp_path: Path) -> None:
    """Two columns of one name, and values that Arrow has no type for."""
    con: Any = connect()
    con.execute("create table m as select 1 as a, 170141183460469231731687303715884105727::hugeint as b, '101'::bit as c")
    from warehouse.transform.project.data_tests import DataTest, SqlTest

    test = DataTest("t", "no rows", "select a, b, c, a from m", SqlTest("t", "t.sql", "select a, b, c, a from m"))
    run_tests.keep_failures(tmp_path, run_tests.run_tests(con, [test]))
    kept = duckdb.connect(str(run_tests.failures_path(tmp_path)), read_only=True)
    assert [row[1] for row in kept.execute("describe t").fetchall()] == ["INTEGER", "HUGEINT", "BIT", "INTEGER"]
    assert kept.execute("select b from t").fetchall() == [(2**127 - 1,)]
    kept.close()

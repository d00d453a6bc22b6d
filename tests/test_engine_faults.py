"""Faults of the engine that only rows bring about: told at the model or the query, without advice that nobody can follow."""

from __future__ import annotations

import re

import pytest
from bare_project import project, write
from conftest import Wh

from warehouse.project.project import Project
from warehouse.transform.sql.duck import connect
from warehouse.transform.sql.engine_faults import translated

__all__ = ["project"]
# Settings are pinned, and a manual that is not named leads nowhere.
USELESS = re.compile(r"\bSET\b|PRAGMA|documentation|duckdb\.org")

# SQL over the rows 0 to 9 of n (k, and k as text with an x before it), a part of the message, a part of the hint.
FAULTS = {
    "overflow": ("select (k + 100)::tinyint * 100::tinyint as a from n", "overflow", "wider type"),
    "a sum too large": ("select sum(k)::utinyint * 10::utinyint as a from n", "overflow", "wider type"),
    "text that is no number": ("select t::int as a from n", "'x0'", "try_cast"),
    "division by zero": ("select 1 // k as a from n", "division by zero", "nullif"),
    "a subquery of several rows": ("select (select k from n) as a", "more than one row", "aggregate"),
    "text that is no time": ("select strptime(t, '%Y') as a from n", "parse", "try_strptime"),
    "an error that the SQL raises": ("select error('boom' || k) as a from n", "boom0", "try("),
    "text that is no JSON": ("select t::json as a from n", "malformed JSON", "try_cast"),
    "a part of a date": ("select date_part(t, date '2025-01-01') as a from n", 'specifier "x0"', "'month'"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_rows_bring_about(case: str, project: Project, wh: Wh) -> None:
    sql, message, hint = FAULTS[case]
    write(project, {"models/n.sql": "select i as k, 'x' || i as t from range(10) as r (i)"})
    assert wh("build")[0] == 0
    asked = wh("sql", sql)
    write(project, {"models/m.sql": f"/*\ndescription: m\n*/\n{sql}"})
    built = wh("build")
    for (status, _, err), place in ((asked, "WH213 query:1:"), (built, "WH209 models/m.sql:4:")):
        first, *_ = err.splitlines()
        (told,) = [line for line in err.splitlines() if line.startswith("  hint: ")]
        assert status == 1 and first.startswith(place), err
        assert message in first and hint in told, err
        assert not USELESS.search(err), err


# A query; what is said of it, and the hint.
REFUSED = {
    "select * from m": ("no table is named m", "wh tables --all lists the tables that there are"),
    "select * from runz": ("no table is named runz", "did you mean runs?"),
    "from read_csv('/etc/passwd')": (
        "read_csv(...) is not a table function that wh sql runs", "wh sql reads only the build: to query files, write a model that reads them"),
}


@pytest.mark.parametrize("sql", REFUSED)
def test_what_a_query_cannot_read(sql: str, project: Project, wh: Wh) -> None:
    write(project, {"models/runs.sql": "select 1 as a"})
    wh("build")
    first, *_, hint = wh("sql", sql)[2].splitlines()
    message, way_out = REFUSED[sql]
    assert first.endswith(f": {message}") and hint == f"  hint: {way_out}"


@pytest.mark.parametrize("sql", ["select 1; select 2", "select ';' as a; -- one\n\nselect 2;", "select 1;;select 2"])
def test_a_second_statement_is_refused_not_shown(sql: str, project: Project, wh: Wh) -> None:
    write(project, {"models/n.sql": "select 1 as a"})
    wh("build")
    status, out, err = wh("sql", sql)
    assert (status, out) == (1, "")
    line, column = sql.count("\n") + 1, len(sql.split("\n")[-1]) - len(sql[sql.rindex("select"):]) + 1
    assert err.startswith(f"WH213 query:{line}:{column}: a second statement: wh sql runs one\n")


@pytest.mark.parametrize("sql", ["select ';' as a;", "select 2 as a; -- select 3;", "select 2 as a /* ; select 3 */ ;;"])
def test_a_semicolon_is_no_second_statement(sql: str, project: Project, wh: Wh) -> None:
    write(project, {"models/n.sql": "select 1 as a"})
    wh("build")
    assert wh("sql", sql)[:2] == (0, "a\n;\n" if "';'" in sql else "a\n2\n")


# The bytes of a second CSV file; what is said of it, and a part of the hint.
CSV_FAULTS = {
    "no UTF-8": (b"a\n\xff\xfe\n", "data/b.csv, line 2: Invalid unicode", "encoding"),
    "another type, late": (b"a\n" + b"1\n" * 30_000 + b"x\n", 'data/b.csv, line 30002: Error when converting column "a"', "types"),
}


@pytest.mark.parametrize("case", CSV_FAULTS)
def test_a_csv_file_that_cannot_be_read_is_named(case: str, project: Project, wh: Wh) -> None:
    content, message, hint = CSV_FAULTS[case]
    write(project, {"data/a.csv": "a\n1\n", "models/n.sql": "select * from read_csv('data/*.csv')"})
    (project.root / "data" / "b.csv").write_bytes(content)
    status, _, err = wh("build")
    assert status == 1 and message in err.splitlines()[0], err
    assert hint in err.rpartition("hint: ")[2]


def test_memory_that_runs_out() -> None:
    import duckdb

    con = connect()
    con.execute("set memory_limit = '20MB'")
    con.execute("set temp_directory = ''")
    sql = "select list(i) as l from range(30000000) as r (i)"
    with pytest.raises(duckdb.OutOfMemoryException) as caught:
        con.execute(sql).fetchall()
    error = translated(caught.value, "WH209", sql, "m.sql")
    assert error.hint == "it needs more memory than there is: aggregate or filter first, in a separate model"
    assert not USELESS.search(str(error))

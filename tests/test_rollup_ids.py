"""The ids of a rollup's numbers when the next build makes it again: of rows that are the same they are kept, others are numbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pytest
from bare_project import project, write
from conftest import Wh

from warehouse.exact import row_numbers
from warehouse.project.project import Project
from warehouse.transform.build import rollup_table
from warehouse.transform.check.project_check import check_project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

__all__ = ["project"]

# Values that are equal to the engine and not to the bit.
ROWS = ["('a', 1.0, [0.0], 1)", "('b', 2.5, [null], null)", "('c', 0.0, null, 3)", "('d', 'nan'::double, [], 4)"]
HEADER = "/*\ngrain: [key]\n*/\n"


def hold(project: Project, rows: Sequence[str]) -> None:
    values = f"(values {', '.join(rows)}) as t (key, value, list, place)"
    duckdb.sql(f"copy (select key, value::double as value, list::double[] as list, place from {values}) to '{project.root / 'rows.parquet'}'")


def built(project: Project, wh: Wh, rows: Sequence[str], query: str) -> dict[str, Any]:
    """The number ids of each key after a build, which are those that its rows have by themselves."""
    hold(project, rows)
    write(project, {"models/held.sql": "select * from read_parquet('rows.parquet')", "queries/q.sql": query})
    code, _, err = wh("build")
    assert code == 0, err
    with open_build(current_build(project).path) as con:
        found = con.execute("from rollup.q order by key")
        columns = [column[0] for column in found.description]
        given = {row[0]: row[-1] for row in found.fetchall()}
        rows_now = con.execute("select * exclude (query_spec_digest, number_ids) from rollup.q").fetchall()
    spec = check_project(project).sound().models["q"]
    assert given == {row[0]: row_numbers(spec.name, spec.canonical_sql, spec.grain, columns[:-2], row) for row in rows_now}
    return given


def test_rows_that_are_the_same_keep_their_ids(project: Project, wh: Wh, monkeypatch: pytest.MonkeyPatch) -> None:
    numbered: list[str] = []

    def counted(query: str, text: str, grain: Sequence[str], columns: Sequence[str], row: Sequence[Any]) -> dict[str, str | None]:
        numbered.append(row[0])
        return row_numbers(query, text, grain, columns, row)

    query = f"{HEADER}select * from held"
    monkeypatch.setattr(rollup_table, "row_numbers", counted)
    first = built(project, wh, ROWS, query)
    numbered.clear()
    more = [ROWS[3], "('e', 7.0, [1.0], 5)", *ROWS[:2], "('c', '-0.0'::double, null, 3)"]
    second = built(project, wh, more, query)
    assert numbered == ["e", "c"] and second["c"]["value"] != first["c"]["value"]
    numbered.clear()
    assert built(project, wh, more, f"{query} where true")["a"] != second["a"]  # of another query all numbers are others
    assert len(numbered) == 5


def test_a_row_with_the_grain_of_a_kept_one_is_refused(project: Project, wh: Wh) -> None:
    query = f"{HEADER}select * from held"
    built(project, wh, ROWS, query)
    hold(project, [*ROWS, "('a', 9.0, [0.0], 1)"])
    code, _, err = wh("build")
    assert code and "WH302" in err and "5 rows, 4 distinct values of key" in err

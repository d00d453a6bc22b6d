"""What a trace keeps of the rows that it follows: byte ranges, the runs of a cell, and of rows that state one key, whose they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from bare_project import write
from samples.values import take_in, value_files, values_project

from warehouse.claims.numbers.lineage import lineage
from warehouse.trace.catalog import BuiltModel
from warehouse.trace.tracing import RowTrace, group_keys, joined
from warehouse.transform.build.build import build

# Sorted ranges (offset, length), and what is left of them: a newline may lie between two that are joined.
RANGES = [
    ([(0, 3), (3, 2)], ((0, 5),)),
    ([(0, 3), (4, 2)], ((0, 6),)),
    ([(0, 3), (5, 2)], ((0, 3), (5, 2))),
    ([(0, 9), (2, 3), (9, 1)], ((0, 10),)),
    ([(0, 2), (0, 2)], ((0, 2),)),
    ([], ()),
]


@pytest.mark.parametrize(("ranges", "expected"), RANGES)
def test_ranges_are_joined_over_no_more_than_a_newline(ranges: list[tuple[int, int]], expected: tuple[tuple[int, int], ...]) -> None:
    assert joined(ranges) == expected


# A model's SQL, and those of its columns k and v that every row of a group states.
KEYS = [
    ("select k, max(x) as v from t group by k", ["k"]),
    ("select k, lower(x) as v from t group by k, x", ["k", "v"]),
    ("select k, row_number() over (order by k) as v from t group by k", ["k"]),
    ("select k, (select max(x) from t) as v from t group by k", ["k"]),
    ("select k, x as v from t", []),
    ("select k, v from (select k, x as v from t) q union all select k, x from t group by k, x", []),
]


@pytest.mark.parametrize(("sql", "keys"), KEYS)
def test_columns_that_every_row_of_a_group_states(sql: str, keys: list[str]) -> None:
    assert group_keys(BuiltModel("m", "main", "table", "", "m.sql", sql, (), (), None), ["k", "v"]) == keys


def test_a_cell_rests_on_the_runs_of_its_row_and_on_those_of_its_value() -> None:
    row = RowTrace(("r2",), {}, {"v": ("r3", "r1")})
    assert (row.runs_of("v"), row.runs_of("w"), row.all_runs()) == (("r1", "r2", "r3"), ("r2",), {"r1", "r2", "r3"})


LEVELS = "select value as level from reading group by value"
COUNTED = "select value as level, count(*) as n from reading group by value"
# The query, the model `levels`, and the files that the cell of key a rests on: a=5 is in r0, b=5 in r1, c=7 in r2.
STATED = {
    "a key that its own run states": ("select key, level as v from reading join levels on level = value", LEVELS, {"r0.nv"}),
    "a key that its own run does not state": ("select key, level as v from reading join levels on level = value + 2", LEVELS, {"r2.nv"}),
    "a value that all rows of the group give": ("select key, n as v from reading join levels on level = value", COUNTED, {"r0.nv", "r1.nv"}),
    "a row that is no more than its key": ("select key, count(*) as v from reading join levels on level = value group by key", LEVELS, {"r0.nv"}),
    "a row that is more than its key": ("select key, count(*) as v from reading join levels on level = value group by key", COUNTED, {"r0.nv", "r1.nv"}),
}


@pytest.mark.parametrize("case", STATED)
def test_of_rows_that_state_one_key_those_of_the_numbers_own_runs_are_its_evidence(case: str, tmp_path: Path) -> None:
    sql, levels, files = STATED[case]
    project = values_project(tmp_path / "project", sql)
    write(project, {"models/reading.sql": "select artifact_manifest_digest as run_id, * from value", "models/levels.sql": levels})
    take_in(project, value_files(tmp_path / "in", "a=5\n", "b=5\n", "c=7\n"))
    build(project)
    assert {file.raw_path for file in lineage(project, "claim[key=a].v").raw_files} == files

"""Ties that decide an answer are refused, and those that do not are let through: by cases over one small table, derived by
hand, and through `wh publish` in a query, in a model under it and in a view."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from provenance.oracle import HERE, Case, read_cases
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.tie_probe import cuts, probe
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.trace.provenance.syntax.refusals import Refusal
from warehouse.transform.build.build import build

CASES = read_cases(HERE / "ties.sql")

# a: the last t is that of two values. b: two rows tie and are equal. c: one of two is NULL. d: three values tie.
STEPS = """
create table step (id int, k varchar, t int, v double);
insert into step values
    (1, 'a', 1, 10), (2, 'a', 2, 20), (3, 'a', 2, 30), (4, 'b', 1, 5), (5, 'b', 1, 5),
    (6, 'c', 1, null), (7, 'c', 1, 7), (8, 'd', 1, 1), (9, 'd', 1, 2), (10, 'd', 1, 3);
"""


@pytest.fixture(scope="module")
def steps() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        con.execute(STEPS)
        yield con


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case, steps: duckdb.DuckDBPyConnection) -> None:
    if case.refuse is None:
        assert probe(steps, case.sql) == (0 if case.name.startswith("no_tie") else 1)
        return
    with pytest.raises(Refusal) as caught:
        probe(steps, case.sql)
    reason, _, told = case.refuse.partition(" ")
    assert caught.value.message.startswith(f"{reason}: {told}")
    assert caught.value.hint and caught.value.offset is not None
    assert case.sql[caught.value.offset :].startswith(case.at or "")


def test_what_cannot_be_tried_is_refused_and_first_for_what_is_never_traced(steps: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(Refusal, match="E_TIE: whether a tie decides its answer cannot be tried .*no table is named nowhere"):
        probe(steps, "select first(v order by t) as x from nowhere")
    with pytest.raises(Refusal, match="E_JOIN"):
        probe(steps, "select first(v order by t) as x from step positional join nowhere")


# Of queries of the grain k and t, how many ORDER BYs choose rows that the grain does not tell apart.
CUTS = {
    "select k, t from step order by t, k limit 2": 0,
    "select k, t from step order by 2, 1 limit 2": 0,
    "select k, t from step order by k limit 2": 1,
    "select k, t from (select k, t from step order by k, t limit 2) s": 1,
    "select distinct on (k, t) k, t, v from step order by k, t": 1,
    "select k, t from step order by k": 0,
}


@pytest.mark.parametrize("sql", CUTS)
def test_a_limit_after_an_order_by_the_grain_chooses_among_no_ties(sql: str) -> None:
    assert len(cuts(sql, ("k", "T"))) == CUTS[sql]


# --- publishing --------------------------------------------------------------------------------------------------

# Of a, two values are as long; `reading` also holds where each was read.
FILES = ("a=1.5\na=2.5\n", "b=7\nb=7\n")


def values(root: Path, sql: str, files: tuple[str, ...] = FILES, **models: str) -> Project:
    project = values_project(root / "project", sql)
    for name, text in models.items():
        (project.root / "models" / f"{name}.sql").write_text(text)
    take_in(project, value_files(root / "in", *files))
    build(project)
    return project


BEST = "select key, max_by(value, length(key)) as v from reading group by key"
READ = "select key, v from best"
VIEW = "/*\nmaterialized: view\n*/\n"
# The query, the models, and where the refusal points.
REFUSED = {
    "the query": (BEST, {}, "queries/claim.sql:4:20"),
    "a model under it": (READ, {"best": BEST}, "models/best.sql:1:20"),
    "a view under it": (READ, {"best": VIEW + BEST}, "models/best.sql:4:20"),
    "a model that only chooses rows": (
        "select key, max(value) as v from reading where value in (select v from best) group by key", {"best": BEST}, "models/best.sql:1:20"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_tie_that_decides_is_not_published(case: str, tmp_path: Path) -> None:
    sql, models, place = REFUSED[case]
    project = values(tmp_path, sql, **models)
    with pytest.raises(WarehouseError) as caught:
        publish(project, "claim")
    assert (caught.value.code, caught.value.place) == ("WH306", place)
    assert "E_TIE: 1 group of rows ties and decides the answer, such as key = 'a', LENGTH(key) = 1" in caught.value.message
    assert caught.value.message.splitlines()[-2] == BEST
    assert caught.value.hint and "ORDER BY" in caught.value.hint
    assert publications(project) == []


@pytest.mark.parametrize("model", [BEST, VIEW + BEST])
def test_a_tie_of_equal_values_is_published_and_said_to_be_tried(model: str, tmp_path: Path) -> None:
    project = values(tmp_path, READ, FILES[1:], best=model)
    publish(project, "claim")
    (publication,) = publications(project)
    table = "rollup.claim" if model.startswith("/*") else "main.best"
    assert publication.record["ties_tried"] == {table: 1}


def test_sums_of_floats_in_another_order_are_no_tie(tmp_path: Path) -> None:
    """0.1 + 0.2 + 0.3 is 0.6000000000000001 from the left and 0.6 from the right."""
    ordered = "select key, value as v from reading qualify row_number() over (order by length(key)) <= 3"
    sql = "select key, sum(v) as v from best group by key"
    project = values(tmp_path, sql, ("a=0.1\na=0.2\na=0.3\n",), best=VIEW + ordered)
    assert publish(project, "claim").numbers == 1

"""Models and queries may be called like the tables that a trace, a probe for ties or a rollup keeps in its session."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from samples.values import take_in, value_files, values_project

from warehouse.claims.numbers.cell_rows import cell_rows
from warehouse.claims.numbers.lineage import Lineage, lineage
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_number
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.trace.provenance.annotator import annotate
from warehouse.transform.build.build import build

# The tracer's own tables as they are and as they were called, the probe's and the rollup's.
NAMES = (
    "runs", "more_runs", "hop", "wanted", "demand", "evidence", "own", "cell_run", "landing_demand", "raw_file", "witness",
    "target", "stating", "stated", "broken", "otherwise", "rollup_rows", "rollup_ids",
)


BEST = "select key, max(value) as value from {} group by key"


def trace_and_verify(project: Project, query: str) -> Lineage:
    """The lineage of one number of the query, once it is published and verified."""
    built = lineage(project, f"{query}[key=a].value")
    publish(project, query)
    published = lineage(project, f"{query}[key=a].value")
    assert built.raw_files == published.raw_files and len(built.raw_files) == 1
    assert verify_number(project, str(published.number_id)).state == "verified"
    return published


def test_models_may_have_the_names(tmp_path: Path) -> None:
    """Each reads the one before, so that every one of them is traced."""
    chain = ("reading", *NAMES)
    project = values_project(tmp_path / "project", BEST.format(NAMES[-1]))
    for before, name in pairwise(chain):
        (project.root / f"models/{name}.sql").write_text(BEST.format(before))
    take_in(project, value_files(tmp_path / "in", "a=1.5\na=2.5\n", "b=7\n"))
    build(project)
    rows = cell_rows(project, trace_and_verify(project, "claim"))
    assert rows is not None
    assert [table.table for table in rows.tables] == [*(f"main.{name}" for name in reversed(chain)), "value"]


@pytest.mark.exhaustive
def test_queries_may_have_the_names(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", BEST.format("reading"))
    for name in NAMES:
        (project.root / f"queries/{name}.sql").write_text((project.root / "queries/claim.sql").read_text())
    take_in(project, value_files(tmp_path / "in", "a=1.5\na=2.5\n", "b=7\n"))
    build(project)
    for name in NAMES:
        trace_and_verify(project, name)


def test_a_tie_in_a_model_of_the_name_is_found(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", "select key, max_by(value, length(key)) as v from broken join otherwise using (key) group by key")
    for name, column in (("broken", "value"), ("otherwise", "max(value) as other")):
        (project.root / f"models/{name}.sql").write_text(f"select key, {column} from reading" + " group by key" * (name == "otherwise"))
    take_in(project, value_files(tmp_path / "in", "a=1.5\na=2.5\n"))
    build(project)
    with pytest.raises(WarehouseError, match="E_TIE: 1 group of rows"):
        publish(project, "claim")


@pytest.mark.parametrize("sql", ["", " \n", "-- nothing", ";"])
def test_no_statement_is_refused(sql: str) -> None:
    with pytest.raises(WarehouseError, match="WH306.*E_MULTI: no statements"):
        annotate(sql, {}, {})

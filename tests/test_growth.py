"""What publishing and verifying costs grows with the runs, not with their square. Sizes are counted, never timed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from bare_project import write
from samples.values import take_in, value_files, values_project

from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verdict import VERIFIED
from warehouse.claims.verify.verification import verify_publication
from warehouse.project.project import Project, read_project
from warehouse.trace.tracing import Traced, demand_table
from warehouse.transform.build.build import build
from warehouse.transform.inputs.landing_tables import open_landing_table
from warehouse.transform.sql.duck import quote

# Every run has the same machine, as nightly runs do; the machine's row is stated by all of them.
MODELS = {
    "models/run.sql": "select key as run_id, value, key[:1] as machine from reading",
    "models/machine.sql": "/*\ngrain: [machine]\n*/\nselect machine, upper(machine) as name from run group by machine",
}
SQL = "select run.run_id as key, run.value, machine.name from run join machine on machine.machine = run.machine"


def shared_machine(folder: Path, runs: int) -> Project:
    project = values_project(folder / "project", SQL)
    write(project, MODELS)
    take_in(project, value_files(folder / "in", *(f"r{number:03}={number}\n" for number in range(runs))))
    build(project)
    return project


def demanded_rows(folder: Path, runs: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many rows a trace of the whole rollup keeps to be followed."""
    counts: list[int] = []
    parts = Traced.parts

    def counted(traced: Traced) -> object:
        con: duckdb.DuckDBPyConnection = traced._con
        tables = [demand_table(model) for model in traced.demanded] + [quote("wh witness"), quote("wh evidence")]
        counts.append(sum(con.execute(f"select count(*) from {table}").fetchall()[0][0] for table in tables))
        return parts(traced)

    monkeypatch.setattr(Traced, "parts", counted)
    publish(shared_machine(folder, runs), "claim")
    return counts[0]


def test_runs_that_share_a_machine_are_not_each_others_witnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (demanded_rows(tmp_path / str(runs), runs, monkeypatch) for runs in (20, 80))
    assert few >= 20
    assert many <= 4 * few
    (publication,) = publications(read_project(tmp_path / "80" / "project"))
    assert all(len(cell.evidence) == 1 for row in publication.rows() for cell in row.cells.values())


def test_verdicts_on_a_publication_share_one_set_of_evidence(tmp_path: Path) -> None:
    project = shared_machine(tmp_path, 30)
    publish(project, "claim")
    (publication,) = publications(project)
    verdicts = list(verify_publication(project, publication))
    assert [verdict.state for verdict in verdicts] == [VERIFIED] * 60
    assert len({id(verdict.evidence) for verdict in verdicts}) == 1


def test_a_trace_that_does_not_fit_takes_the_memory_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = shared_machine(tmp_path, 30)
    monkeypatch.setattr("warehouse.trace.tracing.ENGINE_MEMORY", "1MB")
    assert publish(project, "claim").numbers == 60


def test_lineage_of_one_number_opens_the_landing_tables_on_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = shared_machine(tmp_path, 3)
    opened: list[str] = []

    def spied(con: duckdb.DuckDBPyConnection, table: str, *found: Any) -> None:
        opened.append(table)
        open_landing_table(con, table, *found)

    monkeypatch.setattr("warehouse.trace.landing_rows.open_landing_table", spied)
    assert lineage(project, "claim[key=r001].value").raw_files
    assert set(opened) == {"value", "evidence_file"}

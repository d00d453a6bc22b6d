"""`role` in a model's header: the engine finds the table of runs, and the files that state them, by it and not by a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import WhOn
from samples.values import take_in, value_files, values_project

from warehouse.claims.numbers.deciding import retract, settle
from warehouse.claims.publish.admissibility import conflicted_runs
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.check.project_check import check_project
from warehouse.transform.finished.builds import current_build

RUNS = "select key as run_id, max(artifact_manifest_digest) as artifact_manifest_digest, count(distinct value) > 1 as has_conflict from value group by key"
HELD = "select distinct key as run_id, artifact_manifest_digest from value"


def project_of(root: Path, *, has_roles: bool) -> Project:
    """Run b is stated as 2 and as 3."""
    project = values_project(root / "project", "select key as run_id, sum(value) as total from value group by key", "run_id")
    for name, role, sql in (("executed", "runs", RUNS), ("held", "run_files", HELD)):
        header = f"/*\nrole: {role}\n*/\n" if has_roles else ""
        (project.root / "models" / f"{name}.sql").write_text(header + sql)
    take_in(project, value_files(root / "in", "a=1\nb=2\n", "b=3\n"))
    build(project)
    return project


def test_tables_of_any_name_play_their_roles(tmp_path: Path, wh_on: WhOn) -> None:
    project = project_of(tmp_path, has_roles=True)
    assert conflicted_runs(current_build(project)) == ["b"]
    assert "1 run is stated differently by several bundles: b\n" in wh_on(project, "status")[1]
    with pytest.raises(WarehouseError, match="WH314 b: none of its bundles has a digest that begins with 00000000") as caught:
        settle(project, "b", "0" * 8, "the other was edited")
    assert str(caught.value.hint).count(", ") == 1  # it is stated by two
    with pytest.raises(WarehouseError, match="WH314 a: no bundles state it differently"):
        settle(project, "a", "0" * 8, "the other was edited")
    key = tmp_path / "key"
    assert wh_on(project, "keygen", "nightly", "-o", str(key))[0] == 0
    assert wh_on(project, "sign", "a", "--key", str(key))[0] == 0


def test_without_roles_every_table_with_a_run_id_is_asked(tmp_path: Path, wh_on: WhOn) -> None:
    project = project_of(tmp_path, has_roles=False)
    assert conflicted_runs(current_build(project)) == []
    with pytest.raises(WarehouseError, match="WH314 b: no bundles state it differently"):
        settle(project, "b", "0" * 8, "the other was edited")
    with pytest.raises(WarehouseError, match="WH314 bb: no run of the current build"):
        retract(project, "bb", "no matter")
    retract(project, "b", "the clock was wrong")
    key = tmp_path / "key"
    assert wh_on(project, "keygen", "nightly", "-o", str(key))[0] == 0
    status, _, err = wh_on(project, "sign", "a", "--key", str(key))
    assert status == ExitCode.NOT_FOUND and "WH111 a: no bundle, publication, decision, run or path has this name" in err


def test_the_role_is_part_of_what_a_model_promises(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    path = project.root / "models" / "reading.sql"
    path.write_text("select key as run_id, key, value from value")
    before = check_project(project).sound().models["reading"].contract
    path.write_text(f"/*\nrole: runs\n*/\n{path.read_text()}")
    assert check_project(project).sound().models["reading"].contract == {**before, "role": "runs"}


def test_the_table_of_runs_starts_a_query_whatever_its_name(tmp_path: Path, wh_on: WhOn) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    runs = project.root / "models" / "executed.sql"
    runs.write_text("/*\nrole: runs\ncolumns:\n  run_id: {type: varchar}\n  status: {type: varchar}\n*/\nselect key as run_id, 'succeeded' as status from value")
    status, _, err = wh_on(project, "new", "query", "ours")
    assert status == ExitCode.USAGE and "no table of runs with benchmark_case_id and status" in err
    runs.write_text(
        runs.read_text().replace("columns:\n", "columns:\n  benchmark_case_id: {type: varchar}\n").replace("select key", "select key as benchmark_case_id, key")
    )
    assert wh_on(project, "new", "query", "ours")[0] == 0
    assert "from executed\n" in (project.root / "queries" / "ours.sql").read_text()
    assert wh_on(project, "check")[0] == 0


def test_ids_like_a_mistyped_one_are_named_once(tmp_path: Path) -> None:
    project = project_of(tmp_path, has_roles=True)
    (project.root / "models" / "executed.sql").write_text("/*\nrole: runs\n*/\nselect key as run_id, value from value")
    build(project)
    with pytest.raises(WarehouseError, match="WH314 bb") as caught:
        retract(project, "bb", "no matter")
    assert caught.value.hint == "similar: b, a"

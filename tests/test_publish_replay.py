"""`wh publish` freezes only what the evidence itself gives: neither landing tables nor a build are taken at their word."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import _check_same_result, publish
from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import WarehouseError
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.sql.duck import scratch

SQL = "select key, sum(value) as total from reading group by key"
# Evidence that no row names may have kept one away.
ABSENT = "select key, max(value) as total from reading where key not in (select key from reading where value > 100) group by key"


def made(tmp_path: Path, sql: str = SQL) -> Project:
    project = values_project(tmp_path / "project", sql)
    take_in(project, value_files(tmp_path / "in", "a=1\nb=200\n", "a=2.5\n", "b=3\n"))
    return project


def multiplied(project: Project) -> None:
    """Landing tables whose values are 1,000 times what the evidence says, in a batch that holds together."""
    landing = project.store_root / "landing"
    [path] = (landing / "value").glob("*.parquet")
    con = duckdb.connect()
    con.execute(f"copy (select * replace (value * 1000 as value) from '{path}') to '{tmp(path)}' (format parquet)")
    tmp(path).replace(path)
    [record] = (landing / "batches").glob("*.json")
    document = json.loads(record.read_bytes())
    for file in document["files"]:
        if file["table"] == "value":
            file["sha256"] = bytes_digest(path.read_bytes())
    record.write_bytes(canonical_json(document))


def tmp(path: Path) -> Path:
    return path.with_suffix(".tmp")


def refused(project: Project) -> str:
    with pytest.raises(WarehouseError, match="WH303|WH319") as error:
        publish(project, "claim")
    assert publications(project) == []
    return error.value.message


@pytest.mark.parametrize(("sql", "said"), [
    (SQL, "the build's rollup is not what a replay of its evidence gives, which has 2 other values"),
    (ABSENT, "nothing is published: the query has no rows in the current build"),
])
def test_a_landing_file_that_was_multiplied_is_not_published(sql: str, said: str, tmp_path: Path) -> None:
    project = made(tmp_path, sql)
    build(project)
    for path in project.builds.glob("wh-*"):
        path.unlink()
    multiplied(project)
    build(project)
    assert [finding.message for finding in check_store(project, Scope()).findings] == ["4 rows are not what parsing the evidence again gives"]
    assert refused(project) == said


def test_what_evidence_outside_its_rows_decides_is_published(tmp_path: Path) -> None:
    project = made(tmp_path, ABSENT)
    build(project)
    assert publish(project, "claim").numbers == 1


def test_rows_run_again_are_compared_with_how_often_each_comes_and_to_the_last_bit() -> None:
    with scratch() as con:
        con.execute("create table built as from (values (0.0::double), (1.0), (1.0)) as v (x)")
        _check_same_result(con, "built", "select x from (values (1.0::double), (0.0), (1.0)) as v (x)", ["x"])
        for rows in ("(0.0::double), (0.0), (1.0)", "(-0.0::double), (1.0), (1.0)", "(0.0::double), (1.0)"):
            with pytest.raises(WarehouseError, match="WH303.*1 row differs"):
                _check_same_result(con, "built", f"select x from (values {rows}) as v (x)", ["x"])

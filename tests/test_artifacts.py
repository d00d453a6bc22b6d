"""`manifest.json` and `run_results.json`: dbt's shape where catalogues look, and true to the project."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from warehouse.digest import bytes_digest
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.transform.export.artifact_manifest import manifest
from warehouse.transform.export.artifact_results import run_results
from warehouse.transform.export.describe import describe_project
from warehouse.transform.export.description import BuildOutcome, ModelOutcome, ProjectDescription, PromiseOutcome

NOW = datetime(2026, 11, 21, 12, 30, tzinfo=UTC)
RUN_FACT = """\
/*
description: One row per run
materialized: incremental
key: [run_id]
grain: [run_id]
collects: run
tags: [nightly]
columns:
  run_id: {type: varchar, description: "The run", tests: [not_null, {relationships: main.host_dim.run_id}]}
  state: {type: varchar, tests: [{accepted_values: [ok, failed]}]}
  speed_ms: {type: double, unit: ms, tests: [{range: {min: 0, max: 9.5}}]}
*/
select * from feed.run;
"""
FILES = {
    "models/facts/run_fact.sql": RUN_FACT,
    "models/dims/host_dim.sql": "select 'r1' as run_id",
    "models/staging/bundle_run.sql":
        "/*\nfeeds: run\n*/ select artifact_manifest_digest as run_id, 'ok' as state, 1.0::double as speed_ms from evidence_bundle",
    "queries/fast.sql": "/*\ngrain: [run_id]\nclaim: {what: speed}\n*/ select run_id, speed_ms from run_fact",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectDescription:
    project = init_project(tmp_path_factory.mktemp("artifacts") / "my.lab-1", bare=True)
    for name, text in FILES.items():
        (project.root / name).parent.mkdir(parents=True, exist_ok=True)
        (project.root / name).write_text(text)
    return describe_project(project)


@pytest.fixture(scope="module")
def document(project: ProjectDescription) -> dict[str, Any]:
    return json.loads(json.dumps(manifest(project, NOW)))


def test_metadata(document: Mapping[str, Any]) -> None:
    metadata = document["metadata"]
    assert metadata["dbt_schema_version"] == "https://schemas.getdbt.com/dbt/manifest/v12.json"
    assert metadata["generated_at"] == "2026-11-21T12:30:00.000000Z"
    assert (metadata["adapter_type"], metadata["project_name"]) == ("duckdb", "my_lab_1")  # ids are cut at dots


def test_a_model(document: Mapping[str, Any]) -> None:
    node = document["nodes"]["model.my_lab_1.run_fact"]
    expected = {
        "unique_id": "model.my_lab_1.run_fact", "resource_type": "model", "package_name": "my_lab_1", "language": "sql",
        "database": "current", "schema": "main", "name": "run_fact", "alias": "run_fact", "path": "run_fact.sql",
        "original_file_path": "models/facts/run_fact.sql", "fqn": ["my_lab_1", "main", "run_fact"],
        "relation_name": '"current"."main"."run_fact"', "description": "One row per run", "tags": ["nightly"],
        "raw_code": RUN_FACT, "compiled_code": "select * from feed.run", "compiled": True, "primary_key": ["run_id"],
        "checksum": {"name": "sha256", "checksum": bytes_digest(RUN_FACT.encode())},
        "meta": {"grain": ["run_id"], "collects": "run"},
        "depends_on": {"macros": [], "nodes": ["model.my_lab_1.feed.run"]},
    }
    assert {key: node[key] for key in expected} == expected
    assert (node["config"]["materialized"], node["config"]["unique_key"]) == ("incremental", ["run_id"])
    assert node["config"]["contract"]["enforced"] is True
    assert list(node["columns"]) == ["run_id", "state", "speed_ms"]
    speed = node["columns"]["speed_ms"]
    assert (speed["name"], speed["data_type"], speed["meta"]) == ("speed_ms", "DOUBLE", {"unit": "ms"})
    assert node["columns"]["run_id"]["description"] == "The run"


def test_a_rollup_and_a_feed(document: Mapping[str, Any]) -> None:
    rollup = document["nodes"]["model.my_lab_1.fast"]
    assert (rollup["schema"], rollup["meta"]["claim"]) == ("rollup", {"what": "speed"})
    feed = document["nodes"]["model.my_lab_1.feed.run"]
    assert (feed["schema"], feed["name"], feed["config"]["materialized"]) == ("feed", "run", "view")


def test_a_landing_table_is_a_source(document: Mapping[str, Any]) -> None:
    source = document["sources"]["source.my_lab_1.landing.evidence_bundle"]
    assert (source["resource_type"], source["source_name"], source["identifier"]) == ("source", "landing", "evidence_bundle")
    assert source["columns"]["artifact_manifest_digest"]["data_type"] == "VARCHAR"
    reader = document["nodes"]["model.my_lab_1.bundle_run"]
    assert reader["sources"] == [["landing", "evidence_bundle"]]
    assert reader["depends_on"]["nodes"] == ["source.my_lab_1.landing.evidence_bundle"]


# The start of a test's name, and its metadata and parents but for the model that it is on.
TESTS: dict[str, tuple[str, str | None, dict[str, Any], list[str]]] = {
    "not_null_run_fact_run_id": ("not_null", None, {"column_name": "run_id"}, []),
    "relationships_run_fact_run_id__run_id__ref_host_dim_": (
        "relationships", None, {"column_name": "run_id", "to": "ref('host_dim')", "field": "run_id"}, ["host_dim"]),
    "accepted_values_run_fact_state__ok__failed": (
        "accepted_values", None, {"column_name": "state", "values": ["ok", "failed"]}, []),
    "dbt_utils_accepted_range_run_fact_speed_ms__9_5__0": (
        "accepted_range", "dbt_utils", {"column_name": "speed_ms", "min_value": 0, "max_value": 9.5}, []),
    "dbt_utils_unique_combination_of_columns_run_fact_run_id": (
        "unique_combination_of_columns", "dbt_utils", {"combination_of_columns": ["run_id"]}, []),
}


@pytest.mark.parametrize("name", TESTS)
def test_a_test(name: str, document: Mapping[str, Any]) -> None:
    (node,) = [node for node in document["nodes"].values() if node["resource_type"] == "test" and node["name"] == name]
    test, namespace, arguments, others = TESTS[name]
    kwargs = {**arguments, "model": "{{ get_where_subquery(ref('run_fact')) }}"}
    assert node["test_metadata"] == {"name": test, "namespace": namespace, "kwargs": kwargs}
    assert node["column_name"] == arguments.get("column_name")
    assert node["attached_node"] == "model.my_lab_1.run_fact"
    assert node["depends_on"]["nodes"] == [f"model.my_lab_1.{model}" for model in ("run_fact", *others)]
    assert node["config"]["materialized"] == "test" and "run_fact" in node["compiled_code"]


def test_parents_and_children_are_each_others(document: Mapping[str, Any]) -> None:
    parents, children = document["parent_map"], document["child_map"]
    assert parents.keys() == children.keys() == document["nodes"].keys() | document["sources"].keys()
    down = {(parent, child) for child, above in parents.items() for parent in above}
    assert down == {(parent, child) for parent, below in children.items() for child in below}
    assert ("model.my_lab_1.run_fact", "model.my_lab_1.fast") in down
    assert all(node["depends_on"]["nodes"] == parents[key] for key, node in document["nodes"].items())


def test_no_two_things_share_an_id_in_the_standard_project() -> None:
    project = describe_project(Project(standard_folder(), "standard", Path("store"), Path("builds"), 1, True))
    found = manifest(project, NOW)
    promises = sum(len(table.promises) for table in project.tables.values())
    assert len(found["nodes"]) == promises + sum(table.model is not None for table in project.tables.values())
    assert len(found["sources"]) == len(project.landing)
    assert all(len(node["name"]) <= 63 for node in found["nodes"].values())


# --- run results -------------------------------------------------------------------------------------------------

BUILD = BuildOutcome(
    "d1", NOW, NOW + timedelta(seconds=3.5),
    (
        ModelOutcome("staging.bundle_run", "built", 0.25, 7, started_at=NOW + timedelta(seconds=1)),
        ModelOutcome("main.host_dim", "kept", rows=1),
        ModelOutcome("main.run_fact", "failed", 0.5, message="WH209 no room"),
    ),
    (
        PromiseOutcome("run_fact.run_id_not_null", "pass"),
        PromiseOutcome("run_fact.grain", "error", 2),
        PromiseOutcome("run_fact.speed_ms_range", "warn", 1),
    ),
)


def test_run_results(project: ProjectDescription, document: Mapping[str, Any]) -> None:
    found = run_results(replace(project, last_build=BUILD), NOW)
    assert found["metadata"]["dbt_schema_version"] == "https://schemas.getdbt.com/dbt/run-results/v6.json"
    assert (found["elapsed_time"], found["args"]) == (3.5, {"which": "build"})
    results = {result["unique_id"]: result for result in found["results"]}
    assert results.keys() <= document["nodes"].keys() and len(results) == 6
    built = results["model.my_lab_1.bundle_run"]
    assert (built["status"], built["execution_time"], built["adapter_response"]) == ("success", 0.25, {"rows_affected": 7})
    assert built["timing"] == [
        {"name": "execute", "started_at": "2026-11-21T12:30:01.000000Z", "completed_at": "2026-11-21T12:30:01.250000Z"}
    ]
    assert results["model.my_lab_1.host_dim"]["status"] == "no-op"
    failed = results["model.my_lab_1.run_fact"]
    assert (failed["status"], failed["message"]) == ("error", "WH209 no room")
    tests = {
        document["nodes"][key]["test_metadata"]["name"]: (result["status"], result["failures"])
        for key, result in results.items() if key.startswith("test.")
    }
    assert tests == {"not_null": ("pass", 0), "unique_combination_of_columns": ("fail", 2), "accepted_range": ("warn", 1)}


def test_equal_builds_have_equal_ids_and_others_have_others(project: ProjectDescription) -> None:
    def invocation(build: BuildOutcome | None) -> str:
        return manifest(replace(project, last_build=build), NOW)["metadata"]["invocation_id"]

    later = replace(BUILD, started_at=NOW + timedelta(seconds=1))
    assert invocation(BUILD) == invocation(replace(BUILD)) != invocation(later)
    assert run_results(replace(project, last_build=BUILD), NOW)["metadata"]["invocation_id"] == invocation(BUILD)

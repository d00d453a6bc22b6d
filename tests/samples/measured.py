"""A bare project whose measurements are rows of CSV files: comparisons and series without any evidence family."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build

NAMES = (
    "run_id", "series", "value", "session", "started_at", "software", "script", "node", "case_name", "better", "clock_hz", "testbed",
)
_MEASUREMENT = """
/*
role: measurements
grain: [run_id, indicator, metric, point]
*/
select
    run_id, 'sim' as indicator, 'elapsed_ms' as metric, '' as point, value::double as value, 'ms' as unit, coalesce(better, 'lower') as better,
    session, started_at::timestamptz as started_at, coalesce(case_name, series) as benchmark_case_id, 'w' as workload,
    null::varchar as parameters, 'h' as hardware, coalesce(testbed, 't') as testbed, node, software, script,
    'series ' || series as series_key, concat_ws(' ', series, software, script) as comparable_key
from read_csv('data/*.csv', all_varchar = true, union_by_name = true)
"""
_CONDITION = """
/*
role: conditions
*/
select run_id, 'software' as kind, 'framework_version' as name, software as value_text, null::double as value_number
from read_csv('data/*.csv', all_varchar = true, union_by_name = true)
where software is not null
union all
select run_id, 'reported', 'clock_hz', clock_hz, clock_hz::double
from read_csv('data/*.csv', all_varchar = true, union_by_name = true)
where clock_hz is not null
"""

RUN_NAMES = ("run_id", "series", "started_at", "software", "node", "status", "state", "mode", "has_conflict")
_RUN = """
/*
role: runs
grain: [run_id]
*/
select
    run_id, series as benchmark_case_id, 'w' as workload_spec_digest, 'h' as hardware_topology_key, 't' as cluster_region_key,
    software as software_version_key, node as node_name, started_at::timestamptz as started_at, coalesce(status, 'succeeded') as status,
    coalesce(state, 'admitted') as state, coalesce(mode, 'performance') as mode, coalesce(has_conflict, 'false')::boolean as has_conflict
from read_csv('runs/*.csv', all_varchar = true, union_by_name = true)
"""


def with_runs(project: Project, rows: Iterable[Mapping[str, Any]]) -> Project:
    """The project with a table of runs, those without a measurement among them."""
    (project.root / "models" / "run.sql").write_text(_RUN)
    _write(project.root / "runs" / "all.csv", RUN_NAMES, ({name: row.get(name) for name in RUN_NAMES} for row in rows))
    build(project)
    return project


def measured_project(root: Path, rows: Iterable[Mapping[str, Any]]) -> Project:
    project = init_project(root, bare=True)
    (root / "models" / "measurement.sql").write_text(_MEASUREMENT)
    (root / "models" / "condition.sql").write_text(_CONDITION)
    add_rows(project, "first", rows)
    return project


def add_rows(project: Project, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Another file of rows, which are built."""
    _write(project.root / "data" / f"{name}.csv", NAMES, rows)
    build(project)


def _write(path: Path, names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(rows)

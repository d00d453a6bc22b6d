"""A bare project whose measurements are rows of CSV files: comparisons and series without any evidence family."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from warehouse.project import Project
from warehouse.project_making import init_project
from warehouse.transform.build.build import build

NAMES = (
    "run_id", "series", "value", "session", "started_at", "software", "script", "node", "case_name", "better", "clock_hz",
)
_MEASUREMENT = """
/*
role: measurements
grain: [run_id, indicator, metric, point]
*/
select
    run_id, 'sim' as indicator, 'elapsed_ms' as metric, '' as point, value::double as value, 'ms' as unit, coalesce(better, 'lower') as better,
    session, started_at::timestamptz as started_at, coalesce(case_name, series) as benchmark_case_id, 'w' as workload,
    null::varchar as parameters, 'h' as hardware, 't' as testbed, node, software, script,
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


def measured_project(root: Path, rows: Iterable[Mapping[str, Any]]) -> Project:
    project = init_project(root, bare=True)
    (root / "models" / "measurement.sql").write_text(_MEASUREMENT)
    (root / "models" / "condition.sql").write_text(_CONDITION)
    add_rows(project, "first", rows)
    return project


def add_rows(project: Project, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Another file of rows, which are built."""
    folder = project.root / "data"
    folder.mkdir(exist_ok=True)
    with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, NAMES)
        writer.writeheader()
        writer.writerows(rows)
    build(project)

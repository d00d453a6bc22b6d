"""Runs by the names that people give them: model, GPU, engine and load, from the dimensions, as far as the build has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from warehouse.analysis.names import Name, name_of
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.transform.finished.role_tables import RoleTable

# The tables that name a run: their key in the table of runs, and the columns of theirs that names are made from.
_DIMENSIONS = (
    ("main.workload_dim", "workload_spec_digest", ("model",)),
    ("main.hardware_topology_dim", "hardware_topology_key", (
        "accelerator_family", "accelerator_name", "gpu_model", "gpu_count", "cpu_model", "system_name")),
    ("main.software_version_dim", "software_version_key", ("framework", "framework_version", "server_version")),
    ("main.serving_configuration_fact", "run_id", ("input_length", "output_length")),
)
_LOADS = "main.serving_outcome_fact", ("concurrency_point", "request_rate_per_s")


def run_names(found: Reader, table: RoleTable, run_ids: Iterable[str]) -> dict[str, Name]:
    """The names of runs of the table of runs by their ids. A run of several loads is named without one."""
    own = table.columns
    selected = ["run.run_id", *(f"run.{name}" for name in ("benchmark_case_id",) if name in own)]
    joins = []
    for place, (dimension, key, names) in enumerate(_DIMENSIONS):
        columns = found.columns(dimension)
        if key in own and key in columns:
            selected += [f"d{place}.{name}" for name in names if name in columns]
            joins.append(f"left join {dimension} as d{place} on d{place}.{key} = run.{key}")
    loads, points = _LOADS
    if {"run_id", *points} <= found.columns(loads):
        one = ", ".join(f"case when count(distinct {name}) = 1 then min({name}) end as {name}" for name in points)
        of_run = f"select run_id, {one} from {loads} where list_contains($ids, run_id) group by run_id"
        joins.append(f"left join ({of_run}) as load on load.run_id = run.run_id")
        selected += [f"load.{name}" for name in points]
    sql = f"select {', '.join(selected)} from {table.sql} as run {' '.join(joins)} where list_contains($ids, run.run_id)"
    return {str(row["run_id"]): name_of(row) for row in found.rows(sql, {"ids": list(run_ids)})}


def named(names: dict[str, Name], run_id: Any) -> str:
    """What a run is called; one that nothing names, its id."""
    return str(names.get(str(run_id), "")) or str(run_id)

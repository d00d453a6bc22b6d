"""What the recorder of a run could not read, with the reason: why a check has no evidence although the run was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from warehouse.analysis.explain.playbooks import metrics_in

if TYPE_CHECKING:
    import duckdb

# Metrics that the recorder samples from each of the places that it names where it cannot read them.
SAMPLED = {
    "pressure": ("cpu_pressure_s", "io_pressure_s", "memory_pressure_s"),
    "cpu_clock": ("cpu_clock_mean_mhz",),
    "cgroup": ("cgroup_cpu_period_count", "cgroup_refaulted_page_count"),
    "process_io": ("process_read_bytes",),
    "runqueue_wait": ("process_runqueue_wait_s",),
    "infiniband": ("nic_symbol_error_count",),
    "numa_placement": ("numa_local_page_count",),
    "memory_bandwidth": (),
    "gpu": ("gpu_sm_clock_mhz", "gpu_memory_clock_mhz", "gpu_process_sm_util_pct", "gpu_util_pct", "gpu_xid", "gpu_temperature_c", "pcie_width"),
    "gpu_activity": ("gpu_sm_active_pct",),
}


def read_unread(con: "duckdb.DuckDBPyConnection", run_id: str) -> Mapping[str, str]:
    """By what could not be read, the reason; of a run that was not recorded, or by an earlier recorder, nothing."""
    if not con.execute("select 1 from duckdb_columns() where table_name = 'recorded_unread'").fetchall():
        return {}  # a project without the standard models, or a build of earlier ones
    return dict(con.execute("select source, reason from recorded_unread where run_id = ?", [run_id]).fetchall())


def why_unread(unread: Mapping[str, str], sql: str) -> str | None:
    """What the recorder could not read of the metrics that a check reads."""
    names = metrics_in(sql)
    wanted = [name for name in unread if any(fnmatchcase(metric, each) for metric in SAMPLED.get(name, ()) for each in names)]
    return "; ".join(f"the recorder could not read {name.replace('_', ' ')}: {unread[name]}" for name in wanted) or None

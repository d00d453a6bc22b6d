"""The slowdown that a check of a playbook can account for, of figures that were worked out by hand: a bound that the evidence does not give is
unknown, and neither 1 nor all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

PLAYBOOKS = Path(__file__).resolve().parents[1] / "queries/playbooks"
# A run that takes 1.6 times as long for its work as the run before, and reads ten times as much from disks.
TABLES = """
create table explained as
    select *, 'digest' as artifact_manifest_digest, run_id || '/' as raw_folder, 'node-a' as node_name
    from (values ('run', 'b', 10.0, 5.0, 1.0), ('baseline', 'a', 10.0, 3.0, 0.3)) as run (role, run_id, duration_s, user_cpu_s, system_cpu_s);
create table changed as
    select 'elapsed_ms' as metric, 16.0 as observed, 10.0 as expected, 'lower' as better, 'ms' as unit, 1.05 as usual_factor;
create table run_telemetry as
    select
        run_id, metric, rate_per_s, rate_per_s as value_mean, 'process' as scope, 'python' as subject, null as gpu_uuid, true as is_supported,
        null as note, false as is_neighbour, false as is_idle_neighbour, 'digest' as artifact_manifest_digest, 'processes.jsonl' as raw_path
    from (values ('b', 'process_read_bytes', 80e6), ('a', 'process_read_bytes', 8e6)) as sample (run_id, metric, rate_per_s)
"""
DISK_TIME = "insert into run_telemetry by name select run_id, 'disk_read_s' as metric, 0.4 as rate_per_s, 'disk' as scope, true as is_supported from explained"


def asked(check: str, *statements: str) -> dict[str, Any]:
    """The one row of a check, by its columns."""
    with duckdb.connect() as con:
        for statement in (TABLES, *statements):
            con.execute(statement)
        found = con.sql((PLAYBOOKS / f"{check}.sql").read_text())
        [row] = [each for each in (dict(zip(found.columns, row, strict=True)) for row in found.fetchall()) if each["subject"] == "processes of the run"]
        return row


@pytest.mark.parametrize("more", [(), (DISK_TIME,)])
def test_own_work_is_bound_by_what_it_computes_more_however_long_disks_worked(more: tuple[str, ...]) -> None:
    row = asked("own_process_input", *more)
    # In the time of the run before, 0.5 cores x 1.6 for the same work, and 0.3 before.
    assert row["is_found"] and row["slowdown"] == pytest.approx(1 + 0.5 * 1.6 - 0.3)


def test_how_long_reading_took_is_unknown_without_the_time_of_disks_and_of_the_kernel() -> None:
    row = asked("storage_throughput")
    assert row["slowdown"] is None and row["statement"].startswith("they read 80 MB/s from disks, in the baseline 8 MB/s")
    assert asked("storage_throughput", DISK_TIME + " where role = 'run'")["slowdown"] == pytest.approx(1 / (1 - 0.4))

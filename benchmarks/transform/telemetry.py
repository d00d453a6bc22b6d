"""Synthetic performance telemetry as Parquet: dimensions, and for each day a file of runs and one of their samples.

The same number of rows gives the same rows: telemetry.py FOLDER ROWS. In `next/` there is one more day, to append.
"""

from __future__ import annotations

import shutil
import sys
from datetime import date, timedelta
from pathlib import Path

DAYS = 100
# SQLMesh thinks in whole days: after this one there is exactly one more to add.
LAST_DAY = date(2026, 11, 18)
_SAMPLES_A_RUN = 50

_DIMENSIONS = {
    "hosts": """
        select i as host_id, 'host-' || i as hostname, 'cpu' || (i % 7) as cpu_model, 8 * (1 + i % 8) as cores,
            32 * (1 + i % 4) as mem_gib, case when i % 3 = 0 then 'windows' else 'linux' end as os
        from range(500) as t(i)""",
    "suites": "select i as suite_id, 'suite ' || i as suite_name, 'team' || (i % 5) as team from range(20) as t(i)",
    "metrics": """
        select i as metric_id, 'metric_' || i as metric_name, (i % 3 <> 2) as lower_is_better,
            case i % 3 when 0 then 'ms' when 1 then 'MiB' else 'ops/s' end as unit
        from range(60) as t(i)""",
    "commits": """
        select i as commit_id, md5(i::varchar) as sha, 'dev' || (i % 40) as author,
            timestamp '2026-08-01' + to_hours(i) as committed_at,
            case when i % 10 = 0 then 'release' else 'main' end as branch
        from range(2400) as t(i)""",
}
_RUNS = """
    select {number} * {runs} + i as run_id, (hash({number}, i) % 500)::int as host_id, i % 20 as suite_id,
        least(2399, {number} * 24 + i % 24) as commit_id,
        timestamp '{day}' + to_seconds(i * 86400 // {runs}) as started_at,
        30 + (hash(i, {number}) % 600) / 10.0 as duration_s,
        case when hash({number}, i, 7) % 50 = 0 then 'failed' else 'ok' end as status
    from range({runs}) as t(i)"""
_SAMPLES = """
    select {number} * {runs} + i // {each} as run_id, (i % {each} + (i // {each}) % 11)::int as metric_id,
        (i % 5)::int as iteration, 100 + (hash(i, {number}) % 10000) / 100.0 as value,
        timestamp '{day}' + to_seconds((i // {each}) * 86400 // {runs}) + to_milliseconds(i % {each}) as ts
    from range({samples}) as t(i)"""


def write_telemetry(folder: Path, rows: int) -> None:
    """Write `rows` samples over `DAYS` days, and `next/` with one further day."""
    import duckdb

    for part in ("base", "runs", "samples", "next/runs", "next/samples"):
        (folder / part).mkdir(parents=True)
    con = duckdb.connect()
    for name, sql in _DIMENSIONS.items():
        con.execute(f"copy ({sql}) to '{folder}/base/{name}.parquet'")
    samples = rows // DAYS
    for number in range(DAYS + 1):
        day = LAST_DAY + timedelta(days=number + 1 - DAYS)
        runs = max(1, samples // _SAMPLES_A_RUN)
        values = {"number": number, "day": day, "samples": samples, "runs": runs, "each": _SAMPLES_A_RUN}
        target = folder if number < DAYS else folder / "next"
        for part, sql in (("runs", _RUNS), ("samples", _SAMPLES)):
            con.execute(f"copy ({sql.format_map(values)}) to '{target}/{part}/day={day}.parquet'")


def copy_days(source: Path, target: Path) -> None:
    """All but the day to append. Copies: a hard link would change the times of what other tools read."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("next"))


def append_day(source: Path, target: Path) -> None:
    """Add the further day to a copy."""
    shutil.copytree(source / "next", target, dirs_exist_ok=True)


if __name__ == "__main__":
    write_telemetry(Path(sys.argv[1]), int(sys.argv[2]))

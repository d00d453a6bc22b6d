"""What tracing one cell costs, beside the queries on the parts and landing files that hold its rows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from warehouse.project.project import read_project
from warehouse.trace.catalog import open_trace_session
from warehouse.trace.tracing import trace
from warehouse.transform.finished.builds import current_build, part_path
from warehouse.transform.sql.duck import connect

if TYPE_CHECKING:
    import duckdb

_TIMES = 5


@dataclass(frozen=True)
class Traced:
    """CPU seconds of a trace in a session that is open, and of the queries; how many rows the trace brought in."""

    trace_s: float
    query_s: float
    rows: int

    @property
    def times(self) -> float:
        return self.trace_s / self.query_s


def traced(project_root: Path, query: str, run_id: str) -> Traced:
    """Trace the first cell of a run. A number reads `run_metric`, that `sample`, and that the landing table: the queries are those of the
    run's rows in the part of `sample` and in the landing file that hold them, by which the same files are read."""
    project = read_project(project_root)
    build = current_build(project)
    times, rows = [], 0
    for _ in range(_TIMES):
        con, catalog = open_trace_session(build, project.store_root, is_of_cell=True)
        [(row, *_)] = con.execute(f"select rowid from rollup.{query} where run_id = ? order by all limit 1", [run_id]).fetchall()
        times.append(_cpu_s(partial(trace, con, catalog, query, ["p99"], [row])))
        [(rows,)] = con.execute("select count(*) from sample where run_id = ?", [run_id]).fetchall()
        con.close()
    con = connect()
    parts = [str(build.path.parent / part_path(table, sha256)) for table, found in build.parts.items() for sha256 in found]
    landing = [str(path) for path in sorted((project.store_root / "landing/telemetry_row").glob("*.parquet"))]
    holding = [[path for path in paths if _has(con, path, run_id)] for paths in (parts, landing)]
    sql = "select metric, count(*), avg(value), max(value), quantile_cont(value, 0.99) from read_parquet({}) where run_id = '{}' group by metric"
    queries = [sql.format(paths, run_id) for paths in holding if paths]
    query_s = [_cpu_s(lambda: [con.execute(each).fetchall() for each in queries]) for _ in range(_TIMES)]
    con.close()
    return Traced(median(times), median(query_s), rows)


def _has(con: "duckdb.DuckDBPyConnection", path: str, run_id: str) -> bool:
    return bool(con.execute("select 1 from read_parquet(?) where run_id = ? limit 1", [path, run_id]).fetchall())


def _cpu_s(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started

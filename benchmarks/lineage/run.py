"""Measure what it costs to say where a number comes from, beside the query that gives it. One process, CPU time of its own."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import exp, log
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
# A script has its own folder on the path, and neither the package, the tests' samples, nor the other benchmark's clock.
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests"), str(HERE.parent / "transform")]

from measure import medians, run
from subjects import FACT_QUERIES, Query, facts, tpch, tpch_queries, with_rollup

from warehouse.trace.catalog import Catalog
from warehouse.trace.provenance.annotator import annotate
from warehouse.trace.trace_step import WANTED, hop, row_tokens
from warehouse.trace.tracing import Tracer, trace

if TYPE_CHECKING:
    import duckdb

_TRACE_EXTRA_MS = 50.0
_ONE_RUN_MS = 50.0
_LINEAGE_MS = 600.0
_VERIFY_MS = 2000.0
_TPCH_MEAN, _TPCH_WORST = 1.2, 6.0
_CELL_RATIO = 4.0
_ROWS = "rows behind one row"
# The CPU milliseconds of each verification of a number after the first, in one process.
_REPLAYS = """
import sys, time
from warehouse.claims.verify.verification import verify_number
from warehouse.project.project import find_project
taken = []
for _ in range(int(sys.argv[2]) + 1):
    started = time.process_time()
    assert verify_number(find_project(), sys.argv[1]).state == "verified"
    taken.append(1000 * (time.process_time() - started))
print(*taken[1:])
"""


@dataclass(frozen=True)
class Figure:
    """One line: milliseconds of CPU of a trace and of its floor, and the bound where there is one."""

    name: str
    cost_ms: float
    floor: str
    floor_ms: float
    bound_ms: float | None = None
    rewriting_ms: float = 0.0  # of the cost, what Python takes to write the annotated SQL

    @property
    def ratio(self) -> float:
        return self.cost_ms / self.floor_ms

    def told(self) -> str:
        part = f", {self.rewriting_ms:.0f} ms of it rewriting" if self.rewriting_ms else ""
        verdict = "" if self.bound_ms is None else f"  <= {self.bound_ms:.0f} ms: {_verdict(self.cost_ms <= self.bound_ms)}"
        return f"{self.name:<42} {self.cost_ms:>8.0f} {self.floor_ms:>8.0f} {self.ratio:>6.2f}  {self.floor}{part}{verdict}"


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "MISSED"


def cpu_ms(actions: Sequence[Callable[[], object]], runs: int) -> list[float]:
    """The median CPU time of this process, all threads, of each action after one run to warm up. They take turns: the
    machine's speed may change by half within a minute, and that should hit a cost and its floor alike."""
    for action in actions:
        action()
    costs: list[list[float]] = [[] for _ in actions]
    for _ in range(runs):
        for action, taken in zip(actions, costs, strict=True):
            started = time.process_time()
            action()
            taken.append(time.process_time() - started)
    return [median(taken) * 1000 for taken in costs]


def fact_figures(scratch: Path, rows: int, runs: int) -> Iterator[Figure]:
    with facts(scratch / "facts.duckdb", rows) as con:
        for query in FACT_QUERIES:
            catalog = with_rollup(con, query)
            [(row, count)] = con.execute("select count(*) // 2, count(*) from rollup.claim").fetchall()
            floor, cell, one, every = cpu_ms(
                (
                    partial(con.execute, f"create or replace temp table answer as {query.sql}"),
                    partial(trace_cell, con, catalog, row),
                    partial(trace, con, catalog, "claim", [], [row]),
                    partial(trace, con, catalog, "claim", []),
                ),
                runs,
            )
            bound = _ONE_RUN_MS if query.is_of_one_run else floor + _TRACE_EXTRA_MS
            yield Figure(f"{query.name}: runs of one", one, "the query", floor, bound)
            yield Figure(f"{query.name}: runs of all {count}", every, "the query", floor)
            yield Figure(f"{query.name}: cell of one", cell, "the query", floor, _CELL_RATIO * floor)


def trace_cell(con: "duckdb.DuckDBPyConnection", catalog: Catalog, row: int) -> None:
    """The runs of one row, and of its last column the rows and columns of the tables that the query reads."""
    query = catalog.models["rollup.claim"]
    value = [column for column in catalog.columns[query.qualified] if column not in query.grain][-1]
    Tracer(con, catalog, keeps_landing_rows=False).start(query, [value], [row], traces_rows=False)


def tpch_figures(scratch: Path, scale: str, runs: int) -> Iterator[Figure]:
    """The trace of one row of each query to the rows of all its tables. Raises CalledProcessError where the data cannot be had."""
    from provenance import tpch as packages

    programs = packages.environment()
    subprocess.run([str(programs / "tpchgen-cli"), "parquet", "-s", scale, "--output-dir", str(scratch / "tpch")], check=True)
    with tpch(scratch / "tpch.duckdb", scratch / "tpch") as con:
        for query in tpch_queries(packages.texts(programs)):
            yield from _tpch_figure(con, query, runs)


def _tpch_figure(con: "duckdb.DuckDBPyConnection", query: Query, runs: int) -> Iterator[Figure]:
    catalog = with_rollup(con, query)
    [(row,)] = con.execute("select (count(*) // 2)::bigint from rollup.claim").fetchall()
    con.execute(f"create or replace temp table {WANTED} as select {row}::bigint as rid")
    floor, cost, cell, rewriting = cpu_ms(
        (
            lambda: con.execute(f"create or replace temp table answer as {query.sql}"),
            lambda: hop(con, catalog, catalog.models["rollup.claim"], row_tokens(catalog)),
            lambda: trace_cell(con, catalog, row),
            lambda: annotate(query.sql, bare_columns(catalog), dict.fromkeys(bare_columns(catalog), "{alias}.rowid")),
        ),
        runs,
    )
    yield Figure(f"{query.name}: {_ROWS}", cost, "the query", floor, rewriting_ms=rewriting)
    yield Figure(f"{query.name}: cell of one", cell, "the query", floor, _CELL_RATIO * floor)


def bare_columns(catalog: Catalog) -> dict[str, Sequence[str]]:
    return {name.partition(".")[2]: columns for name, columns in catalog.columns.items()}


def number_figures(scratch: Path, runs: int) -> Iterator[Figure]:
    """`wh lineage` and `wh verify` of a published number, each from a cold start, on a project of twenty made submissions."""
    from samples.mlperf_inference import write_submission

    for number in range(20):
        write_submission(scratch / "evidence" / "inference_results_v5.1", submitter=f"Submitter{number}")
    project, here = scratch / "project", {"PYTHONPATH": str(REPOSITORY)}
    wh = [sys.executable, "-m", "warehouse.cli.main"]
    run([*wh, "init", str(project)], scratch, here)
    for arguments in (["ingest", str(scratch / "evidence")], ["build"], ["publish", "mlperf_inference_results", "--as", "provisional"]):
        run([*wh, *arguments], project, here)
    select = "select number_ids.performance_result from mlperf_inference_results limit 1"
    listed = subprocess.run(
        [*wh, "sql", "--format", "csv", select], cwd=project, env={**os.environ, **here}, capture_output=True, text=True, check=True
    )
    number_id = listed.stdout.split()[-1]
    nothing, lineage, verify = zip(*(
        (
            run([sys.executable, "-c", "pass"], scratch), run([*wh, "lineage", number_id], project, here),
            run([*wh, "verify", number_id], project, here),
        )
        for _ in range(runs)
    ), strict=True)
    floor_ms = medians(nothing).cpu_s * 1000
    for name, costs, bound in (
        ("wh lineage of a published number", lineage, _LINEAGE_MS), ("wh verify of a published number", verify, _VERIFY_MS),
    ):
        yield Figure(name, medians(costs).cpu_s * 1000, "python that starts and ends", floor_ms, bound)
    done = subprocess.run(
        [sys.executable, "-c", _REPLAYS, number_id, str(runs)], cwd=project, env={**os.environ, **here}, capture_output=True, text=True, check=True
    )
    replays = [float(line) for line in done.stdout.split()]
    yield Figure("the replay of one number", median(replays), "python that starts and ends", floor_ms, _VERIFY_MS)


def tpch_summary(figures: list[Figure]) -> str:
    whole = _geometric_mean(figure.ratio for figure in figures)
    running = _geometric_mean((figure.cost_ms - figure.rewriting_ms) / figure.floor_ms for figure in figures)
    worst = max(figures, key=lambda figure: figure.ratio)
    return (
        f"TPC-H, {len(figures)} queries: geometric mean {whole:.2f} <= {_TPCH_MEAN}: {_verdict(whole <= _TPCH_MEAN)}"
        f" ({running:.2f} without the rewriting);"
        f" worst {worst.name.partition(':')[0]} {worst.ratio:.2f} <= {_TPCH_WORST:.0f}: {_verdict(worst.ratio <= _TPCH_WORST)}"
    )


def _geometric_mean(ratios: Iterable[float]) -> float:
    return exp(mean(log(ratio) for ratio in ratios))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="facts, a thousand to a run (default: ten million)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--scale", default=os.environ.get("WH_TPCH_SCALE", "1"), help="of TPC-H; 0 leaves it out")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found: list[Figure] = []

    def keep(figure: Figure) -> None:
        found.append(figure)
        if not args.json:
            print(figure.told(), flush=True)

    if not args.json:
        print(f"{'figure':<42} {'CPU ms':>8} {'floor ms':>8} {'ratio':>6}  floor, limit", flush=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for figure in number_figures(scratch, args.runs):  # first: Linux counts the memory of who starts a process into it
            keep(figure)
        for figure in fact_figures(scratch, args.rows, args.runs):
            keep(figure)
        first = len(found)
        if args.scale != "0":
            try:
                for figure in tpch_figures(scratch, args.scale, args.runs):
                    keep(figure)
            except subprocess.CalledProcessError as error:
                print(f"TPC-H: not measured, its packages cannot be had: {error.stderr or error}", file=sys.stderr)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if args.json:
        print(json.dumps({"figures": [asdict(figure) for figure in found], "peak_mb": peak_mb}, indent=2))
        return
    if of_rows := [figure for figure in found[first:] if figure.name.endswith(_ROWS)]:
        print(tpch_summary(of_rows))
    print(f"peak memory {peak_mb:.0f} MB; load average at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()

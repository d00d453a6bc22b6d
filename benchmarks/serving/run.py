"""`wh frontier` and `wh goodput` on simulated runs, and the plain DuckDB query that reads the same rows: CPU seconds and peak memory."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks" / "transform")]

from measure import medians, run

from warehouse.project.making import init_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

_LOADS = 8  # of a curve
_REPEATS = 5
SLO = "ttft_ms<=120,itl_mean_ms<=24"
AXES = ("interactivity_p50_tokens_per_s", "output_token_throughput_per_accelerator_per_s")

_POINTS = """/*
role: load_points
materialized: table
*/
with run as (
    select
        range as number,
        range // {repeats} % {loads} as load_number,
        range // ({repeats} * {loads}) as curve,
        hash(range, 7) / 18446744073709551616.0 as noise
    from range({runs})
)
select
    'run ' || number as run_id,
    'p' as workload_point,
    'curve ' || curve as curve_key,
    'concurrency' as load_kind,
    2.0 ** load_number as load,
    'succeeded' as status,
    'session ' || number % 2 as session,
    'model' as model,
    100 / (1 + load_number) * (1 + 0.1 * noise) as interactivity_p50_tokens_per_s,
    10 * 2.0 ** load_number / (1 + 0.3 * load_number) * (1 + 0.1 * noise) as output_token_throughput_per_accelerator_per_s,
    5.0 as request_throughput_per_s,
    {requests} as completed_count
from run
"""
_REQUESTS = """/*
role: requests
materialized: table
*/
select
    'run ' || run.range as run_id,
    'p' as workload_point,
    'succeeded' as status,
    100 * (0.5 + hash(run.range, request.range, 1) / 18446744073709551616.0) as ttft_ms,
    20 * (0.5 + hash(run.range, request.range, 2) / 18446744073709551616.0) as itl_mean_ms,
    100 as output_token_count
from range({runs}) as run
cross join range({requests}) as request
"""
_PLAIN = {
    "frontier": "select curve_key, load, avg({0}) as x, avg({1}) as y from main.point group by all",
    "goodput": "select curve_key, load, run_id, count(*), count(*) filter (ttft_ms <= 120 and itl_mean_ms <= 24)"
    " from main.request join main.point using (run_id) group by all",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--requests", type=int, default=5000, help="of each run")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wh-bench-") as folder:
        project = init_project(Path(folder) / "project", bare=True)
        sizes = {"runs": options.runs, "requests": options.requests, "repeats": _REPEATS, "loads": _LOADS}
        for name, text in (("point", _POINTS), ("request", _REQUESTS)):
            (project.root / "models" / f"{name}.sql").write_text(text.format(**sizes))
        build(project)
        path = current_build(project).path
        wh = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root)]
        commands = {"frontier": [*wh, "frontier", "--x", AXES[0], "--y", AXES[1], "--json"], "goodput": [*wh, "goodput", SLO, "--json"]}
        found, where = {}, {"PYTHONPATH": str(ROOT)}
        for name, command in commands.items():
            sql = _PLAIN[name].format(*AXES)
            code = f"import duckdb; duckdb.connect({str(path)!r}, read_only=True).execute({sql!r}).fetchall()"
            rounds = [(run(command, Path(folder), where), run([sys.executable, "-c", code], Path(folder))) for _ in range(options.times)]
            ours, floor = (medians(costs) for costs in zip(*rounds, strict=True))
            found[name] = {"cpu_s": ours.cpu_s, "peak_mb": ours.peak_mb, "plain_cpu_s": floor.cpu_s, "ratio": ours.cpu_s / floor.cpu_s}
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for name, each in found.items():
        print(f"{name:9} {each['cpu_s']:6.2f} s  {each['peak_mb']:6.0f} MB  plain DuckDB {each['plain_cpu_s']:6.2f} s  {each['ratio']:5.2f}x")


if __name__ == "__main__":
    main()

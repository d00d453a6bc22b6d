"""How the cost of each command grows with the number of runs in one warehouse."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests")]

from commands.evidence import serving
from transform import measure
from transform.measure import Cost

WH = [sys.executable, "-m", "warehouse.cli.main"]
SIZES = (1_000, 5_000, 20_000)
MORE = 10  # runs that arrive after the first build
QUERY = "serving_results"
CONCURRENCIES, MACHINES = (1, 2, 4, 8, 16, 32, 64, 128), 20


def wh(project: Path, *arguments: str) -> Cost:
    return measure.run([*WH, *arguments], project, {"PYTHONPATH": str(HERE.parent.parent)})


def number_of(project: Path) -> str:
    """One published number, of the run that is last by its name."""
    found = subprocess.run(
        [*WH, "sql", f"select number_ids.ttft_mean_ms from {QUERY} order by run_id desc limit 1", "--format", "csv"],
        cwd=project, capture_output=True, text=True, check=True,
    )
    return found.stdout.split()[-1]


def measured(runs: int, scratch: Path) -> Iterator[tuple[str, Cost]]:
    project = scratch / "project"
    serving(scratch / "evidence", 0, runs, CONCURRENCIES, MACHINES)
    wh(scratch, "init", str(project))
    yield "ingest", wh(project, "ingest", str(scratch / "evidence"))
    yield "build", wh(project, "build")
    serving(scratch / "more", runs, MORE, CONCURRENCIES, MACHINES)
    wh(project, "ingest", str(scratch / "more"))
    yield f"build, {MORE} more", wh(project, "build")
    yield "build, no-op", wh(project, "build")
    yield "publish", wh(project, "publish", QUERY)
    number = number_of(project)
    yield "lineage", wh(project, "lineage", number)
    yield "verify", wh(project, "verify", number)
    yield "verify --all", wh(project, "verify", "--all")
    yield "fsck", wh(project, "fsck")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    table: dict[str, dict[int, Cost]] = {}
    for runs in args.runs:
        with tempfile.TemporaryDirectory() as name:
            for step, cost in measured(runs, Path(name)):
                table.setdefault(step, {})[runs] = cost
                print(f"{runs:>7,}  {step:<16} {cost.cpu_s:>8.1f} s CPU {cost.peak_mb:>6.0f} MB", file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps([
            {"step": step, "runs": runs, "cpu_s": cost.cpu_s, "peak_mb": cost.peak_mb}
            for step, costs in table.items() for runs, cost in costs.items()
        ], indent=2))  # fmt: skip
        return
    print("| step | " + " | ".join(f"{runs:,} runs: CPU s | MB" for runs in args.runs) + " |")
    print("|---" * (1 + 2 * len(args.runs)) + "|")
    for step, costs in table.items():
        print(f"| {step} | " + " | ".join(f"{cost.cpu_s:.1f} | {cost.peak_mb:.0f}" for cost in costs.values()) + " |")


if __name__ == "__main__":
    main()

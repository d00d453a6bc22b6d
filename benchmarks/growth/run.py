"""How the cost of each command grows with the number of runs in one warehouse: CPU seconds, peak memory, bytes written, and what a build with
nothing new asks of the system."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests")]

from commands.evidence import serving
from transform import measure

ENVIRONMENT = {"PYTHONPATH": str(HERE.parent.parent)}
WH = [sys.executable, "-m", "warehouse.cli.main"]
SIZES = (1_000, 5_000, 20_000)
MORE = 10  # runs that arrive after the first build
QUERY = "serving_results"
REPEATED = 3  # runs of a quick command, of which the cheapest counts
CONCURRENCIES, MACHINES = (1, 2, 4, 8, 16, 32, 64, 128), 20


@dataclass(frozen=True)
class Step:
    """What a command cost, and the bytes that it wrote; `calls`: its system calls, where they are counted."""

    cpu_s: float
    peak_mb: float
    written_mb: float
    calls: int | None = None


def wh(project: Path, *arguments: str, times: int = 1) -> Step:
    """The cheapest of several runs. Bytes are counted as files that are there afterwards and were not, or are larger."""
    before = sizes(project)
    costs = [measure.run([*WH, *arguments], project, ENVIRONMENT) for _ in range(times)]
    written = sum(max(0, size - before.get(path, 0)) for path, size in sizes(project).items() if path.name != "benchmark.log")
    return Step(min(cost.cpu_s for cost in costs), max(cost.peak_mb for cost in costs), written / 1e6)


def sizes(project: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in project.rglob("*") if path.is_file() and not path.is_symlink()}


def calls_of(project: Path, *arguments: str) -> int | None:
    """System calls of a command; None where they cannot be counted."""
    if not shutil.which("strace"):
        return None
    found = subprocess.run(["strace", "-c", "-f", *WH, *arguments], cwd=project, capture_output=True, text=True, env={**os.environ, **ENVIRONMENT})
    total = re.search(r"([0-9]+)\s+([0-9]+\s+)?total", found.stderr)
    return int(total[1]) if total else None


def number_of(project: Path) -> str:
    """One published number, of the run that is last by its name."""
    found = subprocess.run(
        [*WH, "sql", f"select number_ids.ttft_mean_ms from {QUERY} order by run_id desc limit 1", "--format", "csv"],
        cwd=project, capture_output=True, text=True, check=True,
    )
    return found.stdout.split()[-1]


def measured(runs: int, scratch: Path) -> Iterator[tuple[str, Step]]:
    project = scratch / "project"
    serving(scratch / "evidence", 0, runs, CONCURRENCIES, MACHINES)
    wh(scratch, "init", str(project))
    yield "ingest", wh(project, "ingest", str(scratch / "evidence"))
    yield "build", wh(project, "build")
    serving(scratch / "more", runs, MORE, CONCURRENCIES, MACHINES)
    wh(project, "ingest", str(scratch / "more"))
    yield f"build, {MORE} more", wh(project, "build")
    yield "build, no-op", replace(wh(project, "build", times=REPEATED), calls=calls_of(project, "build"))
    yield "status", wh(project, "status", times=REPEATED)
    yield "changes", wh(project, "changes")
    yield "publish", wh(project, "publish", QUERY)
    number = number_of(project)
    yield "lineage", wh(project, "lineage", number, times=REPEATED)
    yield "verify", wh(project, "verify", number, times=REPEATED)
    yield "verify --all", wh(project, "verify", "--all")
    yield "fsck", wh(project, "fsck")
    yield "freshness", wh(project, "freshness", times=REPEATED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    table: dict[str, dict[int, Step]] = {}
    for runs in args.runs:
        with tempfile.TemporaryDirectory() as name:
            for step, cost in measured(runs, Path(name)):
                table.setdefault(step, {})[runs] = cost
                called = f"{cost.calls:>9,} calls" if cost.calls else ""
                print(
                    f"{runs:>7,}  {step:<16} {cost.cpu_s:>8.2f} s CPU {cost.peak_mb:>6.0f} MB {cost.written_mb:>8.1f} MB written {called}",
                    file=sys.stderr, flush=True,
                )
    if args.json:
        print(json.dumps([{"step": step, "runs": runs, **asdict(cost)} for step, costs in table.items() for runs, cost in costs.items()], indent=2))
        return
    print("| step | " + " | ".join(f"{runs:,} runs: CPU s | MB | MB written" for runs in args.runs) + " |")
    print("|---" * (1 + 3 * len(args.runs)) + "|")
    for step, costs in table.items():
        print(f"| {step} | " + " | ".join(f"{cost.cpu_s:.2f} | {cost.peak_mb:.0f} | {cost.written_mb:.1f}" for cost in costs.values()) + " |")
    calls = {runs: cost.calls for costs in table.values() for runs, cost in costs.items() if cost.calls}
    print("\nSystem calls of the build with nothing new: " + ", ".join(f"{found:,} at {runs:,} runs" for runs, found in calls.items()))


if __name__ == "__main__":
    main()

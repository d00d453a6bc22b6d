"""A year of results of pytest-benchmark or Google Benchmark: 300 benchmarks, three commits a week, changes whose place is known. What `wh changes`
makes of it, and what ingesting, building and asking cost in CPU seconds."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

WH = (sys.executable, "-m", "warehouse.cli.main")
_START, _DAYS, _ROUNDS = datetime(2025, 1, 1, 2), 365, 5


@dataclass(frozen=True)
class Planted:
    """A change from one commit on: of which benchmarks, and the factor of their time."""

    at: float  # of the year, as a share
    benchmarks: range
    factor: float


EVENTS = (
    Planted(0.3, range(12), 1.15), Planted(0.45, range(40, 41), 1.10), Planted(0.6, range(100, 130), 0.80), Planted(0.75, range(200, 204), 1.30),
    Planted(0.85, range(12), 1 / 1.15),
)


def _pytest(commit: int, day: datetime, measured: list[list[float]]) -> dict[str, Any]:
    rows = [
        {
            "group": None, "name": f"test_{number}", "fullname": f"tests/bench.py::test_{number}", "params": None,
            "stats": {"rounds": _ROUNDS, "median": sorted(data)[_ROUNDS // 2], "data": data},
        }
        for number, data in enumerate(measured)
    ]
    return {
        "machine_info": {"node": "ci", "python_version": "3.12.4", "system": "Linux", "release": "6.8", "cpu": {"brand_raw": "x", "count": 8}},
        "commit_info": {"id": f"{commit:040x}", "branch": "main", "dirty": False}, "benchmarks": rows, "datetime": day.isoformat(),
    }


def _google(commit: int, day: datetime, measured: list[list[float]]) -> dict[str, Any]:
    rows = [
        {
            "name": f"BM_{number}", "run_name": f"BM_{number}", "family_index": number, "run_type": "iteration", "repetitions": _ROUNDS,
            "repetition_index": place, "threads": 1, "iterations": 1000, "real_time": seconds * 1e9, "cpu_time": seconds * 1e9, "time_unit": "ns",
        }
        for number, data in enumerate(measured) for place, seconds in enumerate(data)
    ]
    context = {"date": f"{day.isoformat()}+00:00", "host_name": "ci", "executable": "./bench", "num_cpus": 8, "library_build_type": "release"}
    return {"context": context, "benchmarks": rows}


TOOLS = {"pytest": _pytest, "google": _google}


def write(folder: Path, tool: str, benchmarks: int, commits: int, seed: int) -> list[str]:
    """A file a commit, with noise of the run (0.5 %) and of each benchmark (1 %); the days of the events."""
    chance = random.Random(seed)
    base = [10 ** chance.uniform(-6, -1) for _ in range(benchmarks)]
    for commit in range(commits):
        share = commit / commits
        day = (_START + timedelta(days=share * _DAYS)).replace(microsecond=0)
        run = chance.gauss(1, 0.005)
        measured = []
        for number, seconds in enumerate(base):
            for each in EVENTS:
                if number in each.benchmarks and share >= each.at:
                    seconds *= each.factor
            level = seconds * run * chance.gauss(1, 0.01)
            measured.append([level * abs(chance.gauss(1, 0.005)) for _ in range(_ROUNDS)])
        (folder / f"{commit:04}.json").write_text(json.dumps(TOOLS[tool](commit, day, measured)))
    return [str((_START + timedelta(days=each.at * _DAYS)).date()) for each in EVENTS]


def command(project: Path, *arguments: str) -> tuple[float, str]:
    """What a command costs in CPU seconds, with its children, and what it prints."""
    process = subprocess.Popen([*WH, *arguments, "--project", str(project)], stdout=subprocess.PIPE, text=True)
    out = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{arguments[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, out


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", choices=TOOLS, default="pytest")
    parser.add_argument("--benchmarks", type=int, default=300)
    parser.add_argument("--commits", type=int, default=150)
    parser.add_argument("--seed", type=int, default=45)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        project, folder = Path(scratch) / "project", Path(scratch) / "results"
        folder.mkdir()
        days = write(folder, asked.tool, asked.benchmarks, asked.commits, asked.seed)
        subprocess.run([*WH, "init", str(project)], check=True, stdout=subprocess.DEVNULL)
        for what, *rest in (("ingest", str(folder)), ("build",), ("build",)):
            begun = time.perf_counter()
            print(f"{what}: {command(project, what, *rest)[0]:.1f} CPU s, {time.perf_counter() - begun:.1f} s")
        cpu, out = command(project, "changes", "--json")
        events = json.loads(out)["events"]
        print(f"changes: {cpu:.1f} CPU s; {len(events)} events, {len(EVENTS)} planted ({', '.join(days)})")
        for each in events:
            print(json.dumps({key: value for key, value in each.items() if isinstance(value, (str, int, float))})[:300])


if __name__ == "__main__":
    main()

"""Measure the product as its users run it: each command in a process of its own, beside a floor of the same run."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from transform import measure
from transform.measure import Cost, medians

HERE = Path(__file__).resolve().parent
REPEATS = 5
WH = [sys.executable, "-m", "warehouse.cli.main"]


@dataclass(frozen=True)
class Figure:
    """One line of the report. `target` is the issue's own bound, None where it gives none."""

    name: str
    cost: Cost
    floor_name: str
    floor: Cost
    target: str | None

    @property
    def ratio(self) -> float:
        return self.cost.cpu_s / self.floor.cpu_s


def run(command: list[str], folder: Path) -> Cost:
    """Run a command of this checkout to its end."""
    return measure.run(command, folder, {"PYTHONPATH": str(HERE.parent)})


def median_of(measured: Callable[[], Cost], repeats: int = REPEATS) -> Cost:
    return medians(measured() for _ in range(repeats))


def hash_floor(evidence: Path) -> None:
    for path in sorted(evidence.rglob("*")):
        if path.is_file():
            hashlib.sha256(path.read_bytes()).hexdigest()


def store_floor(evidence: Path, target: Path) -> None:
    for number, path in enumerate(sorted(evidence.rglob("*"))):
        if path.is_file():
            data = path.read_bytes()
            hashlib.sha256(data).hexdigest()
            scratch, final = target / f".{number}", target / str(number)
            with open(scratch, "wb") as stream:
                stream.write(data)
                os.fsync(stream.fileno())
            os.link(scratch, final)
            scratch.unlink()


def floor(name: str, *arguments: Path) -> list[str]:
    """The command that runs one of the floors above in a process of its own."""
    return [sys.executable, __file__, "--floor", name, *map(str, arguments)]


def default_evidence(scratch: Path) -> Path:
    unpack = HERE.parent.parent / "shared" / "evidence" / "unpack"
    if unpack.exists():
        target = HERE.parent / ".cache" / "evidence"
        subprocess.run([str(unpack), str(target), "mlperf-inference"], check=True)
        return target / "mlperf-inference"
    sys.path.insert(0, str(HERE.parent / "tests"))
    from samples.mlperf_inference import write_submission

    for number in range(20):
        write_submission(scratch / "evidence" / "inference_results_v5.1", submitter=f"Submitter{number}")
    return scratch / "evidence"


def figures(evidence: Path, scratch: Path) -> list[Figure]:
    project = scratch / "project"
    nothing = median_of(lambda: run([sys.executable, "-c", "pass"], scratch))
    hashed = median_of(lambda: run(floor("hash", evidence), scratch))
    copies = scratch / "copies"
    copies.mkdir()
    stored = run(floor("store", evidence, copies), scratch)
    run([*WH, "init", str(project)], scratch)
    start = "python that starts and ends"
    help_cost = median_of(lambda: run([*WH, "--help"], scratch))
    ingest = run([*WH, "ingest", str(evidence)], project)
    build = run([*WH, "build"], project)
    no_op = median_of(lambda: run([*WH, "build"], project))
    query = "select * from mlperf_inference_result"
    sql = median_of(lambda: run([*WH, "sql", query, "--format", "arrow"], project))
    publish = run([*WH, "publish", "mlperf_inference_results", "--as", "provisional"], project)
    number = subprocess.run(
        [*WH, "sql", "--format", "csv", "select number_ids.performance_result from mlperf_inference_results limit 1"],
        cwd=project, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(HERE.parent)},
    ).stdout.split()[-1]
    lineage = median_of(lambda: run([*WH, "lineage", number], project))
    return [
        Figure("wh --help", help_cost, start, nothing, "< 0.35 s"),
        Figure("wh build, nothing new", no_op, start, nothing, "< 0.5 s"),
        Figure("wh ingest", ingest, "read, sha256, write, fsync, link", stored, None),
        Figure("wh build, everything new", build, "read and sha256", hashed, None),
        Figure(
            "wh ingest and wh build",
            Cost(ingest.cpu_s + build.cpu_s, max(ingest.peak_mb, build.peak_mb), ingest.wall_s + build.wall_s),
            "read and sha256", hashed, "< 25 s, < 1024 MB",
        ),
        Figure("wh publish, every row traced", publish, "wh sql", sql, None),
        Figure("wh lineage, published number", lineage, start, nothing, None),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evidence", type=Path, help="a folder of MLPerf Inference results")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--floor", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.floor:
        name, *folders = args.floor
        {"hash": hash_floor, "store": store_floor}[name](*map(Path, folders))
        return
    with tempfile.TemporaryDirectory() as name:
        evidence = args.evidence or default_evidence(Path(name))
        report = figures(evidence.resolve(), Path(name))
    if args.json:
        told = [
            {
                "name": f.name, "cpu_s": f.cost.cpu_s, "peak_mb": f.cost.peak_mb, "floor": f.floor_name, "floor_cpu_s": f.floor.cpu_s,
                "ratio": f.ratio, "target": f.target,
            }
            for f in report
        ]
        print(json.dumps(told, indent=2))
        return
    print(f"{'figure':<30} {'CPU s':>7} {'peak MB':>8} {'floor s':>8} {'ratio':>6}  target")
    for figure in report:
        print(
            f"{figure.name:<30} {figure.cost.cpu_s:>7.2f} {figure.cost.peak_mb:>8.0f} {figure.floor.cpu_s:>8.2f} {figure.ratio:>6.1f}"
            f"  {figure.target or '':<18} floor: {figure.floor_name}"
        )


if __name__ == "__main__":
    main()

"""Measure how quickly evidence becomes landing rows, beside DuckDB's read_json and sha256 of the same files in the same run."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
from generate import ALL, Evidence

REPOSITORY = Path(__file__).resolve().parents[2]

WH = [sys.executable, "-m", "warehouse.cli.main"]
AS_WH = {"OPENBLAS_NUM_THREADS": "1"}  # as `wh` sets it for itself
SAMPLE_BYTES = 200_000  # enough to see whether an ingestor knows the format
SMALLEST_BYTES = 200_000_000  # of less, the start of the parsing processes is what takes the time
LARGER = 10  # files for the second look at memory: one that grows with them is not bounded by a batch
LARGER_BYTES = 400_000_000  # of these in all: some files for each process
SAMPLED_EVERY_S = 0.05  # a peak that lasts a batch is seen, and looking costs little


@dataclass(frozen=True)
class Cost:
    """Wall and CPU seconds of a step, the start of its command left out, and the peak memory of its process tree in MB: what
    the processes have for themselves at one moment, without the pages of files that they map."""

    wall_s: float
    cpu_s: float
    peak_mb: float


@dataclass(frozen=True)
class Figure:
    """One format's figures. `of_duckdb` is the CPU time of DuckDB's read_json over that of parsing; None for what is not JSON. `of_sha256`
    is the same of sha256. `peak_larger_mb` is the memory of parsing files `LARGER` times as large."""

    name: str
    megabytes: float
    sha256: Cost
    ingest: Cost
    parse: Cost
    rows: int
    of_duckdb: float | None
    of_sha256: float
    peak_larger_mb: float
    target: float | None


def run(command: list[str], folder: Path) -> tuple[str, float]:
    """Run a command of this checkout to its end: what it printed, and the peak memory of its process tree in MB."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    process = subprocess.Popen(
        command, cwd=folder, env={**environment, **AS_WH, "PYTHONPATH": str(REPOSITORY)}, stdout=subprocess.PIPE, text=True
    )
    peak = 0
    with ThreadPoolExecutor(1) as reader:
        assert process.stdout
        printed = reader.submit(process.stdout.read)
        while process.poll() is None:
            peak = max(peak, _own_bytes(psutil.Process(process.pid)))
            time.sleep(SAMPLED_EVERY_S)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return printed.result(), peak / 1e6


def measured(step: str, folder: Path, evidence: Path, project: Path) -> tuple[Cost, int]:
    """One of the `STEPS` in a process of its own: its cost, and what it counted."""
    out, peak_mb = run([sys.executable, __file__, "--step", step, str(evidence), str(project)], folder)
    wall_s, cpu_s, count = json.loads(out)
    return Cost(wall_s, cpu_s, peak_mb), count


def _own_bytes(tree: psutil.Process) -> int:
    total = 0
    try:
        for process in [tree, *tree.children(recursive=True)]:
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    total += int(line.split()[1]) * 1024
    except (psutil.NoSuchProcess, OSError):  # it has just ended
        pass
    return total


def hash_all(evidence: Path, project: Path) -> int:
    """sha256 of every file, in chunks, on one core."""
    files = [path for path in sorted(evidence.rglob("*")) if path.is_file()]
    for path in files:
        with open(path, "rb") as stream:
            hashlib.file_digest(stream, "sha256")
    return len(files)


def ingest_all(evidence: Path, project: Path) -> int:
    """What `wh ingest` does."""
    from warehouse.evidence.objects.location import open_store
    from warehouse.landing.ingest import ingest, plan_ingest
    from warehouse.landing.registry import load_ingestors
    from warehouse.project import read_project

    found = read_project(project)
    plan = plan_ingest(evidence, load_ingestors(found).values())
    return len(ingest(plan, open_store(found), "benchmark").bundles)


def parse_all(evidence: Path, project: Path) -> int:
    """What `wh build` does before its models; the number of rows, the issues left out."""
    from warehouse.evidence.objects.location import open_store
    from warehouse.landing.contract import ISSUE_TABLE
    from warehouse.landing.parse.refresh import refresh
    from warehouse.landing.registry import find_ingestors
    from warehouse.project import read_project

    read = read_project(project)
    landing = refresh(open_store(read), find_ingestors(read))
    issues = sum(file.rows for file in landing.files(ISSUE_TABLE))
    if landing.damaged or issues:
        print(f"{issues} issues, {len(landing.damaged)} damaged bundles", file=sys.stderr)
    return sum(file.rows for batch in landing.batches for file in batch.files) - issues


def read_json(evidence: Path, project: Path) -> int:
    """DuckDB's read_json of the same files, on one thread, every value into columns; the number of files that it reads."""
    import duckdb

    count = 0
    for path in sorted((*evidence.rglob("*.json"), *evidence.rglob("*.jsonl"))):
        with duckdb.connect() as con:
            con.execute("set threads = 1")
            with suppress(duckdb.Error):  # of what it does not take as JSON
                con.execute("create table rows as from read_json(?, maximum_object_size = 4294967295)", [str(path)])
                count += 1
    return count


STEPS: dict[str, Callable[[Path, Path], int]] = {
    "sha256": hash_all, "ingest": ingest_all, "parse": parse_all, "duckdb": read_json,
}


def do(step: str, evidence: Path, project: Path) -> None:
    """Do a step and print what it took."""
    before, started = os.times(), time.perf_counter()
    count = STEPS[step](evidence, project)
    wall_s, after = time.perf_counter() - started, os.times()
    print(json.dumps([wall_s, sum(after[:4]) - sum(before[:4]), count]))


def figure(evidence: Evidence, size: int, scratch: Path) -> Figure | None:
    """The figures of one format; None where no ingestor takes its files."""
    sample = scratch / "sample"
    evidence.write(sample, SAMPLE_BYTES, random.Random(0), 1)
    project = make_project(scratch / "project")
    told, _ = run([*WH, "ingest", "--dry-run", "--json", str(sample)], project)
    if not json.loads(told)["bundles"]:
        return None
    folder = scratch / "evidence"
    evidence.write(folder, size, random.Random(1), 1)
    megabytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    costs = {step: measured(step, scratch, folder, project) for step in STEPS}
    (hashed, _), (ingested, _), (parsed, rows), (duckdb, read) = costs.values()
    for done in (folder, project):
        shutil.rmtree(done)
    evidence.write(folder, LARGER_BYTES, random.Random(2), LARGER)
    project = make_project(scratch / "project")
    measured("ingest", scratch, folder, project)
    of_larger, _ = measured("parse", scratch, folder, project)
    return Figure(
        evidence.name, megabytes, hashed, ingested, parsed, rows, duckdb.cpu_s / parsed.cpu_s if read else None,
        hashed.cpu_s / parsed.cpu_s, of_larger.peak_mb, evidence.target,
    )


def make_project(folder: Path) -> Path:
    run([*WH, "init", str(folder)], folder.parent)
    return folder


HEAD = (
    f"{'evidence':<40} {'MB':>6} {'ingest s':>8} {'parse s':>8} {'CPU s':>7} {'Mrows':>6} {'x sha256':>8} {'x duckdb':>8} {'target':>7}"
    f" {'peak MB':>8} {f'files x{LARGER}':>9}"
)


def line(figure: Figure) -> str:
    target = f">= {figure.target}" if figure.target else ""
    of_duckdb = "" if figure.of_duckdb is None else f"{figure.of_duckdb:.3f}"
    return (
        f"{figure.name:<40} {figure.megabytes:>6.0f} {figure.ingest.wall_s:>8.2f} {figure.parse.wall_s:>8.2f} {figure.parse.cpu_s:>7.2f}"
        f" {figure.rows / 1e6:>6.2f} {figure.of_sha256:>8.3f} {of_duckdb:>8} {target:>7} {figure.parse.peak_mb:>8.0f}"
        f" {figure.peak_larger_mb:>9.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=float, default=100, help="how many times the size of the archive that has the format (default: 100)")
    parser.add_argument("--only", help="formats whose name has this in it")
    parser.add_argument("--folder", type=Path, help="where to work; three times the evidence must fit (default: temporary)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        step, *folders = args.step
        do(step, *map(Path, folders))
        return
    figures = []
    if not args.json:
        print(HEAD, flush=True)
    for evidence in ALL:
        if args.only and args.only.casefold() not in evidence.name.casefold():
            continue
        size = max(round(evidence.archive_mb * args.times * 1e6), SMALLEST_BYTES)
        with tempfile.TemporaryDirectory(prefix="wh-bench-", dir=args.folder) as scratch:
            found = figure(evidence, size, Path(scratch))
        if found is None:
            print(f"{evidence.name}: no ingestor reads it", file=sys.stderr)
            continue
        figures.append(found)
        if not args.json:
            print(line(found), flush=True)
    if args.json:
        print(json.dumps([asdict(each) for each in figures], indent=2))


if __name__ == "__main__":
    main()

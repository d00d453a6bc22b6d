"""Measure how quickly evidence becomes landing rows: beside sha256 of the same bytes, and DuckDB's `read_json` of the same
records, each on one core, in the same run."""

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
LARGEST_OBJECT_BYTES = 1 << 28  # a record of requests is one object
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
    """One format's figures. `speed` is sha256's seconds over those of parsing, in wall time; `speed_by_cpu` what it would be
    on a machine with nothing else to do: sha256's CPU seconds over those of parsing, shared by all cores. `cores` is how many
    were at work while it was parsed; `of_duckdb` is DuckDB's CPU seconds over those of parsing, None where it reads no such
    files; `peak_larger_mb` the memory of parsing files `LARGER` times as large."""

    name: str
    megabytes: float
    sha256: Cost
    ingest: Cost
    parse: Cost
    rows: int
    cores: float
    speed: float
    speed_by_cpu: float
    of_duckdb: float | None
    peak_larger_mb: float


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
    from warehouse.project.project import read_project

    found = read_project(project)
    plan = plan_ingest(evidence, load_ingestors(found).values())
    return len(ingest(plan, open_store(found), "benchmark").bundles)


def parse_all(evidence: Path, project: Path) -> int:
    """What `wh build` does before its models; the number of rows, the issues left out."""
    from warehouse.evidence.objects.location import open_store
    from warehouse.landing.contract import ISSUE_TABLE
    from warehouse.landing.parse.refresh import refresh
    from warehouse.landing.registry import find_ingestors
    from warehouse.project.project import read_project

    read = read_project(project)
    landing = refresh(open_store(read), find_ingestors(read))
    issues = sum(file.rows for file in landing.files(ISSUE_TABLE))
    if landing.damaged or issues:
        print(f"{issues} issues, {len(landing.damaged)} damaged bundles", file=sys.stderr)
    return sum(file.rows for batch in landing.batches for file in batch.files) - issues


def read_by_duckdb(evidence: Path, project: Path) -> int:
    """All columns of the records of every file, by `read_json` in one thread, a file at a time. Columns are found once: what
    is measured is reading, not looking for types."""
    import duckdb

    pattern, form = next(each.records for each in ALL if each.records and each.name == evidence.name)
    connection = duckdb.connect(config={"threads": 1})
    options = {"format": form, "maximum_object_size": LARGEST_OBJECT_BYTES}
    columns: dict[str, str] | None = None
    files = sorted(evidence.rglob(pattern))
    for path in files:
        relation = connection.read_json(str(path), columns=columns, **options)
        columns = columns or dict(zip(relation.columns, map(str, relation.types), strict=True))
        connection.sql("create or replace temp table records as from relation")
    return len(files)


STEPS: dict[str, Callable[[Path, Path], int]] = {
    "sha256": hash_all, "ingest": ingest_all, "parse": parse_all, "duckdb": read_by_duckdb,
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
    folder = scratch / "evidence" / evidence.name  # by which a step knows what it reads
    evidence.write(folder, size, random.Random(1), 1)
    megabytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    steps = [step for step in STEPS if step != "duckdb" or evidence.records]
    costs = {step: measured(step, scratch, folder, project) for step in steps}
    (hashed, _), (ingested, _), (parsed, rows) = (costs[step] for step in ("sha256", "ingest", "parse"))
    of_duckdb = costs["duckdb"][0].cpu_s / parsed.cpu_s if evidence.records else None
    for done in (folder, project):
        shutil.rmtree(done)
    evidence.write(folder, LARGER_BYTES, random.Random(2), LARGER)
    project = make_project(scratch / "project")
    measured("ingest", scratch, folder, project)
    of_larger, _ = measured("parse", scratch, folder, project)
    cores = len(os.sched_getaffinity(0))
    return Figure(
        evidence.name, megabytes, hashed, ingested, parsed, rows, parsed.cpu_s / parsed.wall_s, hashed.wall_s / parsed.wall_s,
        hashed.cpu_s * cores / parsed.cpu_s, of_duckdb, of_larger.peak_mb,
    )


def make_project(folder: Path) -> Path:
    run([*WH, "init", str(folder)], folder.parent)
    return folder


HEAD = (
    f"{'evidence':<40} {'MB':>6} {'sha256 s':>8} {'ingest s':>8} {'parse s':>8} {'CPU s':>7} {'cores':>5} {'Mrows':>6}"
    f" {'x sha256':>8} {'by CPU':>7} {'x DuckDB':>8} {'peak MB':>8} {f'files x{LARGER}':>9}"
)


def line(figure: Figure) -> str:
    of_duckdb = "" if figure.of_duckdb is None else f"{figure.of_duckdb:.2f}"
    return (
        f"{figure.name:<40} {figure.megabytes:>6.0f} {figure.sha256.wall_s:>8.2f} {figure.ingest.wall_s:>8.2f}"
        f" {figure.parse.wall_s:>8.2f} {figure.parse.cpu_s:>7.2f} {figure.cores:>5.2f} {figure.rows / 1e6:>6.2f}"
        f" {figure.speed:>8.3f} {figure.speed_by_cpu:>7.3f} {of_duckdb:>8} {figure.parse.peak_mb:>8.0f}"
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

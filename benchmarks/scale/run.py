"""What a build of telemetry costs by its rows: made by the build itself, and by tasks; then with one percent more, and a cell of it traced."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from scale.traced import traced
from transform import measure
from transform.measure import Cost

WH = [sys.executable, "-m", "warehouse.cli.main"]
ROWS_A_RUN = 10_000
_CHILD_SUBREAPER = 36  # prctl(2): orphans become children of this process
INGESTOR = """
from io import BytesIO
import pyarrow as pa
import pyarrow.parquet as pq
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.rows import landing_schema

SCHEMA = landing_schema(
    pa.field("run_id", pa.string()), pa.field("step", pa.int64()), pa.field("metric", pa.string()), pa.field("value", pa.float64()),
)

class Telemetry:
    name, version, tables = "telemetry_file", 1, {"telemetry_row": SCHEMA}
    def bundles(self, tree):
        for path, file in tree.files.items():
            if path.endswith(".parquet"):
                yield BundleDraft((DraftFile(path.rpartition("/")[2], file),))
    def parse(self, bundle):
        for path, file in bundle.manifest.by_path.items():
            rows = pq.read_table(BytesIO(bundle.read(path))).combine_chunks()
            same = {
                "run_id": path.removesuffix(".parquet"), "artifact_manifest_digest": bundle.digest, "raw_path": path,
                "raw_offset": 0, "raw_length": file.bytes,
            }
            columns = {name: pa.repeat(pa.scalar(value), len(rows)) for name, value in same.items()}
            columns |= {name: rows[name].combine_chunks() for name in rows.column_names}
            table = pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)
            yield from (("telemetry_row", batch) for batch in table.to_batches())

INGESTOR = Telemetry()
"""
MODELS = {
    "models/sample.sql": "select run_id, step, metric, value, artifact_manifest_digest, raw_path, raw_offset, raw_length from telemetry_row",
    "models/run_metric.sql": (
        "select run_id, metric, count(*) as samples, avg(value) as mean, max(value) as highest, quantile_cont(value, 0.99) as p99\n"
        "from sample group by run_id, metric"
    ),
    "models/metric_rank.sql": "select metric, run_id, mean, row_number() over (partition by metric order by mean, run_id) as place from run_metric",
    "queries/run_p99.sql": (
        "/*\ngrain: [run_id, metric]\ncolumns:\n  run_id: {type: varchar}\n  metric: {type: varchar}\n  p99: {type: double, unit: none}\n*/\n"
        "select run_id, metric, p99 from run_metric"
    ),
}


def write_runs(folder: Path, first: int, count: int) -> None:
    """A Parquet file a run: three metrics, one sample a step."""
    folder.mkdir(parents=True)
    steps = np.arange(ROWS_A_RUN)
    for number in range(first, first + count):
        random = np.random.default_rng(number)
        rows = pa.table({
            "step": steps // 3, "metric": pa.array([("power_w", "temperature_c", "clock_mhz")[step % 3] for step in range(ROWS_A_RUN)]),
            "value": random.normal(500, 50, ROWS_A_RUN).round(3),
        })
        pq.write_table(rows, folder / f"run-{number:06}.parquet", compression="zstd")


def wh(project: Path, *arguments: str) -> Cost:
    """What a command costs, with all that it leaves to others: an engine's daemons are no children of it when they end."""
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = measure.run([*WH, *arguments], project, {"PYTHONPATH": str(HERE.parent.parent), "PATH": os.environ["PATH"]})
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.1)  # between looks: daemons of the cluster end a little later
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return replace(cost, cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def project_of(rows: int, root: Path) -> Path:
    """A project with the evidence of so many rows, and nothing built."""
    root.parent.mkdir(parents=True, exist_ok=True)
    wh(root.parent, "init", str(root), "--bare")
    for name, text in {**MODELS, "ingest/telemetry_file.py": INGESTOR}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with (root / "warehouse.toml").open("a") as file:
        file.write('\n[scale]\npart = "4MB"\ntable = "4MB"\n')
    write_runs(root.parent / "evidence", 0, rows // ROWS_A_RUN)
    wh(root, "ingest", str(root.parent / "evidence"))
    shutil.rmtree(root.parent / "evidence")
    return root


def measured(plain: Path, rows: int, engine: str) -> Iterator[tuple[str, Cost, int]]:
    """Steps, what each cost, and the bytes that it wrote into the store and the builds."""
    scratch, runs = plain.parent / engine, rows // ROWS_A_RUN
    project, build = scratch / "project", ("build", "--engine", engine)
    shutil.copytree(plain, project, symlinks=True, copy_function=os.link)  # evidence is never written again
    try:
        yield _step(f"build, {engine}", project, *build)
        more = max(1, runs // 100)
        write_runs(scratch / "more", runs, more)
        wh(project, "ingest", str(scratch / "more"))
        yield _step(f"build, {engine}, 1 % more", project, *build)
        yield _step(f"build, {engine}, no-op", project, *build)
        found = traced(project, "run_p99", f"run-{runs // 2:06}")
        yield f"trace of a cell, {engine}: {found.rows:,} rows, {found.times:.2f} times the query", Cost(found.trace_s, 0, found.trace_s), 0
    finally:
        shutil.rmtree(scratch)


def _step(name: str, project: Path, *arguments: str) -> tuple[str, Cost, int]:
    before = _written(project)
    cost = wh(project, *arguments)
    return name, cost, sum(size for file, size in _written(project).items() if file not in before)


def _written(project: Path) -> dict[tuple[int, int], int]:
    """The bytes of each file under the project, by its inode and time: a file that has two names counts once."""
    found = {}
    for folder, _, names in os.walk(project / ".wh"):
        for name in names:
            info = os.lstat(os.path.join(folder, name))
            found[info.st_ino, info.st_mtime_ns] = info.st_size
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="+", default=["none", "local"])
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    lines = []
    for rows in args.rows:
        with tempfile.TemporaryDirectory() as name:
            plain = project_of(rows, Path(name, "plain"))
            for engine in args.engines:
                for step, cost, written in measured(plain, rows, engine):
                    lines.append({"rows": rows, "step": step, "cpu_s": round(cost.cpu_s, 2), "wall_s": round(cost.wall_s, 1),
                                  "peak_mb": round(cost.peak_mb), "written_mb": round(written / 1e6)})  # fmt: skip
                    print(lines[-1], file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps(lines, indent=2))
        return
    print("| rows | step | CPU s | wall s | MB of memory | MB written |\n|---|---|---|---|---|---|")
    for line in lines:
        print(f"| {line['rows']:,} | {line['step']} | {line['cpu_s']} | {line['wall_s']} | {line['peak_mb']} | {line['written_mb']} |")


if __name__ == "__main__":
    main()

"""Evidence of runs, and a project over it with models of every kind that matters to partitions: local to a run or to a bundle, read by key,
constant, with a test that leaves rows out, keyed by a part of the run's name, and not local at all."""

from __future__ import annotations

from pathlib import Path

from bare_project import write
from samples.values import take_in

from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project

INGESTOR = """
import os, signal
import pyarrow as pa
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.rows import RowBuffer, landing_schema

TABLES = {"sample": landing_schema(pa.field("run_id", pa.string()), pa.field("step", pa.int64()), pa.field("seconds", pa.float64()))}
MARK = "MARK_PATH"

class Samples:
    name, version, tables = "samples", 1, TABLES
    def bundles(self, tree):
        for path, file in tree.files.items():
            if path.endswith(".nv"):
                yield BundleDraft((DraftFile(path.rpartition("/")[2], file),))
    def parse(self, bundle):
        if os.path.exists(MARK):
            os.remove(MARK)
            os.kill(os.getpid(), signal.SIGKILL)
        buffer = RowBuffer(TABLES, bundle.digest)
        for path in bundle.manifest.by_path:
            offset = 0
            for line in bundle.read(path).decode().splitlines(keepends=True):
                run, step, seconds = line.split()
                buffer.add("sample", path, offset, len(line), run_id=run, step=int(step), seconds=float(seconds))
                offset += len(line)
        yield from buffer.rest()

INGESTOR = Samples()
"""
MODELS = {
    "models/unit.sql": "select 1000.0::double as milliseconds",
    "models/kept.sql": (
        "/*\ngrain: [run_id, step]\ncolumns:\n  run_id: {type: varchar}\n  step: {type: bigint}\n"
        "  seconds: {type: double, tests: [{range: {min: 0}}]}\n*/\nselect run_id, step, seconds from sample"
    ),
    "models/total.sql": "select run_id, sum(seconds * milliseconds order by seconds * milliseconds) as total_ms, count(*) as rows from kept, unit group by run_id",
    "models/file.sql": "select artifact_manifest_digest, count(*) as rows, max(seconds) as longest from sample group by artifact_manifest_digest",
    "models/of_group.sql": "select split_part(run_id, '-', 1) as run_id, sum(seconds order by seconds) as seconds from sample group by all",
    "models/above.sql": "select run_id, seconds * 2 as twice from of_group",
    "models/rank.sql": "select run_id, total_ms, row_number() over (order by total_ms, run_id) as place from total order by place",
    "models/left_out.sql": "select table_name, row_count, run_id, message from rejected_row order by all",
}
PARTITIONED = {"kept", "total", "file"}  # `of_group` is local to a key that partitions share, `rank` to none


def partitioned_project(root: Path, *, mark: Path | None = None) -> Project:
    """A bare project whose tables have parts of a few hundred bytes of evidence, over forty files."""
    project = init_project(root, bare=True)
    write(project, MODELS | {"ingest/samples.py": INGESTOR.replace("MARK_PATH", str(mark or root / "no-mark"))})
    with (root / "warehouse.toml").open("a") as file:
        file.write('\n[scale]\npart = "3KB"\n')
    add_files(root, range(40))
    return read_project(root)


def add_files(root: Path, numbers: range) -> None:
    """Ingest a file for each number: it states a run of its own, and every fifth one more of the run before."""
    folder = root / "evidence" / f"{numbers.start}"
    folder.mkdir(parents=True)
    for number in numbers:
        lines = [f"g{number % 3}-{number:03} {step} {(step + 1) / (number + 7)}" for step in range(30)]
        if number % 5 == 4:
            lines += [f"g{(number - 1) % 3}-{number - 1:03} {step} {step / 7}" for step in range(100, 104)]
        if number == 11:
            lines += [f"g2-{number:03} 50 -1.5", f"g2-{number:03} 51 1.5", f"g2-{number:03} 51 2.5"]
        (folder / f"r{number:03}.nv").write_text("".join(f"{line}\n" for line in lines))
    take_in(read_project(root), folder)

"""A task that hangs, on a real cluster on this machine: the engine runs it a second time, and the build is the one that it always is.

    python benchmarks/scale/slow_twin.py ray|spark

The first worker that parses the last bundle stops for as long as `SLOW_S` says; its twin does not. Printed: how often that bundle was
parsed, and whether the tables are those of a build without an engine.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests"), str(REPOSITORY / "benchmarks")]

from samples import partitioned
from scale.kills import SPARK, spark
from test_scale import _Every

import warehouse.transform.project.model_files as model_files
from warehouse.project.project import Project, read_project
from warehouse.scale.drive import Distribution, place_of
from warehouse.scale.engines import ray as ray_engine
from warehouse.scale.engines.ray import RayExecutor
from warehouse.scale.engines.spark import SparkExecutor
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

PLAIN, SLOW_S = partitioned.INGESTOR, 150
# Whoever is first to link the mark waits: the others find it.
HANGS = """
        if "r039.nv" in bundle.manifest.by_path:
            with open("MARK_PATH.parsed", "a") as log:
                log.write(f"{os.getpid()}\\n")
            try:
                os.close(os.open("MARK_PATH.slow", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                import time
                time.sleep(SLOW_S)  # the slow task: its twin is done before
"""


@dataclass(frozen=True)
class Twins:
    """What happened to the slow task, and the tables."""

    parsed_by: list[str]
    seconds: float
    rows: dict[str, list[Any]]


def built(root: Path, engine: str) -> Twins:
    """Build a project of forty bundles in which one task hangs, by an engine or (``) without."""
    mark = root / "mark"
    hangs = HANGS.replace("SLOW_S", str(SLOW_S if engine else 0))
    partitioned.INGESTOR = PLAIN.replace("        buffer = ", f"{hangs}        buffer = ")
    root.mkdir()
    project = partitioned.partitioned_project(root / "project", mark=mark)
    started = time.monotonic()
    build(project, elsewhere=Distribution(project, _executor(project, engine)) if engine else None)
    seconds = time.monotonic() - started
    parsed = Path(f"{mark}.parsed").read_text().split()
    return Twins(parsed, seconds, _rows(read_project(project.root)))


def _executor(project: Project, engine: str) -> RayExecutor | SparkExecutor:
    place = place_of(project)
    if engine == "ray":
        ray_engine.SLOW_S = 3.0  # seconds that a task may take before it has a twin
        return RayExecutor(place)
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.speculation": "true", "spark.speculation.interval": "1s",
        "spark.speculation.quantile": "0.5", "spark.speculation.minTaskRuntime": "2s", "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    builder.master(SPARK).getOrCreate()
    return SparkExecutor(place)  # takes the session that is there


def _rows(project: Project) -> dict[str, list[Any]]:
    con = open_build(current_build(project).path)
    try:
        return {name: con.execute(f"from {name} order by all").fetchall() for name in partitioned.PARTITIONED | {"rank", "left_out"}}
    finally:
        con.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=["ray", "spark"])
    engine = parser.parse_args().engine
    model_files.standard_folder = _Every  # rows that break a test are left out
    with tempfile.TemporaryDirectory() as folder, spark() if engine == "spark" else nullcontext() as cluster:
        if cluster:
            os.environ.update(cluster.environment)
        plain, twins = built(Path(folder, "plain"), ""), built(Path(folder, "twins"), engine)
    same = plain.rows == twins.rows
    print(f"{engine}: parsed {len(twins.parsed_by)} times, {twins.seconds:.0f} s of {SLOW_S}, {'the same tables' if same else 'OTHER TABLES'}")
    return 0 if same and len(twins.parsed_by) == 2 and twins.seconds < SLOW_S else 1


if __name__ == "__main__":
    sys.exit(main())

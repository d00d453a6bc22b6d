"""A standard project with the MLPerf Inference sample, built and published: what tests of audit packets start from."""

from __future__ import annotations

from pathlib import Path

from once import copied
from samples import mlperf_inference
from samples.values import take_in
from standard import standard_project

from warehouse.claims.publish.publish import publish
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

SERVER = "mlperf_inference_results[scenario=Server,platform=8xA900_2xCPU].performance_result"


def published_submission(root: Path) -> Project:
    """The project in `root`/project, its evidence in `root`/evidence; `SERVER` is one of its published cells."""
    copied("published", _make, root)
    return read_project(root / "project")


def _make(folder: Path) -> None:
    project = standard_project(folder / "project")
    take_in(project, mlperf_inference.write_submission(folder / "evidence"))
    build(project)
    publish(project, "mlperf_inference_results", as_provisional=True)

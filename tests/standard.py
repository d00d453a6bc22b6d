"""The standard project, checked and built: where many tests begin. That takes seconds from nothing, so it is done once a process."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from warehouse.claims.publish.publishable import publishability
from warehouse.project import Project, read_project
from warehouse.project_making import init_project
from warehouse.transform.build.build import build
from warehouse.transform.check.project_check import check_project


def standard_project(root: Path) -> Project:
    """A project in `root` with the standard models built, and no evidence."""
    shutil.copytree(_template(), root, symlinks=True, dirs_exist_ok=True)
    return read_project(root)


@cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="wh-standard-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    project = init_project(folder / "project")
    build(project)
    publishability(project, check_project(project).sound())  # remembers which queries can be traced
    return project.root

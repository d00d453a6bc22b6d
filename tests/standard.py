"""The standard project, checked and built: where many tests begin."""

from __future__ import annotations

import shutil
from pathlib import Path

from once import once

from warehouse.claims.publish.publishable import publishability, refuse_untraceable
from warehouse.claims.trace.catalog import catalog_of
from warehouse.project import Project, read_project
from warehouse.project_making import init_project
from warehouse.transform.build.build import build
from warehouse.transform.check.project_check import check_project
from warehouse.transform.inputs.landing_tables import project_landing_types


def standard_project(root: Path) -> Project:
    """A project in `root` with the standard models built, and no evidence."""
    shutil.copytree(once("standard", _make), root, symlinks=True, dirs_exist_ok=True)
    return read_project(root)


def _make(folder: Path) -> None:
    project = init_project(folder)
    build(project)
    checked = check_project(project).sound()
    publishability(project, checked)  # remembers which queries can be traced
    catalog = catalog_of(checked, project_landing_types(project))
    for query in project.files("queries", ".sql"):  # so does each publication, of its own columns
        refuse_untraceable(project, catalog, query.stem)

"""The standard project, checked and built: where many tests begin."""

from __future__ import annotations

import json
from pathlib import Path

from once import copied

from warehouse.claims.publish.publishable import publishability, refuse_unpublishable
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.trace.catalog import open_trace_session
from warehouse.transform.build.build import build
from warehouse.transform.check.project_check import check_project
from warehouse.transform.check.text_facts import TextFacts
from warehouse.transform.finished.builds import current_build


def standard_project(root: Path) -> Project:
    """A project in `root` with the standard models built, and no evidence."""
    copied("standard", _make, root)
    return read_project(root)


def _make(folder: Path) -> None:
    project = init_project(folder)
    build(project)
    publishability(project, check_project(project).sound())  # remembers which queries can be traced
    facts = TextFacts(project)
    con, catalog = open_trace_session(current_build(project), project.store_root)
    with con:
        for query, specification in con.execute("select name, specification from catalog.model where schema_name = 'rollup'").fetchall():
            refuse_unpublishable(facts, catalog, query, json.loads(specification))  # so does each publication, of its own columns
    facts.write()

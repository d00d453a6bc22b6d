"""Evidence that is taken in and built, and SQL on the build."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from once import copied
from standard import standard_project

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query

Sql = Callable[[str], list[tuple]]


def built(tree: Path, project: Project) -> Project:
    report = ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "evidence")
    assert not report.problems and not build(project).damaged
    return project


def built_copy(name: str, write: Callable[[Path], object], root: Path) -> Project:
    """A copy in `root` of the build of what `write` puts into a folder. The build `name` is made once in a run."""

    def make(folder: Path) -> None:
        write(folder / "tree")
        built(folder / "tree", standard_project(folder / "project"))

    copied(name, make, root)
    return read_project(root / "project")


def sql_of(project: Project) -> Sql:
    def sql(query: str) -> list[tuple]:
        with run_query(current_build(project).path, query) as result:
            return result.fetchall()

    return sql

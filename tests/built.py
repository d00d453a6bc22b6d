"""Evidence that is taken in and built, and SQL on the build."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from once import copied
from standard import standard_project

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.sql.duck import SEARCH_PATH, connect, text_literal

if TYPE_CHECKING:
    import duckdb

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
    """SQL on the current build of a project, whichever that is when it is asked."""
    return lambda query: _session(current_build(project).path.resolve()).execute(query).fetchall()


@lru_cache(maxsize=1)
def _session(database: Path) -> "duckdb.DuckDBPyConnection":
    """The session of this process on a build, which stays open until another build is asked: to open one takes 50 ms."""
    con = _engine()
    con.execute("use memory")
    con.execute("detach database if exists build")
    con.execute(f"attach {text_literal(str(database))} as build (read_only)")
    con.execute("use build")
    con.execute(f"set search_path = '{SEARCH_PATH}'")
    con.execute(f"set file_search_path = {text_literal(str(database.parent))}")
    return con


@cache
def _engine() -> "duckdb.DuckDBPyConnection":
    return connect()  # not that of the commands, which lock the settings of theirs

"""A project built by itself and by tasks: every table must be equal, and in the same order but where it stays in parts."""

from __future__ import annotations

import time
from pathlib import Path

from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project, read_project
from warehouse.scale.drive import Distribution
from warehouse.scale.engines.choosing import distribution
from warehouse.transform.build.build import build, gather_material
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

Contents = dict[str, tuple[object, object]]  # of each table what it holds, and what it holds in order


def contents(project: Project) -> Contents:
    con = open_build(current_build(project).path)
    try:
        names = con.execute("select schema_name || '.' || name from catalog.model where materialized <> 'view' order by all").fetchall()
        found = {}
        for (name,) in names:
            own = " exclude (query_spec_digest)" if name.startswith("rollup.") else ""  # which has the ingestor's own text in it
            rows = f"select hash(t) as h, row_number() over () as place from (select *{own} from {name}) t"
            [found[name]] = con.execute(f"select [count(*), sum(h)], sum(hash(h, place)) from ({rows})").fetchall()
        return found
    finally:
        con.close()


def compared(one: Contents, other: Contents, parts: set[str]) -> tuple[bool, str]:
    """Whether they are equal, and in words; tables in `parts` have no order."""
    differing = sorted(name for name in one.keys() | other.keys() if one.get(name, (0,))[0] != other.get(name, (1,))[0])
    moved = sorted(name for name in one.keys() & other.keys() - set(differing) - parts if one[name] != other[name])
    told = f"{len(one) - len(differing) - len(moved)} of {len(one)} tables equal"
    told += (f"; in another order: {', '.join(moved)}" if moved else "") + (f"; DIFFERENT: {', '.join(differing)}" if differing else "")
    return not differing and not moved, told


def built(root: Path, engine: str, address: str = "") -> tuple[Contents, set[str], str]:
    """What a build by an engine, or `none`, holds, the tables of it that stay in parts, and what it was in words."""
    project, started = read_project(root), time.monotonic()
    elsewhere = distribution(project, engine, address, lambda work: None)
    build(project, elsewhere=elsewhere)
    seconds, parts = time.monotonic() - started, current_build(project).parts
    if elsewhere is None:
        return contents(project), set(), f"{seconds:.0f} s"
    taken = Distribution(project, elsewhere.executor).tables(open_store(project), gather_material(project)).tables
    told = f"{seconds:.0f} s, {len(taken)} tables by tasks, {len(parts)} of them in {sum(map(len, parts.values()))} parts"
    return contents(project), set(parts), told

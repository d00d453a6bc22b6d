"""The oracle of every build: what one from nothing makes of the same project."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from warehouse.project.project import Project
from warehouse.transform.build.build import bring_up_to_date, gather_material
from warehouse.transform.finished.builds import current_build
from warehouse.transform.sql.duck import connect, text_literal
from warehouse.transform.testing.equivalence import Comparison, compare_tables


def tables_unlike_from_nothing(project: Project, folder: Path, now: datetime | None = None) -> list[Comparison]:
    """The tables of the current build that a build from nothing `now`, made in `folder`, has otherwise: other rows, or another
    order of a table that is not incremental."""
    material = gather_material(project, now=now)
    full = folder / "full.duckdb"
    full.unlink(missing_ok=True)
    bring_up_to_date(full, material)
    con = connect()
    if material.memory:
        con.execute(f"set memory_limit = {text_literal(material.memory)}")
    con.execute(f"attach {text_literal(str(current_build(project).path))} as updated_build (read_only)")
    con.execute(f"attach {text_literal(str(full))} as full_build (read_only)")
    checked = material.checked
    tables = [con.execute(
        f"select schema_name, table_name from duckdb_tables() where database_name = '{base}'"
        " and schema_name in ('main', 'mart', 'staging') order by all").fetchall() for base in ("updated_build", "full_build")]
    assert tables[0] == tables[1]
    compared = [
        compare_tables(con, checked.models[name].qualified, checked.columns[name], is_ordered=not checked.models[name].key)
        for name in checked.graph.order if checked.models[name].materialized != "view"
    ]
    con.close()
    return [found for found in compared if found.difference]

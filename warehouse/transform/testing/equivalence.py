"""`wh test --equivalence`: prove on a project as it is that bringing it up to date gives what a build from nothing gives,
table by table: the same columns, the same rows, and in tables whose SQL has an `order by` the same order.

Without one the engine may put rows in any order, and does: its joins depend on statistics that a build from nothing does not have.

Both are built beside the builds and removed; nothing that a reader sees changes.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError, together
from warehouse.project.project import Project
from warehouse.transform.build.build import bring_up_to_date, gather_material
from warehouse.transform.finished.builds import builder_lock, find_current
from warehouse.transform.inputs.content import ROW, row_hash
from warehouse.transform.sql.duck import connect, quote, text_literal
from warehouse.transform.sql.tree import parsed, statement
from warehouse.transform.sql.tree_nodes import has_order

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.build.material import Material
    from warehouse.transform.check.checked_project import CheckedProject

_SHOWN = 3
_DATABASES = ("updated_build", "full_build")


@dataclass(frozen=True)
class Comparison:
    """One table brought up to date and built from nothing: how many rows only one of them has, or what else differs. `by_key`
    are the incremental tables that may have made the difference: it, and those that it reads, by qualified name."""

    name: str
    rows: int
    only_updated: int = 0
    only_full: int = 0
    difference: str | None = None
    by_key: tuple[str, ...] = ()


def check_equivalence(project: Project) -> list[Comparison]:
    """One comparison a stored table; all agree when no `difference` is set. Raises what a build raises."""
    with builder_lock(project):
        material = gather_material(project)
        current = find_current(project)
        folder = Path(tempfile.mkdtemp(prefix=".equivalence-", dir=project.builds))
        try:
            updated, full = folder / "updated.duckdb", folder / "full.duckdb"
            if current:
                shutil.copyfile(current.path, updated)
            for path in (updated, full):
                bring_up_to_date(path, material)
            return _compare(material, updated, full)
        finally:
            shutil.rmtree(folder)


def refuse_differences(comparisons: Sequence[Comparison]) -> None:
    """Raise WH223, one error for all tables that differ, when any does."""
    faults = [
        WarehouseError(
            "WH223", f"brought up to date it differs from a full build in {_told(found)}", found.name, _way_out(found)
        )
        for found in comparisons if found.difference
    ]
    if faults:
        raise together(faults)


def _way_out(found: Comparison) -> str:
    if found.by_key:
        listed = f"{', '.join(found.by_key[:_SHOWN])}{', ...' * (len(found.by_key) > _SHOWN)}"
        return f"for now take materialized: incremental and key: out of the header of {listed}, and build again"
    return (
        "was the build altered? delete the builds folder and run wh build; if it differs again, its SQL gives other rows"
        " each time: order what it aggregates, ranks or limits by columns that tell all rows apart"
    )


def _told(found: Comparison) -> str:
    if not (found.only_updated or found.only_full):
        return str(found.difference)
    only_full = f"{found.only_full:,} only in the full one of {found.rows:,}"
    return f"its rows: {found.only_updated:,} are only in the updated table, {only_full}"


def _compare(material: "Material", updated: Path, full: Path) -> list[Comparison]:
    con = connect()
    for name, path in zip(_DATABASES, (updated, full), strict=True):
        con.execute(f"attach {text_literal(str(path))} as {name} (read_only)")
    checked = material.checked
    stored = {name: checked.models[name] for name in checked.graph.order if checked.models[name].materialized != "view"}
    try:
        trees = parsed(con, [model.text for model in stored.values()])
        return [
            replace(
                compare_tables(con, model.qualified, checked.columns[name], is_ordered=not model.key and has_order(statement(tree, model))),
                by_key=_by_key(name, checked),
            )
            for (name, model), tree in zip(stored.items(), trees, strict=True)
        ]
    finally:
        con.close()


def _by_key(name: str, checked: "CheckedProject") -> tuple[str, ...]:
    """The incremental tables among a model and all that it reads, directly or through others, in build order."""
    found, pending = {name}, [name]
    while pending:
        read = checked.graph.models[pending.pop()] - found
        found |= read
        pending += read
    return tuple(checked.models[other].qualified for other in checked.graph.order if other in found and checked.keeps_keys(other))


def compare_tables(
    con: "duckdb.DuckDBPyConnection", qualified: str, types: Mapping[str, str], *, is_ordered: bool
) -> Comparison:
    """Compare a table of the two attached databases."""
    schema, _, table = qualified.partition(".")
    here, there = (f"{base}.{quote(schema)}.{quote(table)}" for base in _DATABASES)
    columns = [[row[:2] for row in con.execute(f"describe {side}").fetchall()] for side in (here, there)]
    if columns[0] != columns[1]:
        return Comparison(qualified, 0, difference=f"columns: {columns[0]} and {columns[1]}")
    hashes = [f"select {row_hash(dict(columns[0]))} as h from {side} as {ROW}" for side in (here, there)]
    rows, only_updated, only_full = con.execute(
        f"select (select count(*) from {there}), (select count(*) from ({hashes[0]} except all {hashes[1]})),"
        f" (select count(*) from ({hashes[1]} except all {hashes[0]}))"
    ).fetchall()[0]
    if only_updated or only_full:
        return Comparison(qualified, rows, only_updated, only_full, "rows")
    if is_ordered:
        numbered = [f"select row_number() over () as place, h from ({side})" for side in hashes]
        moved = con.execute(f"select count(*) from (({numbered[0]}) except ({numbered[1]}))").fetchall()[0][0]
        if moved:
            return Comparison(qualified, rows, difference=f"the order of {moved} rows")
    return Comparison(qualified, rows)

"""What a build is made of and how making it went, written inside it: a number's lineage needs no project, only the build
and the store."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warehouse.digest import canonical_json
from warehouse.transform.build.material import Material
from warehouse.transform.build.session import ModelResult
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.digests import specification
from warehouse.transform.incremental.aged_out import write_away
from warehouse.transform.incremental.warm_tier import DetailTable
from warehouse.transform.sql.duck import PINNED_SETTINGS, engine_version, quote
from warehouse.transform.testing.run_tests import TestResult
from warehouse.version import __version__

if TYPE_CHECKING:
    import duckdb

# What follows from the project alone: a build of the same project writes only the others.
_OF_PROJECT = ("model", "model_column", "landing_column", "landing_way")
_TABLES: Mapping[str, Mapping[str, Any]] = {
    "build": dict.fromkeys(("build_digest", "wh_version", "engine", "settings", "warm_horizon"), "VARCHAR") | {"warm_days": "BIGINT"},
    "model": {
        **dict.fromkeys(
            ("name", "schema_name", "materialized", "role", "digest", "place", "description", "sql"), "VARCHAR"
        ),
        "grain": ["VARCHAR"], "reads": ["VARCHAR"], "specification": "VARCHAR",
    },
    "model_column": dict.fromkeys(("schema_name", "table_name", "column_name", "unit", "description"), "VARCHAR"),
    "landing_column": {"table_name": "VARCHAR", "position": "BIGINT", "column_name": "VARCHAR", "type": "VARCHAR"},
    # By which columns a table that is local to its key reads a landing table: a trace of one cell brings in the rows that have the cell's.
    "landing_way": {"reader": "VARCHAR", "table_name": "VARCHAR", "key": ["VARCHAR"], "columns": ["VARCHAR"]},
    # Tables whose rows leave past the horizon, unless something needs them (`warm_tier`); `state.away` has the runs that left.
    "detail_table": {"name": "VARCHAR", "needed_by": ["VARCHAR"], "read_by": ["VARCHAR"]},
    # Paths from the landing folder: a project that was moved still finds them, and its build is the same.
    "landing_file": {"table_name": "VARCHAR", "path": "VARCHAR", "sha256": "VARCHAR", "rows": "BIGINT"},
    "damaged": {"code": "VARCHAR", "place": "VARCHAR", "message": "VARCHAR"},
    "model_result": {
        "model": "VARCHAR", "action": "VARCHAR", "reason": "VARCHAR", "rows": "BIGINT", "keys": "BIGINT",
        "seconds": "DOUBLE",
    },
    "test_result": {"test": "VARCHAR", "status": "VARCHAR", "failing_rows": "BIGINT", "seconds": "DOUBLE"},
}


def write_catalog(
    con: "duckdb.DuckDBPyConnection", material: Material, models: Sequence[ModelResult], tests: Sequence[TestResult], *,
    knows_project: bool,
) -> None:
    """Write the catalog of a session's database anew; where it `knows_project`, what it says of the project stays. Of `tests` only those
    that were run are known; the others passed before on the same rows."""
    if knows_project:
        for table in ["away", *(name for name in _TABLES if name not in _OF_PROJECT)]:
            con.execute(f"drop table catalog.{table}")
    else:
        con.execute("drop schema if exists catalog cascade")
        con.execute("create schema catalog")
    tables = [*material.tier.tables.values()] if material.tier else []
    rows = _of_build(material, tables, models, tests) | ({} if knows_project else _of_project(material))
    for table, columns in _TABLES.items():
        if table in rows:
            _write(con, table, columns, [dict(zip(columns, row, strict=True)) for row in rows[table]])
    write_away(con, tables)


def _of_project(material: Material) -> dict[str, Iterable[Sequence[Any]]]:
    checked = material.checked
    return {
        "model": [_model(name, material) for name in checked.graph.order],
        "model_column": [
            (checked.models[name].schema, checked.models[name].name, column.name, column.unit, " ".join(column.description.split()))
            for name in checked.graph.order for column in checked.described_columns(name).values()
        ],
        "landing_column": [
            (table.name, place, *item) for table in material.landing.tables.values() for place, item in enumerate(table.types.items())
        ],
        "landing_way": [
            (checked.models[name].qualified, table, list(checked.models[name].key), list(columns))
            for name in checked.graph.order for table, columns in _ways(name, checked, material.landing.tables)
        ],
    }


def _ways(name: str, checked: CheckedProject, landing: Collection[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """The landing tables that a model reads by its key and not otherwise, each with the columns that have it."""
    plan = checked.key_plans.get(name)
    if plan is None or not plan.can_narrow:
        return
    found: dict[str, set[tuple[str, ...]]] = {}
    for path in plan.paths:
        found.setdefault(path.leaf, set()).add(path.leaf_columns)
    for table, columns in sorted(found.items()):
        if table in landing and table not in plan.whole and len(columns) == 1 and all(columns):
            yield table, columns.pop()


def _of_build(
    material: Material, tables: Sequence[DetailTable], models: Sequence[ModelResult], tests: Sequence[TestResult]
) -> dict[str, Iterable[Sequence[Any]]]:
    ran = {found.name: found for found in tests}
    return {
        "build": [(
            material.digest, __version__, f"duckdb {engine_version()}", canonical_json(dict(PINNED_SETTINGS)).decode(),
            material.tier.horizon.isoformat() if material.tier else None, material.tier.days if material.tier else None,
        )],
        "detail_table": [(table.qualified, list(table.needed_by), list(table.read_by)) for table in tables],
        "landing_file": [
            (file.table, f"{file.path.parent.name}/{file.path.name}", file.sha256, file.rows)
            for table in material.landing.tables.values() for file in table.files
        ],
        "damaged": [(error.code, error.place, error.message) for error in material.landing.damaged],
        "model_result": [
            (found.name, found.action, found.reason, found.rows, found.keys, found.seconds) for found in models
        ],
        "test_result": [_test(test.name, ran.get(test.name)) for test in material.checked.tests],
    }


def _model(name: str, material: Material) -> tuple[Any, ...]:
    checked, made = material.checked, material.made
    model = checked.models[name]
    whole = canonical_json(specification(name, checked, made)).decode() if model.schema == "rollup" else None
    return (
        model.name, model.schema, model.materialized, model.role, made[name].digest, model.place, model.description, model.text,
        list(model.grain), checked.reads(name), whole,
    )


def _test(name: str, found: TestResult | None) -> tuple[Any, ...]:
    return (name, found.status, found.failing_rows, found.seconds) if found else (name, "pass", 0, 0.0)


def _write(
    con: "duckdb.DuckDBPyConnection", table: str, columns: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> None:
    listed = ", ".join(
        f"{quote(name)} {kind if isinstance(kind, str) else f'{kind[0]}[]'}" for name, kind in columns.items()
    )
    con.execute(f"create table catalog.{table} ({listed})")
    if rows:
        # One statement: a thousand inserts take a second.
        form = json.dumps([columns])
        con.execute(
            f"insert into catalog.{table} select unnest(from_json(?, ?), recursive := true)", [json.dumps(rows), form]
        )

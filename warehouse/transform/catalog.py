"""What a build is made of, written inside it: a number's lineage needs no project, only the build and the store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse import __version__
from warehouse.digest import canonical_json
from warehouse.transform.digests import specification
from warehouse.transform.duck import PINNED_SETTINGS, engine_version
from warehouse.transform.material import Material
from warehouse.transform.run_tests import TestResult
from warehouse.transform.session import ModelResult

if TYPE_CHECKING:
    import duckdb


def write_catalog(
    con: "duckdb.DuckDBPyConnection", material: Material, models: Sequence[ModelResult], tests: Sequence[TestResult]
) -> None:
    """Write the catalog of a session's database anew: what it is made of, and how the build that made it went. Of `tests`
    only those that were run are known; the others passed before on the same rows."""
    checked, made, landing = material.checked, material.made, material.landing
    con.execute("drop schema if exists catalog cascade")
    con.execute("create schema catalog")
    con.execute("create table catalog.build (build_digest varchar, wh_version varchar, engine varchar, settings varchar)")
    settings = canonical_json(dict(PINNED_SETTINGS)).decode()
    con.execute("insert into catalog.build values (?, ?, ?, ?)", [material.digest, __version__, f"duckdb {engine_version()}", settings])
    con.execute(
        "create table catalog.model (name varchar, schema_name varchar, materialized varchar, digest varchar, place varchar,"
        " description varchar, sql varchar, grain varchar[], reads varchar[], specification varchar)"
    )
    rows = []
    for name in checked.graph.order:
        model = checked.models[name]
        reads = sorted(checked.models[parent].qualified for parent in checked.graph.models[name])
        whole = canonical_json(specification(name, checked, made)).decode() if model.schema == "rollup" else None
        rows.append(
            {
                "name": model.name, "schema_name": model.schema, "materialized": model.materialized,
                "digest": made[name].digest, "place": model.place, "description": model.description, "sql": model.text,
                "grain": list(model.grain), "reads": reads + sorted(checked.graph.landing[name]), "specification": whole,
            }
        )
    # One statement: a thousand inserts take a second.
    form = {name: "VARCHAR" for name in rows[0]} | {"grain": ["VARCHAR"], "reads": ["VARCHAR"]} if rows else {}
    if rows:
        con.execute(
            "insert into catalog.model select unnest(from_json(?, ?), recursive := true)",
            [json.dumps(rows), json.dumps([form])],
        )
    con.execute("create table catalog.landing_column (table_name varchar, position bigint, column_name varchar, type varchar)")
    columns = [[table.name, i, *item] for table in landing.tables.values() for i, item in enumerate(table.types.items())]
    if columns:
        con.executemany("insert into catalog.landing_column values (?, ?, ?, ?)", columns)
    con.execute("create table catalog.damaged (code varchar, place varchar, message varchar)")
    for error in landing.damaged:
        con.execute("insert into catalog.damaged values (?, ?, ?)", [error.code, error.place, error.message])
    con.execute("create table catalog.landing_file (table_name varchar, path varchar, sha256 varchar, rows bigint)")
    # Paths from the landing folder: a project that was moved still finds them, and its build is the same.
    files = [
        [file.table, f"{file.path.parent.name}/{file.path.name}", file.sha256, file.rows]
        for table in landing.tables.values() for file in table.files
    ]
    if files:
        con.executemany("insert into catalog.landing_file values (?, ?, ?, ?)", files)
    con.execute(
        "create table catalog.model_result"
        " (model varchar, action varchar, reason varchar, rows bigint, keys bigint, seconds double)"
    )
    if models:
        con.executemany(
            "insert into catalog.model_result values (?, ?, ?, ?, ?, ?)",
            [[found.name, found.action, found.reason, found.rows, found.keys, found.seconds] for found in models],
        )
    con.execute("create table catalog.test_result (test varchar, status varchar, failing_rows bigint, seconds double)")
    ran = {found.name: found for found in tests}
    results = [
        [test.name, *((found.status, found.failing_rows, found.seconds) if found else ("pass", 0, 0.0))]
        for test in checked.tests for found in [ran.get(test.name)]
    ]
    if results:
        con.executemany("insert into catalog.test_result values (?, ?, ?, ?)", results)

"""Rollups: each query spec run untouched in the build, with its `query_spec_digest` and a number id for every cell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError, by_place, together
from warehouse.project import Project
from warehouse.transform.build.build import BuildReport, Progress
from warehouse.transform.build.build import build as build_tables
from warehouse.transform.build.builds import Build

if TYPE_CHECKING:
    from datetime import datetime

    import duckdb
    import pyarrow as pa

    from warehouse.transform.check.project_check import Findings
    from warehouse.transform.project.digests import Envelope
    from warehouse.transform.project.model import Model

RESERVED_COLUMNS = ("query_spec_digest", "number_ids")
# What the session of a build holds for a moment. No model's name has a space.
_ROWS, _IDS = '"wh rows"', "wh ids"
# A cell's type must have an exact form (claims.number.exact); of others the digits or the meaning would be lost.
_EXACT_TYPES = re.compile(
    r"BOOLEAN|U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|DATE|TIMESTAMP(?: WITH TIME ZONE)?"
)


def build(
    project: Project, progress: Progress = Progress(), *, is_retry: bool = False, now: datetime | None = None, patterns: Sequence[str] = (),
) -> BuildReport:
    """`wh build`: all tables and all rollups, detail as old as it is `now` (UTC); with `is_retry` from where the last build
    stopped; with `patterns` the models that these select and all that they read, without making them current. Raises WH2xx, WH302."""
    choose = None
    if patterns:
        from warehouse.transform.build.preview import chooser

        choose = chooser(project, patterns)
    return build_tables(project, write_rollup, progress, is_retry=is_retry, now=now, choose=choose)


def check(project: Project) -> Findings:
    """`wh check`: all faults of a project's files in the order of their places. Reads no evidence. Raises WH004, WH121."""
    from warehouse.transform.build.landing_tables import project_landing_types
    from warehouse.transform.check.project_check import check_project

    found = check_project(project, project_landing_types(project))
    specs = (model for name, model in found.checked.models.items() if model.schema == "rollup")
    columns = found.checked.columns
    own = (fault for spec in specs if spec.name in columns for fault in _column_faults(spec, columns[spec.name]))
    return replace(found, faults=tuple(sorted((*found.faults, *own), key=by_place)))


def conflicted_runs(built: Build) -> list[str]:
    """The runs of a build that bundles state differently: nothing of them is published. Empty for a project that has no
    table of runs."""
    from warehouse.transform.query import open_build

    con = open_build(built.path)
    try:
        columns = con.execute(
            "select 1 from information_schema.columns where table_name = 'benchmark_run_fact' and column_name = 'has_conflict'"
        ).fetchall()
        rows = con.execute("select run_id from benchmark_run_fact where has_conflict order by 1").fetchall() if columns else []
        return [row[0] for row in rows]
    finally:
        con.close()


def runs_without_detail(built: Build) -> dict[str, int]:
    """How many runs the tables of a build are without for their age (`transform.incremental.warm_tier`), by qualified name."""
    from warehouse.transform.incremental.aged_out import runs_away
    from warehouse.transform.query import open_build

    con = open_build(built.path)
    try:
        return runs_away(con)
    finally:
        con.close()


def write_rollup(con: "duckdb.DuckDBPyConnection", spec: "Model", envelope: "Envelope") -> None:
    """Create `rollup.<spec>` in the session's database: the query's own columns, then `query_spec_digest` and a struct
    `number_ids` with one field a value column. Raises WH302 when two rows have the same grain."""
    from warehouse.claims.numbers.number import exact, row_numbers
    from warehouse.transform.sql.duck import execute, quote, quoted, text_literal

    execute(con, spec, f"create temp table {_ROWS} as ")
    types = {row[0]: row[1] for row in con.execute(f"describe {_ROWS}").fetchall()}
    columns = list(types)
    if faults := list(_column_faults(spec, types)):
        raise together(faults)
    rows = con.execute(f"select * from {_ROWS}").fetchall()
    try:
        keys = {repr([exact(row[columns.index(name)]) for name in spec.grain]) for row in rows}
        ids = [row_numbers(spec.name, spec.canonical_sql, spec.grain, columns, row) for row in rows]
    except ValueError as error:
        raise WarehouseError("WH201", f"a value cannot be written exactly: {error}", spec.place, "cast it to varchar") from error
    if len(keys) != len(rows):
        raise WarehouseError(
            "WH302", f"{len(rows)} rows, {len(keys)} distinct values of {', '.join(spec.grain)}", spec.place,
            "add the missing column to the grain, or aggregate",
        )
    values = [name for name in columns if name not in spec.grain]
    con.register(_IDS, _ids_table(values, ids))
    struct = ", ".join(f"{quote(name)} := {quote(name)}" for name in values)
    con.execute(
        f"create table {quoted(spec.qualified)} as select r.*, {text_literal(envelope.digest)} as query_spec_digest, "
        f"i.number_ids from {_ROWS} r positional join (select struct_pack({struct}) as number_ids from \"{_IDS}\") i"
    )
    con.unregister(_IDS)
    con.execute(f"drop table {_ROWS}")


def _column_faults(spec: "Model", types: Mapping[str, str]) -> Iterator[WarehouseError]:
    """WH201 for columns that cannot be published."""
    for name, kind in types.items():
        if not _EXACT_TYPES.fullmatch(kind.rstrip("[]")):  # a list is as exact as what it holds
            message = f"column {name} is {kind}, which has no exact form"
            yield spec.column_fault("WH201", message, name, f"cast it: {name}::varchar")
        if name.lower() in RESERVED_COLUMNS:
            yield spec.column_fault("WH201", f"the column name {name} is the warehouse's own", name, "rename it")
    if types.keys() <= set(spec.grain):
        message = "every column is in the grain: nothing is left to publish"
        yield spec.header_fault("WH201", message, "grain", hint="select what is measured too")


def _ids_table(values: list[str], ids: list[dict[str, str | None]]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array([row[name] for row in ids], pa.string()) for name in values})

"""The table of a rollup: a query spec's untouched result, with its `query_spec_digest` and a number id for every cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.exact import exact, row_numbers
from warehouse.transform.check.digests import Envelope
from warehouse.transform.project.model import RESERVED_COLUMNS, Model
from warehouse.transform.sql.duck import execute, quote, quoted, text_literal

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# What the session of a build holds for a moment. No model's name has a space.
_ROWS, _IDS = '"wh rows"', "wh ids"


def write_rollup(con: "duckdb.DuckDBPyConnection", spec: Model, envelope: Envelope, reject: Callable[[str], object]) -> None:
    """Create `rollup.<spec>` in the session's database: the query's own columns, then `query_spec_digest` and a struct
    `number_ids` with one field a value column. `reject` takes out of its rows what is not to be in it. Raises WH302 when two rows that are
    left have the same grain."""
    execute(con, spec, f"create temp table {_ROWS} as ")
    reject(_ROWS)
    columns = [row[0] for row in con.execute(f"describe {_ROWS}").fetchall()]
    rows = con.execute(f"select * from {_ROWS}").fetchall()
    try:
        keys = {repr([exact(row[columns.index(name)]) for name in spec.grain]) for row in rows}
        ids = [row_numbers(spec.name, spec.canonical_sql, spec.grain, columns, row) for row in rows]
    except ValueError as error:
        raise WarehouseError("WH201", f"a value has no exact form: {error}", spec.place, "cast it to varchar") from error
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


def rollup_types(spec: Model, types: Mapping[str, str]) -> dict[str, str]:
    """The columns (name to type) of the table that `write_rollup` makes of a query with columns of these types."""
    ids = ", ".join(f"{quote(name)} VARCHAR" for name in types if name not in spec.grain)
    return {**types, **dict(zip(RESERVED_COLUMNS, ("VARCHAR", f"STRUCT({ids})"), strict=True))}


def _ids_table(values: list[str], ids: list[dict[str, str | None]]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array([row[name] for row in ids], pa.string()) for name in values})

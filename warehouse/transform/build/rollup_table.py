"""The table of a rollup: a query spec's untouched result, with its `query_spec_digest` and a number id for every cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.exact import exact, row_numbers
from warehouse.transform.check.digests import Envelope
from warehouse.transform.inputs.content import ROW, row_hash
from warehouse.transform.project.model import RESERVED_COLUMNS, Model
from warehouse.transform.sql.duck import execute, quote, quoted, text_literal

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# What the session of a build holds for a moment. No model's name has a space.
_ROWS, _IDS, _NEW_IDS, _PLACE = '"wh rows"', '"wh ids"', "wh new ids", "wh place"
_ROWS_AT_ONCE = 2048  # as values of Python, of which each takes some 60 bytes
_NUMBERED = f'select row_number() over () as "{_PLACE}", * from {_ROWS}'


def write_rollup(
    con: "duckdb.DuckDBPyConnection", spec: Model, envelope: Envelope, reject: Callable[[str], object], former: str | None = None
) -> None:
    """Create `rollup.<spec>` in the session's database: the query's own columns, then `query_spec_digest` and a struct
    `number_ids` with one field a value column. `reject` takes out of its rows what is not to be in it. `former` is the table that the
    same spec had before: rows that it has too keep their ids, and it is dropped. Raises WH302 when two rows that are left have the same
    grain."""
    execute(con, spec, f"create temp table {_ROWS} as ")
    reject(_ROWS)
    types = {row[0]: row[1] for row in con.execute(f"describe {_ROWS}").fetchall()}
    columns = [*types]
    _keep_ids(con, types, [name for name in columns if name not in spec.grain], former)
    try:
        _refuse_doubles(con, spec, types)
        new = _new_ids(con, spec, columns)
    except ValueError as error:
        raise WarehouseError("WH201", f"a value has no exact form: {error}", spec.place, "cast it to varchar") from error
    if new is not None:
        con.register(_NEW_IDS, new)
        con.execute(f'insert into {_IDS} select "{_PLACE}", {_packed(new.column_names[1:])} from "{_NEW_IDS}"')
        con.unregister(_NEW_IDS)
    con.execute(
        f"create table {quoted(spec.qualified)} as select r.*, {text_literal(envelope.digest)} as query_spec_digest, "
        f'i.number_ids from {_ROWS} r positional join (select number_ids from {_IDS} order by "{_PLACE}") i'
    )
    con.execute(f"drop table {_ROWS}")
    con.execute(f"drop table {_IDS}")
    if former:
        con.execute(f"drop table {quoted(former)}")


def _keep_ids(con: "duckdb.DuckDBPyConnection", types: Mapping[str, str], values: Sequence[str], former: str | None) -> None:
    """Make the table of ids by the place of their row, with those of the rows that the former table has as well. A number id follows from
    the spec and its row, to the bit."""
    fields = ", ".join(f"{quote(name)} VARCHAR" for name in values)
    con.execute(f'create temp table {_IDS} ("{_PLACE}" bigint, number_ids struct({fields}))')
    if former:
        hashed = f"select *, {row_hash(types)} as hashed from (select {_packed(types)} as {ROW}, {{}} from {{}})"
        new, old = hashed.format(f'"{_PLACE}"', f"({_NUMBERED})"), hashed.format("number_ids", quoted(former))
        con.execute(
            f'insert into {_IDS} select n."{_PLACE}", f.number_ids from ({new}) as n inner join ({old}) as f'
            f" on n.hashed = f.hashed and n.{ROW} = f.{ROW}"
        )


def _refuse_doubles(con: "duckdb.DuckDBPyConnection", spec: Model, types: Mapping[str, str]) -> None:
    """Raise WH302 where two rows have the same grain."""
    grain = {name: kind for name, kind in types.items() if name in spec.grain}
    packed, hashed = (_packed(grain), row_hash(grain)) if grain else ("0", "0")
    [(rows, hashes)] = con.execute(f"select count(*), count(distinct {hashed}) from (select {packed} as {ROW} from {_ROWS})").fetchall()
    if rows == hashes:  # other hashes, other values
        return
    listed = ", ".join(map(quote, grain)) or "0"
    keys = {repr([exact(value) for value in row]) for row in con.execute(f"select {listed} from {_ROWS}").fetchall()}
    if len(keys) != rows:
        raise WarehouseError(
            "WH302", f"{rows} rows, {len(keys)} distinct values of {', '.join(spec.grain)}", spec.place,
            "add the missing column to the grain, or aggregate",
        )


def _packed(names: Iterable[str]) -> str:
    return f"struct_pack({', '.join(f'{quote(name)} := {quote(name)}' for name in names)})"


def rollup_types(spec: Model, types: Mapping[str, str]) -> dict[str, str]:
    """The columns (name to type) of the table that `write_rollup` makes of a query with columns of these types."""
    ids = ", ".join(f"{quote(name)} VARCHAR" for name in types if name not in spec.grain)
    return {**types, **dict(zip(RESERVED_COLUMNS, ("VARCHAR", f"STRUCT({ids})"), strict=True))}


def _new_ids(con: "duckdb.DuckDBPyConnection", spec: Model, columns: Sequence[str]) -> "pa.Table | None":
    """The ids of the rows that have none yet, by their place."""
    import pyarrow as pa

    found = con.execute(f'from ({_NUMBERED}) where "{_PLACE}" not in (select "{_PLACE}" from {_IDS}) order by "{_PLACE}"')
    made: list[pa.RecordBatch] = []
    while rows := found.fetchmany(_ROWS_AT_ONCE):
        ids = [row_numbers(spec.name, spec.canonical_sql, spec.grain, columns, row) for _, *row in rows]
        strings = {name: pa.array([row[name] for row in ids], pa.string()) for name in ids[0]}
        made.append(pa.RecordBatch.from_pydict({_PLACE: pa.array([place for place, *_ in rows], pa.int64()), **strings}))
    return pa.Table.from_batches(made) if made else None

"""The order of the rows of an incremental table, and how readers get them in that order.

What a full build would have made is what a reader must find, though it can tell more than rows apart: their order, sampled
statistics that lead to another plan, and how vectors are cut, by which sums of floats differ in their last bits
(`aggregates`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import quote, quoted

if TYPE_CHECKING:
    import duckdb

# As a build writes it; with rows of later keys added at its end; with rows taken out and added, in no order; a view over parts.
WHOLE, GROWN, PATCHED, PARTS = "whole", "grown", "patched", "parts"


@dataclass(frozen=True)
class OrderedRows:
    """SQL for the rows of an input, the columns that order them, and those of them that are not the input's own."""

    sql: str
    order: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def order_of(model: Model, types: Mapping[str, str]) -> list[str]:
    """The columns that an incremental table's rows are ordered by: its key, then what tells rows of one key apart."""
    rest = [name for name in (model.grain or types) if name not in model.key]
    return [*model.key, *rest]


def in_order(model: Model, types: Mapping[str, str]) -> str:
    """The clause that puts a model's rows in order."""
    return f" order by {column_list(order_of(model, types))}"


def has_grain_over_key(model: Model) -> bool:
    """Whether the order of a table's rows is that of its grain: then rows in strict order are all different."""
    return bool(model.grain) and set(model.key) <= set(model.grain)


def put_in_order(con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str]) -> bool:
    """Sort a table that was just made, unless it came out in order. Returns whether its grain is seen to tell its rows apart."""
    falls, has_pairs = _steps(con, model, types)
    if falls:
        rewrite(con, model, types, PATCHED)
        return is_unique(con, model, types)
    return has_grain_over_key(model) and not has_pairs


def is_unique(con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str]) -> bool:
    """Whether the grain of a table that lies in order is seen to tell its rows apart."""
    return has_grain_over_key(model) and not _steps(con, model, types)[1]


def _steps(con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str]) -> tuple[bool, bool]:
    """Whether a row comes after one that it should precede, and whether two neighbours are alike in the order."""
    columns = [quote(name) for name in order_of(model, types)]
    pairs = ", ".join(f"{name} as h{number}, lag({name}) over () as b{number}" for number, name in enumerate(columns))
    # Column by column: whole rows, put together to be compared, take twice as long.
    falls = " ".join(
        f"when b{number} is distinct from h{number} then coalesce(b{number} > h{number}, b{number} is null)"
        for number in range(len(columns))
    )
    return con.execute(
        f"select coalesce(bool_or(falls), false), count(*) > count(falls) from (select case {falls} end as falls"
        f" from (select {pairs}, row_number() over () as place from {quoted(model.qualified)}) where place > 1)"
    ).fetchall()[0]


def repeats(con: "duckdb.DuckDBPyConnection", model: Model, rows: str) -> bool:
    """Whether two of `rows` have the same values in the columns of the model's grain."""
    sql = f"select 1 from {rows} group by {column_list(model.grain)} having count(*) > 1 limit 1"
    return bool(con.execute(sql).fetchall())


def rewrite(con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str], layout: str) -> None:
    """Write a table again in one piece and in order, as a full build would have."""
    spare = f"{model.schema}.{model.name} wh-rewritten"
    order = in_order(model, types) if layout in (PATCHED, PARTS) else ""
    con.execute(f"create table {quoted(spare)} as select * from {quoted(model.qualified)}{order}")
    con.execute(f"drop {'view' if layout == PARTS else 'table'} {quoted(model.qualified)}")
    con.execute(f"alter table {quoted(spare)} rename to {quote(model.name)}")


def grows(con: "duckdb.DuckDBPyConnection", model: Model, changed: str) -> bool:
    """Whether all changed keys come after those of the model's table, which lies in order."""
    table, row = quoted(model.qualified), f"row({column_list(model.key)})"
    last = f"(select {row} from {table} where rowid = (select max(rowid) from {table}))"
    return not con.execute(f"select 1 from {changed} where not coalesce({row} > {last}, false) limit 1").fetchall()


def analyze(con: "duckdb.DuckDBPyConnection", model: Model) -> None:
    """Take a table's statistics anew: those that gathered as it was written depend on how."""
    con.execute(f"analyze {quoted(model.qualified)}")


def column_list(columns: Sequence[str], alias: str = "") -> str:
    """Columns, quoted, in a list."""
    return ", ".join(f"{alias}.{quote(name)}" if alias else quote(name) for name in columns)

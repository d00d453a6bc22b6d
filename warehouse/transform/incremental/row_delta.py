"""Which rows of a plain table changed when it was built again, for incremental models that read it by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warehouse.transform.incremental.incremental import delta_name
from warehouse.transform.inputs.content import ROW, row_hash
from warehouse.transform.sql.duck import quote, quoted

if TYPE_CHECKING:
    import duckdb

_PLACES = '"wh places"'


def set_aside(con: "duckdb.DuckDBPyConnection", qualified: str, types: Mapping[str, str]) -> str | None:
    """Keep a table's rows under another name, which is returned, while the table is made anew; None where its columns are
    not those it will have."""
    found = {row[0]: row[1] for row in con.execute(f"describe {quoted(qualified)}").fetchall()}
    return renamed(con, qualified) if found == types else None


def renamed(con: "duckdb.DuckDBPyConnection", qualified: str) -> str:
    """Give a table another name, which is returned, for as long as it is made anew."""
    schema, _, table = qualified.partition(".")
    former = f"{table} wh-former"
    con.execute(f"alter table {quoted(qualified)} rename to {quote(former)}")
    return f"{schema}.{former}"


def keep_delta(con: "duckdb.DuckDBPyConnection", qualified: str, former: str, types: Mapping[str, str]) -> bool:
    """Keep the rows that only one of two tables has, in the temporary table of `delta_name`, and drop the former one. False
    where the rows that both have are in another order: a reader may depend on it, and which of its keys then changed cannot be
    told from rows."""
    numbered = (
        f'select rowid as place, {row_hash(types)} as hashed, row_number() over (partition by hashed order by rowid) as occurrence'
        f" from {{}} as {ROW}"
    )
    # Where each row lies in either table; NULL where the other has none that is like it.
    con.execute(
        f"create or replace temp table {_PLACES} as select o.place as before, n.place as after from ({numbered.format(quoted(former))}) as o"
        f" full join ({numbered.format(quoted(qualified))}) as n on o.hashed = n.hashed and o.occurrence = n.occurrence"
    )
    only = [
        f"select * from {quoted(table)} where rowid in (select {own} from {_PLACES} where {other} is null)"
        for table, own, other in ((former, "before", "after"), (qualified, "after", "before"))
    ]
    con.execute(f"create or replace temp table {delta_name(qualified)} as {only[0]} union all {only[1]}")
    con.execute(f"drop table {quoted(former)}")
    moved = con.execute(
        f"select 1 from (select after, lag(after) over (order by before) as last from {_PLACES} where before is not null and after is not null)"
        " where last > after limit 1"
    ).fetchall()
    con.execute(f"drop table {_PLACES}")
    return not moved

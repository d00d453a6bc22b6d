"""Which rows of a plain table changed when it was built again, for incremental models that read it by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warehouse.transform.incremental.incremental import delta_name
from warehouse.transform.inputs.content import ROW, row_hash
from warehouse.transform.sql.duck import quote, quoted

if TYPE_CHECKING:
    import duckdb


def set_aside(con: "duckdb.DuckDBPyConnection", qualified: str, types: Mapping[str, str]) -> str | None:
    """Keep a table's rows under another name, which is returned, while the table is made anew; None where its columns are
    not those it will have."""
    found = {row[0]: row[1] for row in con.execute(f"describe {quoted(qualified)}").fetchall()}
    if found != types:
        return None
    schema, _, table = qualified.partition(".")
    former = f"{table} wh-former"
    con.execute(f"alter table {quoted(qualified)} rename to {quote(former)}")
    return f"{schema}.{former}"


def keep_delta(con: "duckdb.DuckDBPyConnection", qualified: str, former: str, types: Mapping[str, str]) -> bool:
    """Keep the rows that only one of two tables has, in the temporary table of `delta_name`, and drop the former one. False
    where the rows that both have are in another order: a reader may depend on it, and which of its keys then changed cannot be
    told from rows."""
    numbered = (
        f'select {ROW}.*, rowid as "wh place", {row_hash(types)} as "wh hashed",'
        f' row_number() over (partition by "wh hashed" order by rowid) as "wh occurrence" from {{}} as {ROW}'
    )
    both = [f"({numbered.format(quoted(table))}) as {alias}" for table, alias in ((former, "o"), (qualified, "n"))]
    same = 'o."wh hashed" = n."wh hashed" and o."wh occurrence" = n."wh occurrence"'
    moved = con.execute(
        'select 1 from (select n."wh place" as place, lag(n."wh place") over (order by o."wh place") as before'
        f" from {both[0]} join {both[1]} on {same}) where before > place limit 1"
    ).fetchall()
    only = [
        f'select {alias}.* exclude ("wh place", "wh hashed", "wh occurrence") from {one} anti join {other} on {same}'
        for alias, one, other in (("o", *both), ("n", *reversed(both)))
    ]
    con.execute(f"create or replace temp table {delta_name(qualified)} as {only[0]} union all {only[1]}")
    con.execute(f"drop table {quoted(former)}")
    return not moved

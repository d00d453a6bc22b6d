"""Rows of a large table that have the keys which a trace asks for: they come into a table of its session key by key, each once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warehouse.transform.sql.duck import quote, quoted

if TYPE_CHECKING:
    import duckdb

KEYS = '"wh keys"'  # those that are asked for, in a table of the session


def find_keys(con: "duckdb.DuckDBPyConnection", reader: str, key: Sequence[str], wanted: str) -> None:
    """Find the keys of a model's rows whose row ids are in table `wanted`."""
    names = ", ".join(f"t.{quote(name)}" for name in key)
    con.execute(f"create or replace temp table {KEYS} as select distinct {names} from {quoted(reader)} t semi join {wanted} w on w.rid = t.rowid")


@contextmanager
def new_keys(con: "duckdb.DuckDBPyConnection", name: str) -> Iterator[bool]:
    """Whether some keys were not asked for of table `name` before, which are asked for now. They are kept together with the rows that
    come in meanwhile: where memory runs out neither are, and a second try finds both."""
    there = quote(f"wh keys of {name}")
    con.execute("begin transaction")
    try:
        con.execute(f"create temp table if not exists {there} as from {KEYS} limit 0")
        con.execute(f"create or replace temp table {KEYS} as (from {KEYS} except from {there})")
        yield bool(con.execute(f"select 1 from {KEYS} limit 1").fetchall())
        # Made anew, not added to: another model's key may be of a wider type.
        con.execute(f"create or replace temp table {there} as (from {there} union all from {KEYS})")
        con.execute("commit")
    except BaseException:
        con.execute("rollback")
        raise


def have_keys(con: "duckdb.DuckDBPyConnection", key: Sequence[str], columns: Sequence[str]) -> str:
    """A condition on rows `t`: they have one of the keys, which are in `columns` of theirs."""
    same = " and ".join(f"t.{quote(column)} is not distinct from k.{quote(name)}" for column, name in zip(columns, key, strict=True))
    # As constants, the bounds keep the engine from reading row groups that have none of the keys.
    bounds = []
    for number, (column, own) in enumerate(zip(columns, key, strict=True)):
        con.execute(f"set variable wh_key_{number} = (select [min({quote(own)}), max({quote(own)})] from {KEYS})")
        [(is_known,)] = con.execute(f"select count({quote(own)}) = count(*) from {KEYS}").fetchall()
        if is_known:  # NULL is a key, too
            bounds.append(f"t.{quote(column)} between getvariable('wh_key_{number}')[1] and getvariable('wh_key_{number}')[2]")
    return " and ".join([*bounds, f"exists (from {KEYS} k where {same})"])

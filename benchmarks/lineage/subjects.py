"""What is traced: queries over ten million made facts, and TPC-H's, each with its rollup as a build would hold it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.trace.catalog import BuiltModel, Catalog
from warehouse.transform.sql.duck import connect

if TYPE_CHECKING:
    import duckdb

REQUESTS_PER_RUN = 1000
# Facts in the order in which runs are ingested; hash() makes the same values everywhere, without a state.
_FACTS = """
create table run as
select 'run-' || lpad(range::varchar, 6, '0') as run_id, 'host-' || range % 100 as host, 'fleet-' || range % 4 as fleet
from range({runs});
create table serving as
select
    'run-' || lpad((range // {requests})::varchar, 6, '0') as run_id,
    range % {requests} as request,
    (2 ** (hash(range) % 7))::integer as concurrency,
    (hash(range, 1) % 1000000) / 1000.0 as ttft_ms,
    (hash(range, 2) % 100000)::bigint as tokens
from range({rows});
"""


@dataclass(frozen=True)
class Query:
    """One query: what it is called, its grain, and, of those over facts, whether one run is all that a row has."""

    name: str
    sql: str
    grain: tuple[str, ...]
    is_of_one_run: bool = False


FACT_QUERIES = (
    Query("A: group by, 7 groups", "select concurrency, avg(ttft_ms) as ttft_ms from serving group by concurrency", ("concurrency",)),
    Query(
        "B: join, 100 groups",
        "select r.host, sum(s.tokens) as tokens from serving s join run r on r.run_id = s.run_id group by r.host", ("host",),
    ),
    Query(
        "C: p99 per run", "select run_id, quantile_cont(ttft_ms, 0.99) as ttft_p99_ms from serving group by run_id",
        ("run_id",), is_of_one_run=True,
    ),
    Query(
        "D: median of p99, 4 groups",
        "with per_run as (select run_id, quantile_cont(ttft_ms, 0.99) as ttft_p99_ms from serving group by run_id)\n"
        "select r.fleet, median(p.ttft_p99_ms) as ttft_p99_ms from per_run p join run r on r.run_id = p.run_id group by r.fleet",
        ("fleet",),
    ),
    Query(
        "E: filter, top 10",
        "select run_id, request, ttft_ms from serving where concurrency = 64 and tokens < 50000\n"
        "order by ttft_ms desc, run_id, request limit 10",
        ("run_id", "request"), is_of_one_run=True,
    ),
    Query("F: average of a quarter", "select avg(ttft_ms) as ttft_ms from serving where request < 250", ()),
)
# What tells the rows of TPC-H's queries apart; of the others there is one row.
_TPCH_GRAINS: Mapping[int, str] = {
    1: "l_returnflag l_linestatus", 2: "p_partkey s_name", 3: "l_orderkey", 4: "o_orderpriority", 5: "n_name",
    7: "supp_nation cust_nation l_year", 8: "o_year", 9: "nation o_year", 10: "c_custkey", 11: "ps_partkey", 12: "l_shipmode",
    13: "c_count", 15: "s_suppkey", 16: "p_brand p_type p_size", 18: "o_orderkey", 20: "s_name", 21: "s_name", 22: "cntrycode",
}  # fmt: skip


def tpch_queries(texts: Mapping[int, str]) -> list[Query]:
    return [
        Query(f"Q{number}", text.strip().removesuffix(";"), tuple(_TPCH_GRAINS.get(number, "").split()))
        for number, text in sorted(texts.items())
    ]


@contextmanager
def facts(path: Path, rows: int) -> "Iterator[duckdb.DuckDBPyConnection]":
    """A session of a trace on a new database of that many facts."""
    with traced_session(path) as con:
        con.execute(_FACTS.format(rows=rows, runs=max(rows // REQUESTS_PER_RUN, 1), requests=REQUESTS_PER_RUN))
        yield con


@contextmanager
def tpch(path: Path, tables: Path) -> "Iterator[duckdb.DuckDBPyConnection]":
    """A session of a trace on a new database of the tables that lie as Parquet in a folder."""
    with traced_session(path) as con:
        for table in sorted(tables.glob("*.parquet")):
            con.execute(f"create table {table.stem} as from '{table}'")
        yield con


@contextmanager
def traced_session(path: Path) -> "Iterator[duckdb.DuckDBPyConnection]":
    con = connect(path)
    try:
        con.execute("create schema rollup")
        yield con
    finally:
        con.close()


def with_rollup(con: "duckdb.DuckDBPyConnection", query: Query) -> Catalog:
    """Keep the query's result as `rollup.claim`, and say what is in the database as the catalog of a build does."""
    con.execute(f"create or replace table rollup.claim as {query.sql}")
    types: dict[str, dict[str, str]] = {}
    for schema, table, column, kind in con.execute(
        "select table_schema, table_name, column_name, data_type from information_schema.columns"
        " where table_catalog = current_database() and table_schema in ('main', 'rollup')"
        " order by table_schema, table_name, ordinal_position"
    ).fetchall():
        types.setdefault(f"{schema}.{table}", {})[column] = kind
    models = [_model(name, "", ()) for name in types if name.startswith("main.")]
    models.append(_model("rollup.claim", query.sql, query.grain))
    columns = {name: tuple(found) for name, found in types.items()}
    return Catalog({model.qualified: model for model in models}, columns, types, {}, ())


def _model(qualified: str, sql: str, grain: Sequence[str]) -> BuiltModel:
    schema, name = qualified.split(".")
    return BuiltModel(name, schema, "table", "", f"{name}.sql", sql, tuple(grain), (), None)

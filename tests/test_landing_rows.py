"""Rows of a large landing table that come into a trace's session key by key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
from short_of_memory import ShortOfMemory

from warehouse.digest import file_digest
from warehouse.landing.parse.batches import LandingFile
from warehouse.trace import landing_rows
from warehouse.trace.landing_rows import LandingRows
from warehouse.transform.sql.duck import connect

ROWS = [(1, "a"), (2, "b"), (3, "c"), (None, "d"), (2, "e")]


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """Tables of two models that read landing table `num` by `n`, of which one holds keys of other tables, too; and which rows are wanted."""
    with connect() as con:
        con.execute(
            "create table narrow as select unnest([2, 3])::smallint as n; create table wide as select unnest([1, 2, 3000000000, null])::bigint as n;"
            "create table of_narrow as select 0 as rid; create table of_wide as select unnest(range(4)) as rid"
        )
        yield con


@pytest.fixture
def rows(con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LandingRows:
    monkeypatch.setattr(landing_rows, "_LARGE", 1)
    path = tmp_path / "num.parquet"
    con.execute(f"copy (select * from (values {', '.join(map(str, ROWS)).replace('None', 'null')}) t (n, name)) to '{path}'")
    types, file = {"n": "SMALLINT", "name": "VARCHAR"}, LandingFile("num", path, file_digest(path), len(ROWS))
    return LandingRows(con, {"num": types}, {"num": [file]}, {(reader, "num"): (["n"], ["n"]) for reader in ("narrow", "wide")})


def names(con: duckdb.DuckDBPyConnection) -> str:
    return "".join(name for (name,) in con.execute("select name from num order by name").fetchall())


def test_a_model_has_keys_of_a_wider_type_than_one_before_it(con: duckdb.DuckDBPyConnection, rows: LandingRows) -> None:
    rows.open(["num"], "narrow", "of_narrow")
    assert names(con) == "be"
    rows.open(["num"], "wide", "of_wide")
    assert names(con) == "abde"


def test_where_memory_runs_out_a_second_try_brings_in_the_rows_once(con: duckdb.DuckDBPyConnection, rows: LandingRows) -> None:
    rows._con = ShortOfMemory(con)
    while True:
        with suppress(duckdb.OutOfMemoryException):
            rows.open(["num"], "narrow", "of_narrow")
            break
    assert names(con) == "be"

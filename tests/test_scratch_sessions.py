"""Sessions in memory that share an engine: each has tables of its own, and leaves nothing behind."""

from __future__ import annotations

import duckdb
import pytest

from warehouse.transform.sql.duck import PINNED_SETTINGS, asking, scratch


def databases() -> set[str]:
    with asking() as con:
        return {name for (name,) in con.execute("select database_name from duckdb_databases() where not internal").fetchall()}


def test_sessions_see_no_tables_of_each_other_and_leave_none() -> None:
    before = databases()
    with pytest.raises(ZeroDivisionError), scratch() as one, scratch() as other:
        one.execute("create schema staging; create table staging.t as select 1 as a; begin; insert into staging.t select 2")
        with pytest.raises(duckdb.CatalogException):
            other.execute("from staging.t")
        raise ZeroDivisionError  # while a transaction is open
    assert databases() == before


def test_a_session_begins_with_the_pinned_settings() -> None:
    with scratch() as con:
        con.execute("set integer_division = true; set default_null_order = 'NULLS_FIRST'; set search_path = 'temp'")
    with scratch() as con:
        found = {name: con.execute(f"select current_setting('{name}')").fetchall()[0][0] for name in PINNED_SETTINGS}
    assert found == PINNED_SETTINGS

"""A table without rows needs no token: the annotated query gives the rows of the original, and the evidence that it gives with a token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import duckdb
import pytest
from exhaustive import few
from provenance import generator
from provenance.subject import Database, row_key
from test_ungrouping import FEATURES, by_key

from warehouse.errors import WarehouseError
from warehouse.trace.provenance.annotator import annotate

Tokens = Mapping[str, str | None]


def is_the_same(sql: str, database: Database, table: str, values: tuple[str, ...], ungroups: bool) -> bool:
    """Compare the annotated query with a table emptied; whether the engine runs the query, and the annotated one, so."""
    con = database.connection
    con.execute(f"begin; delete from {table}")
    try:
        with_token = annotate(sql, database.catalog, database.tokens, values, unique=database.tokens, ungroups=ungroups)
        try:
            expected = Counter(map(row_key, con.execute(sql).fetchall()))
            con.execute(with_token.sql).fetchall()
        except duckdb.Error:
            return False
        without = annotate(sql, database.catalog, {**database.tokens, table: None}, values, unique=database.tokens, ungroups=ungroups)
        rows = con.execute(without.sql).fetchall()
        if without.keys is None:
            assert Counter(row_key(row[: len(without.columns)]) for row in rows) == expected, (table, sql)
        if without.keys == with_token.keys:
            keys = without.columns if without.keys is None else without.keys
            assert by_key(without, keys, database) == by_key(with_token, keys, database), (table, sql)
    finally:
        con.execute("rollback")
    return True


# Every case with every table and both ways of annotation; a part of each always runs.
PARTS = 5


@pytest.mark.parametrize("part", few(range(PARTS), 1))
def test_features(part: int) -> None:
    database = generator.database(1)
    asked = [(case, table, ungroups) for case in FEATURES for table in database.tokens if table in case.sql for ungroups in (False, True)]
    compared = sum(is_the_same(case.sql, database, table, case.values, ungroups) for case, table, ungroups in asked[part::PARTS])
    assert compared >= 200 / PARTS


@pytest.mark.exhaustive
def test_random_queries() -> None:
    compared = 0
    for seed in range(150):
        sql, values = generator.query(seed)
        database = generator.database(seed % 9)
        for table in database.tokens:
            try:
                compared += table in sql and sum(is_the_same(sql, database, table, values, ungroups) for ungroups in (False, True))
            except WarehouseError:
                continue
    assert compared >= 100

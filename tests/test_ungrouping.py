"""Evidence that comes row by row is the evidence that comes as lists, over every case, feature query and random query.

The lists are what the oracle examines.
"""

from __future__ import annotations

import pytest
from provenance import generator, oracle
from provenance.subject import Database, row_key

from warehouse.errors import WarehouseError
from warehouse.trace.provenance.annotator import annotate
from warehouse.trace.provenance.values import Annotated

CASES = [case for case in oracle.all_cases() if case.refuse is None]
FEATURES = [case for path in sorted((oracle.HERE / "features").glob("*.sql")) for case in oracle.read_cases(path) if case.refuse is None]
Found = dict[str, set[tuple[str, str, str]]]


def by_key(annotated: Annotated, keys: tuple[str, ...], database: Database) -> Found:
    """The evidence of each row by its keys: which evidence, column and token."""
    found: Found = {}
    cursor = database.connection.execute(annotated.sql)
    names = [name for name, *_ in cursor.description]
    for values in cursor.fetchall():
        row = dict(zip(names, values, strict=True))
        pieces = found.setdefault(row_key(tuple(row[key] for key in keys)), set())
        for mark in annotated.marks:
            what, held = f"{mark.value} {mark.occurrence.number}", row[mark.name]
            if mark.columns:
                pieces |= {(what, column, str(held)) for column in mark.columns if held is not None}
            elif mark.value is None:
                pieces |= {(what, "*", str(token)) for token in held or ()}
            else:
                pieces |= {(what, cell["c"], str(cell["t"])) for cell in held or ()}
    return found


def is_the_same(sql: str, database: Database, values: tuple[str, ...]) -> bool:
    """Whether the query is ungrouped; then its evidence must be that of the lists."""
    options = {"unique": database.tokens, "is_cut": False}
    ungrouped = 0
    for has_whys in (True, False):
        annotated = annotate(sql, database.catalog, database.tokens, values, has_whys=has_whys, ungroups=True, **options)
        ungrouped += annotated.keys is not None
        listed = annotate(sql, database.catalog, database.tokens, values, has_whys=has_whys, **options)
        keys = annotated.columns if annotated.keys is None else annotated.keys  # a block that is not grouped is by row, too
        rows, expected = by_key(annotated, keys, database), by_key(listed, keys, database)
        for key, pieces in expected.items():  # of groups that HAVING drops rows may be there
            assert rows.get(key, set()) == pieces, sql
        owned = [mark.name for mark in annotated.marks if mark.is_own]
        for name in owned:
            [(count, distinct)] = database.connection.execute(f"select count({name}), count(distinct {name}) from ({annotated.sql})").fetchall()
            assert count == distinct
    return ungrouped > 0


@pytest.fixture(scope="module")
def fixture() -> Database:
    return Database(oracle.connect(), {name: columns for name, columns in oracle.CATALOG.items() if name in oracle.TOKENS})


def test_cases(fixture: Database) -> None:
    assert sum(is_the_same(case.sql, fixture, case.values) for case in CASES) >= 40


def test_features() -> None:
    database = generator.database(1)
    assert sum(is_the_same(case.sql, database, case.values) for case in FEATURES) >= 30


def test_random_queries() -> None:
    ungrouped = 0
    for seed in range(100):
        sql, values = generator.query(seed)
        try:
            ungrouped += is_the_same(sql, generator.database(seed % 9), values)
        except WarehouseError:
            continue
    assert ungrouped >= 10


@pytest.mark.parametrize(("item", "is_ungrouped"), [
    ("sum(tput)", True), ("sum(tput * conc) / nullif(count(*), 0)", True), ("coalesce(sum(tput), 0)", True),
    ("coalesce(sum(tput) filter (conc > 1)::double, 0)", True), ("sum(case when conc > 1 then tput else id end)", True),
    ("count(distinct tput)", True), ("coalesce(stddev(tput), 0)", False), ("case when count(*) > 1 then sum(tput) end", False),
    ("sum(sum(tput)) over ()", False), ("sum(tput) + (select max(gpus) from host)", False),
])
def test_what_is_ungrouped(item: str, is_ungrouped: bool, fixture: Database) -> None:
    assert is_the_same(f"select host, {item} as v from run group by host", fixture, ("v",)) is is_ungrouped
    assert is_the_same(f"select {item} as v from run", fixture, ("v",)) is is_ungrouped


@pytest.mark.parametrize("sql", ["select count(*) as v from run", "select 'all' as k, sum(tput) as v from run having count(*) > 2"])
@pytest.mark.parametrize("has_whys", [True, False])
def test_one_group_of_a_table_without_rows_has_no_evidence(sql: str, has_whys: bool, fixture: Database) -> None:
    """Ungrouped it has neither a key nor evidence to select."""
    annotated = annotate(sql, fixture.catalog, {"run": None}, ("v",), has_whys=has_whys, ungroups=True, is_cut=False)
    assert (annotated.keys, annotated.marks) == ((), ())
    fixture.connection.execute(annotated.sql)

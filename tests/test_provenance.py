"""The annotator against its case files, an oracle that shares no code with it, and mutants the oracle must catch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest
from exhaustive import few
from provenance import oracle
from provenance.oracle import CATALOG, TOKENS, Case
from provenance.subject import Database

from warehouse.errors import WarehouseError
from warehouse.trace.provenance import cells
from warehouse.trace.provenance.annotator import annotate
from warehouse.trace.provenance.syntax.refusals import REASONS, Refusal

CASES = oracle.all_cases()
TRACED = [case for case in CASES if case.refuse is None]
REFUSED = [case for case in CASES if case.refuse is not None]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with oracle.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def database(connection: duckdb.DuckDBPyConnection) -> Database:
    return Database(connection, CATALOG)


@pytest.mark.parametrize("case", TRACED, ids=lambda case: case.name)
def test_case(case: Case, database: Database) -> None:
    assert case.expected, "a case without rows proves nothing"
    assert oracle.faults(case, database) == []


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_refusal(case: Case) -> None:
    with pytest.raises(WarehouseError) as caught:
        annotate(case.sql, CATALOG, TOKENS, case.values)
    assert caught.value.code == "WH306"
    assert caught.value.message.startswith(f"{case.refuse}:")
    assert caught.value.hint
    assert isinstance(caught.value, Refusal) and caught.value.offset is not None
    if case.at:
        assert case.sql[caught.value.offset :].startswith(case.at)


def test_every_reason_has_a_case_with_a_place() -> None:
    ties = oracle.read_cases(oracle.HERE / "ties.sql")  # what only the data tells: tests/test_ties.py
    told = {str(case.refuse).partition(" ")[0] for case in [*REFUSED, *ties] if case.at}
    assert told == set(REASONS)


def test_case_names_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


# --- mutants: a test that cannot fail is worse than none ---------------------------------------------------------


def _every_argument(node: Any, block: object, grouped: bool) -> dict:
    arguments = [node.this, *node.expressions]
    return cells.merge(cells.evidence_of(argument, block, grouped) for argument in arguments)


def _every_key(key: Any, block: Any) -> dict:
    return cells.gather(cells.evidence_of(key, block, False), ())


# Each mutant makes cells too wide, which no deletion can show: the literal expectations must notice. The mutants that
# deletions catch are in provenance/mutants.py.
MUTANTS: dict[str, tuple[object, str, Callable]] = {
    "FILTER ignored": (cells, "filter_guards", lambda node: []),
    "NULL arguments kept": (cells, "null_guards", lambda function, arguments: []),
    "COALESCE credits every argument": (cells, "coalesce_rule", _every_argument),
    "grouping sets credit keys they leave out": (cells, "key_rule", _every_key),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutant_is_caught(mutant: str, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*MUTANTS[mutant])
    assert any(_breaks_expectation(case, database) for case in TRACED)


def _breaks_expectation(case: Case, database: Database) -> bool:
    """SQL that does not run is caught by the engine, which is less."""
    try:
        return any(fault.startswith("expectation:") for fault in oracle.faults(case, database))
    except duckdb.Error:
        return False


# --- what the case files cannot say -------------------------------------------------------------------------------


def test_struct_tokens_survive_outer_joins_and_groups(connection: duckdb.DuckDBPyConnection) -> None:
    tokens = {**TOKENS, "run": "struct_pack(path := {alias}.host, n := {alias}.id)"}
    sql = "select h.name, max(r.tput) as m from host h left join run r on r.host = h.name group by h.name"
    annotated = annotate(sql, CATALOG, tokens, ["m"])
    found = {row[0]: row for row in connection.execute(annotated.sql).fetchall()}
    assert found["c"][2:] == ([3], [], [], [])
    assert sorted(cell["t"]["n"] for cell in found["a"][5]) == [1, 2]


def test_a_subquery_without_evidence_repeats_no_row(connection: duckdb.DuckDBPyConnection) -> None:
    """A hop to runs gives no tokens to tables that have none."""
    sql = "select id, tput from run where tput >= all (select h.id from host h where h.id < run.id)"
    annotated = annotate(sql, CATALOG, {**TOKENS, "host": None})
    assert [row[:2] for row in connection.execute(f"{annotated.sql} order by id").fetchall()] == connection.execute(f"{sql} order by id").fetchall()


def test_rowid_can_be_the_token(connection: duckdb.DuckDBPyConnection) -> None:
    annotated = annotate("select id from run where id = 1", CATALOG, {"run": "{alias}.rowid"}, ["id"])
    assert connection.execute(annotated.sql).fetchall() == [(1, [0], [{"c": "id", "t": 0}])]


def test_names_and_occurrences(connection: duckdb.DuckDBPyConnection) -> None:
    annotated = annotate("select a.id as x, b.id as y from run a join run b on a.id = b.id", CATALOG, TOKENS)
    assert annotated.columns == ("x", "y")
    assert [(o.number, o.table) for o in annotated.occurrences] == [(0, "run"), (1, "run")]
    names = [description[0] for description in connection.execute(annotated.sql).description]
    assert names == ["x", "y", "__why_0", "__why_1"]


def test_a_cte_is_annotated_once() -> None:
    sql = "with c as (select id, tput from run) select a.id from c a join c b on a.id = b.id join c d on d.id = a.id"
    assert len(annotate(sql, CATALOG, TOKENS).occurrences) == 1


def test_only_demanded_columns_are_annotated() -> None:
    sql = "with c as (select id, tput, conc from run) select id, tput, conc from c"
    assert "'c': 'conc'" not in annotate(sql, CATALOG, TOKENS, ["tput"]).sql


def test_a_filter_on_group_keys_reaches_the_scan(connection: duckdb.DuckDBPyConnection) -> None:
    annotated = annotate("select host, sum(tput) as s from run group by host", CATALOG, TOKENS, ["s"])
    traced = f"select * from ({annotated.sql}) t where t.host is not distinct from 'a'"
    plan = connection.execute(f"explain {traced}").fetchall()[0][1]
    assert plan.index("Seq Scan") < plan.index("NOT DISTINCT FROM")
    assert [row[:2] for row in connection.execute(traced).fetchall()] == [("a", 30)]


def test_long_chains_need_no_recursion(connection: duckdb.DuckDBPyConnection) -> None:
    steps = [f"c{i} as (select id, v + 1 as v from c{i - 1})" for i in range(1, 400)]
    sql = "with c0 as (select id, tput as v from run), " + ", ".join(steps) + " select v from c399 where id = 1"
    assert "__cell_0_0" in annotate(sql, CATALOG, TOKENS, ["v"]).sql
    united = " union all ".join(f"select id, tput + {i} as v from run" for i in range(300))
    assert len(annotate(united, CATALOG, TOKENS, ["v"]).occurrences) == 300


def test_an_unknown_value_is_refused() -> None:
    with pytest.raises(WarehouseError, match="E_RESOLVE"):
        annotate("select id from run", CATALOG, TOKENS, ["nope"])


@pytest.mark.parametrize("case", few(TRACED, 100), ids=lambda case: case.name)
def test_rows_that_are_asked_for_are_what_they_are_among_all(case: Case, connection: duckdb.DuckDBPyConnection) -> None:
    """A condition changes nothing about the rows that fulfil it; nor does leaving out LIMIT about those it kept."""
    everything = _rows_with_evidence(connection, case, {})
    assert not _counted(everything) - _counted(_rows_with_evidence(connection, case, {}, is_cut=False))
    wanted, _ = everything[0]
    for position, column in enumerate(annotate(case.sql, CATALOG, TOKENS).columns):
        connection.execute("set variable wanted = (select $1)", [wanted[position]])
        found = _rows_with_evidence(connection, case, {column: "{value} is not distinct from getvariable('wanted')"})
        assert _counted(found, position, wanted) == _counted(everything, position, wanted)


def _rows_with_evidence(
    connection: duckdb.DuckDBPyConnection, case: Case, only: dict[str, str], is_cut: bool = True
) -> list[tuple[tuple[Any, ...], str]]:
    """The data of each row, and its evidence as text. A table that only ORDER BY reads has none, and goes with it."""
    annotated = annotate(case.sql, CATALOG, TOKENS, case.values, unique=TOKENS, is_cut=is_cut, only=only)
    width = len(annotated.columns)
    rows = connection.execute(annotated.sql).fetchall()
    return [(row[:width], repr([sorted(map(repr, found)) for found in row[width:] if found])) for row in rows]


def _counted(rows: list[tuple[tuple[Any, ...], str]], position: int = 0, wanted: tuple[Any, ...] | None = None) -> Counter[str]:
    """How often each row is there, of those that have the wanted value at a position."""
    return Counter(repr(row) for row in rows if wanted is None or row[0][position] == wanted[position])


def test_a_group_by_its_token_has_that_one(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing is gathered; but where a grouping set leaves the key out, its rows are."""
    tokens = {"run": "{alias}.host"}
    annotated = annotate("select host, sum(tput) as s from run group by host", CATALOG, tokens)
    assert "ARRAY_AGG" not in annotated.sql
    assert all(host is None and why == [] or why == [host] for host, _, why in connection.execute(annotated.sql).fetchall())
    annotated = annotate("select host, sum(tput) as s from run group by rollup (host)", CATALOG, tokens)
    hosts = {row[0] for row in connection.execute("select distinct host from run where host is not null").fetchall()}
    assert len(hosts) > 1
    assert hosts in [set(why) for host, _, why in connection.execute(annotated.sql).fetchall() if host is None]


@pytest.mark.parametrize(
    "sql",
    [
        "select run, count(*) as n from load where host in (select host from load) group by run",
        "with top as (select host, max(v) as m from load group by host) select run, sum(v / m) as r from load join top using (host) group by run",
        "with top as (select max(v) as m from load) select run, sum(v / m) as r from load, top group by run",
    ],
    ids=["IN", "a CTE of groups", "a CTE of one row"],
)
def test_joined_rows_have_no_copies_of_a_list(sql: str) -> None:
    """A list for each of 20,000 rows would be a hundred million tokens, or more."""
    with duckdb.connect(config={"memory_limit": "300MB", "temp_directory": "", "threads": 1}) as connection:
        connection.execute("create table load as select i as id, i % 2 as run, (i // 2) % 2 as host, i as v from range(1, 20001) r(i)")
        annotated = annotate(sql, {"load": ["id", "run", "host", "v"]}, {"load": "{alias}.id"}, unique=["load"])
        rows = connection.execute(annotated.sql).fetchall()
    assert sorted([run, *sorted(len(set(why)) for why in whys)] for run, _, *whys in rows) == [[0, 10000, 20000], [1, 10000, 20000]]

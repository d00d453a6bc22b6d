"""The runs that a number leaves out: for every kind of clause by hand, and checked by deleting and computing again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest
from bare_project import project as project
from bare_project import write
from conftest import Wh
from exhaustive import few
from samples import mlperf_inference
from samples.values import take_in, value_files, values_project
from standard import standard_project

from warehouse.claims.numbers.exclusion import Exclusion, excluded_by
from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.trace.catalog import BuiltModel, Catalog
from warehouse.trace.excluded.readings import readings
from warehouse.trace.excluded.stages import stages_of
from warehouse.trace.excluded.tree import expanded
from warehouse.transform.build.build import build

TABLES = {
    "run": (
        "select * from (values ('r1', 'a', 'ok', 10), ('r2', 'a', 'ok', 20), ('r3', 'a', 'failed', 30), ('r4', 'a', null, 40),"
        " ('r5', 'b', 'ok', 50), ('r6', 'b', 'failed', 60)) as t (run_id, gpu, status, speed)"
    ),
    "outcome": "select * from (values ('r1', 1), ('r2', 2), ('r5', 5)) as t (run_id, tokens)",
    # r6 states that r2 is not to be used; r1 says so of a run that is not there.
    "retraction": "select * from (values ('r6', 'r2'), ('r1', 'r9')) as t (run_id, retracted)",
}
HEADER = "/*\ngrain: [gpu]\n*/\n"  # so the SQL begins in line 4
WHERE_OK = "status = 'ok'"


@dataclass(frozen=True)
class Case:
    """A query, its cell with gpu = a, and by hand: run -> (reason, clause, line, in this row by its grain), witnesses, runs
    whose condition is NULL, the runs of other rows, and the tables that the population is taken from."""

    sql: str
    left_out: dict[str, tuple[str, str, int, bool | None]]
    witnesses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nulls: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    tables: tuple[str, ...] = ("main.run",)


def out(reason: str, clause: str, line: int, *of_row: str, others: str = "", untold: str = "") -> dict:
    return {
        **dict.fromkeys(of_row, (reason, clause, line, True)),
        **dict.fromkeys(others.split(), (reason, clause, line, False)),
        **dict.fromkeys(untold.split(), (reason, clause, line, None)),
    }


RETRACTED = "run.run_id = retracted"
BOTH = ("main.run", "main.outcome")
CASES = {
    "where": Case(
        "select gpu, sum(speed) as v\nfrom run\nwhere status = 'ok' -- the good ones\ngroup by gpu",
        out("where", WHERE_OK, 6, "r3", "r4", others="r6"), nulls=frozenset({"r4"}), elsewhere=frozenset({"r5"}),
    ),
    "each conjunct by itself": Case(
        "select gpu, sum(speed) as v\nfrom run\nwhere\n    speed between 15 and 55\n    and status = 'ok'\ngroup by gpu",
        out("where", "speed between 15 and 55", 7, "r1", others="r6") | out("where", WHERE_OK, 8, "r3", "r4"),
        nulls=frozenset({"r4"}), elsewhere=frozenset({"r5"}),
    ),
    "an or is one condition": Case(
        "select gpu, sum(speed) as v from run where status = 'ok' or speed = 30 and gpu = 'a' group by all",
        out("where", "status = 'ok' or speed = 30 and gpu = 'a'", 4, "r4", others="r6"),
        nulls=frozenset({"r4"}), elsewhere=frozenset({"r5"}),
    ),
    "an alias of the select list": Case(
        "select gpu, speed * 2 as v from run where v = 40", out("where", "v = 40", 4, "r1", "r3", "r4", others="r5 r6")
    ),
    "inner join": Case(
        "select run.gpu, sum(outcome.tokens) as v\nfrom run\njoin outcome using (run_id)\ngroup by run.gpu",
        out("inner join", "join outcome using (run_id)", 6, "r3", "r4", others="r6"), elsewhere=frozenset({"r5"}), tables=BOTH,
    ),
    "inner join from the other side": Case(
        "select run.gpu, sum(outcome.tokens) as v\nfrom outcome\ninner join run on run.run_id = outcome.run_id and run.speed < 15\ngroup by run.gpu",
        out("inner join", "inner join run on run.run_id = outcome.run_id and run.speed < 15", 6, "r2", "r3", "r4", untold="r5", others="r6"), tables=BOTH[::-1],
    ),
    "a left join keeps all": Case(
        "select gpu, sum(tokens) as v from run left join outcome using (run_id) group by gpu", {}, elsewhere=frozenset({"r5", "r6"})
    ),
    "a right join keeps all": Case(
        f"select gpu, sum(speed) as v from retraction right join run on {RETRACTED} group by gpu", {}, elsewhere=frozenset({"r5"})
    ),
    "inner join behind a left join": Case(
        "select gpu, sum(speed) as v\nfrom run\nleft join outcome using (run_id)\njoin (select 'a' as chip) as c on chip = gpu\ngroup by gpu",
        out("inner join", "join (select 'a' as chip) as c on chip = gpu", 7, others="r5 r6"),
    ),
    "is null behind an inner join": Case(
        "select gpu, sum(speed) as v from run\njoin (select run_id as other, nullif(tokens, 1) as tokens from outcome) as m"
        " on m.other = if(run.run_id = 'r3', 'r2', 'r1')\nwhere m.tokens is null group by gpu",
        out("where", "m.tokens is null", 6, "r3"), elsewhere=frozenset({"r5", "r6"}), tables=BOTH,
    ),
    "left join without a partner": Case(
        f"select gpu, sum(speed) as v from run left join retraction as gone on {RETRACTED} where gone.retracted is null group by gpu",
        out("where", "gone.retracted is null", 4, "r2"), {"r2": ("r6",)}, elsewhere=frozenset({"r5", "r6"}),
    ),
    "anti join": Case(
        f"select gpu, sum(speed) as v\nfrom run\nanti join retraction on {RETRACTED}\ngroup by gpu",
        out("anti join", f"anti join retraction on {RETRACTED}", 6, "r2"), {"r2": ("r6",)}, elsewhere=frozenset({"r5", "r6"}),
    ),
    "not exists": Case(
        f"select gpu, sum(speed) as v from run where not exists (select 1 from retraction where {RETRACTED}) group by gpu",
        out("where", f"not exists (select 1 from retraction where {RETRACTED})", 4, "r2"), {"r2": ("r6",)},
        elsewhere=frozenset({"r5", "r6"}),
    ),
    "not in, through a CTE": Case(
        "with gone as (select retracted, run_id from retraction)\n"
        "select gpu, sum(speed) as v from run where run_id not in (select retracted from gone) group by gpu",
        out("where", "run_id not in (select retracted from gone)", 5, "r2"), {"r2": ("r6",)}, elsewhere=frozenset({"r5", "r6"}),
    ),
    "semi join": Case(
        "select gpu, sum(speed) as v from run semi join outcome using (run_id) group by gpu",
        out("semi join", "semi join outcome using (run_id)", 4, "r3", "r4", others="r6"), elsewhere=frozenset({"r5"}),
    ),
    "having": Case(
        "select gpu, sum(speed) as v\nfrom run\ngroup by gpu\nhaving count(*) > 2", out("having", "having count(*) > 2", 7, others="r5 r6")
    ),
    "qualify": Case(
        "select gpu, speed as v from run where status = 'ok'\nqualify row_number() over (partition by gpu order by speed desc) = 1",
        out("where", WHERE_OK, 4, "r3", "r4", others="r6")
        | out("qualify", "qualify row_number() over (partition by gpu order by speed desc) = 1", 5, "r1"),
        {"r1": ("r2",)}, frozenset({"r4"}), frozenset({"r5"}),
    ),
    "limit": Case(
        "select gpu, max(speed) as v from run group by gpu\norder by v\nlimit 1",
        out("limit", "order by v limit 1", 5, others="r5 r6"), dict.fromkeys(("r5", "r6"), ("r1", "r2", "r3", "r4")),
    ),
    "distinct on": Case(
        "select distinct on (gpu) gpu, speed as v from run order by gpu, speed desc",
        out("distinct on", "distinct on (gpu)", 4, "r1", "r2", "r3", others="r5"), elsewhere=frozenset({"r6"}),
    ),
    "block by block": Case(
        "with usable as (\n    select gpu, speed as measured from run where status = 'ok'\n)\n"
        "select gpu, avg(measured) as v from usable where measured < 15 or gpu = 'b' group by gpu",
        out("where", WHERE_OK, 5, "r3", "r4", others="r6") | out("where", "measured < 15 or gpu = 'b'", 7, "r2"),
        nulls=frozenset({"r4"}), elsewhere=frozenset({"r5"}),
    ),
    "a column list renames": Case(
        "with usable(v, gpu) as (select speed, gpu from run where status = 'ok') select gpu, v from usable where v < 15",
        out("where", WHERE_OK, 4, untold="r3 r4 r6") | out("where", "v < 15", 4, "r2", others="r5"), nulls=frozenset({"r4"}),
    ),
    "another name below": Case(
        "select chip as gpu, v from (select gpu as chip, sum(speed) as v from run where status <> 'ok' group by gpu) as slow",
        out("where", "status <> 'ok'", 4, "r1", "r2", "r4", others="r5"), nulls=frozenset({"r4"}), elsewhere=frozenset({"r6"}),
    ),
    "a CTE with the name of its table": Case(
        "with run as (select * from run where status = 'ok')\nselect gpu, sum(speed) as v from run group by gpu",
        out("where", WHERE_OK, 4, "r3", "r4", others="r6"), nulls=frozenset({"r4"}), elsewhere=frozenset({"r5"}),
    ),
    "except": Case(
        "select gpu, count(*) as v from (select run_id, gpu from run except select retracted, 'a' from retraction) as kept group by gpu",
        out("except", "except select retracted, 'a' from retraction", 4, "r2"), {"r2": ("r6",)}, elsewhere=frozenset({"r5", "r6"}),
    ),
    "NULL for one of its rows": Case(
        "select gpu, sum(speed) as v from run join (select unnest(['ok', null]) as wanted) as w on true where status = wanted group by gpu",
        out("where", "status = wanted", 4, "r3", "r4", others="r6"), nulls=frozenset({"r4"}), elsewhere=frozenset({"r5"}),
    ),
    "and within case": Case(
        "select gpu, sum(speed) as v from run\nwhere case when speed > 15 and gpu = 'a' then true end\nand status = 'ok'\ngroup by gpu",
        out("where", "case when speed > 15 and gpu = 'a' then true end", 5, "r1", others="r5 r6") | out("where", WHERE_OK, 6, "r3", "r4"),
        nulls=frozenset({"r1", "r4", "r5", "r6"}),
    ),
    "the second branch has other names": Case(
        "select gpu, sum(v) as v from (select 'a' as gpu, 0 as v union all\nselect chip, speed from (select gpu as chip, speed, status from run) as r"
        " where status = 'ok') as u group by gpu",
        out("where", WHERE_OK, 5, "r3", "r4", others="r6"), nulls=frozenset({"r4"}), elsewhere=frozenset({"r5"}),
    ),
    "a star that replaces the key": Case(
        "select gpu, sum(speed) as v from (select * replace (lower(gpu) as gpu) from run where status = 'ok') as r group by gpu",
        out("where", WHERE_OK, 4, untold="r3 r4 r6"), nulls=frozenset({"r4"}), elsewhere=frozenset({"r5"}),
    ),
    "the key is of another item": Case(
        "select c.gpu, sum(speed) as v from (select * from run where status = 'ok') as r\njoin (select 'a' as gpu) as c on c.gpu = r.gpu group by c.gpu",
        out("where", WHERE_OK, 4, untold="r3 r4 r6") | out("inner join", "join (select 'a' as gpu) as c on c.gpu = r.gpu", 5, untold="r5"),
        nulls=frozenset({"r4"}),
    ),
    "an alias renames columns": Case(
        "select status as gpu, sum(speed) as v from (select gpu, status, speed from run where speed < 35) as r (status, gpu, speed) group by status",
        out("where", "speed < 35", 4, untold="r4 r5 r6"),
    ),
    "a later CTE with the name of its table": Case(
        "with usable as (select * from run where status = 'ok'), run as (select 'a' as gpu)\n"
        "select usable.gpu, sum(speed) as v from usable semi join run using (gpu) group by usable.gpu",
        out("where", WHERE_OK, 4, "r3", "r4", others="r6") | out("semi join", "semi join run using (gpu)", 5, others="r5"), nulls=frozenset({"r4"}),
    ),
    "anti join of a CTE over a CTE": Case(
        "with bad as (select run_id, retracted from retraction), gone as (select retracted from bad)\n"
        f"select gpu, sum(speed) as v from run anti join gone on {RETRACTED} group by gpu",
        out("anti join", f"anti join gone on {RETRACTED}", 5, "r2"), {"r2": ("r6",)}, elsewhere=frozenset({"r5", "r6"}),
    ),
    "the last of three items": Case(
        "select gpu, sum(speed) as v from (select 'a' as chip) as c join (select 1 as one) as d on true\njoin run on gpu = chip group by gpu",
        out("inner join", "join run on gpu = chip", 5, others="r5 r6"),
    ),
    "limit of a union": Case(
        "select gpu, sum(v) as v from (select gpu, speed as v from run union all select 'c' as gpu, 0 as v\norder by v limit 3) as u group by gpu",
        out("limit", "order by v limit 3", 5, "r3", "r4", others="r5 r6"), dict.fromkeys(("r3", "r4", "r5", "r6"), ("r1", "r2")),
    ),
    "intersect": Case(
        "select gpu, count(*) as v from (select run_id, gpu from run intersect select run_id, 'a' from outcome) as kept group by gpu",
        out("intersect", "intersect select run_id, 'a' from outcome", 4, "r3", "r4", others="r6", untold="r5"), tables=BOTH,
    ),
}


def left_out(exclusion: Exclusion) -> dict[str, tuple[str, str, int, bool | None]]:
    assert len({each.run_id for each in exclusion.excluded}) == len(exclusion.excluded)
    return {each.run_id: (each.reason, each.clause, line_of(each.place), each.is_of_row) for each in exclusion.excluded}


def line_of(place: str) -> int:
    return int(place.rpartition(":")[2])


def asked(root: Path, sql: str, key: str = "gpu=a", more: dict[str, str] | None = None, header: str = HEADER) -> Exclusion:
    project = init_project(root / "project", bare=True)
    write(project, {f"models/{name}.sql": text for name, text in TABLES.items()})
    write(project, {"queries/claim.sql": header + sql, **(more or {})})
    build(project)
    return excluded_by(project, lineage(project, f"claim[{key}].v"))


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """All cases in one build."""
    project = init_project(tmp_path_factory.mktemp("cases") / "project", bare=True)
    write(project, {f"models/{name}.sql": text for name, text in TABLES.items()})
    write(project, {f"queries/case_{number}.sql": HEADER + case.sql for number, case in enumerate(CASES.values())})
    build(project)
    return project


@pytest.mark.parametrize("name", few(CASES, 12))
def test_a_clause(name: str, cases: Project) -> None:
    case, query = CASES[name], f"case_{list(CASES).index(name)}"
    exclusion = excluded_by(cases, lineage(cases, f"{query}[gpu=a].v"))
    assert left_out(exclusion) == case.left_out
    assert {each.run_id: each.witnesses for each in exclusion.excluded if each.witnesses} == case.witnesses
    assert {each.run_id for each in exclusion.excluded if each.is_null} == case.nulls
    assert {each.run_id for each in exclusion.elsewhere} == case.elsewhere
    assert {each.place.rpartition(":")[0] for each in exclusion.excluded} <= {f"queries/{query}.sql"}
    assert exclusion.population == 6 and exclusion.own == 6 - len(case.left_out) - len(case.elsewhere)
    assert exclusion.tables == case.tables


ALONE = [
    name for name, case in CASES.items()
    if {reason for reason, *_ in case.left_out.values()} <= {"where", "having"} and len({c for _, c, *_ in case.left_out.values()}) == 1
]


@pytest.mark.parametrize("name", few(ALONE, 5))
def test_without_its_clause_a_run_contributes(name: str) -> None:
    """By deleting and computing again, in an engine that knows nothing of claims: as the query stands, a run that is left out
    makes no difference; with the clause taken out, it does."""
    case = CASES[name]
    (clause,) = {clause for _, clause, *_ in case.left_out.values()}
    open_query = case.sql.replace(clause, "having true" if clause.startswith("having") else "true")
    assert open_query != case.sql
    for run in case.left_out:
        assert result(case.sql, without=run) == result(case.sql), run
        assert result(open_query, without=run) != result(open_query), run


def result(sql: str, without: str = "") -> list[tuple]:
    """The rows of a query, over the tables less one run's row in the fact table."""
    with duckdb.connect() as con:
        for name, text in TABLES.items():
            con.execute(f"create table {name} as {text}")
        con.execute("delete from run where run_id = ?", [without])
        return sorted(con.execute(sql).fetchall())


# --- views, marts, several ways, and what cannot be told ---------------------------------------------------------------------


def test_views_and_marts_are_looked_through(tmp_path: Path) -> None:
    """The clause is quoted from the file that it stands in; the population is that of the tables under them."""
    more = {
        "models/usable.sql": f"/*\nmaterialized: view\n*/\nselect * from run\nwhere {WHERE_OK}",
        "models/marts/fast.sql": "select gpu, run_id, speed from usable\nwhere speed > 15",
    }
    sql = "with run as (select * from fast) select gpu, avg(speed) as v from run group by gpu"  # not the view's run
    exclusion = asked(tmp_path, sql, more=more)
    places = {each.run_id: each.place for each in exclusion.excluded}
    view, mart = "models/usable.sql:5", "models/marts/fast.sql:2"
    assert places == {"r3": view, "r4": view, "r6": view, "r1": mart}
    assert exclusion.tables == ("main.run",) and {each.run_id for each in exclusion.elsewhere} == {"r5"}


def test_a_run_that_is_read_in_two_ways_has_two_reasons(tmp_path: Path) -> None:
    sql = (
        "select gpu, sum(speed) as v from (\n    select gpu, speed from run where status = 'ok'\n    union all\n"
        "    select gpu, 0 from run where speed > 35\n) as either group by gpu"
    )
    exclusion = asked(tmp_path, sql)
    reasons = [(each.run_id, each.clause, line_of(each.place), each.is_null) for each in exclusion.excluded]
    assert reasons == [("r3", "status = 'ok'", 5, False), ("r3", "speed > 35", 7, False)]
    assert {each.run_id for each in exclusion.elsewhere} == {"r5", "r6"}


UNTOLD = {
    "a parenthesised join": ("select gpu, sum(v) as v from (run join (select run_id, tokens as v from outcome) as o using (run_id)) group by gpu", 4),
    "a recursive CTE": (
        "with recursive steps as (\n    select run_id, gpu, speed, 1 as n from run where status = 'ok'\n    union all\n"
        "    select run_id, gpu, speed, n + 1 from steps where n < 2\n)\nselect gpu, sum(speed) as v from steps group by gpu", 5),
    "a pivot": ("select gpu, ok as v\nfrom (\n    select * from run where status = 'ok'\n) pivot (sum(speed) for status in ('ok') group by gpu) as p", 6),
}


@pytest.mark.parametrize("name", UNTOLD)
def test_what_no_clause_can_be_named_for_says_so(name: str, tmp_path: Path) -> None:
    sql, line = UNTOLD[name]
    exclusion = asked(tmp_path, sql)
    assert {"r3", "r4"} <= {each.run_id for each in exclusion.excluded}
    assert {(each.reason, each.clause, line_of(each.place), each.is_of_row) for each in exclusion.excluded} == {
        ("not determined", "", line, None)
    }


def test_a_row_whose_key_is_null(tmp_path: Path) -> None:
    sql = "select status as gpu, sum(speed) as v from run where speed > 35 group by status"
    exclusion = asked(tmp_path, sql, key="gpu=NULL")
    assert left_out(exclusion) == out("where", "speed > 35", 4, others="r1 r2 r3")
    assert {each.run_id: each.grain for each in exclusion.elsewhere} == {"r5": {"gpu": "ok"}, "r6": {"gpu": "failed"}}


# How the tables are joined, and the clauses that are tried for runs of `run`.
TRIED = {
    "run left join outcome using (run_id)": [],
    "run asof left join outcome on run.speed >= outcome.tokens": [],
    "run full join outcome using (run_id)": [],
    "run left join outcome using (run_id) join retraction using (run_id)": ["inner join"],
    "outcome left join retraction using (run_id) join run using (run_id)": ["inner join"],
    "outcome right join run using (run_id)": [],
    "outcome full join run using (run_id)": [],
    "run anti join outcome using (run_id) semi join retraction using (run_id)": ["anti join", "semi join"],
}


@pytest.mark.parametrize("joins", TRIED)
def test_a_join_that_can_lose_no_run_is_not_tried(joins: str) -> None:
    """Trying a join runs the query once more; a join that keeps every row of the table is not run."""
    sql = f"select 1 as v from {joins}"
    tree = expanded(BuiltModel("q", "rollup", "table", "", "q.sql", sql, (), (), None), Catalog({}, {}, {}, {}, ()), lambda model: False)
    (way,) = [way for way in readings(tree, lambda table: table.name) if way.table == "run"]
    stages = stages_of(way.hops[0], "wh_input", {})
    assert [stage.clause.kind for stage in stages.stages if stage.clause] == TRIED[joins]


def test_of_a_key_that_is_only_known_in_part(tmp_path: Path) -> None:
    """One row does not say how many its group has: a run of another gpu belongs to another row, one of this gpu may be in this one."""
    sql = "select gpu, count(*) as n, sum(speed) as v from run where status = 'ok' group by gpu"
    exclusion = asked(tmp_path, sql, header="/*\ngrain: [gpu, n]\n*/\n")
    assert left_out(exclusion) == out("where", WHERE_OK, 4, untold="r3 r4", others="r6")


# --- published numbers, and the standard project ------------------------------------------------------------------------------


def test_a_published_number_that_the_build_holds_no_more(tmp_path: Path) -> None:
    sql = "select key, sum(value) as v from reading where value > 0 group by key"
    project = values_project(tmp_path / "project", sql)
    write(project, {"models/reading.sql": "select artifact_manifest_digest as run_id, * from value"})
    take_in(project, value_files(tmp_path / "in", "a=1\nb=2\n", "a=-1\n"))
    build(project)
    publish(project, "claim")
    number = lineage(project, "claim[key=a].v")
    exclusion = excluded_by(project, number)
    (one,) = exclusion.excluded
    assert number.publication and (exclusion.own, one.clause, one.is_of_row) == (1, "value > 0", True)
    take_in(project, value_files(tmp_path / "more", "a=3\n"))
    build(project)
    with pytest.raises(WarehouseError) as caught:
        excluded_by(project, lineage(project, str(number.number_id)))
    assert (caught.value.code, caught.value.place) == ("WH311", "claim[key=a].v")


@pytest.mark.exhaustive
def test_mlperf_results(tmp_path: Path) -> None:
    """Runs that are none of a submission's results, by their folders; and one that two bundles state differently."""
    project = standard_project(tmp_path / "project")
    evidence = mlperf_inference.write_submission(tmp_path / "evidence")
    take_in(project, evidence)
    for log in evidence.rglob("Server/performance/run_1/mlperf_log_*.txt"):
        log.write_text(log.read_text().replace(str(mlperf_inference.Values().server_tokens_per_s), "1.0"))
    take_in(project, evidence)
    build(project)
    exclusion = excluded_by(project, lineage(project, "mlperf_inference_results[scenario=Offline,platform=8xA900_2xCPU].performance_result"))
    found: dict[str, set[str]] = {}
    for each in exclusion.excluded:
        found.setdefault(each.clause, set()).add("/".join(each.run_id.split("/")[-3:]).partition("/performance")[0])
    assert found == {
        "inner join benchmark_run_fact as run on run.run_id = submission.run_id": {
            "llama2-70b-99/Server/accuracy", "llama2-70b-99/Offline/accuracy", "llama2-70b-99/Interactive/accuracy",
            "llama2-70b-99/Server/TEST01", "Offline", "resnet50/SingleStream/accuracy", "resnet50/MultiStream/accuracy",
        },
        "not result.has_conflict": {"Server"},
        # It is read as what an edge result could be inferred from, too.
        "inner join mlperf_inference_edge_scenario as owed on owed.model = run.model": {"Server"},
    }
    assert {each.run_id.split("/")[-3] for each in exclusion.elsewhere} == {"Interactive", "SingleStream", "MultiStream"}
    assert exclusion.population == 1 + len({each.run_id for each in exclusion.excluded}) + len(exclusion.elsewhere)


# --- the command -------------------------------------------------------------------------------------------------------------


def test_the_command(project: Project, wh: Wh) -> None:
    write(project, {f"models/{name}.sql": text for name, text in TABLES.items()})
    sql = "select gpu, sum(speed) as v\nfrom run\nleft join retraction on run.run_id = retracted\nwhere status = 'ok' and retracted is null\ngroup by gpu"
    write(project, {"queries/claim.sql": HEADER + sql})
    assert wh("build")[0] == 0
    status, printed, err = wh("lineage", "claim[gpu=a].v", "--excluded")
    assert (status, err.count("\n")) == (0, 1) and "--full" in err
    assert printed[printed.index("excluded ") :].splitlines() == [
        "excluded    5 of 6 runs of main.run",
        "            of this row by its grain",
        "              2  where status = 'ok'  queries/claim.sql:7",
        "                 r3",
        "                 r4  the condition is NULL",
        "              1  where retracted is null  queries/claim.sql:7",
        "                 r2  against it: r6",
        "            of other rows by their grain",
        "              1  where status = 'ok'  queries/claim.sql:7",
        "                 r6",
        "            1 in other rows of the result",
        "              r5  gpu = b",
    ]
    document = json.loads(wh("lineage", "claim[gpu=a].v", "--excluded", "--json")[1])["excluded"]
    assert (document["tables"], document["population"], document["own"]) == (["main.run"], 6, 1)
    assert document["excluded"][0] == {
        "run_id": "r3", "reason": "where", "clause": "status = 'ok'", "place": "queries/claim.sql:7", "is_null": False,
        "witnesses": [], "is_of_row": True, "decision": None,
    }
    assert document["elsewhere"] == [{"run_id": "r5", "grain": {"gpu": "b"}, "rows": 1}]
    assert "excluded" not in json.loads(wh("lineage", "claim[gpu=a].v", "--json")[1])
    assert "excluded" not in wh("lineage", "claim[gpu=a].v")[1]

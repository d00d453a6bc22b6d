"""The warm tier: detail past its age leaves the database and comes back from raw; nothing that is published is ever computed
over what is left."""

from __future__ import annotations

import json
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, WhOn
from from_nothing import tables_unlike_from_nothing
from samples import bench_serving, mlperf_training
from samples.values import take_in, value_files, values_project
from standard import standard_project
from stored import date_event

from warehouse.analysis.serving.goodput import goodput
from warehouse.api import Warehouse
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_all
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.maintenance.detail_retention import plan_detail
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import BuildReport, build
from warehouse.transform.finished.builds import current_build, find_current
from warehouse.transform.finished.query import open_build

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DETAIL = "/*\nretention_tier: warm\n*/\n"
FACT = "/*\nmaterialized: incremental\nkey: [run_id]\nretention_tier: warm\n*/\n"
COLUMNS = "run_id, artifact_manifest_digest, value"


def days(count: int) -> datetime:
    return NOW + timedelta(days=count)


def arrive(project: Project, path: Path, at: datetime) -> None:
    """Take evidence in that the ledger then says has arrived at a time."""
    before = set((project.store_root / "ledger").rglob("*.json"))
    take_in(project, path)
    for event in set((project.store_root / "ledger").rglob("*.json")) - before:
        date_event(open_store(project), event, at)


def rows(project: Project, sql: str) -> list[Any]:
    con = open_build(current_build(project).path)
    try:
        return con.execute(sql).fetchall()
    finally:
        con.close()


def runs(project: Project, table: str) -> list[str]:
    return [row[0] for row in rows(project, f"select distinct run_id from {table} order by 1")]


def away(project: Project, table: str) -> list[str]:
    return [row[0] for row in rows(project, f"select distinct run_id from catalog.away where name = '{table}' order by 1")]


def actions(report: BuildReport) -> dict[str, str]:
    return {model.name: model.action for model in report.models}


def keep_detail(project: Project, *kept: str, warm_days: int = 180) -> Project:
    file = project.root / "warehouse.toml"
    text = file.read_text().partition("\n[retention]")[0]
    file.write_text(f"{text}\n[retention]\nwarm_days = {warm_days}\nkeep_detail = {json.dumps(kept)}\n")
    return read_project(project.root)


def write_model(project: Project, path: str, text: str) -> None:
    file = project.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A run a bundle, a and b, that arrived 100 and 50 days ago: `row` feeds `fact` alone, `whole` feeds `step` and the sums."""
    project = values_project(tmp_path / "project", "select run_id as key, total from total")
    (project.root / "models" / "reading.sql").unlink()
    read = "select key as run_id, artifact_manifest_digest, value from value"
    write_model(project, "models/staging/row.sql", DETAIL + read)
    write_model(project, "models/staging/whole.sql", read)
    write_model(project, "models/facts/fact.sql", f"{FACT}select {COLUMNS} from row")
    write_model(project, "models/facts/step.sql", f"{FACT}select {COLUMNS} from whole")
    write_model(project, "models/marts/total.sql", "select run_id, sum(value) as total from whole group by run_id")
    arrive(project, value_files(tmp_path / "a", "a=1\na=2\n"), days(-100))
    arrive(project, value_files(tmp_path / "b", "b=3\n"), days(-50))
    return project


def test_what_is_past_its_age_leaves_and_nothing_else_changes(project: Project, tmp_path: Path) -> None:
    build(project, now=NOW)
    first = current_build(project)
    assert all(runs(project, table) == ["a", "b"] for table in ("staging.row", "fact", "step", "total"))
    published = publish(project, "claim")
    report = build(project, now=days(81))
    assert all(runs(project, table) == ["b"] for table in ("staging.row", "fact", "step"))
    assert runs(project, "staging.whole") == runs(project, "total") == ["a", "b"]
    assert all(away(project, name) == ["a"] for name in ("staging.row", "main.fact", "main.step"))
    assert {name for name, action in actions(report).items() if action != "keep"} == {"staging.row", "main.fact", "main.step"}
    assert current_build(project).digest != first.digest
    assert publish(project, "claim").digest == published.digest and not publish(project, "claim").is_new
    assert [verdict.state for verdict in verify_all(project) if verdict.number_id] == ["verified", "verified"]
    assert tables_unlike_from_nothing(project, tmp_path, days(81)) == []


def test_a_build_stands_until_the_next_row_is_past_its_age(project: Project) -> None:
    build(project, now=NOW)
    assert find_current(project).stands_until == days(80).isoformat()
    just_before = days(80) - timedelta(microseconds=1)
    assert not build(project, now=just_before).is_new and build(project, now=days(80)).is_new
    assert find_current(project).stands_until == days(130).isoformat()
    assert not build(project, now=days(129)).is_new and build(project, now=days(131)).is_new
    assert find_current(project).stands_until == "" and not build(project, now=days(4000)).is_new
    horizon, warm_days = rows(project, "select warm_horizon, warm_days from catalog.build")[0]
    assert (datetime.fromisoformat(horizon), warm_days) == (days(131 - 180), 180)


def test_it_comes_back_for_the_runs_that_are_named(project: Project, tmp_path: Path) -> None:
    build(project, now=NOW)
    before = {table: rows(project, f"select * from {table} order by all") for table in ("staging.row", "fact", "step")}
    build(project, now=days(200))
    assert rows(project, "select count(*) from fact") == rows(project, "select count(*) from step") == [(0,)]
    kept = keep_detail(project, "a")
    build(kept, now=days(201))
    for table, all_rows in before.items():
        assert rows(kept, f"select * from {table} order by all") == [row for row in all_rows if "a" in row]
    assert away(kept, "main.fact") == away(kept, "main.step") == ["b"]
    assert tables_unlike_from_nothing(kept, tmp_path, days(201)) == []
    assert not build(kept, now=days(300)).is_new
    longer = keep_detail(project, warm_days=401)
    build(longer, now=days(300))
    assert {table: rows(longer, f"select * from {table} order by all") for table in before} == before
    assert rows(longer, "select count(*) from catalog.away") == [(0,)]


def test_one_of_many_comes_back_and_leaves_again(project: Project, tmp_path: Path) -> None:
    arrive(project, value_files(tmp_path / "many", "".join(f"{run}=1\n" for run in "cdef")), days(-10))
    build(project, now=NOW)
    build(project, now=days(81))
    for now, kept, gone in ((81, ["a"], []), (131, [], ["a", "b"])):
        report = build(keep_detail(project, *kept), now=days(now))
        assert actions(report)["main.step"] == actions(report)["main.fact"] == "update"
        for name in ("main.fact", "main.step"):
            assert away(project, name) == gone and runs(project, name) == sorted({*"abcdef"} - {*gone})


def test_what_another_of_the_tier_reads_over_all_runs_stays_whole(project: Project, tmp_path: Path) -> None:
    write_model(project, "models/facts/fact.sql", (
        f"{FACT}select w.run_id, w.artifact_manifest_digest, count(p.value) as smaller from whole as w\n"
        "left join row as p on p.value < w.value group by all"
    ))
    build(project, now=days(81))
    assert rows(project, "select * exclude (artifact_manifest_digest) from fact") == [("b", 2)]
    assert runs(project, "staging.row") == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "text", "needed_by"),
    [
        ("queries/other.sql", "/*\ngrain: [run_id]\n*/\nselect run_id, max(value) as worst from fact group by 1", "rollup.other"),
        ("models/marts/other.sql", "select run_id, max(value) as worst from fact group by 1", "mart.other"),
        ("data_tests/other.sql", "select * from total anti join fact using (run_id)", "test other"),
        (
            "models/facts/fact.sql",
            FACT.replace("*/", "tests: [{row_count: {min: 3}}]\n*/") + f"select {COLUMNS} from row", "test fact.row_count",
        ),
    ],
)
def test_a_table_that_something_needs_stays_whole(
    path: str, text: str, needed_by: str, project: Project, tmp_path: Path
) -> None:
    build(project, now=days(200))
    assert rows(project, "select count(*) from fact") == [(0,)]
    write_model(project, path, text)
    build(project, now=days(200))
    assert runs(project, "fact") == runs(project, "staging.row") == ["a", "b"] and runs(project, "step") == []
    assert tables_unlike_from_nothing(project, tmp_path, days(200)) == []
    [fact] = [found for found in plan_detail(project, days(200)).aged if found.table == "main.fact"]
    assert (fact.state, fact.runs, fact.rows, fact.needed_by) == ("needed", 2, 3, (needed_by,))
    if path.startswith("queries"):
        publish(project, "other")
        assert rows(project, "select worst from rollup.other order by run_id") == [(2.0,), (3.0,)]


def test_what_reads_a_needed_table_through_a_view_needs_it_too(project: Project) -> None:
    write_model(project, "models/staging/seen.sql", f"/*\nmaterialized: view\n*/\nselect {COLUMNS} from fact")
    build(project, now=days(200))
    assert runs(project, "seen") == runs(project, "fact") == []
    write_model(project, "models/marts/other.sql", "select count(*) as rows from seen")
    build(project, now=days(200))
    assert rows(project, "select rows from other") == [(3,)]


def test_no_digest_of_logic_depends_on_it(project: Project) -> None:
    def digests() -> list[Any]:
        return rows(project, "select name, digest from catalog.model order by all")

    build(project, now=NOW)
    before = digests()
    build(project, now=days(200))
    assert digests() == before
    for path in ("models/staging/row.sql", "models/facts/fact.sql", "models/facts/step.sql"):
        file = project.root / path
        file.write_text(file.read_text().replace("retention_tier: warm\n", "").replace("/*\n*/\n", ""))
    build(project, now=days(200))
    assert digests() == before and runs(project, "fact") == runs(project, "step") == ["a", "b"]


@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_it_is_what_a_build_from_nothing_makes(seed: int, project: Project, tmp_path: Path) -> None:
    chance, now, kept = random.Random(seed), NOW, project
    for step in range(4):
        now += timedelta(days=chance.randrange(60))
        for number in range(chance.randrange(4)):
            name = f"r{step}{number}"
            text = "".join(f"{name}={chance.random()}\n" for _ in range(chance.randrange(1, 4)))
            arrive(project, value_files(tmp_path / name, text), now - timedelta(days=chance.randrange(300)))
        if chance.random() < 0.5:
            known = ["a", "b", *(f"r{step}{number}" for number in range(4))]
            kept = keep_detail(project, *chance.sample(known, 2), warm_days=chance.choice([90, 180, 180, 365]))
        build(kept, now=now)
        (tmp_path / "nothing").mkdir(exist_ok=True)
        assert tables_unlike_from_nothing(kept, tmp_path / "nothing", now) == []
        everything = set(runs(kept, "staging.whole"))
        for name in ("main.fact", "main.step"):  # no run is in it and away, none is neither
            assert {*runs(kept, name), *away(kept, name)} == everything
            assert not set(runs(kept, name)) & set(away(kept, name))


def test_a_run_that_a_younger_bundle_states_too_is_not_away(project: Project, tmp_path: Path) -> None:
    write_model(project, "models/facts/fact.sql", f"{FACT}select {COLUMNS} from row where value <> 1")
    arrive(project, value_files(tmp_path / "again", "a=4\n"), days(-10))
    build(project, now=days(81))
    assert rows(project, "select value from fact order by all") == [(3.0,), (4.0,)] and away(project, "main.fact") == []
    assert away(project, "staging.row") == away(project, "main.step") == ["a"]
    build(project, now=days(300))
    assert away(project, "main.fact") == ["a", "b"]


def test_a_run_whose_evidence_is_of_unknown_arrival_stays(project: Project) -> None:
    for event in (project.store_root / "ledger").rglob("*.json"):
        event.unlink()
    build(project, now=days(4000))
    assert runs(project, "fact") == ["a", "b"]


@pytest.mark.parametrize(
    ("header", "sql", "code", "told"),
    [
        ("retention_tier: cold", COLUMNS, "WH201", "retention_tier 'cold' is not known"),
        ("retention_tier: warm\nmaterialized: view", COLUMNS, "WH201", "a view has no rows"),
        ("retention_tier: warm\nmaterialized: incremental\nkey: [value]", COLUMNS, "WH201", "the key is another"),
        ("retention_tier: warm", "run_id, value", "WH207", "artifact_manifest_digest"),
        ("retention_tier: warm", "1 as run_id, artifact_manifest_digest", "WH207", "run_id, a varchar"),
    ],
)
def test_a_tier_that_cannot_be_is_refused(header: str, sql: str, code: str, told: str, project: Project) -> None:
    write_model(project, "models/facts/other.sql", f"/*\n{header}\n*/\nselect {sql} from whole")
    with pytest.raises(WarehouseError, match=told) as raised:
        build(project)
    assert raised.value.code == code and "models/facts/other.sql:" in str(raised.value)


def test_a_rollup_has_no_tier(project: Project) -> None:
    write_model(project, "queries/claim.sql", "/*\ngrain: [run_id]\nretention_tier: warm\n*/\nselect * from total")
    with pytest.raises(WarehouseError, match="WH201 .*a rollup has no detail"):
        build(project)


def test_keep_detail_is_a_list_of_runs(project: Project) -> None:
    file = project.root / "warehouse.toml"
    file.write_text(file.read_text() + '\n[retention]\nkeep_detail = "a"\n')
    with pytest.raises(WarehouseError, match="retention.keep_detail is a list of runs"):
        read_project(project.root)


def test_the_commands_tell_what_is_away(project: Project, wh_on: WhOn) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=1000)
    build(project, now=long_ago)  # nothing is past its age then
    status, out, err = wh_on(project, "retention", "plan")
    assert status == 0 and "main.fact  2 runs  3 rows  leaves\n" in out and "the next wh build removes it" in err
    assert wh_on(project, "sql", "select count(*) from fact") == (0, "count_star()\n3\n", "")


def test_an_answer_without_rows_says_so(project: Project, wh_on: WhOn) -> None:
    build(project, now=days(81))
    for query in ("select count(*) from FACT", "with f as (select * from main.fact) select count(*) from f"):
        status, out, err = wh_on(project, "sql", query)
        assert (status, out.splitlines()[1]) == (0, "1") and "without the rows of 1 run in main.fact:" in err
        assert "retention.keep_detail" in err
    assert "1 run in staging.row:" in wh_on(project, "sql", "from row")[2]
    for query in ("select count(*) from total", "select count(*) from whole", "select 1"):
        assert wh_on(project, "sql", query)[2] == ""
    with pytest.warns(UserWarning, match="1 run in main.fact"):
        assert Warehouse(project).sql("select run_id from fact").to_pylist() == [{"run_id": "b"}]
    kept = keep_detail(project, "a", "nobody")
    states = {(found.table, found.state): found.runs for found in plan_detail(kept, days(81)).aged}
    assert states == {(name, "returns"): 1 for name in ("main.fact", "main.step", "staging.row")}
    assert plan_detail(kept, days(81)).unknown_runs == ("nobody",)
    assert {found.state for found in plan_detail(project, days(81)).aged} == {"away"}
    build(kept, now=days(81))
    assert {(found.state, found.rows) for found in plan_detail(kept, days(81)).aged} == {("kept", 2)}


@pytest.mark.exhaustive
def test_serving_and_training_detail_leaves_and_their_numbers_stay(tmp_path: Path) -> None:
    """Real formats, the standard models: steps of the old runs go, and requests where no published figure reads them; whatever is computed from
    them stays."""
    project = standard_project(tmp_path / "project")
    [(needed_by,)] = rows(project, "select needed_by from catalog.detail_table where name = 'main.request_fact'")
    assert {"mart.serving_slo_count", "staging.serving_steady_window", "staging.serving_sending"} <= set(needed_by)
    (no_requests,) = re.findall(r"```sql\n(/\*\ndescription: No requests for published.*?)```", (REPOSITORY / "docs" / "models.md").read_text(), re.DOTALL)
    write_model(project, "models/staging/serving_request.sql", no_requests)
    record = bench_serving.vllm_record(bench_serving.requests(40))
    bench_serving.write(tmp_path / "old/pod_h100sxm/M/old_TP4.json", record)
    mlperf_training.write_set(tmp_path / "training", [mlperf_training.Run(step_times_s=(50.0, 60.0))])
    bench_serving.write(tmp_path / "new/pod_h100sxm/M/new_TP4.json", bench_serving.vllm_record(bench_serving.requests(30, 1)))
    write_model(project, "queries/ttft.sql", "/*\ngrain: [run_id]\n*/\nselect run_id, ttft_p99_ms from serving_outcome_fact")
    for name, at in (("old", days(-100)), ("training", days(-100)), ("new", days(-10))):
        arrive(project, tmp_path / name, at)
    build(project, now=NOW)
    whole = current_build(project).path
    counts = "select (select count(*) from request_fact), (select count(*) from step_fact)"
    [(requests, steps)] = rows(project, counts)
    assert requests == 70 and steps > 0
    report = build(project, now=days(81))
    assert rows(project, counts) == [(30, 0)] and rows(project, "select count(*) from staging.bench_serving_request_row") == [(30,)]
    detail = {row[0] for row in rows(project, "select name from catalog.detail_table where len(needed_by) = 0")}
    assert {name for name, action in actions(report).items() if action != "keep"} == detail
    con = open_build(current_build(project).path)
    con.execute(f"attach '{whole}' as whole (read_only)")
    tables = con.execute(
        "select schema_name || '.' || table_name from duckdb_tables() where database_name = 'whole'"
        " and schema_name in ('main', 'mart', 'staging', 'rollup')"
    ).fetchall()
    others = [name for (name,) in tables if name not in detail]
    assert len(others) > 50
    for name in others:
        assert con.execute(f"(from {name} except all from whole.{name}) union all (from whole.{name} except all from {name})").fetchall() == []
    con.close()
    [old] = away(project, "main.request_fact")
    [load] = [load for curve in goodput(project, "ttft_ms<=500").curves for load in curve.loads]
    assert load.reason == f"the requests of {old} have left the database with age (keep_detail brings them back)"
    walked = Warehouse(project).rows(f"ttft[run_id={old}].ttft_p99_ms")
    assert walked and walked.tables[0].table == "main.serving_outcome_fact" and walked.tables[-1].is_landing
    assert not {table.table for table in walked.tables} & detail
    build(keep_detail(project, old), now=days(81))
    con = open_build(current_build(project).path)
    con.execute(f"attach '{whole}' as whole (read_only)")
    assert con.execute("(from request_fact except all from whole.request_fact)").fetchall() == []
    assert con.execute("select count(*) from request_fact").fetchall() == [(70,)]
    con.close()

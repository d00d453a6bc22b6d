"""What the commands around builds tell: `wh build` with its options, `wh builds`, `wh sql --build`, `wh test --equivalence`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest
from conftest import Wh

from warehouse.digest import file_digest
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.stopwatch import Stopwatch
from warehouse.transform.finished.builds import current_build, list_builds

TOTAL = """\
/*
materialized: incremental
key: [run_id]
*/
select run_id, sum(ms) as ms from read_parquet('data/*.parquet') group by run_id"""
FILES = {"models/run.sql": "select i as run_id from range(1, 5) as r (i)", "models/log_total.sql": TOTAL}

PARTS = ["look", "parse", "check", "copy", "models", "tests", "write"]


def write(project: Project, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project.root / name).write_text(text)


def write_log(project: Project, number: int, ms: int) -> None:
    """A file of one run."""
    (project.root / "data").mkdir(exist_ok=True)
    duckdb.sql(f"select {number} as run_id, {ms} as ms").write_parquet(str(project.root / "data" / f"{number}.parquet"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = init_project(tmp_path / "project", bare=True)
    write(made, FILES)
    for number in range(4):
        write_log(made, number, 10)
    return made


def table_rows(out: str) -> list[list[str]]:
    """The cells of a printed table but for the seconds, which are last and differ."""
    return [line.split()[:-1] for line in out.splitlines()[2:] if " " in line]


# --- wh build ----------------------------------------------------------------------------------------------------


def test_a_build_tells_what_it_did(project: Project, wh: Wh) -> None:
    status, out, err = wh("build")
    assert status == 0 and re.fullmatch(r"built 2 in \d+\.\d s\n", err)
    assert table_rows(out) == [["main.log_total", "build", "4"], ["main.run", "build", "4"]]
    assert out.endswith(f"{current_build(project).path}\n")

    write_log(project, 4, 10)
    write_log(project, 0, 20)
    status, out, err = wh("build")
    assert status == 0 and re.fullmatch(r"updated 1 \(2 keys\), kept 1 in \d+\.\d s\n", err)
    assert table_rows(out) == [["main.log_total", "update", "5", "2"]]

    (project.root / "models" / "run.sql").write_text(FILES["models/run.sql"] + " -- four")
    status, out, err = wh("build")
    assert status == 0 and re.fullmatch(r"kept 2 in \d+\.\d s\n", err)
    assert out == f"{current_build(project).path}\n"

    assert wh("build") == (0, f"{current_build(project).path}\n", "nothing changed\n")

    write(project, FILES)
    status, out, err = wh("build")
    assert (status, err) == (0, "the same as an earlier build, which is current again\n")


def test_json_has_every_model_and_its_keys(project: Project, wh: Wh) -> None:
    wh("build")
    write_log(project, 4, 10)
    _, out, _ = wh("build", "--json")
    document = json.loads(out)
    found = [(model["name"], model["action"], model["rows"], model["keys"]) for model in document["models"]]
    assert sorted(found) == [("main.log_total", "update", 5, 1), ("main.run", "keep", 4, None)]
    assert list(document["parts"]) == PARTS
    assert sum(model["seconds"] for model in document["models"]) <= document["parts"]["models"]


def test_the_profile_goes_to_stderr(project: Project, wh: Wh) -> None:
    _, out, err = wh("build", "--profile")
    assert "share" not in out
    parts, models, summary = err.split("\n\n")
    assert [line.split()[0] for line in parts.splitlines()[2:]] == PARTS
    shares = [int(line.split()[-1].rstrip("%")) for line in parts.splitlines()[2:]]
    assert abs(sum(shares) - 100) <= len(shares) / 2  # each is rounded
    seconds = [float(line.split()[-2]) for line in models.splitlines()[2:]]
    assert seconds == sorted(seconds, reverse=True) and len(seconds) == 2
    assert summary.startswith("built 2 in ")


def test_a_failed_build_says_what_is_done_and_retry_goes_on(project: Project, wh: Wh) -> None:
    wh("build")
    write(project, {
        "models/run.sql": "select i as run_id from range(1, 6) as r (i)",
        "models/z_fails.sql": "select (run_id || 'x')::int as b from run",
    })
    status, out, err = wh("build")
    assert (status, out) == (1, "")
    assert err.startswith("WH209 models/z_fails.sql:1:") and err.endswith(
        "done before that: main.run; to continue: wh build --retry\n"
    )
    for line in (("describe", "z_fails"), ("judge", "z_query")):
        write(project, {"queries/z_query.sql": "/*\ngrain: [b]\nclaim: {what: nothing}\n*/ select b from z_fails"})
        assert "the last build failed or was stopped; to continue it, or see which model fails: wh build --retry" in wh(*line)[2]
    (project.root / "queries" / "z_query.sql").unlink()
    write(project, {"models/z_fails.sql": "select run_id as b from run"})
    status, out, err = wh("build", "--retry")
    assert status == 0 and re.fullmatch(r"built 1, kept 2 in \d+\.\d s\n", err)
    assert table_rows(out) == [["main.z_fails", "build", "5"]]
    write(project, {"models/z_fails.sql": "select run_id + 1 as b from run"})
    status, out, err = wh("build", "--retry")  # one that was killed while it parsed leaves nothing to go on from
    assert status == 0 and table_rows(out) == [["main.z_fails", "build", "5"]]


def test_a_failed_check_has_done_nothing(project: Project, wh: Wh) -> None:
    write(project, {"models/run.sql": "select nonsense"})
    status, out, err = wh("build")
    assert (status, out) == (1, "") and err.startswith("WH204 ") and "--retry" not in err


def test_a_stopwatch_adds_up() -> None:
    stopwatch = Stopwatch()
    for part in ("a", "b", "a"):
        stopwatch.began(part)
    parts = stopwatch.parts()
    assert list(parts) == ["a", "b"] and all(seconds >= 0 for seconds in parts.values())
    assert sum(stopwatch.parts().values()) <= stopwatch.total()


def test_what_cannot_be_gone_on_from_is_told(project: Project, wh: Wh) -> None:
    wh("build")
    write(project, {"models/run.sql": "select 8 as run_id"})
    (project.builds / ".shadow.duckdb").write_bytes(b"cut short by a power failure")
    status, out, err = wh("build", "--retry")
    assert (status, out) == (1, "") and err.startswith("WH218 ") and err.endswith("\n  hint: run: wh build\n")
    assert wh("build")[0] == 0 and wh("sql", "select run_id from run")[1] == "run_id\n8\n"


# --- older builds ------------------------------------------------------------------------------------------------


def test_older_builds_are_listed_and_read(project: Project, wh: Wh) -> None:
    assert wh("builds") == (0, "", "nothing has been built here yet\n")
    assert wh("sql", "--build", "no", "select 1")[2].startswith("WH211 ")
    wh("build")
    first = current_build(project)
    write(project, {"models/run.sql": "select 7 as run_id"})
    wh("build")
    second = current_build(project)

    document = json.loads(wh("builds", "--json")[1])
    told = [(build["build_digest"], build["is_current"]) for build in document]
    assert told == [(second.digest, True), (first.digest, False)]
    assert [build["bytes"] for build in document] == [path.stat().st_size for path in (second.path, first.path)]
    shown = wh("builds")[1].splitlines()[2:]
    assert shown[0].startswith(second.digest[:12]) and shown[0].endswith("  current")
    assert shown[1].startswith(first.digest[:12]) and not shown[1].endswith("current")

    count = "select count(*) as runs from run"
    assert wh("sql", count)[1] == "runs\n1\n"
    assert wh("sql", "--build", first.digest[:12], count)[1] == "runs\n4\n"
    status, _, err = wh("sql", "--build", "no", count)
    assert status == 5 and err.startswith("WH214 ") and "'no'" in err
    assert err.endswith(f"\n  hint: wh builds lists them: {second.digest[:12]}, {first.digest[:12]}\n")
    assert wh("sql", "--build", "", count)[0] == 6
    assert len(list_builds(project)) == 2


# --- wh test --equivalence ---------------------------------------------------------------------------------------


def test_tables_brought_up_to_date_are_as_built_from_nothing(project: Project, wh: Wh) -> None:
    wh("build")
    write_log(project, 0, 20)
    before = current_build(project)
    assert wh("test", "--equivalence") == (0, "", "ok: 2 tables, 8 rows, updated as built from nothing\n")
    assert current_build(project) == before and not list(project.builds.glob(".equivalence*"))


def alter(project: Project, *statements: str) -> None:
    """Run statements on the current build, and let its record say that it was built as it is then."""
    database = current_build(project).path
    database.chmod(0o644)
    with duckdb.connect(str(database)) as con:
        for statement in statements:
            con.execute(statement)
    record = database.with_suffix(".json")
    now = {"bytes": database.stat().st_size, "sha256": file_digest(database)}
    record.write_text(json.dumps({**json.loads(record.read_text()), **now}))


def test_a_table_that_differs_is_told(project: Project, wh: Wh) -> None:
    wh("build")
    # As if an update had come out wrong.
    alter(project, "update main.log_total set ms = 99 where run_id = 1", "insert into main.log_total values (17, 1)")
    write_log(project, 0, 20)
    status, out, err = wh("test", "--equivalence", "--json")
    assert status == 1
    assert err.startswith(
        "WH223 main.log_total: brought up to date it differs from a full build in its rows:"
        " 2 are only in the updated table, 1 only in the full one of 4\n  hint: "
    )
    tables = {found["name"]: found for found in json.loads(out)}
    assert (tables["main.log_total"]["only_updated"], tables["main.log_total"]["only_full"]) == (2, 1)
    assert tables["main.run"]["difference"] is None


def test_a_plain_table_that_differs_is_not_told_to_be_less_incremental(project: Project, wh: Wh) -> None:
    write(project, {"models/behind.sql": "select run_id from log_total"})
    wh("build")
    alter(project, *(f"insert into main.{table} values (99)" for table in ("run", "behind")))
    status, _, err = wh("test", "--equivalence")
    behind, run = err.split("\n\n")
    assert status == 1 and behind.startswith("WH223 main.behind: ") and run.startswith("WH223 main.run: ")
    assert behind.rpartition("hint: ")[2] == (
        "for now take materialized: incremental and key: out of the header of main.log_total, and build again"
    )
    hint = run.rpartition("hint: ")[2]
    assert "incremental" not in hint and "delete the builds folder" in hint


def test_the_order_of_rows_counts_where_the_sql_has_one(project: Project, wh: Wh) -> None:
    write(project, {"models/any_order.sql": "select run_id from run", "models/ordered.sql": "select run_id from run order by run_id"})
    wh("build")
    reverse = "create or replace table main.{0} as select run_id from main.{0} order by run_id desc"
    alter(project, *(reverse.format(table) for table in ("any_order", "ordered")))
    status, _, err = wh("test", "--equivalence")
    assert status == 1 and err.startswith("WH223 main.ordered: brought up to date it differs from a full build in the order of ")
    assert "any_order" not in err


def test_equivalence_takes_no_names(wh: Wh) -> None:
    assert wh("test", "--equivalence", "run")[0] == 2

"""A campaign as users run it: real stacks from an index on loopback, runs that fail in every way, runners that are killed, and the advice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from package_index import package_index, wheel
from samples import campaign as made
from samples import sbom
from serving import client
from standard import standard_project

from warehouse.campaign.advice import advise, lock_of
from warehouse.campaign.stacks import locked
from warehouse.cli.main import main
from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.finding import LEFTOVER
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.project import Project
from warehouse.record.again import recorded
from warehouse.record.command import record
from warehouse.statistics.best import best
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

REPOSITORY = Path(__file__).resolve().parents[1]
SPEED = {"1.0": 10.0, "1.1": 8.0, "1.2": 10.0, "1.3": 10.0, "1.5": 10.0}
BENCH = """
import json, os, random, speedy, sys, time
if speedy.VERSION == "1.2":
    sys.exit("speedy 1.2 cannot do this")
if speedy.VERSION == "1.5":
    print("speedy 1.5 forgets what it measured")
    sys.exit()
if speedy.VERSION == "1.3":
    time.sleep(60)  # hangs, until its limit ends it
elapsed = speedy.MS * random.gauss(1, 0.01)
print(json.dumps({"name": "PiSpeedy", "component": "speedy", "@parameters": {"n": 1}, "@result": {"elapsed": elapsed}}))
"""
SPEC = """
[campaign]
name = "speedy"
indicator = "PiSpeedy"
command = ["python", "bench.py"]
files = ["bench.py"]
sessions = {sessions}
session_gap = "0.1 s"
[factors.speedy]
package = "speedy"
values = [{values}]
[baseline]
speedy = "1.0"
[resolve]
exclude_newer = 2026-11-01T00:00:00Z
index = "{index}"
[limits]
timeout = "8 s"
"""


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    wheels = {version: wheel("speedy", version, {"speedy.py": f"VERSION, MS = {version!r}, {ms}\n"}) for version, ms in SPEED.items()}
    broken = wheel("speedy", "1.4", {"speedy.py": ""})[:-40]  # its hash is right, and it is no archive
    with package_index({"speedy": {**wheels, "1.4": broken}}) as url:
        yield url


def written(folder: Path, index: str, values: str, sessions: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.py").write_text(BENCH)
    (folder / "spec.toml").write_text(SPEC.format(values=values, index=index, sessions=sessions))
    return folder / "spec.toml"


def started(project: Project, spec: Path, *more: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), "matrix", str(spec), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True)


def cells(project: Project) -> list[tuple]:
    con = open_build(current_build(project).path)
    try:
        return con.execute(
            "select cell, session, status, status_reason, run_id from campaign_cell_fact where campaign_key like 'matrix/speedy-%' order by all"
        ).fetchall()
    finally:
        con.close()


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory, index: str) -> Project:
    """A campaign with every fate of a stack: two that run, one that fails, one that hangs, one that cannot be built, one that there is not."""
    folder = tmp_path_factory.mktemp("campaign")
    project = standard_project(folder / "project")
    spec = written(folder, index, '"1.0", "1.1", "1.2", "1.3", "1.4", "9.9", "1.5"', sessions=1)
    for more in ((), ("--add-sessions", "2", "--cell", "c02", "--cell", "c01")):  # each failure once, and three sessions of what can be compared
        process = started(project, spec, *more)
        output, _ = process.communicate(timeout=300)
        assert process.returncode == ExitCode.OK, output
    # A run of the same work with the same packages that no campaign asked for.
    [installed] = (project.root / ".wh" / "environments").glob("*/lib/python*/site-packages/speedy-1.1.dist-info")
    record([str(installed.parents[3] / "bin" / "python"), str(folder / "bench.py")], folder / "by-hand")
    assert main(["--project", str(project.root), "ingest", str(folder / "by-hand")]) == ExitCode.OK
    known = sbom.write(folder / "known", "EXAMPLE-2026-1.json", sbom.osv("speedy", ["1.1"]))
    prices = folder / "prices.csv"
    prices.write_text("accelerator,unit,price_usd_per_hour,effective_date,source\nH100 SXM,accelerator_hour,2.50,2026-01-01,contract\n")
    for more in (known, prices, made.write_measured(folder / "made")):
        assert main(["--project", str(project.root), "ingest", str(more)]) == ExitCode.OK
    build(project)
    return project


def test_every_run_of_the_plan_is_a_row_with_its_reason(campaign: Project, index: str) -> None:
    rows = cells(campaign)
    fates = Counter((cell, status) for cell, _, status, _, _ in rows)
    assert fates == {
        ("c01", "succeeded"): 3, ("c02", "succeeded"): 3, ("c03", "failed"): 1, ("c04", "failed"): 1, ("c05", "not built"): 1, ("c06", "not resolved"): 1,
        ("c07", "failed"): 1,
    }
    reasons = {cell: reason for cell, session, _, reason, _ in rows if session == 1}
    assert (reasons["c01"], reasons["c03"], reasons["c04"]) == (None, "exit code 1", "ended by its limit of time")
    assert "speedy" in reasons["c05"] and "9.9" in reasons["c06"] and "no JSON object of the indicator PiSpeedy" in reasons["c07"]
    resolved = [json.loads(path.read_text())["resolving"] for path in campaign.store_root.rglob("stack.json")]
    assert (index, sysconfig.get_platform()) in [(each.get("index"), each.get("platform")) for each in resolved]
    assert [bool(run) for *_, run in rows] == [cell not in ("c05", "c06") for cell, *_ in rows]


def test_the_advice_names_the_fastest_beside_the_baseline_and_what_was_not_measured(campaign: Project, wh_on) -> None:
    [work] = (advised := advise(campaign, "speedy")).works
    assert work.found.named == "c02" and work.found.beaten_by == {"c01": "c02"}
    beside = work.against_baseline
    assert beside is not None and beside.low < 1.25 < beside.high and beside.low > 1.1
    assert [cell.cell for cell in advised.failed] == ["c03", "c04", "c05", "c06", "c07"]
    assert sorted(work.cells["c02"].run_ids) == sorted(run for cell, *_, run in cells(campaign) if cell == "c02")
    assert locked(lock_of(campaign, advised).decode())[0][:2] == ("speedy", "1.1")
    status, out, _ = wh_on(campaign, "advise", "speedy")
    assert status == ExitCode.OK and "best: speedy=1.1" in out and "runner-up: speedy=1.0" in out and len(out.splitlines()) <= 17
    assert "known vulnerabilities of speedy=1.1: EXAMPLE-2026-1 in speedy 1.1\n" in out
    assert "2 sessions of these added after results were seen" in out and "would say most: wh matrix spec.toml --add-sessions 1 --cell c01 --cell c02" in out


def test_an_advice_for_a_machine_counts_its_runs_alone_and_has_its_price(campaign: Project, wh_on) -> None:
    def named(hardware: str | None, **more: Any) -> tuple[str | None, set[float | None]]:
        [work] = advise(campaign, "grouped", hardware=hardware, **more).works
        return work.found.named, {cell.usd_per_hour for cell in work.cells.values()}

    assert named("h100") == ("c01", {2.5}) and named("A100") == ("c02", {None})
    assert named(None) == (None, {None})  # the runs of a cell have several prices, one of them unknown
    assert named("H100", slo="elapsed_ms<=1200", is_cheapest=True)[0] is None  # c01 alone meets it
    assert advise(campaign, "grouped", slo="elapsed_ms<=5000", is_cheapest=True, hardware="A100").works[0].found.may_be_best == ()
    with pytest.raises(WarehouseError) as raised:
        advise(campaign, "grouped", hardware="B200")
    assert raised.value.code == "WH502" and "H100" in str(raised.value.hint) and "A100" in str(raised.value.hint)
    con = open_build(current_build(campaign).path)
    [(least, most)] = con.execute("select min(effective), max(effective) from campaign_cell_fact where cell = 'c01' and campaign_key like '%grouped%'").fetchall()
    unlike = con.execute("select session, unlike from campaign_cell_fact where unlike <> '' order by all").fetchall()
    con.close()
    assert json.loads(least) == json.loads(most) == {"numpy": "2.1.3", "python": "3.11.9", "threads": "4", "rows": "9", "driver": "550.54"}
    assert unlike == [(6, "numpy")]
    status, out, _ = wh_on(campaign, "advise", "grouped", "--hardware", "A100")
    assert status == ExitCode.OK and "c02: a run had another numpy than was asked for" in out
    assert "disturbed by other work, a limit or heat: session 5 (2 of 2 runs)" in out


def test_only_stacks_that_are_shown_to_meet_an_slo_compete(campaign: Project) -> None:
    def states(slo: str) -> tuple[dict[str, str | None], tuple[str, ...]]:
        [work] = advise(campaign, "speedy", slo=slo).works
        return {name: cell.slo for name, cell in work.cells.items()}, work.found.may_be_best

    # 1.0 takes 10 ms and 1.1 takes 8 ms, within some percent.
    assert states("elapsed<=9") == ({"c01": "misses", "c02": "meets"}, ("c02",))
    assert states("elapsed<=20, elapsed>=9") == ({"c01": "meets", "c02": "misses"}, ("c01",))
    assert states("elapsed<=5") == ({"c01": "misses", "c02": "misses"}, ())
    typical = advise(campaign, "speedy").works[0].typical("c01")
    assert states(f"elapsed<={typical}")[0]["c01"] == "not shown"  # half of its interval lies above
    for wrong in ("elapsed<9", "elapsed", "elapsed<=x", "speed<=1"):
        with pytest.raises(WarehouseError) as raised:
            advise(campaign, "speedy", slo=wrong)
        assert raised.value.code == "WH502"


def test_the_numbers_of_an_advice_walk_to_the_bytes_of_their_runs(campaign: Project, wh_on) -> None:
    [work] = advise(campaign, "speedy").works
    status, out, _ = wh_on(campaign, "lineage", str(work.cells["c02"].number_id), "--full")
    assert status == ExitCode.OK and all(run in out for run in work.cells["c02"].run_ids) and out.count('"elapsed": ') == 3


@pytest.mark.exhaustive
def test_the_numbers_of_an_advice_are_published(campaign: Project, wh_on) -> None:
    [work] = advise(campaign, "speedy").works
    status, _, err = wh_on(campaign, "publish", "campaign_stacks", "--as", "provisional")
    assert status == ExitCode.OK, err
    status, out, _ = wh_on(campaign, "verify", str(work.cells["c02"].number_id))
    assert status == ExitCode.OK and "verified" in out
    status, _, err = wh_on(campaign, "publish", "campaign_sessions")
    assert status == ExitCode.OK, err
    status, out, err = wh_on(campaign, "verify", "--all")
    assert status == ExitCode.OK, out + err


def test_the_values_by_session_are_all_that_an_advice_is_computed_from(campaign: Project) -> None:
    [work] = advise(campaign, "speedy").works
    con = open_build(current_build(campaign).path)
    rows = con.execute(
        "select cell, session, session_value from rollup.campaign_sessions where campaign_key like 'matrix/speedy-%' and metric = 'elapsed'"
    ).fetchall()
    con.close()
    values: dict[str, dict[str, float]] = {}
    for cell, session, value in rows:
        values.setdefault(cell, {})[session] = value
    again = best(values, higher_is_better=False)
    assert again.may_be_best == work.found.may_be_best and again.beaten_by == work.found.beaten_by
    assert again.against["c02"].low == pytest.approx(work.found.against["c02"].low)


def test_its_page_draws_every_failure_and_says_what_was_spent(campaign: Project) -> None:
    asking = client(campaign)
    parts = {part["name"]: part for part in asking.get("/api/campaigns").json()["parts"]}
    fates = Counter(row["status"] for row in parts["plan"]["rows"])
    assert fates == {"succeeded": 6, "failed": 3, "not built": 1, "not resolved": 1}
    beside = [row["beside"] for row in parts["plan"]["rows"] if row["cell"] == "c02"]
    assert len(beside) == 3 and all(1.05 < each < 1.2 for each in beside)  # the square root of 1.25
    assert [row["place"] for row in parts["stacks_1"]["rows"]] == ["best", "beaten by c02"]
    failed = {row["stack"]: (row["status"], row["runs"]) for row in parts["failed"]["rows"]}
    assert failed["speedy=1.2"] == ("failed", 1) and failed["speedy=9.9"] == ("not resolved", 1) and len(failed) == 5
    assert [item["value"] for item in parts["budget"]["items"]][:3] == [7, "6 of 11", "9"]
    assert [(row["package"], row["version"], row["listed"]) for row in parts["vulnerabilities"]["rows"]] == [("speedy", "1.1", "yes")]
    # Of several factors, the one that differs between cells names them.
    grouped = {part["name"]: part for part in asking.get(f"/api/campaigns?campaign=matrix/{made.MEASURED}").json()["parts"]}
    assert {row["stack"] for row in grouped["stacks_1"]["rows"]} == {"numpy=2.3.1", "numpy=2.1.3 (baseline)"}
    page = asking.get("/campaigns").text
    assert page.count('class="cell odd"') == 5 and page.count('class="cell"') == 6
    assert 'href="/campaigns?campaign=matrix' in asking.get("/overview").text


def test_a_run_of_a_campaign_is_not_recorded_again_without_its_stack(campaign: Project) -> None:
    with pytest.raises(WarehouseError) as raised:
        recorded(campaign, next(run for *_, run in cells(campaign) if run))
    assert raised.value.code == "WH401" and "campaign" in raised.value.message


def test_a_campaign_that_is_not_there_is_said_with_those_that_are(campaign: Project) -> None:
    with pytest.raises(WarehouseError) as raised:
        advise(campaign, "speedo")
    assert raised.value.code == "WH502" and "speedy-" in str(raised.value.hint)


def test_run_again_it_does_nothing(campaign: Project, index: str) -> None:
    spec = campaign.root.parent / "spec.toml"
    before = bytes_digest(json.dumps(sorted(path.name for path in campaign.store_root.rglob("*"))).encode())
    process = started(campaign, spec)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == ExitCode.OK and "succeeded" not in output
    assert bytes_digest(json.dumps(sorted(path.name for path in campaign.store_root.rglob("*"))).encode()) == before


@pytest.mark.parametrize(("kills", "sessions"), [(2, 1), pytest.param(20, 3, marks=pytest.mark.exhaustive)])
def test_runners_that_are_killed_and_run_beside_each_other_lose_and_double_nothing(tmp_path: Path, index: str, kills: int, sessions: int) -> None:
    project, spec = standard_project(tmp_path / "project"), written(tmp_path, index, '"1.0", "1.1"', sessions)
    beside = started(project, spec)
    for number in range(kills):
        process = started(project, spec)
        time.sleep(1.0 + 0.37 * (number % 7))  # killed at another moment each time: in resolving, running or handing over
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if number == 0:
            os.killpg(beside.pid, signal.SIGKILL)
            beside.communicate()
    process = started(project, spec)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == ExitCode.OK, output
    build(project)
    rows = cells(project)
    assert [(cell, session, status) for cell, session, status, _, _ in rows] == [(cell, session, "succeeded") for cell in ("c01", "c02") for session in range(1, sessions + 1)]
    assert len({run for *_, run in rows}) == len(rows) == 2 * sessions
    assert [str(finding) for finding in check_store(project, Scope()).findings if finding.kind != LEFTOVER] == []

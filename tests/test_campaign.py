"""Campaigns as users run them: real stacks from an index on loopback, runs that fail in every way, runs on two nodes, the ten lines of the page, runners
that are killed, and the advice."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from built import sql_of
from campaign_clock import clock_ahead
from package_index import package_index, wheel
from samples import campaign as made
from samples import sbom
from serving import client
from standard import standard_project
from uv import find_uv_bin

from warehouse.campaign.advice import WORK
from warehouse.campaign.measured import advise, advise_published, lock_of
from warehouse.campaign.stacks import locked
from warehouse.claims.publish.publication import PublishedCell, PublishedRow, publication_with
from warehouse.cli.main import main
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.finding import LEFTOVER
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.project import Project
from warehouse.record.again import recorded
from warehouse.record.command import record
from warehouse.record.processes.limits import RLIMIT, WATCHDOG
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

REPOSITORY = Path(__file__).resolve().parents[1]
PAGE = REPOSITORY / "docs" / "campaigns.md"
USER, SYSTEM_PYTHON = 65534, Path("/usr/bin/python3")
SPEED = {"1.0": 10.0, "1.1": 8.0, "1.2": 10.0, "1.3": 10.0, "1.5": 10.0, "1.6": 10.0, "1.7": 10.0}
BENCH = """
import json, os, random, speedy, sys, time
if speedy.VERSION == "1.6":
    held = bytearray(900_000_000)
    time.sleep(60)  # until the limit of memory ends it
while speedy.VERSION == "1.7":  # forks without end, and so does each of its children
    try:
        os.fork()
    except OSError:
        time.sleep(0.2)  # leaves the processor to the runner that has to end it
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
memory = "400 MiB"
processes = 30
"""
EVERY_FATE = '"1.0", "1.1", "1.2", "1.3", "1.4", "9.9", "1.5", "1.6", "1.7"'
# On several nodes, which are processes here with names of hosts of their own.
# As srun and mpirun do: the rest of the command line, once on each node, with the rank in a variable; the first failure is its own.
LAUNCHER = """
import os, subprocess, sys
hosts = ["node-a"] if os.environ["FATE"] == "lost" else ["node-a", "node-b"]
started = [
    subprocess.Popen(sys.argv[1:], env={**os.environ, "SLURM_NODEID": str(rank), "AS_HOST": host, "PYTHONPATH": os.environ["PATHS"]})
    for rank, host in enumerate(hosts)
]
sys.exit(max([process.wait() for process in started]))
"""
AS_HOST = "import os, socket\nif 'AS_HOST' in os.environ: socket.gethostname = lambda: os.environ['AS_HOST']\n"
NODE_BENCH = """
import json, os, sys, time
time.sleep(0.3)  # long enough for the nodes to be sampled
if os.environ["FATE"] == "hangs" and os.environ["AS_HOST"] == "node-b":
    time.sleep(60)  # until its limit ends it
if os.environ["SLURM_NODEID"] == "0":
    print(json.dumps({"name": "PiTwo", "component": "two", "@parameters": {"n": 1}, "@result": {"elapsed": 5.0}}))
"""
NODE_SPEC = """
[campaign]
name = "two"
indicator = "PiTwo"
command = ["python", "bench.py"]
files = ["bench.py", "launch.py"]
nodes = 2
launcher = ["python", "launch.py"]
[factors.fate]
environment = "FATE"
values = ["runs", "hangs", "lost"]
[environment]
PATHS = "{paths}"
[resolve]
exclude_newer = 2026-11-01T00:00:00Z
[limits]
timeout = "10 s"
"""
# As much of NumPy as the indicator uses. The later version is slower, by more than a busy machine makes of it.
NUMPY = """
import time
__version__, dtype = {version!r}, str
class Ones:
    def __init__(self, value): self.value = value
    def __matmul__(self, other):
        time.sleep({seconds})  # what one version takes longer than another
        return Ones(512)
    def max(self): return self.value
def ones(shape, dtype): return Ones(1)
"""
NUMPY_SECONDS = {"2.1.3": 0.002, "2.3.1": 0.02}


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    wheels = {version: wheel("speedy", version, {"speedy.py": f"VERSION, MS = {version!r}, {ms}\n"}) for version, ms in SPEED.items()}
    broken = wheel("speedy", "1.4", {"speedy.py": ""})[:-40]  # its hash is right, and it is no archive
    numpy = {version: wheel("numpy", version, {"numpy.py": NUMPY.format(version=version, seconds=seconds)}) for version, seconds in NUMPY_SECONDS.items()}
    with package_index({"speedy": {**wheels, "1.4": broken}, "numpy": numpy}) as url:
        yield url


def written(folder: Path, index: str, values: str, sessions: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.py").write_text(BENCH)
    (folder / "spec.toml").write_text(SPEC.format(values=values, index=index, sessions=sessions))
    return folder / "spec.toml"


def started(project: Project, spec: Path, *more: str, user: Sequence[str] = (), **variables: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **variables}
    command = [*user, sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), "matrix", str(spec), *more]
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
    """A campaign with every fate of a stack: two that run, one that fails, one that hangs, one that cannot be built, one that there is not, one whose
    result is none, one that takes too much memory, and one that forks without end."""
    folder = tmp_path_factory.mktemp("campaign")
    project = standard_project(folder / "project")
    spec = written(folder, index, EVERY_FATE, sessions=1)
    for more in ((), ("--add-sessions", "2", "--cell", "c02", "--cell", "c01")):  # each failure once, and three sessions of what can be compared
        process = started(project, spec, *more)
        output, _ = process.communicate(timeout=300)
        assert process.returncode == ExitCode.OK, output
    # A run of the same work with the same packages that no campaign asked for.
    [installed] = (project.root / ".wh" / "environments").glob("*/lib/python*/site-packages/speedy-1.1.dist-info")
    record([str(installed.parents[3] / "bin" / "python"), str(folder / "bench.py")], folder / "by-hand")
    known = sbom.write(folder / "known", "EXAMPLE-2026-1.json", sbom.osv("speedy", ["1.1"]))
    prices = folder / "prices.csv"
    prices.write_text("accelerator,unit,price_usd_per_hour,effective_date,source\nH100 SXM,accelerator_hour,2.50,2026-01-01,contract\n")
    done(project, "ingest", *map(str, (folder / "by-hand", known, prices, made.write_measured(folder / "made"))))
    done(project, "matrix", str(write_nodes(folder / "nodes")))
    with pytest.MonkeyPatch.context() as patch:
        clock_ahead(patch)
        patch.chdir(folder)
        patch.setenv("UV_DEFAULT_INDEX", index)
        (folder / "matmul.toml").write_text(page_blocks()[0])
        said = [done(project, *line.partition("#")[0].split()[1:]) for line in page_blocks()[1].splitlines()]  # the build is among them
    (folder / "said.json").write_text(json.dumps(said))
    return project


def done(project: Project, *words: str) -> str:
    """What a command of `wh` prints, which succeeds."""
    with redirect_stdout(io.StringIO()) as out:
        assert main(["--project", str(project.root), *words]) == ExitCode.OK, words
    return out.getvalue()


def page_blocks() -> tuple[str, str]:
    """The first spec of the page, and the commands below it."""
    spec, commands = re.findall(r"```(?:toml|text)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[:2]
    return spec, commands


def write_nodes(folder: Path) -> Path:
    """The spec of a campaign on two nodes."""
    (folder / "site").mkdir(parents=True)
    spec = NODE_SPEC.format(paths=f"{folder / 'site'}:{REPOSITORY}")
    for name, text in (("site/sitecustomize.py", AS_HOST), ("launch.py", LAUNCHER), ("bench.py", NODE_BENCH), ("spec.toml", spec)):
        (folder / name).write_text(text)
    return folder / "spec.toml"


def check_fates(rows: list[tuple], runs: int) -> None:
    """Every stack has its rows with its reason: the first two ran so many times."""
    fates = Counter((cell, status) for cell, _, status, _, _ in rows)
    assert fates == {
        ("c01", "succeeded"): runs, ("c02", "succeeded"): runs, ("c05", "not built"): 1, ("c06", "not resolved"): 1,
        **{(cell, "failed"): 1 for cell in ("c03", "c04", "c07", "c08", "c09")},
    }
    reasons = {cell: reason for cell, session, _, reason, _ in rows if session == 1}
    assert (reasons["c01"], reasons["c03"], reasons["c04"]) == (None, "exit code 1", "ended by its limit of time")
    assert "speedy" in reasons["c05"] and "9.9" in reasons["c06"] and "no JSON object of the indicator PiSpeedy" in reasons["c07"]
    assert reasons["c08"] == "ended by its limit of memory"
    # Where a user's own limit holds it, nothing counts what was refused.
    assert re.fullmatch(r"ended by its limit of (processes|time(, its limit of processes refused \d+)?)", reasons["c09"])
    assert [bool(run) for *_, run in rows] == [cell not in ("c05", "c06") for cell, *_ in rows]


def test_every_run_of_the_plan_is_a_row_with_its_reason(campaign: Project, index: str) -> None:
    check_fates(cells(campaign), runs=3)
    attempts = [path.name for path in campaign.store_root.glob("campaigns/speedy-*/attempts/*")]
    assert len(attempts) == 13 and all(name.endswith(".0001.json") for name in attempts)  # the second command ran nothing again
    resolved = [json.loads(path.read_text())["resolving"] for path in campaign.store_root.rglob("stack.json")]
    assert (index, sysconfig.get_platform()) in [(each.get("index"), each.get("platform")) for each in resolved]


@pytest.mark.exhaustive
@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="root alone can become another user; the test above is of an ordinary user then")
def test_so_it_is_for_an_ordinary_user(index: str) -> None:
    if not SYSTEM_PYTHON.exists():
        pytest.skip("no Python of the system, which any user may start")
    version = subprocess.run([SYSTEM_PYTHON, "-c", "import platform; print(platform.python_version())"], capture_output=True, text=True).stdout.strip()
    # One who may read what root alone may, such as the Python of the tests, and do nothing else that others may not.
    user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # the folders of tests are root's alone
        folder = Path(name)
        project, spec = standard_project(folder / "project"), written(folder, index, EVERY_FATE, sessions=1)
        spec.write_text(spec.read_text().replace("[resolve]", f"[resolve]\npython = {version!r}"))
        for path in (folder, *folder.rglob("*")):
            os.chown(path, USER, USER, follow_symlinks=False)
        process = started(project, spec, user=user, HOME=name, PATH="/usr/bin:/bin")
        output, _ = process.communicate(timeout=300)
        assert process.returncode == ExitCode.OK, output
        build(project)
        check_fates(cells(project), runs=1)
        con = open_build(current_build(project).path)
        mechanisms = con.execute("select distinct limit_mechanisms from campaign_cell_fact where run_id is not null").fetchall()
        con.close()
    assert [json.loads(each) for each, in mechanisms] == [{"memory": WATCHDOG, "processes": RLIMIT, "time": WATCHDOG}]


def test_the_advice_names_the_fastest_beside_the_baseline_and_what_was_not_measured(campaign: Project, wh_on) -> None:
    [work] = (advised := advise(campaign, "speedy")).works
    assert work.found.named == "c02" and work.found.beaten_by == {"c01": "c02"}
    beside = work.against_baseline
    # 1.25 times as good; a 95 % interval may miss that by a little in one test of twenty.
    assert beside is not None and 1.1 < beside.low < 1.28 and 1.22 < beside.high
    assert [cell.cell for cell in advised.failed] == ["c03", "c04", "c05", "c06", "c07", "c08", "c09"]
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
def test_an_advice_is_published_and_computed_again_from_the_store(campaign: Project, wh_on) -> None:
    [work] = advise(campaign, "speedy").works
    done(campaign, "publish", "campaign_stacks", "--as", "provisional")
    assert "verified" in done(campaign, "verify", str(work.cells["c02"].number_id))
    digest = done(campaign, "publish", "campaign_sessions").strip()
    check_again(campaign, publication_with(campaign, digest))
    status, out, err = wh_on(campaign, "advise", "speedy", "--from", digest[:12])
    assert status == ExitCode.OK and "best: speedy=1.1" in out and "2 sessions of these added" in out and f"wh verify {digest[:12]}" in err
    done(campaign, "verify", digest)
    run = work.cells["c02"].run_ids[0]
    done(campaign, "retract", run, "--reason", "the machine was shared")
    assert f"1 run of it retracted or superseded since: {run}" in wh_on(campaign, "advise", "speedy", "--from", digest[:12])[2]
    done(campaign, "reinstate", run, "--reason", "it was not")
    done(campaign, "withdraw", digest[:12], "--reason", "of another machine")
    assert "was withdrawn" in wh_on(campaign, "advise", "speedy", "--from", digest[:12])[2]
    assert wh_on(campaign, "advise", "speedo", "--from", digest[:12])[0] == ExitCode.NOT_FOUND


def test_an_advice_is_computed_again_from_the_rows_that_are_published_of_it(campaign: Project) -> None:
    rows = []
    con = open_build(current_build(campaign).path)
    found = con.execute("from rollup.campaign_sessions")
    names = [column[0] for column in found.description]
    runs = "select run_id from campaign_measurement where cell = ? and campaign_key = ? and metric = ? and session = ? and part = 'counted' and value > 0"
    for row in [dict(zip(names, each, strict=True)) for each in found.fetchall()]:
        of_row = [{"run_id": run} for run, in con.execute(runs, [row[name] for name in ("cell", "campaign_key", "metric", "session")]).fetchall()]
        grain = {name: row[name] for name in (*WORK, "campaign_key", "cell", "metric", "session")}
        cells = {name: PublishedCell(name, value, None, (), runs=tuple(of_row)) for name, value in row.items() if name not in grain}
        rows.append(PublishedRow(grain, cells))
    con.close()
    published: Any = SimpleNamespace(check=lambda: None, rows=lambda: rows, digest="0" * 64, query="campaign_sessions")
    check_again(campaign, published)
    other = SimpleNamespace(check=lambda: None, rows=lambda: [PublishedRow({"run_id": "x"}, {})], digest="0" * 64, query="indicator_results")
    with pytest.raises(WarehouseError) as raised:
        advise_published(other, "speedy")
    assert raised.value.code == "WH502" and "indicator_results" in str(raised.value.place)
    with pytest.raises(WarehouseError, match="states no price"):
        advise_published(published, "speedy", slo="elapsed<=9", is_cheapest=True)
    of_others = [PublishedRow(row.grain, {name: replace(cell, runs=({"run_id": "gone"},)) for name, cell in row.cells.items()}) for row in rows]
    with pytest.raises(WarehouseError, match="does not have its run"):
        lock_of(campaign, advise_published(SimpleNamespace(check=lambda: None, rows=lambda: of_others), "speedy"))


def check_again(campaign: Project, publication: Any) -> None:
    """From a publication the advice is what it is from the build."""
    for name, more in (("speedy", {}), ("speedy", {"slo": "elapsed<=9"}), ("grouped", {})):
        published, built = advise_published(publication, name, **more), advise(campaign, name, **more)
        for again, work in zip(published.works, built.works, strict=True):
            assert (again.verdict, again.found.may_be_best, again.found.beaten_by) == (work.verdict, work.found.may_be_best, work.found.beaten_by)
            assert again.found.against.keys() == work.found.against.keys()
            for cell, against in again.found.against.items():
                assert (against.low, against.high) == pytest.approx((work.found.against[cell].low, work.found.against[cell].high))
            for cell, result in again.cells.items():
                assert result.typical == pytest.approx(work.cells[cell].typical) and result.unlike == work.cells[cell].unlike
                assert sorted(result.run_ids) == sorted(work.cells[cell].run_ids) and result.is_baseline == work.cells[cell].is_baseline
        assert (published.disturbances, published.added_sessions) == (built.disturbances, built.added_sessions)


def test_its_page_draws_every_failure_and_says_what_was_spent(campaign: Project) -> None:
    asking, key = client(campaign), quote(advise(campaign, "speedy").campaign)
    parts = {part["name"]: part for part in asking.get(f"/api/campaigns?campaign={key}").json()["parts"]}
    fates = Counter(row["status"] for row in parts["plan"]["rows"])
    assert fates == {"succeeded": 6, "failed": 5, "not built": 1, "not resolved": 1}
    beside = [row["beside"] for row in parts["plan"]["rows"] if row["cell"] == "c02"]
    assert len(beside) == 3 and all(1.05 < each < 1.2 for each in beside)  # the square root of 1.25
    assert [row["place"] for row in parts["stacks_1"]["rows"]] == ["best", "beaten by c02"]
    failed = {row["stack"]: (row["status"], row["runs"]) for row in parts["failed"]["rows"]}
    assert failed["speedy=1.2"] == ("failed", 1) and failed["speedy=9.9"] == ("not resolved", 1) and len(failed) == 7
    assert [item["value"] for item in parts["budget"]["items"]][:3] == [9, "6 of 13", "11"]
    assert [(row["package"], row["version"], row["listed"]) for row in parts["vulnerabilities"]["rows"]] == [("speedy", "1.1", "yes")]
    # Of several factors, the one that differs between cells names them.
    grouped = {part["name"]: part for part in asking.get(f"/api/campaigns?campaign=matrix/{made.MEASURED}").json()["parts"]}
    assert {row["stack"] for row in grouped["stacks_1"]["rows"]} == {"numpy=2.3.1", "numpy=2.1.3 (baseline)"}
    page = asking.get(f"/campaigns?campaign={key}").text
    assert page.count('class="cell odd"') == 7 and page.count('class="cell"') == 6
    assert 'href="/campaigns?campaign=matrix' in asking.get("/overview").text


def test_a_campaign_on_two_nodes_has_a_bundle_of_each_and_says_on_which_a_run_failed(campaign: Project) -> None:
    sql = sql_of(campaign)
    fates = sql("select factors->>'$.fate', status, status_reason, nodes from campaign_cell_fact where campaign_key like 'matrix/two-%' order by cell")
    assert fates == [
        ("runs", "succeeded", None, "node-a, node-b"), ("hangs", "failed", "ended by its limit of time on node-b", "node-a, node-b"),
        ("lost", "failed", "1 of 2 nodes left a recording", "node-a"),
    ]
    [(run, case, bundles)] = sql(
        "select run_id, benchmark_case_id, (select count(distinct artifact_manifest_digest) from recorded_node where run_id = run.run_id)"
        " from benchmark_run_fact as run where benchmark_case_id = 'two/PiTwo' and status = 'succeeded'"
    )
    assert (case, bundles) == ("two/PiTwo", 2)
    assert sql(f"select node_rank, node_name from node_sample where run_id = '{run}' group by all order by all") == [(0, "node-a"), (1, "node-b")]
    slices = f"select distinct node_name from telemetry_slice_fact where metric in ('cpu_util_pct', 'context_switch_count') and run_id = '{run}'"
    assert {node for node, in sql(slices)} >= {"node-a", "node-b"}
    topology = "select node_count, cpu_logical_count from hardware_topology_dim inner join benchmark_run_fact using (hardware_topology_key)"
    assert sql(f"{topology} where run_id = '{run}'") == [(2, os.cpu_count())]
    [(saturated, count)] = sql(f"select bool_or(is_host_saturated is null), count(*) from recorded_disturbance where run_id = '{run}'")
    assert (saturated, count) == (False, 1)


def test_the_ten_lines_of_the_page_run_as_they_stand(campaign: Project) -> None:
    said = json.loads((campaign.root.parent / "said.json").read_text())
    assert len(page_blocks()[0].splitlines()) <= 10
    assert "2 cells of 2 stacks, 3 sessions" in said[0] and "best: numpy=2.1.3" in said[-1]
    lock = campaign.root.parent / "pylock.best.toml"
    assert locked(lock.read_text())[0][:2] == ("numpy", "2.1.3")
    python = next((campaign.root / ".wh" / "environments").glob("*/bin/python"))
    sync = [find_uv_bin(), "pip", "sync", "--dry-run", "--no-config", "--python", str(python), str(lock)]
    assert "numpy==2.1.3" in subprocess.run(sync, capture_output=True, text=True, check=True).stderr


def test_a_lock_has_a_name_that_uv_takes(campaign: Project, tmp_path: Path, wh_on) -> None:
    status, _, err = wh_on(campaign, "advise", "speedy", "--lock", str(tmp_path / "best.toml"))
    assert status == ExitCode.USAGE and "pylock.NAME.toml" in err and not (tmp_path / "best.toml").exists()


@pytest.mark.exhaustive
@pytest.mark.usefixtures("ahead")
def test_a_colleague_runs_a_campaign_again_and_both_are_compared(campaign: Project, index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", index)
    done(campaign, "matrix", str(campaign.root.parent / "matmul.toml"), "--rerun", "berlin")
    done(campaign, "build")
    out = done(campaign, "compare", "campaign=matmul-*", "campaign=matmul.berlin-*", "--metric", "elapsed")
    assert "matmul-*: 6 runs" in out and re.search(r"campaign campaign: matmul-\w+ -> matmul\.berlin-\w+", out)


def test_a_run_of_a_campaign_is_not_recorded_again_without_its_stack(campaign: Project) -> None:
    with pytest.raises(WarehouseError) as raised:
        recorded(campaign, next(run for *_, run in cells(campaign) if run))
    assert raised.value.code == "WH401" and "campaign" in raised.value.message


def test_a_campaign_that_is_not_there_is_said_with_those_that_are(campaign: Project) -> None:
    with pytest.raises(WarehouseError) as raised:
        advise(campaign, "speedo")
    assert raised.value.code == "WH502" and "speedy-" in str(raised.value.hint)


@pytest.mark.parametrize(("kills", "sessions"), [(1, 1), pytest.param(20, 3, marks=pytest.mark.exhaustive)])
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
    slots = [json.loads(path.read_text())["slot"] for path in project.store_root.rglob("slot.json")]
    assert sorted(slots) == sorted(f"s{session:02d}-r01-{cell}" for cell in ("c01", "c02") for session in range(1, sessions + 1))
    statuses = [json.loads(path.read_text())["status"] for path in project.store_root.rglob("run-01/run.json")]
    assert statuses == ["succeeded"] * 2 * sessions
    assert [str(finding) for finding in check_store(project, Scope()).findings if finding.kind != LEFTOVER] == []

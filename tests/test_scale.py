"""Builds by tasks: the same tables as the build itself makes, whatever runs the tasks and whatever dies meanwhile."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from conftest import WhOn
from samples.partitioned import PARTITIONED, add_files, partitioned_project
from short_of_memory import ShortOfMemory

from warehouse.claims.numbers.cell_rows import cell_rows
from warehouse.claims.numbers.lineage import lineage
from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.run_decisions import RETRACTION, decide
from warehouse.evidence.objects.location import open_store
from warehouse.landing.parse.batches import batch_name
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.scale.choice import partitioned_models
from warehouse.scale.cohorts import Arrived, cohorts
from warehouse.scale.drive import Distribution, Work, landed, place_of
from warehouse.scale.engines.file import FileExecutor, run_slice
from warehouse.scale.engines.local import LocalExecutor
from warehouse.scale.engines.ray import RayExecutor, check_token
from warehouse.scale.engines.spark import SparkExecutor
from warehouse.scale.task import Executor, Part, Place, Receipt, Result, Task, TaskFailed
from warehouse.scale.worker import run
from warehouse.trace import landing_rows
from warehouse.trace.catalog import open_trace_session
from warehouse.trace.tracing import trace
from warehouse.transform.build.build import build, gather_material
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.exchange import pull_build, push_build
from warehouse.transform.finished.query import open_build, run_query

REPOSITORY = Path(__file__).parents[1]


DRIVER = """
import sys
from pathlib import Path
import warehouse.transform.project.model_files as model_files
from test_scale import _Every
from warehouse.project.project import read_project
from warehouse.scale.drive import Distribution, place_of
from warehouse.scale.engines.local import LocalExecutor
from warehouse.transform.build.build import build
model_files.standard_folder = _Every
project = read_project(Path(sys.argv[1]))
build(project, elsewhere=Distribution(project, LocalExecutor(place_of(project), 1)))
"""


class InThisProcess:
    """Runs tasks one after another, each twice, as an engine may."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        for task in [*tasks, *tasks]:
            yield run(self.place, task)


@pytest.fixture(autouse=True)
def _own_models_are_standard(monkeypatch: pytest.MonkeyPatch, odd_evidence: None) -> None:
    """Rows that break a test of the project's own models are left out."""
    monkeypatch.setattr("warehouse.transform.project.model_files.standard_folder", lambda: _Every())


class _Every:
    """The folder of every project, as far as `layer == folder / kind` asks."""

    def __truediv__(self, kind: str) -> _Every:
        return self

    def __eq__(self, other: object) -> bool:
        return True


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project before anything is built."""
    root = tmp_path_factory.mktemp("plain") / "project"
    partitioned_project(root)
    return root


def copy_of(plain: Path, to: Path) -> Project:
    shutil.copytree(plain, to, symlinks=True)
    return read_project(to)


def built_by(project: Project, executor: Executor) -> tuple[list[Work], set[str]]:
    """What the work was, and the models that were taken from parts."""
    work: list[Work] = []
    distribution = Distribution(project, executor, work.append)
    assert not build(project, elsewhere=distribution).damaged
    made = distribution.tables(open_store(project), gather_material(project))
    return [found for found in work if found.done == found.total], set(made.tables)


def tables(project: Project) -> dict[str, list[tuple]]:
    con = open_build(current_build(project).path)
    try:
        names = [name for (name,) in con.execute("select schema_name || '.' || name from catalog.model").fetchall()]
        return {name: con.execute(f"select * from {name}").fetchall() for name in names}
    finally:
        con.close()


def in_order(project: Project, sql: str) -> list[tuple]:
    with run_query(current_build(project).path, f"select * from ({sql}) order by all") as result:
        return result.fetchall()


@pytest.fixture
def expected(plain: Path) -> dict[str, list[tuple]]:
    """What the build itself makes."""
    root = plain.with_name("expected")
    if not root.exists():
        build(copy_of(plain, root))
    return tables(read_project(root))


def _engine(name: str, place: Place) -> Executor:
    if name in ("ray", "spark"):
        if importlib.util.find_spec("pyspark" if name == "spark" else name) is None:
            pytest.skip(f"the extra {name} is not installed")  # an engine of 900 MB: no part of the tests' own requirements
        return RayExecutor(place) if name == "ray" else SparkExecutor(place)
    return LocalExecutor(place, 2) if name == "local" else InThisProcess(place)


@pytest.mark.parametrize(
    "engine", ["this process", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("local", "ray", "spark"))]
)
def test_every_engine_makes_the_tables_that_a_build_makes(
    engine: str, plain: Path, expected: dict[str, list[tuple]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{REPOSITORY}")
    project = copy_of(plain, tmp_path / "project")
    work, from_parts = built_by(project, _engine(engine, place_of(project)))
    assert tables(project) == expected
    assert from_parts == PARTITIONED
    assert [row for row in expected["main.left_out"] if row[0] == "main.kept"]  # tests left rows out on a partition
    assert work[1].kind == "model" and work[1].total > 5
    assert list(check_store(project, Scope()).findings) == []


def test_a_night_rewrites_the_partitions_that_it_touches(plain: Path, tmp_path: Path) -> None:
    project = copy_of(plain, tmp_path / "project")
    [_, before, _], _ = built_by(project, InThisProcess(place_of(project)))
    add_files(project.root, range(40, 43))
    [_, after, again], _ = built_by(project, InThisProcess(place_of(project)))
    [(action, keys)] = in_order(project, "select action, keys from catalog.model_result where model = 'main.kept'")
    assert action == "update" and 3 <= keys < 25
    assert after.found >= before.total - 1 and after.total - after.found <= 3
    assert again.found == again.total  # receipts of an earlier build
    by_parts = in_order(project, "from kept"), in_order(project, "from rank"), in_order(project, "from left_out")
    shutil.rmtree(project.builds)
    build(project)
    assert (in_order(project, "from kept"), in_order(project, "from rank"), in_order(project, "from left_out")) == by_parts


def test_a_worker_that_is_killed_costs_its_task(tmp_path: Path, expected: dict[str, list[tuple]]) -> None:
    mark = tmp_path / "mark"
    project = partitioned_project(tmp_path / "project", mark=mark)
    mark.touch()
    built_by(project, LocalExecutor(place_of(project), 2))
    assert not mark.exists() and tables(project) == expected


@pytest.mark.exhaustive
def test_a_driver_that_is_killed_leaves_receipts_to_the_next(plain: Path, expected: dict[str, list[tuple]], tmp_path: Path) -> None:
    project = copy_of(plain, tmp_path / "project")
    path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests")])
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(project.root)], env={**os.environ, "PYTHONPATH": path})
    deadline = time.monotonic() + 60
    while len(list(project.store_root.glob("receipts/*/*.json"))) < 3:
        assert time.monotonic() < deadline and driver.poll() is None
        time.sleep(0.01)  # until three receipts are there
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    there = len(list(project.store_root.glob("receipts/*/*.json")))
    work, _ = built_by(project, InThisProcess(place_of(project)))
    assert sum(found.found for found in work[:2]) >= min(there, 3) and tables(project) == expected


def test_tasks_in_a_file_are_run_in_slices(plain: Path, expected: dict[str, list[tuple]], tmp_path: Path) -> None:
    project, file = copy_of(plain, tmp_path / "project"), tmp_path / "tasks.jsonl"
    executor = FileExecutor(place_of(project), file)
    for _ in ("parse", "model"):
        with pytest.raises(WarehouseError, match="WH254"):
            build(project, elsewhere=Distribution(project, executor))
        done = [result for index in range(3) for _, result in run_slice(file, index, 3)]
        assert done and all(isinstance(result, Receipt) for result in done)
    build(project, elsewhere=Distribution(project, executor))
    assert tables(project) == expected


def test_a_worker_of_other_versions_refuses(tmp_path: Path) -> None:
    failed = run(Place(tmp_path), Task("model", "partition 1", {"wh": "0.0.1"}))
    assert isinstance(failed, TaskFailed) and failed.fault.code == "WH252" and "0.0.1 in the build" in failed.fault.message


def test_a_fault_of_a_model_is_told_as_a_build_tells_it(plain: Path, tmp_path: Path) -> None:
    project = copy_of(plain, tmp_path / "project")
    (project.root / "models/file.sql").write_text("select artifact_manifest_digest, error('no ' || max(run_id)) as x from sample group by all")
    with pytest.raises(WarehouseError, match="WH209 models/file.sql:1:1: no g"):
        build(project, elsewhere=Distribution(project, InThisProcess(place_of(project))))


def test_gc_removes_work_that_no_kept_build_took(plain: Path, tmp_path: Path, wh_on: WhOn) -> None:
    project = copy_of(plain, tmp_path / "project")
    built_by(project, InThisProcess(place_of(project)))
    store = open_store(project)
    stray = "tables/main.total/" + "0" * 64 + ".parquet"
    store.objects.create(stray, b"left by a worker that was killed before its receipt")
    kinds = {(finding.kind, finding.key) for finding in check_store(project, Scope()).findings}
    assert kinds == {("altered", stray)}
    assert wh_on(project, "gc", "--apply", "--grace", "0")[0] == ExitCode.OK
    [work], _ = built_by(project, InThisProcess(place_of(project)))
    assert work.found == work.total and not store.objects.exists(stray)  # what the build took is still there
    lost = sorted(project.store_root.glob("tables/main.total/*.parquet"))[0]
    lost.unlink()
    assert [finding.kind for finding in check_store(project, Scope()).findings] == ["missing"]
    wh_on(project, "gc", "--apply", "--grace", "0")
    [work], _ = built_by(project, InThisProcess(place_of(project)))
    assert work.total - work.found == 1 and lost.exists()


def test_models_that_partitions_would_change_are_left_to_the_build(plain: Path, tmp_path: Path) -> None:
    project = copy_of(plain, tmp_path / "project")
    assert set(partitioned_models(gather_material(project))) == PARTITIONED | {"of_group", "above"}  # of these two, keys are shared


# Of each, the rows of a run depend on other runs, or the engine might add floats otherwise over a few runs than over all.
NOT_LOCAL = {
    "numbered": "select run_id, step, row_number() over (order by seconds, run_id, step) as place from kept",
    "numbered_in_run": "select run_id, step, row_number() over (partition by run_id order by seconds, step) as place from kept",
    "neighbour": "select run_id, step, lag(seconds) over (order by run_id, step) as before from kept",
    "quarter": "select run_id, ntile(4) over (order by total_ms, run_id) as quarter from total",
    "share": "select run_id, step, seconds / max(seconds) over () as share from kept",
    "above_median": "select run_id, step from kept where seconds > (select median(seconds) from sample)",
    "same_step": "select a.run_id, count(*) as n from kept as a join kept as b on a.step = b.step and a.run_id <> b.run_id group by a.run_id",
    "pair": "select a.run_id, b.run_id as other from total as a cross join total as b",
    "longer": "select run_id, (select count(*) from total as t where t.total_ms > o.total_ms) as n from total as o",
    "first_of_step": "select distinct on (step) step, run_id from kept order by step, seconds, run_id",
    "least_of_step": "select step, min(run_id) as run_id from kept group by step",
    "best_of_step": "select run_id, step from kept qualify row_number() over (partition by step order by seconds, run_id) = 1",
    "top": "select run_id, total_ms from total order by total_ms desc, run_id limit 10",
    "subtotal": "select run_id, step, count(*) as n from kept group by rollup (run_id, step)",
    "alone": "select run_id, step from kept as k where not exists (select 1 from kept as o where o.seconds = k.seconds and o.run_id <> k.run_id)",
    "before_it": "select a.run_id, b.run_id as before from total as a asof join total as b on a.total_ms > b.total_ms",
    "but_first": "select run_id from total except select min(run_id) from total",
    "chained": (
        "with recursive chain as (select min(run_id) as run_id, 1 as n from total union all"
        " select (select min(run_id) from total as t where t.run_id > c.run_id), n + 1 from chain as c where n < 5) select * from chain"
    ),
    "one_key": "select 'every' as run_id, count(*) as n from sample",
    "shared_key": "select left(run_id, 2) as run_id, max(seconds) as longest from sample group by all",
    "of_shared_key": "select run_id, longest * 2 as twice from shared_key",
    "file_by_step": "select s.artifact_manifest_digest, max(k.seconds) as longest from sample as s join kept as k using (step) group by all",
    "placed": "/*\nmaterialized: view\n*/\nselect run_id, rank() over (order by total_ms) as place from total",
    "over_view": "select run_id, place from placed where place < 20",
    "in_pieces": "select run_id, sum(seconds) as seconds, list(step order by step) as steps from kept group by run_id",
    "joined": "select a.run_id, sum(a.seconds * b.seconds) as seconds from kept as a join kept as b using (run_id) group by a.run_id",
}


def test_models_that_are_not_local_are_made_afterwards(plain: Path, tmp_path: Path) -> None:
    whole, project = copy_of(plain, tmp_path / "whole"), copy_of(plain, tmp_path / "project")
    for one in (whole, project):
        for name, sql in NOT_LOCAL.items():
            (one.root / f"models/{name}.sql").write_text(sql)
    build(whole)
    _, taken = built_by(project, InThisProcess(place_of(project)))
    assert taken == PARTITIONED and tables(project) == tables(whole)
    assert all(tables(whole)[f"main.{name}"] for name in NOT_LOCAL)
    for one in (whole, project):
        add_files(one.root, range(40, 43))
    build(whole)
    assert built_by(project, InThisProcess(place_of(project)))[1] == PARTITIONED and tables(project) == tables(whole)


def test_a_decision_on_a_run_is_work_for_its_partition(plain: Path, tmp_path: Path) -> None:
    project = copy_of(plain, tmp_path / "project")
    (project.root / "models/admitted.sql").write_text(
        "select run_id, count(*) as rows, max(d.state) as state from kept left join run_decision d using (run_id) group by run_id"
    )
    built_by(project, InThisProcess(place_of(project)))
    for retracted in ("g1-004", "g0-039"):
        decide(open_store(project).objects, RETRACTION, retracted, "a fan was loud")
        work, taken = built_by(project, InThisProcess(place_of(project)))
        assert [found.total - found.found for found in work] == [1, 0] and "admitted" in taken
    by_parts = in_order(project, "from admitted"), tables(project)["main.admitted"]
    shutil.rmtree(project.builds)
    build(project)
    assert (in_order(project, "from admitted"), tables(project)["main.admitted"]) == by_parts
    assert [row[0] for row in by_parts[0] if row[2]] == ["g0-039", "g1-004"]


def test_an_unknown_engine_is_refused(plain: Path, tmp_path: Path, wh_on: WhOn) -> None:
    project = copy_of(plain, tmp_path / "project")
    status, _, err = wh_on(project, "build", "--engine", "sprak")
    assert status == ExitCode.USAGE and "did you mean spark?" in err


def test_a_ray_cluster_of_other_machines_needs_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    for address in ("", "127.0.0.1:6379", "ray://localhost:10001"):
        check_token(address)
    for address in ("10.0.0.5:6379", "ray://127.example.com:10001", "auto"):
        with pytest.raises(WarehouseError, match="WH253"):
            check_token(address)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    check_token("10.0.0.5:6379")


# --- tables that stay in parts ----------------------------------------------------------------------------------

QUERY = "/*\ngrain: [run_id]\ncolumns:\n  run_id: {type: varchar}\n  total_ms: {type: double, unit: ms}\n*/\nselect run_id, total_ms from total"


def asking(plain: Path, to: Path, more: str = "") -> Project:
    """A copy of the project with a query, and more in its file."""
    project = copy_of(plain, to)
    (to / "queries/slowest.sql").write_text(QUERY)
    for name in ("above", "of_group"):  # which would read the samples whole
        (to / f"models/{name}.sql").unlink()
    with (to / "warehouse.toml").open("a") as file:
        file.write(more)
    return read_project(project.root)


@pytest.fixture
def whole(plain: Path) -> Project:
    """The same, built without parts."""
    root = plain.with_name("whole")
    if not root.exists():
        build(asking(plain, root))
    return read_project(root)


def rows_of_all(project: Project) -> dict[str, list[tuple]]:
    return {name: in_order(project, f"from {name}") for name in ("kept", "total", "file", "rank", "left_out", "slowest")}


def brought(project: Project, *names: str, is_short: bool = False) -> list[list[tuple]]:
    """The rows of some tables that come in for a trace, which `is_short` of memory again and again."""
    con, catalog = open_trace_session(current_build(project), project.store_root, is_of_cell=True)
    for rows in (catalog.parts, catalog.landing) if is_short else ():
        if rows:
            rows._con = ShortOfMemory(con)
    while True:
        with suppress(duckdb.OutOfMemoryException):
            trace(con, catalog, "slowest", ["total_ms"], [0])
            break
    found = [con.execute(f"select run_id, * from {name}").fetchall() for name in names]
    con.close()
    return found


def test_a_large_table_stays_in_parts_and_answers_alike(plain: Path, whole: Project, tmp_path: Path, wh_on: WhOn) -> None:
    project = asking(plain, tmp_path / "first", 'table = "1KB"\n')
    built_by(project, InThisProcess(place_of(project)))
    assert set(current_build(project).parts) == {"main.kept", "main.file"}  # `rank` reads `total` whole
    project = read_project(project.root.rename(tmp_path / "moved"))
    assert rows_of_all(project) == rows_of_all(whole)
    assert list(check_store(project, Scope()).findings) == []
    with run_query(current_build(project).path, "select number_ids from slowest order by run_id") as result:
        number = str(result.fetchone()).split("'")[-2]
    other, reader = (init_project(tmp_path / name, bare=True) for name in ("other", "reader"))
    push_build(current_build(project), open_store(other))
    assert list(check_store(other, Scope()).findings) == []
    pull_build(reader, open_store(other).objects, "")
    assert rows_of_all(reader) == rows_of_all(whole)
    ours, theirs = lineage(project, number), lineage(whole, number)
    assert ours.runs == theirs.runs and [file.ranges for file in ours.raw_files] == [file.ranges for file in theirs.raw_files] != []
    ours_read, theirs_read = cell_rows(project, ours), cell_rows(whole, theirs)
    assert ours_read and theirs_read and ours_read.tables == theirs_read.tables
    of_kept, of_landing = brought(project, "kept", "sample")
    assert len({run for run, *_ in of_kept}) == 1 and len({run for run, *_ in of_landing}) < 10  # of landing files that two keys lead to, whole ones
    assert brought(project, "kept", "sample", is_short=True) == [of_kept, of_landing]
    part = sorted(project.builds.glob("parts/main.kept/*"))[0]
    in_store = project.store_root / f"tables/main.kept/{part.name}"  # of the same bytes, and no part of the build
    with pytest.raises(WarehouseError, match="WH213"), run_query(current_build(project).path, f"from read_parquet('{in_store}')"):
        pass
    part.chmod(0o644)
    part.write_bytes(b"altered")
    assert "altered" in {finding.kind for finding in check_store(project, Scope()).findings}


def test_of_a_large_landing_table_a_cell_reads_the_rows_of_its_key(whole: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with run_query(current_build(whole).path, "select number_ids from slowest order by run_id") as result:
        number = str(result.fetchone()).split("'")[-2]

    def found() -> tuple[object, ...]:
        told = lineage(whole, number)
        return told, cell_rows(whole, told)

    small = found()
    monkeypatch.setattr(landing_rows, "_LARGE", 1)
    assert found() == small
    con, catalog = open_trace_session(current_build(whole), whole.store_root, is_of_cell=True)
    for _ in range(2):  # a second time, as when memory ran out
        trace(con, catalog, "slowest", ["total_ms"], [0])
    assert con.execute("select count(distinct run_id) from sample").fetchone() == (1,)
    assert catalog.landing
    catalog.landing.open(["sample"])  # by a model that does not read it by key
    assert con.execute("select count(distinct run_id) from sample").fetchone() == (40,)
    con.close()


def test_builds_share_parts_and_a_build_without_tasks_takes_them_in(plain: Path, tmp_path: Path) -> None:
    project = asking(plain, tmp_path / "project", 'table = "1KB"\n')
    built_by(project, InThisProcess(place_of(project)))
    before = current_build(project)
    add_files(project.root, range(40, 43))
    built_by(project, InThisProcess(place_of(project)))
    after = current_build(project)
    gone, come = (set(one.parts["main.kept"]) - set(other.parts["main.kept"]) for one, other in ((before, after), (after, before)))
    assert len(gone) <= 2 and 1 <= len(come) <= 3
    whole = asking(plain, tmp_path / "whole")
    add_files(whole.root, range(40, 43))
    for one in (project, whole):
        (one.root / "models/every.sql").write_text("select count(*) as n, string_agg(run_id) as runs from kept")
        build(one)
    assert rows_of_all(project) == rows_of_all(whole) and in_order(project, "from every") == in_order(whole, "from every")
    assert set(current_build(project).parts) == {"main.file"}
    add_files(project.root, range(43, 44))
    build(project)
    assert not current_build(project).parts and len(in_order(project, "from file")) == 44


# --- cohorts ----------------------------------------------------------------------------------------------------


def arrived(count: int, size: int = 10) -> list[Arrived]:
    return [Arrived(bytes_digest(f"{number}".encode()), f"{number:05}", size) for number in range(count)]


def test_later_bundles_move_no_cut_between_earlier_ones() -> None:
    before, after = cohorts(arrived(1000), [], 500), cohorts(arrived(1010), [], 500)
    assert len(set(before) - set(after)) == 1 and 10 < len(before) < 60  # the last one, which is small
    assert len((set(before) - set(after)).pop()) < 20
    assert sorted(digest for part in after for digest in part) == sorted(bundle.digest for bundle in arrived(1010))


def test_late_evidence_of_a_run_goes_to_the_partition_of_the_run() -> None:
    bundles = arrived(1000)
    late, run = replace(bundles[-1], digest="f" * 64), bundles[100].digest
    before = cohorts(bundles, [], 500)
    after = cohorts([*bundles, late], [(run, "run"), (late.digest, "run")], 500)
    [changed] = [part for part in after if late.digest in part]
    assert run in changed
    assert len(set(before) ^ set(after)) <= 4  # its own partition, and at most the next cut


def test_a_receipt_that_is_not_of_its_task_is_refused(tmp_path: Path) -> None:
    store = open_store(init_project(tmp_path / "project", bare=True))
    task = Task("parse", "one bundle", {}, ("a" * 64,), family="notes", parser="notes 1")
    name = batch_name("notes", "notes 1", task.bundles)
    forged = [
        Receipt(task.digest, batch="../../escaped", bundles=task.bundles), Receipt(task.digest, batch=name, bundles=("b" * 64,)),
        Receipt(task.digest, (Part("../escaped", "c" * 64, 1, 1),), batch=name, bundles=task.bundles),
    ]
    for receipt in forged:
        with pytest.raises(WarehouseError, match="WH105"):
            landed(store, task, receipt)

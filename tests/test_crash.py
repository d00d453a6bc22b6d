"""Killed at any moment, nothing is half there: `wh ingest` and `wh build` against SIGKILL, and against each other."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest
from exhaustive import few
from from_nothing import tables_unlike_from_nothing
from processes import killed_after
from samples import mlperf_inference as sample
from stored import root_of

from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import EvidenceStore
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.making import init_project
from warehouse.project.project import Project

REPOSITORY = Path(__file__).resolve().parents[1]
SUBMITTERS, SCENARIOS = 4, 5
POINTS = 12  # moments of a kill, spread over a whole run's measured time
UPDATES = 30  # the same in builds that update by key

NOTES = """
import os
import signal
import pyarrow as pa
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.rows import RowBuffer, landing_schema

class Notes:
    name = "notes"
    version = 1
    tables = {"notes": landing_schema(pa.field("text", pa.string(), nullable=False))}

    def bundles(self, tree):
        for path, file in tree.files.items():
            yield BundleDraft((DraftFile(path, file),))

    def parse(self, bundle):
        for path in bundle.manifest.by_path:
            buffer = RowBuffer(self.tables, bundle.digest)
            for number, line in enumerate(bundle.read(path).decode().splitlines()):
                if line == os.environ.get("NOTE_THAT_KILLS"):
                    os.kill(os.getpid(), signal.SIGKILL)
                buffer.add("notes", path, number, len(line), text=line)
            yield from buffer.rest()

INGESTOR = Notes()
"""
MODELS = {
    "facts/note_fact.sql": "select raw_path, text from notes",
    # Enough to write that a kill can come in the middle of it.
    "facts/padding_fact.sql": "select n, text, md5(n || text) as padding from note_fact, range(3000) as numbers (n)",
    "marts/note_count.sql": "select count(distinct raw_path) as notes, count(*) as lines from note_fact",
}


UPDATED = {
    "facts/note_fact.sql": "select artifact_manifest_digest, raw_path, text from notes",
    "facts/padding_fact.sql": "select artifact_manifest_digest, text, n, (hash(n, text) % 977) / 7.0e0 as w from note_fact, range(3000) as numbers (n)",
    "facts/weight_fact.sql": "select artifact_manifest_digest, text, sum(w) as w from padding_fact group by all",
    "marts/note_count.sql": "select count(distinct raw_path) as notes, count(*) as lines from note_fact",
    "marts/weight.sql": "select text, sum(w) as w from padding_fact group by text",
}


def wh(project: Project, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def done(project: Project, *arguments: str | Path) -> str:
    """Run a command that must succeed; what it printed."""
    process = wh(project, *arguments)
    out, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.OK, err
    return out


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Until something that `process` does has happened."""
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)  # between looks; what is awaited is the condition


def seconds_of(process: subprocess.Popen[str], has_begun: Callable[[], bool]) -> float:
    """How long a command that must succeed works, from the first thing that it does to the disk: before that it mostly
    imports, and a kill there proves nothing."""
    wait_until(has_begun, process)
    started = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.OK, err
    return time.monotonic() - started


def moment(point: int, seconds: float, points: int = POINTS) -> float:
    """A moment in the `point`th part of a run, the same in every session."""
    return seconds * (point + random.Random(point).random()) / points


def hashes(folder: Path) -> set[str]:
    return {bytes_digest(path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def whole_hashes(store: EvidenceStore) -> set[str]:
    """sha256 of all files of all visible bundles; fails when one of them is not whole."""
    found = set()
    for digest in store.digests():
        for file in store.manifest(digest).files:
            store.check_file(digest, file)
            found.add(file.sha256)
    return found


def staged(store: EvidenceStore) -> list[str]:
    """What lies in the staging area, but for the lock of its door."""
    return sorted(path.name for path in (root_of(store) / "incoming").glob("*") if path.name != ".lock")


# -- wh ingest ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evidence")
    for number in range(SUBMITTERS):
        sample.write_submission(folder, submitter=f"Submitter{number}")
    sample.write(folder / "blob.bin", bytes(range(256)) * 4096 * 8)
    return folder


@pytest.fixture(scope="module")
def ingest_seconds(evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> float:
    projects = [init_project(tmp_path_factory.mktemp("measured") / "project") for _ in range(2)]
    return min(seconds_of(wh(project, "ingest", evidence), project.store_root.exists) for project in projects)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return init_project(tmp_path / "project")


def complete_the_ingest(project: Project, evidence: Path) -> None:
    store = open_store(project)
    done(project, "ingest", evidence)
    assert len(store.digests()) == SUBMITTERS * SCENARIOS + 1
    assert whole_hashes(store) == hashes(evidence)
    ledger = Ledger(store.objects)
    assert (sorted(ledger.arrivals()), ledger.damaged) == (store.digests(), [])
    assert staged(store) == []
    assert list(check_store(project, Scope()).findings) == []


@pytest.mark.parametrize("point", few(range(POINTS), 1))
def test_an_ingest_killed_at_any_moment_leaves_whole_bundles_and_the_next_completes_it(
    project: Project, evidence: Path, ingest_seconds: float, point: int
) -> None:
    process = wh(project, "ingest", evidence)
    wait_until(project.store_root.exists, process)
    killed_after(process, moment(point, ingest_seconds))
    assert whole_hashes(open_store(project)) <= hashes(evidence)
    complete_the_ingest(project, evidence)


KILLED = """
import os, signal, sys
from warehouse.cli.main import run
left, part, link = int(sys.argv.pop(1)), sys.argv.pop(1), os.link

def counted(source, target):
    global left
    left -= part in str(target)
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    link(source, target)

os.link = counted
run()
"""


@pytest.mark.parametrize("among", few(["/ledger/", "/manifest.json", "/files/"], 1))
def test_an_ingest_killed_among_the_names_that_it_gives_leaves_whole_bundles_and_the_next_completes_it(
    project: Project, evidence: Path, among: str
) -> None:
    store, bundles = open_store(project), SUBMITTERS * SCENARIOS + 1
    command = [sys.executable, "-c", KILLED, "10", among, "--project", str(project.root), "ingest", str(evidence)]
    killed = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(store.digests()) == {"/files/": 0, "/manifest.json": 10, "/ledger/": bundles}[among]
    assert len(Ledger(store.objects).arrivals()) == (10 if among == "/ledger/" else 0)
    assert whole_hashes(store) <= hashes(evidence)
    complete_the_ingest(project, evidence)


@pytest.mark.exhaustive  # a kill at one moment, and one among the bundles, always run
def test_an_ingest_killed_again_and_again_gets_there(project: Project, evidence: Path, ingest_seconds: float) -> None:
    store = open_store(project)
    for point in range(1, POINTS, 3):
        left = set(staged(store))
        process = wh(project, "ingest", evidence)
        wait_until(lambda left=left: bool(staged(store)) and left.isdisjoint(staged(store)), process)
        killed_after(process, moment(point, ingest_seconds))
        whole_hashes(store)
    complete_the_ingest(project, evidence)


def test_ingests_at_once_store_everything_once(project: Project, evidence: Path) -> None:
    processes = [wh(project, "ingest", evidence) for _ in range(3)]
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [ExitCode.OK] * 3, errors
    complete_the_ingest(project, evidence)
    assert not list((project.store_root / "raw").rglob("*.damaged-*"))


# -- wh build -----------------------------------------------------------------------------------------------------


@dataclass
class Reader:
    """Asks the current build again and again as any DuckDB client would: the pointer, read-only, no library of ours."""

    pointer: Path
    seen: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def ask(self) -> int:
        with duckdb.connect(str(self.pointer), read_only=True) as connection:
            [(notes,)] = connection.execute("select notes from mart.note_count").fetchall()
            return notes

    @contextmanager
    def asking(self) -> Iterator[None]:
        over = threading.Event()

        def run() -> None:
            is_last = False
            while not is_last:
                is_last = over.wait(0.01)  # however busy the machine is, one asks after all is done
                try:
                    self.seen.append(self.ask())
                except duckdb.Error as error:
                    self.faults.append(str(error))

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@dataclass
class Warehouse:
    """A small project with a first good build."""

    project: Project
    notes: int = 0

    def add_note(self) -> None:
        """Bring in one more file of evidence, which the next build must show."""
        self.notes += 1
        note = self.project.root / "evidence" / f"{self.notes}.txt"
        sample.write(note, "".join(f"note {self.notes} line {line}\n" for line in range(10)))
        ingest(plan_ingest(note, load_ingestors(self.project).values()), open_store(self.project), "here")

    @property
    def reader(self) -> Reader:
        return Reader(self.project.builds / "current.duckdb")


def holder(warehouse: Warehouse) -> str:
    return (warehouse.project.builds / ".lock").read_text()


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    project = init_project(tmp_path_factory.mktemp("warehouse"), bare=True)
    (project.root / "ingest" / "notes.py").write_text(NOTES)
    for path, text in MODELS.items():
        sample.write(project.root / "models" / path, text)
    warehouse = Warehouse(project)
    warehouse.add_note()
    done(project, "build")
    return warehouse


@pytest.fixture(scope="module")
def build_seconds(warehouse: Warehouse) -> float:
    times = []
    for _ in range(2):
        warehouse.add_note()
        process = wh(warehouse.project, "build")
        times.append(seconds_of(process, lambda pid=str(process.pid): holder(warehouse) == pid))
    return min(times)


def complete_the_build(warehouse: Warehouse) -> None:
    builds, landing = warehouse.project.builds, warehouse.project.store_root / "landing"
    done(warehouse.project, "build")
    assert warehouse.reader.ask() == warehouse.notes
    names = sorted(path.name for path in builds.iterdir())
    expected = re.compile(r"current\.duckdb|\.(checked|project)\.json|\.listing|\.lock|wh-[0-9a-f]{32}\.(duckdb|json)")
    assert [name for name in names if not expected.fullmatch(name)] == []
    databases, records = (
        {name.removesuffix(suffix) for name in names if name.startswith("wh-") and name.endswith(suffix)}
        for suffix in (".duckdb", ".json")
    )
    assert records <= databases, "a record without its database would stay for ever"
    # One more when the kill came between the switch and the pruning: the next build that builds removes it.
    assert len(databases) <= warehouse.project.kept_builds + 1
    assert [path for path in landing.rglob("*") if path.is_file() and path.suffix not in (".json", ".parquet")] == []
    assert staged(open_store(warehouse.project)) == []


@pytest.mark.parametrize("point", few(range(POINTS), 1))
def test_a_build_killed_at_any_moment_leaves_the_last_good_one_and_the_next_completes_it(
    warehouse: Warehouse, build_seconds: float, point: int
) -> None:
    reader, before = warehouse.reader, warehouse.notes
    assert reader.ask() == before
    warehouse.add_note()
    with duckdb.connect(str(reader.pointer.resolve()), read_only=True) as patient, reader.asking():
        process = wh(warehouse.project, "build")
        wait_until(lambda: holder(warehouse) == str(process.pid), process)
        killed_after(process, moment(point, build_seconds))
        assert patient.execute("select notes from mart.note_count").fetchall() == [(before,)]
    assert reader.faults == []
    assert reader.seen and reader.seen == sorted(reader.seen) and set(reader.seen) <= {before, warehouse.notes}
    with reader.asking():
        complete_the_build(warehouse)
    assert reader.faults == []
    assert reader.seen == sorted(reader.seen) and reader.seen[-1] == warehouse.notes


@pytest.fixture(scope="module")
def updated(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """One whose tables are updated by bundle."""
    project = init_project(tmp_path_factory.mktemp("updated"), bare=True)
    (project.root / "ingest" / "notes.py").write_text(NOTES)
    for path, text in UPDATED.items():
        sample.write(project.root / "models" / path, text)
    warehouse = Warehouse(project)
    for _ in range(4):
        warehouse.add_note()
    done(project, "build")
    return warehouse


@pytest.mark.parametrize("point", few(range(UPDATES), 1))
def test_an_update_killed_at_any_moment_is_made_good_by_the_next_build(updated: Warehouse, build_seconds: float, tmp_path: Path, point: int) -> None:
    updated.add_note()
    process = wh(updated.project, "build")
    wait_until(lambda: holder(updated) == str(process.pid), process)
    killed_after(process, moment(point, build_seconds, UPDATES))
    done(updated.project, "build")
    assert updated.reader.ask() == updated.notes
    assert tables_unlike_from_nothing(updated.project, tmp_path) == []
    updated.add_note()
    made = {model["name"]: model["action"] for model in json.loads(done(updated.project, "build", "--json"))["models"]}
    assert made["main.padding_fact"] == "update"


@contextmanager
def stopped(process: subprocess.Popen[str]) -> Iterator[None]:
    """Hold a process still."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def shadows(warehouse: Warehouse) -> list[Path]:
    return list(warehouse.project.builds.glob(".shadow.duckdb"))


def test_a_build_killed_while_it_parses_leaves_the_last_good_one(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = warehouse.reader.ask()
    warehouse.add_note()
    warehouse.add_note()
    with monkeypatch.context() as patched:
        patched.setenv("NOTE_THAT_KILLS", f"note {warehouse.notes} line 5")
        process = wh(warehouse.project, "build")
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert warehouse.reader.ask() == before
    complete_the_build(warehouse)


def test_a_build_killed_while_it_fills_its_shadow_leaves_the_last_good_one(warehouse: Warehouse) -> None:
    before = warehouse.reader.ask()
    warehouse.add_note()
    process = wh(warehouse.project, "build")
    wait_until(lambda: bool(shadows(warehouse)), process)
    assert killed_after(process, 0)
    assert shadows(warehouse), "a killed process tidies nothing"
    assert warehouse.reader.ask() == before
    complete_the_build(warehouse)


def test_a_build_killed_when_its_database_has_its_name_leaves_a_good_one(warehouse: Warehouse) -> None:
    before = warehouse.reader.ask()
    warehouse.add_note()
    databases = set(warehouse.project.builds.glob("wh-*.duckdb"))
    process = wh(warehouse.project, "build")
    wait_until(lambda: not databases >= set(warehouse.project.builds.glob("wh-*.duckdb")), process)
    killed_after(process, 0)
    assert warehouse.reader.ask() in (before, warehouse.notes)
    complete_the_build(warehouse)


def test_a_dead_builds_spilled_tables_are_removed(warehouse: Warehouse) -> None:
    # DuckDB spills what does not fit into memory to a folder beside its database.
    spilled = warehouse.project.builds / ".shadow.duckdb.tmp"
    sample.write(spilled / "duckdb_temp_storage-0.tmp", b"half a table")
    warehouse.add_note()
    try:
        complete_the_build(warehouse)
    finally:
        shutil.rmtree(spilled, ignore_errors=True)


def test_the_second_of_two_builds_names_the_first_and_goes(warehouse: Warehouse) -> None:
    warehouse.add_note()
    first = wh(warehouse.project, "build")
    wait_until(lambda: bool(shadows(warehouse)), first)
    with stopped(first):
        second = wh(warehouse.project, "build")
        out, err = second.communicate(timeout=60)
    assert (second.returncode, out) == (ExitCode.FAILED, "")
    assert err.startswith(f"WH212 {warehouse.project.builds}: process {first.pid} is building")
    _, err = first.communicate(timeout=60)
    assert first.returncode == ExitCode.OK, err
    assert warehouse.reader.ask() == warehouse.notes


@pytest.mark.exhaustive  # the build after each kill takes the lock
def test_a_killed_builder_holds_no_lock(warehouse: Warehouse) -> None:
    warehouse.add_note()
    process = wh(warehouse.project, "build")
    wait_until(lambda: holder(warehouse) == str(process.pid), process)
    assert killed_after(process, 0)
    assert holder(warehouse) == str(process.pid), "the file stays, the lock does not"
    complete_the_build(warehouse)


def _outcomes(processes: Sequence[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    errors = [process.communicate(timeout=60)[1] for process in processes]
    return [(process.returncode, error[:5]) for process, error in zip(processes, errors, strict=True)]


def test_builds_at_once_never_meet(warehouse: Warehouse) -> None:
    warehouse.add_note()
    outcomes = _outcomes([wh(warehouse.project, "build") for _ in range(3)])
    assert (0, "built") in outcomes or (0, "nothi") in outcomes
    assert set(outcomes) <= {(0, "built"), (0, "nothi"), (1, "WH212")}
    complete_the_build(warehouse)

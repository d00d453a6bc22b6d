"""Parsing in several processes: the same files as in one, an end that is told, nothing half-visible."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from samples.values import VALUES_INGESTOR, take_in
from stored import bundle_folder, root_of

from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.landing.parse import parsing, processes
from warehouse.landing.parse.batches import Landing
from warehouse.landing.parse.refresh import refresh
from warehouse.landing.registry import find_ingestors, load_ingestors
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.finished.builds import builder_lock

FILES = 9


def troubled(mark: Path, trouble: str) -> str:
    """The sample's ingestor, but for what it does at the file `bad.nv` while the file `mark` is there."""
    before = "            offset = 0\n"
    text = VALUES_INGESTOR.replace(
        before, f"{before}            if path == 'bad.nv' and os.path.exists({str(mark)!r}):\n                {trouble}\n"
    )
    return f"import os, signal, sys, time\n{text}"


def made(root: Path, ingestor: str = VALUES_INGESTOR) -> Project:
    """A project with one bundle a file, of different sizes."""
    project = init_project(root / "project", bare=True)
    (project.root / "ingest" / "values.py").write_text(ingestor)
    folder = root / "evidence"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"r{number}.nv").write_text("".join(f"k{line}={line / 7}\n" for line in range(10**(number % 4))))
    (folder / "bad.nv").write_text("k=1\n")
    take_in(project, folder)
    return project


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch closes after each bundle or two, and processes are started for anything."""
    monkeypatch.setattr(parsing, "BYTES_A_BATCH", 100)
    monkeypatch.setattr(parsing, "_BYTES_WORTH_PROCESSES", 0)


def parsed(project: Project, processes: int, told: list[tuple[int, int]] | None = None) -> Landing:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sched_getaffinity", lambda _: set(range(processes)))
        return refresh(
            open_store(project), find_ingestors(project),
            lambda done, total: told.append((done, total)) if told is not None else None,
        )


def shown(landing: Landing) -> list[tuple[str, list[tuple[str, str, int]]]]:
    return [(batch.name, [(file.table, file.sha256, file.rows) for file in batch.files]) for batch in landing.batches]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many processes parsing has started, each time that it started some."""
    found: list[int] = []
    run = processes.run_in_processes
    monkeypatch.setattr(processes, "run_in_processes", lambda tasks, count, tick: found.append(count) or run(tasks, count, tick))
    return found


def test_the_batches_are_the_same_files_with_any_number_of_processes(
    tmp_path: Path, small_batches: None, started: list
) -> None:
    project = made(tmp_path)
    found = []
    for count in (1, 2, 3):
        shutil.rmtree(project.store_root / "landing", ignore_errors=True)
        told: list[tuple[int, int]] = []
        found.append(shown(parsed(project, count, told)))
        assert told == [(done, FILES + 1) for done in range(1, FILES + 2)]
    assert started == [2, 3] and not multiprocessing.active_children()
    assert len(found[0]) > 3
    assert found == [found[0]] * 3


def test_little_evidence_starts_no_process(tmp_path: Path, started: list) -> None:
    landing = parsed(made(tmp_path), 2)
    assert (started, len(landing.batches)) == ([], 1)


def test_a_bundle_larger_than_all_others_starts_no_process_for_them(
    tmp_path: Path, started: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsing, "BYTES_A_BATCH", 100)
    parsed(made(tmp_path), 2)  # beside the 20 kB files there is next to nothing
    assert started == []


def test_what_a_process_prints_and_asks_for_is_no_answer(
    tmp_path: Path, small_batches: None, capfd: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "mark"
    trouble = "print('told', repr(sys.stdin.read()), flush=True)"
    project = made(tmp_path, troubled(mark, trouble))
    mark.touch()
    assert sum(file.rows for file in parsed(project, 2).files("evidence_bundle")) == FILES + 1
    assert capfd.readouterr() == ("", "told ''\n")


@pytest.mark.parametrize("trouble", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(7)"])
def test_a_process_that_ends_is_reported_and_the_next_build_goes_on(tmp_path: Path, small_batches: None, trouble: str) -> None:
    mark = tmp_path / "mark"
    project = made(tmp_path, troubled(mark, trouble))
    store = open_store(project)
    [bad] = [digest for digest in store.digests() if "bad.nv" in store.manifest(digest).by_path]
    mark.touch()
    with pytest.raises(WarehouseError) as caught:
        parsed(project, 2)
    ranges = [place.removeprefix("values ").split(" to ") for place in (caught.value.place or "").split(", ")]
    assert caught.value.code == "WH124" and any(first <= bad[:12] <= last for first, last in ranges)
    assert not multiprocessing.active_children()
    recorded = {path.stem for path in (root_of(store) / "landing" / "batches").glob("*.json")}
    # The other process may have been stopped before it could record a file that is whole: that is as if it were not.
    assert {path.stem for path in (root_of(store) / "landing" / "value").glob("*.parquet")} >= recorded
    mark.unlink()
    resumed = parsed(project, 2)
    assert {batch.name for batch in resumed.batches} >= recorded
    assert sum(file.rows for file in resumed.files("evidence_bundle")) == FILES + 1


def test_damage_and_faults_of_an_ingestor_are_told_as_in_one_process(tmp_path: Path, small_batches: None) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    project = made(tmp_path, troubled(mark, "raise MemoryError('none left')"))
    store = open_store(project)
    names = {digest: next(iter(store.manifest(digest).by_path)) for digest in store.digests()}
    for digest in [digest for digest, name in names.items() if name in ("r0.nv", "r1.nv")]:
        (bundle_folder(store, digest) / "files" / names[digest]).write_bytes(b"k=tampered\n")
    found = []
    for count in (1, 2):
        shutil.rmtree(project.store_root / "landing", ignore_errors=True)
        landing = parsed(project, count)
        issues = sum(file.rows for file in landing.files("evidence_issue"))
        found.append((shown(landing), landing.damaged, issues))
    assert found[0] == found[1]
    assert [error.code for error in found[0][1]] == ["WH105", "WH105"]
    assert found[0][2] == 1


@pytest.fixture
def build_that_waits(tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """`wh build` in processes, one of which has written its id to a file and now sleeps."""
    pid_file = tmp_path / "pid"
    mark = tmp_path / "mark"
    # It sleeps until it is killed; the 600 s are only so that a failed test leaves nothing behind.
    trouble = f"open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    project = made(tmp_path, troubled(mark, trouble))
    mark.touch()
    (tmp_path / "more").mkdir()
    for number in range(4):
        with open(tmp_path / "more" / f"large{number}.bin", "wb") as stream:
            stream.truncate((8 << 20) + number)
        take_in(project, tmp_path / "more" / f"large{number}.bin")
    process = subprocess.Popen(
        [sys.executable, "-m", "warehouse.cli.main", "--project", project.root, "build"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    with process:
        while not pid_file.exists() or not pid_file.read_text():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)  # the other process tells by a file, which nothing here can wait on
        yield process, pid_file
        process.kill()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core: nothing is parsed in processes")
def test_ctrl_c_ends_all_processes_without_a_word(build_that_waits: tuple["subprocess.Popen[str]", Path]) -> None:
    process, pid_file = build_that_waits
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def runs(pid: str) -> bool:
    """Whether a process is there and has not ended; one that has may wait for whoever inherited it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core: nothing is parsed in processes")
def test_a_killed_build_leaves_no_process_and_no_lock(build_that_waits: tuple["subprocess.Popen[str]", Path]) -> None:
    process, pid_file = build_that_waits
    process.kill()
    process.communicate(timeout=60)
    deadline = time.monotonic() + 60
    while runs(pid_file.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)  # the process is nobody's child any more, so nobody can wait for it
    with builder_lock(read_project(pid_file.parent / "project")):  # raises WH212 while it is held
        pass


def test_load_and_find_give_the_same_ingestors(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project")
    (project.root / "ingest" / "values.py").write_text(VALUES_INGESTOR)
    found = find_ingestors(project)
    assert [name for name, each in found.items() if each.source.origin == "project"] == ["values"]
    assert [name for name in found if name != "log_rules"] == list(load_ingestors(project))  # which recognises no evidence
    again = found["values"].source.load()
    assert (again.name, again.version, again.tables) == ("values", 1, found["values"].ingestor.tables)


def test_no_ingestor_of_that_name() -> None:
    from warehouse.landing.registry import check_name

    with pytest.raises(WarehouseError) as caught:
        check_name("mlperf_inferense", {"mlperf_inference": None, "recorded_run": None})
    assert (caught.value.code, caught.value.exit_code) == ("WH122", ExitCode.NOT_FOUND)
    assert caught.value.hint == "did you mean mlperf_inference?"

"""`wh build --watch`: a real process that checks and builds on every change, which no error ends, but Ctrl-C does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest
from conftest import REPOSITORY

from warehouse.cli.main import main
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query

_ANSWER_TIMEOUT_S = 60.0  # what a change may take on a busy machine before the test gives up


class Watcher:
    """A running `wh build --watch`, read line by line."""

    def __init__(self, project: Project, *options: str) -> None:
        self.project = project
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "warehouse.cli.main", "build", "--watch", *options],
            cwd=project.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._lines.put(line)

    def round(self) -> str:
        """What it says on stderr until it waits again."""
        told = ""
        while "watching" not in told:
            told += self._lines.get(timeout=_ANSWER_TIMEOUT_S)
        return told

    def save(self, name: str, text: str) -> None:
        """Write a file in one step, as editors do: a look between truncation and writing would be a round of its own."""
        path = self.project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.project.root.parent / "draft"
        draft.write_text(text)
        draft.replace(path)

    def after(self, name: str, text: str | None) -> str:
        """What it says after a file is saved, or removed."""
        if text is None:
            (self.project.root / name).unlink()
        else:
            self.save(name, text)
        return self.round()


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Watcher]:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "models" / "run.sql").write_text("select 1 as run_id, 2.5 as speed")
    running = Watcher(project)
    yield running
    running.process.kill()
    running.process.wait()
    assert running.process.stdout and running.process.stderr
    running.process.stdout.close()


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    with run_query(current_build(project).path, sql) as result:
        return result.fetchall()


def test_every_change_is_built_and_ctrl_c_ends_it(watcher: Watcher) -> None:
    project = watcher.project
    assert re.search(r"^built 1 in [\d.]+ s$", watcher.round(), re.MULTILINE)
    assert re.search(r"^built 1 in ", watcher.after("models/run.sql", "select 1 as run_id, 3.5 as speed"), re.MULTILINE)
    assert rows(project, "select speed::double from run") == [(3.5,)]
    assert re.search(r"^built 1, kept 1 in ", watcher.after("models/more.sql", "select * from run"), re.MULTILINE)
    assert rows(project, "select count(*) from more") == [(1,)]
    assert "the same as an earlier build" in watcher.after("models/more.sql", None)
    watcher.process.send_signal(signal.SIGINT)
    assert watcher.process.wait(timeout=_ANSWER_TIMEOUT_S) == 130
    assert watcher.process.stdout and watcher.process.stdout.read().rstrip().endswith(str(current_build(project).path))


def test_no_error_ends_it(watcher: Watcher) -> None:
    project, first = watcher.project, watcher.round()
    assert "built 1" in first
    before = current_build(project)
    told = watcher.after("models/two.sql", "select 1 as a, nonsense from run")
    assert told.startswith("\nWH204 models/two.sql:1:16:") and f"nonsense from run\n{' ' * 15}^\n" in told
    told = watcher.after("models/three.sql", "select 1 from nowhere")  # both faults now, each at its place
    assert "WH203 models/three.sql:1:15:" in told and "WH204 models/two.sql:1:16:" in told and "2 errors" in told
    assert "WH002 warehouse.toml:1:1" in watcher.after("warehouse.toml", "[nosuch]\n")
    assert "2 errors" in watcher.after("warehouse.toml", "[project]\nstandard = false\n")
    assert "1 error\n" in watcher.after("models/three.sql", None)
    assert current_build(project) == before
    failing = "select error('too bad') as a from run"
    assert "WH209 models/two.sql" in watcher.after("models/two.sql", failing)
    assert current_build(project) == before
    assert "nothing changed" in watcher.after("models/two.sql", None)
    assert watcher.process.poll() is None


def test_files_are_watched_also_those_that_were_missing(watcher: Watcher) -> None:
    watcher.round()
    assert "WH220" in watcher.after("models/log.sql", "select * from read_csv('data/*.csv')")
    assert "built 1, kept 1" in watcher.after("data/1.csv", "run_id,ms\n1,10\n")
    assert rows(watcher.project, "select sum(ms)::int from log") == [(10,)]
    assert "built 1, kept 1" in watcher.after("data/1.csv", "run_id,ms\n1,30\n")
    assert rows(watcher.project, "select sum(ms)::int from log") == [(30,)]
    assert "built 1, kept 1" in watcher.after("data/2.csv", "run_id,ms\n2,12\n")
    assert rows(watcher.project, "select sum(ms)::int from log") == [(42,)]


def test_it_goes_on_from_a_failed_build(watcher: Watcher) -> None:
    """What was good in a build that failed is kept by the next, without anyone asking for it."""
    watcher.round()
    assert "built 1, kept 1" in watcher.after("models/good.sql", "select 1 as a")
    told = watcher.after("models/run.sql", "select 2 as run_id, error('too bad') as speed from good")
    assert "WH209 models/run.sql" in told
    told = watcher.after("models/other.sql", "select 2 as b")
    assert "WH209 models/run.sql" in told and "done before that: main.other" in told
    assert re.search(r"^built 1, kept 2 in ", watcher.after("models/run.sql", "select 3 as run_id"), re.MULTILINE)


def test_ctrl_c_ends_it_within_a_statement(watcher: Watcher) -> None:
    """What is done is named, and --retry goes on from there."""
    watcher.round()
    endless = "select count(*) as b from range(100000000000) as r (i), run where i % 7 = run_id"
    watcher.save("models/endless.sql", endless)
    watcher.save("models/run.sql", "select 2 as run_id")
    log = watcher.project.builds / ".shadow.duckdb.wal"  # there as soon as a first group of models is in the shadow
    give_up = time.monotonic() + _ANSWER_TIMEOUT_S
    while not log.exists() and time.monotonic() < give_up:
        time.sleep(0.05)  # between looks; what is awaited is the condition
    watcher.process.send_signal(signal.SIGINT)
    assert watcher.process.wait(timeout=_ANSWER_TIMEOUT_S) == 130
    (watcher.project.root / "models" / "endless.sql").unlink()
    assert main(["--project", str(watcher.project.root), "build", "--retry"]) == 0
    assert rows(watcher.project, "select * from run") == [(2,)]

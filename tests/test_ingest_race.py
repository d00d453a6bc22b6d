"""The same evidence taken in by many processes at once arrives once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import REPOSITORY
from exhaustive import few

from warehouse.evidence.ledger.events import ARRIVAL, Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.making import init_project
from warehouse.project.project import Project

PROCESSES, ROUNDS = 16, 3

# Each has all it imports before any begins.
TAKE_IN = """
import os, sys, time
from pathlib import Path
from ulid import ULID
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.project.project import read_project
project, evidence, start = read_project(Path(sys.argv[1])), Path(sys.argv[2]), Path(sys.argv[3])
print("ready", flush=True)
while not start.exists():
    time.sleep(0.002)  # all begin within this time of each other
report = ingest(plan_ingest(evidence, []), open_store(project), "here")
print(*[bundle.status for bundle in report.bundles])
"""


@pytest.mark.parametrize("number", few(range(ROUNDS), 1))
def test_evidence_that_many_take_in_at_once_arrives_once(tmp_path: Path, number: int) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (tmp_path / "evidence").mkdir()
    for index in range(20):
        (tmp_path / "evidence" / f"{index}.txt").write_text(f"{number} {index}\n")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", TAKE_IN, str(project.root), str(tmp_path / "evidence"), str(tmp_path / "start")]
    writers = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
    for writer in writers:
        assert writer.stdout and writer.stdout.readline() == "ready\n"
    (tmp_path / "start").touch()
    outcomes = [writer.communicate(timeout=120)[0].strip() for writer in writers]
    assert sorted(outcomes) == ["added", *["present"] * (PROCESSES - 1)]
    assert len(arrivals(project)) == 1


def test_what_a_crash_left_without_an_arrival_arrives_with_the_next(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (tmp_path / "evidence.txt").write_text("evidence\n")
    (tmp_path / "start").touch()
    # It is killed between the bundle's commit and the ledger's event.
    killed = "from warehouse.evidence.ledger.events import Ledger\nimport os\nLedger.all_arrived = lambda *_: os.kill(os.getpid(), 9)\n" + TAKE_IN
    arguments = [str(project.root), str(tmp_path / "evidence.txt"), str(tmp_path / "start")]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([sys.executable, "-c", killed, *arguments], env=environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(open_store(project).digests()) == 1 and not arrivals(project)
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", TAKE_IN, *arguments], env=environment, capture_output=True, check=True)
    assert done.stdout.split()[-1] == b"present" and len(arrivals(project)) == 1
    assert time.monotonic() - began > 1.9  # whoever made it might have been at it still


def arrivals(project: Project) -> list[str]:
    return [event.subject for event in Ledger(open_store(project).objects).events() if event.kind == ARRIVAL]

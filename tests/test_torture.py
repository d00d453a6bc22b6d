"""Real `wh build` processes killed at fifty moments, and readers that go on asking while builds come and go."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from exhaustive import few
from processes import killed_after

from warehouse.errors import ExitCode
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import builder_lock, current_build

REPOSITORY = Path(__file__).resolve().parents[1]
KILLS = 50

# Every table of one build says the same generation: a reader who sees two has seen half a build.
MODELS = {
    "facts/sample_fact.sql": "select generation, n from read_csv('generation.csv'), range(2000) as numbers (n)",
    "facts/total.sql": (
        "/*\nmaterialized: incremental\nkey: [n]\n*/\n"
        "select n, max(generation) as generation, count(*) as lines from sample_fact group by n"
    ),
    "marts/padding.sql": "select generation, n, md5(n || ' ' || generation) as padding from sample_fact",
    "marts/summary.sql": "select min(generation) as low, max(generation) as high, count(*) as lines from padding",
}
WHOLE = """
select
    (select min(generation) from sample_fact), (select max(generation) from main.total),
    (select low from mart.summary), (select high from mart.summary), (select max(generation) from mart.padding),
    (select count(*) from sample_fact), (select count(*) from main.total), (select count(*) from mart.padding)
"""
ROWS = [2000, 2000, 2000]

READER = f"""
import sys, time
from pathlib import Path
import duckdb
pointer, over = Path(sys.argv[1]), Path(sys.argv[2])
seen = []
while True:
    is_last = over.exists()
    with duckdb.connect(str(pointer), read_only=True) as con:
        *generations, a, b, c = con.execute('''{WHOLE}''').fetchall()[0]
    assert len(set(generations)) == 1 and [a, b, c] == {ROWS}, (generations, a, b, c)
    seen.append(generations[0])
    if is_last:
        break
    time.sleep(0.02)  # eight readers that spin leave no core to the builds
assert seen == sorted(seen), seen
print(len(seen), seen[0], seen[-1])
"""


@dataclass
class Warehouse:
    """A small project whose only input says which generation it is of."""

    project: Project
    generation: int = 0

    @property
    def pointer(self) -> Path:
        return self.project.builds / "current.duckdb"

    def change(self) -> None:
        self.generation += 1
        (self.project.root / "generation.csv").write_text(f"generation\n{self.generation}\n")

    def read(self) -> int:
        """The generation of the current build, which must be whole."""
        with duckdb.connect(str(self.pointer), read_only=True) as con:
            *generations, a, b, c = con.execute(WHOLE).fetchall()[0]
        assert len(set(generations)) == 1 and [a, b, c] == ROWS
        return int(generations[0])

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "warehouse.cli.main", "--project", str(self.project.root), "build"]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def is_held_by(self, process: subprocess.Popen[str]) -> bool:
        lock = self.project.builds / ".lock"
        return lock.exists() and lock.read_text() == str(process.pid)

    @property
    def shadow(self) -> Path:
        return self.project.builds / ".shadow.duckdb"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    project = init_project(tmp_path_factory.mktemp("torture") / "project", bare=True)
    for name, text in MODELS.items():
        path = project.root / "models" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    warehouse = Warehouse(project)
    warehouse.change()
    build(project)
    return warehouse


@pytest.fixture(scope="module")
def seconds(warehouse: Warehouse) -> float:
    """How long a build takes from when it holds the lock: before that it only imports."""
    warehouse.change()
    process = warehouse.start()
    wait_until(lambda: warehouse.is_held_by(process), process)
    started = time.monotonic()
    _, err = process.communicate(timeout=120)
    assert process.returncode == ExitCode.OK, err
    return time.monotonic() - started


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not condition() and process.poll() is None:
        time.sleep(0.001)  # between looks; what is awaited is the condition


def assert_nothing_is_left(warehouse: Warehouse) -> None:
    names = sorted(path.name for path in warehouse.project.builds.iterdir())
    allowed = re.compile(r"current\.duckdb|failures\.duckdb|\.(checked|project)\.json|\.listing|\.lock|wh-[0-9a-f]{32}\.(duckdb|json)")
    assert [name for name in names if not allowed.fullmatch(name)] == []
    databases, records = ({name for name in names if name.startswith("wh-") and name.endswith(end)} for end in ("duckdb", "json"))
    assert {name.removesuffix(".json") for name in records} <= {name.removesuffix(".duckdb") for name in databases}
    assert len(databases) <= warehouse.project.kept_builds
    with builder_lock(warehouse.project):
        pass  # raises when somebody holds it


@pytest.mark.parametrize("point", few(range(KILLS), 2))
def test_a_build_killed_anywhere_leaves_a_whole_one_and_the_next_completes(
    warehouse: Warehouse, seconds: float, point: int
) -> None:
    before = warehouse.read()
    warehouse.change()
    process = warehouse.start()
    if point % 5 == 4:  # in the middle of writing: the first moments of a shadow are short
        wait_until(warehouse.shadow.exists, process)
        killed_after(process, seconds * random.Random(point).random() / 10)
    else:
        wait_until(lambda: warehouse.is_held_by(process), process)
        killed_after(process, seconds * (point + random.Random(point).random()) / KILLS)
    assert warehouse.read() in (before, warehouse.generation)
    if warehouse.read() == warehouse.generation:
        # A kill between the switch and the pruning leaves one build more, which the next that builds removes.
        warehouse.change()
    is_retry = point % 2 == 1 and warehouse.shadow.exists()
    build(warehouse.project, is_retry=is_retry)
    assert warehouse.read() == warehouse.generation
    current_build(warehouse.project).check()
    assert_nothing_is_left(warehouse)


@pytest.mark.exhaustive  # test_crash.py has a reader during builds that end and that are killed
@pytest.mark.parametrize(("readers", "builds"), [(2, 5), (8, 20)])
def test_readers_see_only_whole_builds_while_builds_come_and_go(warehouse: Warehouse, readers: int, builds: int, tmp_path: Path) -> None:
    over, first = tmp_path / "over", warehouse.read()
    command = [sys.executable, "-c", READER, str(warehouse.pointer), str(over)]
    reading = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(readers)]
    try:
        for _ in range(builds):
            warehouse.change()
            process = warehouse.start()
            _, err = process.communicate(timeout=120)
            assert process.returncode == ExitCode.OK, err
    finally:
        over.touch()
        told = [reader.communicate(timeout=120) for reader in reading]
    assert [reader.returncode for reader in reading] == [0] * readers, told
    for out, _ in told:
        reads, start, end = map(int, out.split())
        assert first <= start and end == warehouse.generation and reads > 1
    assert_nothing_is_left(warehouse)

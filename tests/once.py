"""What is made once in a run of the tests, by the first worker that needs it: the standard project, a publication, the S3 server."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

_FOLDER = "WH_TESTS_MADE_ONCE"
MADE: Counter[str] = Counter()  # what this process made, and the CPU seconds that it took


def begin() -> None:
    """Make the folder of this run. The workers find it by their environment."""
    os.environ[_FOLDER] = tempfile.mkdtemp(prefix="wh-tests-")
    os.environ["XDG_CACHE_HOME"] = str(made("cache"))  # where first builds find the standard project built


def end() -> None:
    shutil.rmtree(os.environ.pop(_FOLDER), ignore_errors=True)


def cpu_seconds() -> float:
    """What this process and its ended children have used."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder `name`, which `make` fills. A test that changes it must copy it."""
    folder = made(name)
    done = folder.with_suffix(".done")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # left by a worker that failed
            folder.mkdir()
            begun = cpu_seconds() - MADE.total()
            make(folder)
            MADE[name] += cpu_seconds() - MADE.total() - begun  # less what it made once itself
            done.touch()
    return folder


def copied(name: str, make: Callable[[Path], object], to: Path) -> None:
    """A copy of the folder `name`, which a test may change, in the folder `to`. A build in it is as if it were made there: of a copied one
    each command reads every byte."""
    from warehouse.project.project import read_project
    from warehouse.transform.finished.builds import POINTER, current_build, switch_to

    shutil.copytree(once(name, make), to, symlinks=True, dirs_exist_ok=True)
    for builds in (*to.glob(".wh/builds"), *to.glob("*/.wh/builds")):
        if (builds / POINTER).exists():
            project = read_project(builds.parents[1])
            switch_to(project, current_build(project))


def made(name: str) -> Path:
    """Where `once` makes it."""
    return Path(os.environ[_FOLDER]) / name

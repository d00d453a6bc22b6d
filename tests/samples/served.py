"""The warehouse that tests of the surfaces look at: the project of the examples, made once in a run of the tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from once import once
from samples.examples import example_project

from warehouse.project.project import Project, read_project


def served_project() -> Project:
    """For tests that only read."""
    return read_project(once("served", _make) / "project")


def copied(to: Path) -> Project:
    """A copy that a test may change."""
    shutil.copytree(served_project().root, to, symlinks=True)
    return read_project(to)


def _make(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WH_PROJECT", "")  # `wh --project DIR`, run below, would leave it set
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        example_project(folder)

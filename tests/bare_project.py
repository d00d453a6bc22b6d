"""A bare project of a test's own, and `wh` on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from warehouse.cli.main import main
from warehouse.project import Project, init_project

Wh = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A bare project: no model but what a test writes."""
    return init_project(tmp_path / "project", bare=True)


@pytest.fixture
def wh(project: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Wh:
    """Run `wh` on the project: exit code, standard output, standard error."""
    monkeypatch.setenv("WH_PROJECT", str(project.root))

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return status, out, err

    return run


def write(project: Project, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

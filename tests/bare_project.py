"""A bare project of a test's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from warehouse.project.making import init_project
from warehouse.project.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A bare project: no model but what a test writes."""
    return init_project(tmp_path / "project", bare=True)


def write(project: Project, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

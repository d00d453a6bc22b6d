"""The application of a project, asked as a browser or a program would."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from conftest import REPOSITORY
from fastapi.testclient import TestClient

from warehouse.project.project import Project
from warehouse.surfaces.web.app import application


def client(project: Project, **settings: Any) -> TestClient:
    """Asks the application in this process."""
    return TestClient(application(project, **settings), base_url="http://localhost", follow_redirects=False)


@contextmanager
def server(project: Project) -> Iterator[str]:
    """`wh serve` as a process of its own: the address of its pages."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), "serve", "--port", "0", "--rate", "1000000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr
        line = process.stderr.readline()
        assert line.startswith("serving http://"), line + process.stderr.read()
        yield line.split()[1].rstrip("/")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)

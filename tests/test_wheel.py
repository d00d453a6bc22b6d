"""The wheel, as users install it: for any machine, with the standard project in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from conftest import REPOSITORY
from samples.recording import write_recording


def test_the_wheel_is_for_any_machine_and_brings_the_standard_project(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    environment = {**os.environ, "CC": "/bin/false"}
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "dist", REPOSITORY], check=True, env=environment
    )
    (wheel,) = (tmp_path / "dist").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    installed = tmp_path / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--target", installed, wheel], check=True)

    def wh(*arguments: str) -> str:
        command = [sys.executable, "-c", "import sys; from warehouse.cli.main import main; sys.exit(main(sys.argv[1:]))", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(installed), "WH_PROJECT": str(tmp_path / "project")},
            capture_output=True, text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = subprocess.run(
        [sys.executable, "-c", "import warehouse; print(warehouse.__file__)"], env={**os.environ, "PYTHONPATH": str(installed)},
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(installed)
    write_recording(tmp_path / "results", "01KG8Q3V5T2M4N6P8R0S1W3X5Y")
    wh("init", "project")
    wh("ingest", "results")
    wh("build")
    assert wh("sql", "select count(*) as numbers from indicator_results") != "numbers\n0\n"

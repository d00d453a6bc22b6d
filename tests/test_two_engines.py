"""Publications made by one version of the engine and verified by another, each by a process of its own.

`make test-newest` runs these: it has the newest packages that are allowed, and names the Python of the locked ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from samples.recording import write_recording
from samples.values import value_files, values_project

from warehouse.project.making import init_project

LOCKED = os.environ.get("WH_LOCKED_PYTHON", "")
if not LOCKED:
    pytest.skip("WH_LOCKED_PYTHON names no Python with the locked packages: make test-newest does", allow_module_level=True)
THEN = subprocess.run([LOCKED, "-c", "import duckdb; print(duckdb.__version__)"], capture_output=True, text=True, check=True).stdout.strip()
if THEN == duckdb.__version__:
    pytest.skip("the newest engine that is allowed is the locked one", allow_module_level=True)
VERSIONS = {LOCKED: THEN, sys.executable: duckdb.__version__}


def wh(python: str, project: Path, *arguments: object) -> tuple[int, str]:
    program = "import sys; from warehouse.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([python, "-c", program, "--project", str(project), *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr * (done.returncode != 0)


def verdicts(python: str, project: Path) -> tuple[int, list[dict[str, Any]]]:
    code, out = wh(python, project, "verify", "--all", "--json")
    return code, [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def published(python: str, project: Path, evidence: Path, query: str) -> None:
    for command in (("ingest", evidence), ("build",), ("publish", query, "--as", "provisional")):
        code, out = wh(python, project, *command)
        assert code == 0, out


def test_a_standard_rollup_of_the_locked_engine_is_verified_by_the_newest(tmp_path: Path) -> None:
    write_recording(tmp_path / "in", "01KG8Q3V5T2M4N6P8R0S1W3X5Y")
    init_project(tmp_path / "p")
    published(LOCKED, tmp_path / "p", tmp_path / "in", "indicator_results")
    code, found = verdicts(sys.executable, tmp_path / "p")
    assert code == 0 and found and {verdict["state"] for verdict in found} == {"verified"}
    engines = {"recorded": f"duckdb {THEN}", "here": f"duckdb {duckdb.__version__}", "later_settings": []}
    assert all(verdict["engine"] == engines and "by another engine" in verdict["reason"] for verdict in found)


@pytest.mark.parametrize(("maker", "verifier"), [(LOCKED, sys.executable), (sys.executable, LOCKED)], ids=["locked first", "newest first"])
def test_a_value_that_the_engines_give_otherwise(maker: str, verifier: str, tmp_path: Path) -> None:
    """In 2.0.0 `fmod` is a macro that divides and rounds; in 2.0.1 it is a function of its own: their last bits differ."""
    project = values_project(tmp_path / "p", "select key, max(value) as top, fmod(max(value), 0.1) as rest from reading group by key")
    published(maker, project.root, value_files(tmp_path / "in", "a=5.3\n"), "claim")
    assert {verdict["state"] for verdict in verdicts(maker, project.root)[1]} == {"verified"}
    code, found = verdicts(verifier, project.root)
    told = {verdict["cell"].rpartition(".")[2]: verdict for verdict in found}
    assert code == 1 and {name: verdict["state"] for name, verdict in told.items()} == {"top": "verified", "rest": "not reproduced"}
    assert f'pip install "duckdb=={VERSIONS[maker]}"' in told["rest"]["reason"]

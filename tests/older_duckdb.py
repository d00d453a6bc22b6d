"""What DuckDB 1.4, which the documents promise can read a build, makes of one: in a process of its own, with that package beside ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

READ_ALL = """\
import duckdb, json, sys
con, failed = duckdb.connect(sys.argv[1], read_only=True), []
names = con.execute("select table_schema, table_name from information_schema.tables").fetchall()
for schema, name in names:
    try:
        con.execute(f'select * from "{schema}"."{name}"').fetchall()
    except duckdb.Error as error:
        failed.append(f"{schema}.{name}: {error}")
print(json.dumps([duckdb.__version__, len(names), failed]))
"""


def read_by_1_4(path: Path, scratch: Path) -> tuple[str, int, list[str]]:
    """Read every table and view of a build, from the folder it lies in: the engine's version, how many there are, and what failed.
    Skips the test where the packages cannot be had, as without network: they are no dependency of the project."""
    packages = scratch / "duckdb"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-compile", "--target", str(packages)]
    if subprocess.run([*pip, "-r", str(REPOSITORY / "tests" / "duckdb14.txt")], capture_output=True).returncode:
        pytest.skip("the packages of duckdb14.txt cannot be had")  # as without network
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    done = subprocess.run([sys.executable, "-c", READ_ALL, str(path)], env=environment, cwd=path.parent, capture_output=True, text=True)
    version, read, failed = json.loads(done.stdout)
    return version, read, failed

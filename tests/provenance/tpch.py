"""TPC-H: the 22 query texts and generated data, fetched when asked for and never kept in the repository.

Both come from packages pinned with hashes in `tpch.txt`. The extension that holds the texts runs in one version of
DuckDB only, not the one under test, so they live in an environment of their own under `.cache`.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from provenance.subject import Database

from warehouse.transform.sql.duck import connect

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "tpch.txt"
CACHE = HERE.parent.parent / ".cache"

_TEXTS = """
import duckdb, duckdb_extension_tpch, json, pathlib
[extension] = pathlib.Path(duckdb_extension_tpch.__file__).parent.glob("extensions/*/tpch.duckdb_extension")
connection = duckdb.connect()
connection.execute(f"load '{extension}'")
print(json.dumps(connection.execute("select query_nr, query from tpch_queries() order by query_nr").fetchall()))
"""


def environment() -> Path:
    """The folder of the environment's programs. Raises `CalledProcessError` when the packages cannot be had."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    home = CACHE / f"tpch-{digest}"
    if not (home / "made").exists():
        _run(sys.executable, "-m", "venv", "--clear", str(home))
        pip = (str(home / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check")
        _run(*pip, "install", "--require-hashes", "-r", str(REQUIREMENTS))
        (home / "made").touch()
    return home / "bin"


def texts(programs: Path) -> dict[int, str]:
    return dict(json.loads(_run(str(programs / "python"), "-c", _TEXTS)))


def database(programs: Path, folder: Path, scale: str) -> Database:
    """The eight tables at a scale factor, generated into `folder`. A row's token is its rowid: no table changes."""
    _run(str(programs / "tpchgen-cli"), "parquet", "-s", scale, "--output-dir", str(folder))
    connection = connect()
    catalog = {}
    for path in sorted(folder.glob("*.parquet")):
        connection.execute(f"create table {path.stem} as from '{path}'")
        catalog[path.stem] = [name for name, *_ in connection.execute(f"describe {path.stem}").fetchall()]
    return Database(connection, catalog, key="rowid")


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout

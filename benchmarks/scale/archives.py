"""The standard project over archives of evidence, built by itself and by tasks: every table must be equal.

    python benchmarks/scale/archives.py EVIDENCE... [--engines local ray spark] [--address ADDRESS]

Partitions are small, and tables stay in parts where they may, so that there are many of both. What stands above the tables is asked once of
each build: the tests, a publication, its verification, the pages of the documentation site.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "benchmarks")]

from scale.equal import built, compared
from scale.run import WH

SCALE = '\n[scale]\npart = "6MB"\ntable = "1KB"\n'
ABOVE = (
    ("test",), ("plan",), ("publish", "serving_results", "--as", "provisional"), ("verify", "--all"), ("fsck",), ("gc",), ("docs",),
)


def wh(project: Path, *arguments: str) -> int:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run([*WH, *arguments], cwd=project, env=environment, capture_output=True).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", nargs="+", type=Path)
    parser.add_argument("--engines", nargs="+", default=["local", "ray", "spark"])
    parser.add_argument("--address", default="")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        plain = Path(name, "none")
        wh(Path(name), "init", str(plain))
        for folder in args.evidence:
            wh(plain, "ingest", str(folder.resolve()))
        for engine in args.engines:
            shutil.copytree(plain, Path(name, engine), symlinks=True)
            with Path(name, engine, "warehouse.toml").open("a") as file:
                file.write(SCALE)
        wanted, _, told = built(plain, "none")
        print(f"none: {told}; {_above(plain)}", flush=True)
        for engine in args.engines:
            found, parts, told = built(Path(name, engine), engine, args.address)
            is_equal, words = compared(wanted, found, parts)
            failed += not is_equal
            print(f"{engine}: {words}; {told}; {_above(Path(name, engine))}", flush=True)
            shutil.rmtree(Path(name, engine))
    return int(failed > 0)


def _above(root: Path) -> str:
    """What the commands above the tables end with."""
    return ", ".join(f"{command[0]} {wh(root, *command)}" for command in ABOVE)


if __name__ == "__main__":
    sys.exit(main())

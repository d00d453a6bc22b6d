"""The standard project over archives of evidence that arrive in random orders, a build after each batch: the last must be what a build from nothing
makes.

    python benchmarks/growth/orders.py EVIDENCE... [--seeds 1 2 3 4 5] [--batches 6]

An archive is a folder below one of EVIDENCE, or a file there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from from_nothing import tables_unlike_from_nothing

from warehouse.project.project import read_project

WH = [sys.executable, "-m", "warehouse.cli.main"]


def wh(folder: Path, *arguments: str, check: bool = True) -> None:
    subprocess.run([*WH, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, check=check)


def differing(archives: list[Path], seed: int, batches: int, scratch: Path) -> list[str]:
    """What a seed's order of arrival makes otherwise, a line a table."""
    root = scratch / "project"
    wh(scratch, "init", str(root))
    Random(seed).shuffle(archives)
    for batch in (archives[number::batches] for number in range(batches)):
        if batch:
            wh(root, "ingest", *map(str, batch), check=False)  # it ends with 1 where it leaves out a link
            wh(root, "build")
    found = tables_unlike_from_nothing(read_project(root), scratch)
    return [f"{table.name}: {table.difference}" for table in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", nargs="+", type=Path)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--batches", type=int, default=6)
    args = parser.parse_args()
    archives = sorted(path.resolve() for folder in args.evidence for path in folder.iterdir())
    failed = 0
    for seed in args.seeds:
        scratch = Path(tempfile.mkdtemp())
        try:
            found = differing([*archives], seed, args.batches, scratch)
        finally:
            shutil.rmtree(scratch)
        failed += bool(found)
        told = "; ".join(found) or "every table is that of a build from nothing"
        print(f"order {seed}: {len(archives)} archives in {args.batches} batches: {told}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

"""What an edit of one small model costs beside a large table that did not change: `wh build` against `cp` of the same
database in the same run, round after round. Copying and hashing what is unchanged must not dominate.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from measure import Cost, medians, run
from projects import Model
from tools import CHANGED, FULL, Wh

_COLUMNS = 10
# Of hashes, which do not compress: eight bytes a value.
_BYTES_A_ROW = 8 * _COLUMNS
_HASH = "import hashlib, sys; hashlib.file_digest(open(sys.argv[1], 'rb'), 'sha256')"


def models(gigabytes: float, edit: int) -> list[Model]:
    """A large table, and a small one that `edit` is in."""
    rows = int(gigabytes * 1e9 / _BYTES_A_ROW)
    columns = ",\n".join(f"    hash(i, {number}) as h{number}" for number in range(_COLUMNS))
    return [
        Model("large", f"select\n{columns}\nfrom range({rows}) as t(i)\n"), Model("small", f"select {edit} as edit\n")
    ]


def measure(gigabytes: float, runs: int, root: Path) -> tuple[int, dict[str, Cost]]:
    """The bytes of the database, and the median cost of each command, `wh build` first."""
    wh = Wh(root, Path())
    wh.write(models(gigabytes, 0))
    run(wh.command(FULL), root, wh.environment)
    costs: dict[str, list[Cost]] = {}
    for number in range(1, runs + 1):
        database, copied = wh.database.resolve(), root / "copy.duckdb"
        commands = {
            "wh build, one small model changed": wh.command(CHANGED),
            "cp": ["cp", str(database), str(copied)],
            "sha256 of it": [sys.executable, "-c", _HASH, str(database)],
        }
        wh.write(models(gigabytes, number))
        for name, command in commands.items():
            costs.setdefault(name, []).append(run(command, root, wh.environment))
        copied.unlink()
        print(f"round {number} of {runs}", file=sys.stderr, flush=True)
    return database.stat().st_size, {name: medians(found) for name, found in costs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    size_help = "of the unchanged table (default: 2); five times that is needed on disk"
    parser.add_argument("--gigabytes", type=float, default=2.0, help=size_help)
    parser.add_argument("--folder", type=Path, help="where, since file systems differ (default: the temporary folder)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as scratch:
        size, costs = measure(args.gigabytes, args.runs, Path(scratch))
    if args.json:
        print(json.dumps({"database_bytes": size, **{name: asdict(cost) for name, cost in costs.items()}}, indent=2))
        return
    print(f"a database of {size / 1e9:.2f} GB, medians of {args.runs}")
    print(f"{'command':<34} {'CPU s':>7} {'wall s':>7} {'peak MB':>8}")
    for name, cost in costs.items():
        print(f"{name:<34} {cost.cpu_s:>7.2f} {cost.wall_s:>7.2f} {cost.peak_mb:>8.0f}")


if __name__ == "__main__":
    main()

"""How often the run that a person would compare with is among the three that `wh similar` lists first, over pairs chosen by hand beforehand.

    python benchmarks/similar/run.py PROJECT benchmarks/similar/serving.txt

PROJECT is a project with a build of the archive that the pairs are from.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from warehouse.analysis.similar import nearest
from warehouse.project.project import read_project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build

_FIRST = 3


def main(project: Path, pairs: Path) -> None:
    con = open_build(current_build(read_project(project)).path)
    right = asked = 0
    for line in pairs.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        one, other = line.split()
        (run,) = con.execute("select min(run_id) from benchmark_run_fact where starts_with(run_id, ?)", [one]).fetchone() or (None,)
        if run is None:
            raise SystemExit(f"no run begins with {one}")
        found = [each.id for each in nearest(con, "run", run, 10).neighbours]
        place = next((number for number, name in enumerate(found, 1) if re.search(other, name)), None)
        asked += 1
        right += place is not None and place <= _FIRST
        if place is None or place > _FIRST:
            print(f"{run}: {other} is {f'number {place}' if place else 'not among ten'}; first: {found[0]}")
    print(f"{right} of {asked} among the first {_FIRST}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""Asks `wh explain` for the cause of each simulated cluster case (`tests/samples/clusters.py`), with other noise for each seed, and prints how many
answers are right: the cause first where one thing slowed the run down, and none named where nothing did."""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tests"), str(HERE.parents[1])]

from samples import clusters
from test_cluster_cases import named, run_of

from warehouse.analysis.explain.explanation import explain
from warehouse.cli.main import main as wh
from warehouse.project.making import init_project
from warehouse.project.project import Project


def _built(folder: Path, seed: str) -> Project:
    project = init_project(folder / "project")
    (project.root / "models").mkdir(exist_ok=True)
    (project.root / "models/place.sql").write_text(clusters.PLACE)
    clusters.write(folder / "evidence", clusters.CASES, seed)
    for line in (["ingest", str(folder / "evidence")], ["build"]):
        with redirect_stdout(StringIO()):
            assert wh(["--quiet", "--project", str(project.root), *line]) == 0, line
    return project


def _answers(project: Project, texts: Path | None) -> dict[str, str | None]:
    """By case, the check that is named first."""
    found = {}
    for case in clusters.CASES:
        run = run_of(project, case)
        found[case.name] = named(explain(project, run))
        if texts:
            texts.mkdir(parents=True, exist_ok=True)
            with (texts / f"{case.name}.txt").open("w") as file, redirect_stdout(file):
                wh(["--project", str(project.root), "explain", run])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="*", default=["", "second", "third"], help="words; the empty one gives the noise of the tests")
    parser.add_argument("--texts", type=Path, help="write the answers to files in this folder")
    given = parser.parse_args()
    for seed in given.seeds:
        with tempfile.TemporaryDirectory() as folder:
            found = _answers(_built(Path(folder), seed), given.texts / (seed or "first") if given.texts else None)
        wrong = [case for case in clusters.CASES if found[case.name] != case.cause]
        slow = sum(case.cause is not None for case in clusters.CASES)
        missed = sum(case.cause is not None for case in wrong)
        healthy = len(clusters.CASES) - slow
        silent = healthy - (len(wrong) - missed)
        print(f"seed {seed!r}: the cause first in {slow - missed} of {slow}, none named in {silent} of {healthy}", flush=True)
        for case in wrong:
            print(f"  {case.name}: {found[case.name] or 'none'} instead of {case.cause or 'none'}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

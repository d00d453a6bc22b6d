"""What each command costs a user: CPU seconds of its process tree and its peak memory, beside the target, on projects of several sizes.

Every project is made here, by the commands themselves, from the samples of the tests. Each command runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(REPOSITORY / "tests")]

import evidence
import others
from answers import served
from transform import measure
from transform.measure import Cost, medians

WH = [sys.executable, "-m", "warehouse.cli.main"]
# A cache of its own, so that no figure depends on what other projects left on this machine.
CACHE = tempfile.TemporaryDirectory(prefix="wh-bench-cache-")
ENVIRONMENT = {"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": CACHE.name}
LOADS = (1, 2, 4, 8, 16)
CHANGED = "facts/serving_configuration_fact.sql"  # a model under the published query


@dataclass(frozen=True)
class Figure:
    """One line: what was measured, in `unit`, the peak memory in MB where it was measured, and the targets of both."""

    name: str
    value: float
    unit: str
    target: float
    peak_mb: float | None = None
    target_mb: float | None = None

    @property
    def is_met(self) -> bool:
        return self.value <= self.target and (not self.target_mb or not self.peak_mb or self.peak_mb <= self.target_mb)

    def told(self) -> str:
        memory = f"{self.peak_mb:>6.0f} MB" if self.peak_mb else f"{'':>9}"
        target = f"{self.target:g} {self.unit}" + (f", {self.target_mb:g} MB" if self.target_mb else "")
        return f"{self.name:<58} {self.value:>8.2f} {self.unit:<6} {memory}   {target:<14} {'met' if self.is_met else 'MISSED'}"


@dataclass(frozen=True)
class Project:
    """A project in a folder of its own, on which commands run."""

    root: Path

    @classmethod
    def made(cls, scratch: Path, name: str) -> Project:
        root = scratch / name
        measure.run([*WH, "init", str(root)], scratch, ENVIRONMENT)
        return cls(root)

    def wh(self, *arguments: str) -> Cost:
        return measure.run([*WH, *arguments], self.root, ENVIRONMENT)

    def take_in(self, folder: Path) -> Project:
        self.wh("ingest", str(folder))
        self.wh("build")
        return self

    def cell(self, select: str) -> str:
        """The first cell of a query's result."""
        answer = self.root / "answer.csv"
        command = f'"$0" -m warehouse.cli.main sql --format csv "$1" > {answer.name}'
        measure.run(["bash", "-c", command, sys.executable, select], self.root, ENVIRONMENT)
        return answer.read_text().splitlines()[1]


def cpu(name: str, cost: Cost, target: float, target_mb: float | None = None) -> Figure:
    return Figure(name, cost.cpu_s, "s", target, cost.peak_mb, target_mb)


def repeated(command: Callable[[], Cost], times: int = 3) -> Cost:
    return medians(command() for _ in range(times))


def small(scratch: Path) -> Iterator[Figure]:
    for name, words in (("machine", "first build on a machine, one small sample"), ("small", "build from nothing, one small sample")):
        project = Project.made(scratch, name)
        project.wh("ingest", str(evidence.small(scratch / f"{name}-first", 1)))
        yield cpu(words, project.wh("build"), 2.5)
    project.wh("ingest", str(evidence.small(scratch / "second", 2)))
    yield cpu("build after one more sample", project.wh("build"), 1.5)
    run_id = project.cell("select run_id from benchmark_run_fact order by run_id limit 1")
    yield cpu("explain of one run", repeated(lambda: project.wh("explain", run_id)), 0.5)


def points(scratch: Path) -> Iterator[Figure]:
    for runs, target in ((5, 3), (162, 8)):
        project = Project.made(scratch, f"points{runs}").take_in(evidence.serving(scratch / f"points-{runs}", 0, runs, LOADS, 1))
        yield cpu(f"first judge of serving_points, 5 rows of {runs} runs", project.wh("judge", "serving_points"), 8, 500)
        again = repeated(lambda project=project: project.wh("judge", "serving_points"))
        yield cpu(f"judge serving_points, 5 rows of {runs} runs", again, target, 500)
    yield cpu("judge of a query that claims nothing", project.wh("judge", "serving_results"), 0.5)
    for query in ("serving_results", "serving_points", "serving_frontier"):
        project.wh("publish", query, "--as", "provisional")
    numbers = int(project.cell("select count(*) * 38 from serving_results"))
    cost = project.wh("verify", "--all")
    yield cpu(f"verify --all, some {numbers:,} numbers", cost, 0.005 * numbers)


def thousand(scratch: Path) -> Iterator[Figure]:
    loads = (1, 2, 4, 8, 16, 32, 64, 128)
    project = Project.made(scratch, "thousand").take_in(evidence.serving(scratch / "thousand-runs", 0, 990, loads, 20))
    yield cpu("first publication of serving_results, 990 runs", project.wh("publish", "serving_results"), 8)
    project.take_in(evidence.serving(scratch / "more-runs", 990, 10, loads, 20))
    yield cpu("publish serving_results, 1,000 runs, warm", project.wh("publish", "serving_results"), 4)
    number = project.cell("select number_ids.ttft_mean_ms from serving_results order by run_id desc limit 1")
    yield cpu("lineage of one number", repeated(lambda: project.wh("lineage", number)), 0.5)
    yield cpu("verify of one number", repeated(lambda: project.wh("verify", number)), 1.2)
    changed = project.root / "models" / CHANGED
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text((REPOSITORY / "models" / CHANGED).read_text().rstrip() + "\nwhere run_id is not null\n")
    project.wh("build")
    yield cpu("first publication after a change of the project", project.wh("publish", "serving_results"), 8)
    for name, value, target in served(project.root, number, ENVIRONMENT):
        yield Figure(f"serve: {name}", value, "ms", target)


def indicators(scratch: Path) -> Iterator[Figure]:
    project = Project.made(scratch, "indicators").take_in(evidence.indicators(scratch / "indicator-runs"))
    for words in ("first publication of", "publish"):
        cost = project.wh("publish", "indicator_results", "--as", "provisional")
        yield cpu(f"{words} indicator_results, {evidence.POINTS:,} rows", cost, 8, 500)


def training(scratch: Path) -> Iterator[Figure]:
    project = Project.made(scratch, "training").take_in(evidence.training(scratch / "submissions"))
    yield cpu(f"judge mlperf_training_results, {evidence.SETS} repeat sets", project.wh("judge", "mlperf_training_results"), 12, 500)


def recorder(scratch: Path) -> Iterator[Figure]:
    project = Project.made(scratch, "recorder")
    short, long = (project.wh("record", "--", "sleep", str(seconds)).cpu_s for seconds in (1, 31))
    yield Figure("wh record: CPU while a command runs, of one core", 100 * (long - short) / 30, "%", 1)


def star(scratch: Path) -> Iterator[Figure]:
    for name, value, target in others.star():
        yield Figure(name, value, "times", target)


def tpcds(scratch: Path) -> Iterator[Figure]:
    for name, value, unit, target in others.tpcds():
        yield Figure(name, value, unit, target)


PARTS: Mapping[str, Callable[[Path], Iterator[Figure]]] = {
    "small": small, "points": points, "thousand": thousand, "indicators": indicators, "training": training, "recorder": recorder, "star": star,
    "tpcds": tpcds,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="these parts alone")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found: list[Figure] = []
    for name in args.only:
        print(f"{name}: three million objects are added here in {measure.yardstick():.2f} s", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="wh-bench-") as scratch:
            for figure in PARTS[name](Path(scratch)):
                found.append(figure)
                print(figure.told(), file=sys.stderr if args.json else sys.stdout, flush=True)
    if args.json:
        print(json.dumps([asdict(figure) for figure in found], indent=2))


if __name__ == "__main__":
    main()

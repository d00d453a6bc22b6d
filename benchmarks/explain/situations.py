"""Records the indicator of step.py on this machine, in situations with a known cause, and asks `wh explain` for the cause of each run.

A repetition is a healthy pair and five situations, each of three runs: input that the process prepares itself, input from disk past the page cache,
busy processes beside it, a quota of CPU time, and a memory limit below what it works on. The limits are those of cgroups (version 1, as root). The
runs of a repetition are compared with the first recording of its healthy pair. All recordings have a large share of the CPUs, or what else runs on
the machine would be a neighbour of the healthy pair, too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from step import CACHED_BYTES, STORED_BYTES, stored

from warehouse.record.command import record

RUNS = 3
SHARES, SHARES_OF_NEIGHBOURS = 16_384, 65_536  # of CPU time; others have 1,024
BUSY_PROCESSES = 4 * (os.cpu_count() or 1)
CGROUPS = Path("/sys/fs/cgroup")
# By the check that names the cause, the words of which one of its subjects must have.
CPU, MEMORY, OWN, STORAGE = "cpu_throttling_or_saturation", "host_memory_pressure", "own_process_input", "storage_throughput"


@dataclass(frozen=True)
class Situation:
    """`limits`: files of cgroups and what is written there, by controller. `causes`: checks of which one must come first; none: it is healthy."""

    source: str = "cached"
    causes: frozenset[str] = frozenset()
    has_neighbours: bool = False
    limits: dict[str, dict[str, int]] = field(default_factory=dict)


SITUATIONS = {
    "healthy_1": Situation(),
    "own_process_input": Situation("process", frozenset({OWN, "input_pipeline"})),
    "disk_input": Situation("disk", frozenset({STORAGE})),
    "cpu_neighbours": Situation(causes=frozenset({CPU}), has_neighbours=True),
    "cpu_quota": Situation(causes=frozenset({CPU}), limits={"cpu": {"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 20_000}}),
    "memory_limit": Situation(causes=frozenset({MEMORY}), limits={"memory": {"memory.limit_in_bytes": 24 << 20}}),
    "healthy_2": Situation(),
}


@contextmanager
def _neighbours(count: int) -> Iterator[None]:
    with _limited("neighbours", {"cpu": {"cpu.shares": SHARES_OF_NEIGHBOURS}} if count else {}) as joined:
        started = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
        for process in started:
            for file in joined:
                file.write_text(str(process.pid))
        try:
            yield
        finally:
            for process in started:
                process.kill()
                process.wait()


@contextmanager
def _limited(name: str, limits: dict[str, dict[str, int]]) -> Iterator[list[Path]]:
    """The files that a process writes its number to, to be limited."""
    folders = [CGROUPS / controller / f"{name}-{os.getpid()}" for controller in limits]
    for folder, files in zip(folders, limits.values(), strict=True):
        folder.mkdir()
        for file, value in files.items():
            (folder / file).write_text(str(value))
    try:
        yield [folder / "cgroup.procs" for folder in folders]
    finally:
        for folder in folders:
            folder.rmdir()


def record_situation(name: str, destination: Path, seconds: float, files: Path) -> None:
    """Record one situation, by a process of its own: the limits are the recorder's, too, as those of a container would be."""
    situation = SITUATIONS[name]
    limits = {**situation.limits, "cpu": {"cpu.shares": SHARES, **situation.limits.get("cpu", {})}}
    with _neighbours(BUSY_PROCESSES if situation.has_neighbours else 0), _limited("situation", limits) as joined:
        child = os.fork()
        if child == 0:
            try:
                for file in joined:
                    file.write_text(str(os.getpid()))
                os.environ["INPUT"] = situation.source
                record([sys.executable, str(HERE / "step.py"), "--seconds", str(seconds), "--folder", str(files)], destination, repeats=RUNS)
                os._exit(0)
            finally:
                os._exit(1)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise SystemExit(f"{name} could not be recorded")


def judge(folder: Path, is_verbose: bool) -> None:
    """Ingest what was recorded below a folder into a project there, and print how often the right cause came first."""
    from warehouse.analysis.explain.explanation import explain
    from warehouse.evidence.objects.location import open_store
    from warehouse.landing.ingest import ingest, plan_ingest
    from warehouse.landing.registry import load_ingestors
    from warehouse.project.project import read_project
    from warehouse.transform.build.build import build
    from warehouse.transform.finished.builds import current_build
    from warehouse.transform.finished.query import open_build

    root = folder / "project"
    root.mkdir(exist_ok=True)
    (root / "warehouse.toml").touch()
    project = read_project(root)
    store = open_store(project)
    runs: dict[Path, list[str]] = {}
    for recording in sorted(folder.glob("repetition-*/*")):
        report = ingest(plan_ingest(recording, load_ingestors(project).values()), store, "situations")
        runs[recording] = [str(bundle.digest) for bundle in report.bundles]
    build(project)
    con = open_build(current_build(project).path)
    by_bundle: dict[str, list[str]] = {}
    for run_id, digest in con.execute("select run_id, artifact_manifest_digest from benchmark_run_fact order by run_id").fetchall():
        by_bundle.setdefault(digest, []).append(run_id)
    con.close()
    right, asked, named = Counter[str](), Counter[str](), dict[str, Counter[str]]()
    for recording, digests in runs.items():
        name = recording.name
        if name == "healthy_1":
            continue
        baseline = [run for digest in runs[recording.parent / "healthy_1"] for run in by_bundle[digest]]
        for run in (run for digest in digests for run in by_bundle[digest]):
            found = explain(project, run, baseline)
            causes = found.causes() if found.has_suspected_cause() or name != "healthy_2" else []
            first = causes[0].check.name if causes else "none"
            asked[name] += 1
            right[name] += first in SITUATIONS[name].causes or (first == "none" and not SITUATIONS[name].causes)
            named.setdefault(name, Counter())[first] += 1
            if is_verbose:
                said = "; ".join(f"{each.check.name} ({each.said})" for each in causes)
                print(f"{recording.parent.name} {name}: {found.effect:.2f} times slower; {said or 'none'}")
    for name in asked:
        first_named = ", ".join(f"{each} {count}" for each, count in named[name].most_common())
        print(f"{name}: right in {right[name]} of {asked[name]} runs; first: {first_named}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("destination", type=Path)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--judge-only", action="store_true", help="of what was recorded before")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    args.destination.mkdir(parents=True, exist_ok=True)
    for size in (CACHED_BYTES, STORED_BYTES):
        stored(args.destination, size)
    for number in range(0 if args.judge_only else args.repetitions):
        for name in SITUATIONS:
            place = args.destination / f"repetition-{number + 1:02d}" / name
            if not place.exists():
                record_situation(name, place, args.seconds, args.destination)
                print(place.parent.name, name, flush=True)
    judge(args.destination, args.verbose)


if __name__ == "__main__":
    main()

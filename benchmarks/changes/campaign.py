"""A campaign as a lab runs it: 10 cases of 30 metrics every night, with known events; what `wh changes` finds, prints and costs."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from figure import Figure

from warehouse.analysis.changes import Changes, changes
from warehouse.analysis.events.findings import time_of
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build

NIGHTS, CASES, METRICS = 120, 10, 30
_START = datetime(2026, 1, 1, tzinfo=UTC)
_MOVED, _MOVED_ON = 9, 70  # a case and the night from which on it runs on another machine
_RATES = ("request_throughput_per_s", "output_token_throughput_per_s", "hit_rate_per_s")
_NEW_FROM = 60  # the night from which on the last metric of case 8 is measured
_GROUP = f"a campaign of {CASES * METRICS} series and {NIGHTS} nights"
_MEASUREMENT = """/*
role: measurements
grain: [run_id, indicator, metric, point]
*/
select
    run_id, 'serving' as indicator, metric, 'concurrency 16' as point, value, unit, better, session, started_at, case_name as benchmark_case_id,
    case_name as workload, null::varchar as parameters, 'h ' || testbed as hardware, testbed, null::varchar as node, software, 's' as script,
    concat_ws(' ', case_name, testbed, metric) as series_key, concat_ws(' ', case_name, testbed, metric, software) as comparable_key
from read_parquet('data/*.parquet')
"""
_CONDITION = """/*
role: conditions
*/
select distinct run_id, 'package' as kind, 'torch' as name, '2.' || software as value_text, null::double as value_number
from read_parquet('data/*.parquet')
union all
select distinct run_id, 'software', 'server_version', '0.' || software, null from read_parquet('data/*.parquet')
"""


@dataclass(frozen=True)
class Planned:
    """An event: from which night on, which cases and metrics, by which factor of their times, and when it ended."""

    night: int
    cases: tuple[int, ...]
    metrics: tuple[int, ...]
    ratio: float
    until: int = NIGHTS

    @property
    def testbed(self) -> str:
        return _testbed(self.cases[0], self.night)


def _testbed(case: int, night: int) -> str:
    return "c" if case == _MOVED and night >= _MOVED_ON else "a" if case < 5 else "b"


def planned(chance: np.random.Generator) -> list[Planned]:
    """Six events on each of two testbeds, at least eight nights apart, of some of the metrics of one to five cases; the third is temporary."""
    events = []
    for cases in (range(5), range(5, 9)):
        nights = np.array([18, 34, 50, 70, 86, 102]) + chance.integers(0, 4, 6)
        for number, night in enumerate(nights.tolist()):
            of = tuple(sorted(chance.choice(cases, int(chance.integers(1, len(cases) + 1)), replace=False).tolist()))
            metrics = tuple(sorted(chance.choice(METRICS, int(chance.integers(8, METRICS + 1)), replace=False).tolist()))
            size = float(chance.uniform(0.05, 0.15)) * (1 if chance.random() < 0.7 else -1)
            events.append(Planned(night, of, metrics, 1 + size, night + 8 if number == 2 else NIGHTS))
    return events


def campaign(root: Path, seed: int) -> tuple[Project, list[Planned]]:
    """The project of a campaign, built. Each run has noise of its own that all its metrics share, and each metric some more. Some runs failed, and
    on three nights nothing ran."""
    chance = np.random.default_rng(seed)
    events = planned(chance)
    logs = np.log(100 * 2 ** chance.uniform(-2, 2, (CASES, METRICS)))[:, :, None] + 0.006 * chance.normal(size=(CASES, 1, NIGHTS))
    logs = logs + 0.008 * chance.normal(size=(CASES, METRICS, NIGHTS))
    software = np.ones((CASES, NIGHTS), dtype=int)
    for each in events:
        for case in each.cases:
            for metric in each.metrics:
                logs[case, metric, each.night : each.until] += np.log(each.ratio) * (-1 if metric < 3 else 1)
            software[case, each.night :] += 1
    logs[:, 1] = logs[:, 0] + np.log(1.25)  # requests and tokens per second are one measurement
    ran = chance.random((CASES, NIGHTS)) > 0.04
    ran[:, chance.choice(NIGHTS, 3, replace=False)] = False
    rows = [
        (case, metric, night) for night in range(NIGHTS) for case in range(CASES) if ran[case, night]
        for metric in range(METRICS) if not (case == 8 and metric == METRICS - 1 and night < _NEW_FROM)
    ]
    project = init_project(root, bare=True)
    (project.root / "models" / "measurement.sql").write_text(_MEASUREMENT)
    (project.root / "models" / "condition.sql").write_text(_CONDITION)
    (project.root / "data").mkdir()
    pq.write_table(  # type: ignore[no-untyped-call]  # pyarrow has no types
        pa.table({
            "run_id": [f"case{case}/{night:03}" for case, _, night in rows],
            "case_name": [f"case{case}" for case, _, _ in rows],
            "metric": [_RATES[metric] if metric < 3 else f"t{metric}_ms" for _, metric, _ in rows],
            "unit": ["1/s" if metric < 3 else "ms" for _, metric, _ in rows],
            "better": ["higher" if metric < 3 else "lower" for _, metric, _ in rows],
            "value": [float(np.exp(logs[row])) for row in rows],
            "session": [f"{_testbed(case, night)} {night}" for case, _, night in rows],
            "started_at": pa.array([_START + timedelta(days=night, minutes=20 * case) for case, _, night in rows], pa.timestamp("us", tz="UTC")),
            "testbed": [_testbed(case, night) for case, _, night in rows],
            "software": [str(software[case, night]) for case, _, night in rows],
        }),
        project.root / "data" / "all.parquet",
    )
    build(project)
    return project, events


def matched(found: Changes, events: list[Planned]) -> tuple[int, int, list[int]]:
    """How many planned events the scan found, how many of its events were not planned, and by how many nights each place is wrong."""
    left = [(each, [each.clearest.first, *([each.end] if each.end else [])]) for each in found.events]
    off: list[int] = []
    used: set[int] = set()
    for each in events:
        near = [
            (abs((time_of(place) - _START).days - each.night), number) for number, (_, places) in enumerate(left)
            for place in places if place.variables["testbed"] == each.testbed
        ]
        if near and min(near)[0] <= 3:
            off.append(min(near)[0])
            used |= {number for nights, number in near if nights <= 3}
    return len(off), len(left) - len(used), off


def asked(project: Project) -> tuple[float, int]:
    """CPU seconds of `wh changes`, and how many lines it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "warehouse.cli.main", "changes"]
    done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, len([*done.stdout.splitlines(), *done.stderr.splitlines()])


def run(root: Path, seeds: int = 5) -> Iterator[Figure]:
    rights, extras, offs, lines, first, again, ends = [], [], [], [], [], [], []
    for seed in range(seeds):
        project, events = campaign(root / str(seed), seed)
        for seconds in (first, again):
            used, printed = asked(project)
            seconds.append(used)
        lines.append(printed)
        found = changes(project, now=_START + timedelta(days=NIGHTS))
        right, extra, off = matched(found, events)
        rights.append(right)
        extras.append(extra)
        offs += off
        ends.append(sum(each.back_at is not None for each in found.events))
    yield Figure(_GROUP, "of 12 events found, the fewest of the seeds", min(rights), low=11)
    yield Figure(_GROUP, "  events that were none, the most", max(extras), high=2)
    yield Figure(_GROUP, "  places at most one night off, share", float(np.mean(np.array(offs) <= 1)), low=0.95)
    yield Figure(_GROUP, "  temporary ones with their end, of 2, the fewest", min(ends), low=2)
    yield Figure(_GROUP, "lines printed, the most", max(lines), high=40)
    yield Figure(_GROUP, "CPU seconds of the command, the most", max(first), high=3)
    yield Figure(_GROUP, "  of the next one", max(again), high=2)

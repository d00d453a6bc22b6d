"""What users meet: `wh compare` and `wh changes` on builds of simulated runs. False verdicts, false findings, ids, cost; beside others' rules."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "statistics")]

import campaign
import labelled
from detection import FLAT
from figure import Figure
from rules import hud

from warehouse.analysis.changes import Changes, changes
from warehouse.analysis.compare import THRESHOLD, Comparison, MetricComparison, compare_sides
from warehouse.analysis.measurements import measured
from warehouse.analysis.sides import select
from warehouse.errors import counted
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

Floats = NDArray[np.float64]
SERIES = HERE.parents[2] / "shared" / "changepoints"
_START = datetime(2020, 1, 1, tzinfo=UTC)
_GROUPS = {"tcpd and otava": ("tcpd", "otava"), "nab": ("nab",), "mozilla": ("mozilla",)}
_MODEL = """/*
role: measurements
grain: [run_id, indicator, metric, point]
*/
select
    run_id, 'simulated' as indicator, 'elapsed_ms' as metric, '' as point, value, 'ms' as unit, 'lower' as better, session, started_at,
    series as benchmark_case_id, 'w' as workload, null::varchar as parameters, 'h' as hardware, 't' as testbed, null::varchar as node,
    software, 's' as script, series as series_key, series || ' ' || software as comparable_key
from read_parquet('data/*.parquet')
"""


def project_in(root: Path) -> Project:
    project = init_project(root, bare=True)
    (root / "models" / "measurement.sql").write_text(_MODEL)
    (root / "data").mkdir()
    return project


def add(project: Project, values: Floats, first: int = 0, runs_a_session: int = 1, software: str = "1", names: Sequence[str] = ()) -> None:
    """One row a point of `values[series, point]`: a session a day, whose runs are minutes apart. Then the build."""
    count, points = values.shape
    place = np.arange(first, first + points)
    days, minutes = np.divmod(place, runs_a_session)
    times = [_START + timedelta(days=int(day), minutes=int(minute)) for day, minute in zip(days, minutes, strict=True)]
    series = list(names) or [f"series {number:04}" for number in range(count)]
    pq.write_table(  # type: ignore[no-untyped-call]  # pyarrow has no types
        pa.table(
            {
                "run_id": [f"{name}/{software}/{point:05}" for name in series for point in place.tolist()],
                "series": [name for name in series for _ in range(points)],
                "value": values.ravel(),
                "session": [f"day {day}" for day in days.tolist()] * count,
                "started_at": pa.array(times * count, pa.timestamp("us", tz="UTC")),
                "software": [software] * (count * points),
            }
        ),
        project.root / "data" / f"{software}-{first:05}.parquet",
    )
    build(project)


def compared(
    root: Path, chance: np.random.Generator, series: int, sessions: int, runs: int, spread: float, between: float
) -> tuple[list[MetricComparison], list[Comparison]]:
    """The same against the same: so many sessions of so many runs a side, the head's after the base's. Each metric by a comparison of its
    own, and ten metrics at a time."""
    project, size = project_in(root), sessions * runs
    for side, software in enumerate(("base", "head")):
        levels = np.repeat(between * chance.normal(size=(series, sessions)), runs, axis=1)
        add(project, 100 * np.exp(levels + spread * chance.normal(size=(series, size))), side * size, runs, software)
    with measured(current_build(project)) as found:

        def of(cases: str) -> Comparison:
            base, head = (select(found, f"software={software},benchmark_case_id={cases}") for software in ("base", "head"))
            return compare_sides(found, base, head, THRESHOLD)

        alone = [metric for number in range(series) for metric in of(f"series {number:04}").metrics]
        return alone, [of(f"series {ten:03}*") for ten in range(series // 10)]


def comparisons(root: Path, series: int) -> Iterator[Figure]:
    for spread in (0.0266, 0.0056):
        for sessions, runs in ((1, 5), (5, 1), (3, 3)):
            alone, _ = compared(root / f"{spread} {sessions}", np.random.default_rng(11), series, sessions, runs, spread, 0.0)
            wrong = np.mean([each.judged.outcome is not None for each in alone])
            name = f"spread {spread:.2%}, {counted(sessions, 'session')} of {counted(runs, 'run')} a side: confirmed or suspected"
            yield Figure("wh compare, A/A against a threshold of 2 %", name, float(wrong), high=0.01)
            plain = np.mean([abs(each.head[0].value / each.base[0].value - 1) > THRESHOLD for each in alone])
            yield Figure("wh compare, A/A against a threshold of 2 %", "  a plain threshold on the first run of each side", float(plain))
    for sessions in (1, 2, 3):
        alone, of_ten = compared(root / f"sessions {sessions}", np.random.default_rng(12), series, sessions, 5, 0.01, 0.05)
        verdicts = [each.judged.verdict for each in alone]
        name = f"{counted(sessions, 'session')} of 5 runs a side: confirmed"
        yield Figure("wh compare, sessions that differ by 5 %", name, verdicts.count("confirmed") / series, high=0.05)
        yield Figure("wh compare, sessions that differ by 5 %", "  suspected", verdicts.count("suspected") / series)
        failed = float(np.mean([each.worst() == "confirmed" for each in of_ten]))
        yield Figure("wh compare, sessions that differ by 5 %", "  of ten metrics at a time, any confirmed worse", failed, high=0.05)


def wrong_and_right(found: Changes, changed: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Of the confirmed findings and of all, how many are false and how many true: within five points of the step of their series."""
    counts = {"confirmed": [0, 0], "all": [0, 0]}
    for each in found.findings:
        assert each.first.started_at
        place = (each.first.started_at - _START).days
        is_right = abs(place - changed.get(each.first.series_key, -100)) <= 5
        for name in ("all", *(["confirmed"] if each.status == "confirmed" else [])):
            counts[name][is_right] += 1
    return {name: (wrong, right) for name, (wrong, right) in counts.items()}


def scans(root: Path, series: int) -> Iterator[Figure]:
    group = f"wh changes, a scan of {series:,} series of 200 points"
    total = 0
    for name in ("Gaussian", "log-normal 0.5", "AR(1) 0.5"):
        chance, project = np.random.default_rng(13), project_in(root / name)
        add(project, np.stack([FLAT[name](chance, 200) for _ in range(series)]))
        found = changes(project, threshold=0, now=_START)
        confirmed = sum(each.status == "confirmed" for each in found.findings)
        total += confirmed
        yield Figure(group, f"{name}, nothing changed: confirmed", confirmed)
        yield Figure(group, "  suspected", len(found.findings) - confirmed)
    yield Figure(group, "confirmed in a scan, mean over the three", total / 3, high=0.1)
    wrong, right = {"confirmed": 0, "all": 0}, {"confirmed": 0, "all": 0}
    scanned, share = 3, max(1, series // 100)
    for seed in range(scanned):
        chance, project = np.random.default_rng(20 + seed), project_in(root / f"changed {seed}")
        values = np.stack([FLAT["Gaussian"](chance, 200) for _ in range(series)])
        changed = {}
        for number in range(share):
            place = 200 - int(chance.integers(10, 50))
            values[number, place:] += 3
            changed[f"series {number:04}"] = place
        add(project, values)
        for name, (false, true) in wrong_and_right(changes(project, threshold=0, now=_START), changed).items():
            wrong[name] += false
            right[name] += true
    for name in ("confirmed", "all"):
        yield Figure(group, f"1 % changed, {name}: false share", wrong[name] / max(1, wrong[name] + right[name]), high=0.05)
        yield Figure(group, "  share of the changes found", right[name] / (scanned * share))


def sessions(root: Path, series: int) -> Iterator[Figure]:
    chance, project = np.random.default_rng(14), project_in(root / "sessions")
    levels = np.repeat(0.05 * chance.normal(size=(series, 2)), 50, axis=1)
    add(project, 100 * np.exp(levels + 0.01 * chance.normal(size=(series, 100))), runs_a_session=50)
    found = changes(project, now=_START).findings
    confirmed = sum(each.status == "confirmed" for each in found) / series
    yield Figure("wh changes, sessions that differ by 5 %", "one session of 50 runs a side: confirmed", confirmed, high=0.05)
    yield Figure("wh changes, sessions that differ by 5 %", "  suspected", len(found) / series - confirmed)


def daily(root: Path, series: int, days: int = 40) -> Iterator[Figure]:
    """A look a day at the same thing: how many alerts are new. PyTorch HUD's rule sees the same points."""
    group = "a look a day at A/A data"
    for spread in (0.0266, 0.04):
        chance, project = np.random.default_rng(15), project_in(root / f"daily {spread}")
        values = 100 * np.exp(spread * chance.normal(size=(series, 60 + days)))
        add(project, values[:, :60])
        changes(project, now=_START)
        theirs = ours = 0
        seen: set[str] = set()
        for day in range(60, 60 + days):
            add(project, values[:, day : day + 1], day)
            ids = {each.finding_id for each in changes(project, now=_START).findings}
            ours += len(ids - seen)
            seen |= ids
        for row in values:
            calls = [hud([row[at : at + 1] for at in range(day + 1)], 0.95) for day in range(59, 60 + days)]
            theirs += sum(now and not before for before, now in zip(calls, calls[1:], strict=False))
        per = series * days / 1000
        yield Figure(group, f"spread {spread:.2%}: PyTorch HUD's rule (0.95), alerts in 1,000 days", theirs / per)
        yield Figure(group, "  wh changes, new findings in 1,000 days", ours / per)
        yield Figure(group, "  as a share", ours / max(1, theirs), high=0.1)


def identity(root: Path, series: int) -> Iterator[Figure]:
    """True steps, looked at after every run: whether a finding keeps its id."""
    group = "true steps, a look after every run"
    for sigma in (2, 3):
        chance, project = np.random.default_rng(16), project_in(root / f"identity {sigma}")
        values = 100 + chance.normal(size=(series, 120))
        values[:, 80:] += sigma
        add(project, values[:, :80])
        ids: dict[str, set[str]] = {}
        places: dict[str, set[str]] = {}
        for point in range(80, 120):
            add(project, values[:, point : point + 1], point)
            for each in changes(project, threshold=0, now=_START).findings:
                if each.outcome == "worse":
                    ids.setdefault(each.first.series_key, set()).add(each.finding_id)
                    places.setdefault(each.first.series_key, set()).add(each.first.run_id)
        yield Figure(group, f"{sigma} sigma: share found", len(ids) / series)
        yield Figure(group, "  share whose place moved", float(np.mean([len(each) > 1 for each in places.values()])))
        yield Figure(group, "  share with more than one id", float(np.mean([len(each) > 1 for each in ids.values()])), high=0.01)


def cost(root: Path) -> Iterator[Figure]:
    chance, project = np.random.default_rng(17), project_in(root / "cost")
    add(project, 100 + chance.normal(size=(1000, 1000)))
    started = time.process_time()
    changes(project, now=_START)
    yield Figure("CPU seconds of wh changes", "1,000 series of 1,000 points, the first scan", time.process_time() - started, high=20)
    add(project, 100 + chance.normal(size=(1000, 1)), 1000)
    started = time.process_time()
    changes(project, now=_START)
    yield Figure("CPU seconds of wh changes", "one more point for each", time.process_time() - started, high=2)


def on_labelled(root: Path, folder: Path) -> Iterator[Figure]:
    """The labelled series as one project, whose findings are scored: what a user of `wh changes` is shown."""
    if not folder.is_dir():
        print(f"no labelled series in {folder}: this part is left out", file=sys.stderr)
        return
    known = {one.name: one for one in labelled.read(folder)}
    project = project_in(root / "labelled")
    for number, (name, one) in enumerate(known.items()):
        add_named(project, name, one.values, number)
    found: dict[str, list[int]] = {name: [] for name in known}
    for each in changes(project, threshold=0, now=_START).findings:
        assert each.first.started_at
        found[each.first.series_key].append((each.first.started_at - _START).days)
    for group, names in _GROUPS.items():
        scores = np.mean([labelled.score(one, found[name]) for name, one in known.items() if one.group in names], axis=0)
        precision, recall, f1 = scores.tolist()
        yield Figure("labelled series as one scan of wh changes", f"{group}: F1 (precision {precision:.2f}, recall {recall:.2f})", f1)


def add_named(project: Project, name: str, values: Floats, number: int) -> None:
    add(project, values[None, :], software=str(number), names=[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=400, help="series for each share")
    parser.add_argument("--scan", type=int, default=2000, help="series of one scan")
    parser.add_argument("--labelled", type=Path, default=SERIES, help="folder of labelled series")
    parser.add_argument("--only", choices=("comparisons", "scans", "sessions", "daily", "identity", "cost", "labelled", "campaign"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    parts: dict[str, Callable[[Path], Iterator[Figure]]] = {
        "comparisons": partial(comparisons, series=options.series), "scans": partial(scans, series=options.scan),
        "sessions": partial(sessions, series=options.series), "daily": partial(daily, series=options.series),
        "identity": partial(identity, series=options.series // 4), "cost": cost, "labelled": partial(on_labelled, folder=options.labelled),
        "campaign": campaign.run,
    }
    group = None
    for name, figures in parts.items():
        if options.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            for figure in figures(Path(scratch)):
                if options.json:
                    print(json.dumps(asdict(figure) | {"is_met": figure.is_met}), flush=True)
                    continue
                if figure.group != group:
                    group = figure.group
                    print(f"\n{group}")
                print("  " + figure.told(), flush=True)


if __name__ == "__main__":
    main()

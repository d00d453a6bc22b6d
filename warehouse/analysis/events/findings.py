"""A finding: one change of one series, with its size, what else changed there, and what people decided about it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from math import log1p, sqrt
from typing import Any, Literal

import numpy as np

from warehouse.analysis.conditions import Difference
from warehouse.analysis.labels import Label
from warehouse.analysis.measurements import Measurement
from warehouse.evidence.ledger.findings import Mark
from warehouse.statistics.change import Kind
from warehouse.statistics.comparisons import ratio_interval
from warehouse.statistics.interval import Interval, NotSupported

Now = Literal["still", "recovered"]
NEAR = 5  # runs on each side whose conditions are compared
LEFT = 0.02  # of a level, what may be left of a step where its series is back
_FAR = 1e6  # how many spreads a step of values without noise is
_JITTER = 27  # the place of a step of d spreads is off by more than 27 / d^2 runs in one of 100 (benchmarks/changes)
_JITTERS = {"spread": 5, "drift": 32}  # runs
FARTHEST = 10  # runs by which new runs move the place of a change: 99 of 100 moved less (benchmarks/changes)


@dataclass(frozen=True)
class Finding:
    """A change. `before` and `after` are medians in the metric's unit, `ratio` is after over before. `p` is of this series alone, `q` after
    so many were scanned. `needs` more runs settle a suspicion; None where runs alone cannot. `variables` are the variables that changed
    there: of a finding with more than one, or another script, the software cannot be named as the cause. `controls` are the series of
    other cases on the same machine: how many changed there too, of how many. Of a change of `kind` spread, `before` and `after` are standard
    deviations (of the logarithms where values are positive), of a drift the fitted line at both ends."""

    finding_id: str
    rule: str
    status: Literal["confirmed", "suspected"]
    outcome: Literal["better", "worse", "higher", "lower"]
    last: Measurement
    first: Measurement
    before: float
    after: float
    stated_ratio: Interval | NotSupported | None  # None: that of both sides is computed where it is asked for
    points: tuple[int, int]
    sessions_after: int
    p: float
    q: float
    needs: int | None
    variables: tuple[str, ...]
    now: Now
    differences: tuple[Difference, ...] = ()
    controls: tuple[int, int] = (0, 0)
    mark: Mark | None = None
    earlier_mark: Mark | None = None  # of the same change, by an earlier version of its rule
    values: tuple[float, ...] = ()
    run_ids: tuple[str, ...] = ()  # of `values`
    times: tuple[datetime, ...] = ()  # of `values`
    sessions: tuple[str, ...] = ()  # of `values`
    place: int = 0  # in `values`, of the first run after the change
    label: Label | None = None
    kind: Kind = "level"
    end: Measurement | None = None  # the first run after it, where it has ended
    fifth_last_at: datetime | None = None  # when the fifth run from the end of its series began
    may_be_mode: bool = False  # only that the series may have two modes keeps it from being confirmed

    @property
    def name(self) -> str:
        """The series as people name it."""
        return str(self.label) if self.label else " ".join(filter(None, (self.first.metric, self.first.point, self.first.benchmark_case_id)))

    @property
    def near(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The runs next to the change, before and after it."""
        return self.run_ids[max(0, self.place - NEAR) : self.place], self.run_ids[self.place : self.place + NEAR]

    @property
    def sides(self) -> tuple[slice, slice]:
        """The runs of both levels, in `values`."""
        return slice(max(0, self.place - self.points[0]), self.place), slice(self.place, self.place + self.points[1])

    @cached_property
    def ratio(self) -> Interval | NotSupported:
        """After over before, with its interval: over sessions where both sides have two or more."""
        if self.stated_ratio is not None:
            return self.stated_ratio
        before, after = (self.values[side] for side in self.sides)
        if min(*before, *after) <= 0:
            return NotSupported("values of zero or less have no ratio", "run", len(before), len(before))
        sessions = [self.sessions[side] for side in self.sides]
        if min(len(set(side)) for side in sessions) >= 2:
            return ratio_interval(before, after, 0.95, *sessions)
        return ratio_interval(before, after)

    @cached_property
    def distance(self) -> float:
        """How many spreads of the runs the level moved by."""
        logs = [np.log(self.values[side]) if min(self.values) > 0 else np.asarray(self.values[side]) for side in self.sides]
        middles = [float(np.median(side)) for side in logs]
        spread = 1.4826 * float(np.median(np.abs(np.concatenate([side - middle for side, middle in zip(logs, middles, strict=True)]))))
        step = abs(middles[1] - middles[0])
        return min(_FAR, step / spread) if spread else _FAR

    @property
    def way(self) -> str:
        """The direction in a word or two."""
        if self.kind == "spread":
            return "noisier" if self.outcome == "higher" else "steadier"
        return f"{self.outcome}, drifting" if self.kind == "drift" else self.outcome

    @property
    def jitter(self) -> int:
        """How many runs the place may be off by."""
        if self.kind != "level":
            return _JITTERS[self.kind]
        return min(FARTHEST, int(_JITTER / self.distance**2)) if self.distance else FARTHEST

    def tolerance(self, runs: int) -> float:
        """How far a level of so many runs may be from the one before the change and count as back there: 2 %, or what noise can do, and
        at most half of the step. As logarithms where levels are positive."""
        is_ratio = min(self.before, self.after) > 0
        step = abs(self.log_ratio) if is_ratio else abs(self.after - self.before)
        noise = 3 * step / (self.distance * sqrt(runs)) if self.distance else step
        return min(step / 2, max(log1p(LEFT) if is_ratio else 0.0, noise))

    def points_since(self, earlier: "Finding") -> int:
        """How many of the known runs of its series lie between an earlier change and this one."""
        return self.place - bisect_left(self.times, time_of(earlier.first), hi=self.place)

    @property
    def log_ratio(self) -> float:
        """The size of the change as a logarithm; infinite from or to zero."""
        return float(np.log(self.after / self.before)) if min(self.before, self.after) > 0 else float("inf")

    @property
    def state(self) -> str:
        return self.mark.state if self.mark else "open"

    @property
    def is_exploratory(self) -> bool:
        return len(self.variables) > 1 or "script" in self.variables


def time_of(measurement: Measurement) -> datetime:
    assert measurement.started_at  # series are of runs with times
    return measurement.started_at


def finding_document(found: Finding) -> dict[str, Any]:
    """A finding as plain values: what `--json` prints, and what a mark in the ledger keeps."""
    from warehouse.analysis.documents import interval_document

    first, ratio = found.first, found.ratio
    return {
        "finding_id": found.finding_id, "name": found.name, "kind": found.kind, "rule": found.rule, "status": found.status, "outcome": found.outcome,
        "series_key": first.series_key,
        "indicator": first.indicator, "metric": first.metric, "point": first.point, "unit": first.unit, "better": first.better,
        "benchmark_case_id": first.benchmark_case_id, "before": found.before, "after": found.after,
        "ratio": found.after / found.before if found.before else None,
        "ratio_low": ratio.low if isinstance(ratio, Interval) else None, "ratio_high": ratio.high if isinstance(ratio, Interval) else None,
        "interval": interval_document(ratio), "p": found.p, "q": found.q, "needs": found.needs, "points_before": found.points[0],
        "points_after": found.points[1], "sessions_after": found.sessions_after, "last_run_before": found.last.run_id,
        "first_run_after": first.run_id, "last_before_at": time_of(found.last).isoformat(), "changed_at": time_of(first).isoformat(),
        "variables": list(found.variables), "is_exploratory": found.is_exploratory, "now": found.now,
        "ended_at": time_of(found.end).isoformat() if found.end else None, "may_be_mode": found.may_be_mode,
        "controls_moved": found.controls[0], "controls": found.controls[1],
        "differences": [str(each) for each in found.differences],
    }

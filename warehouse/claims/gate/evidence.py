"""What a judgement is about: one published value, the observations that it is a statistic of, the runs that are not among them, and the
looks at it before. All of it is in the publication, so that anybody can judge again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from math import isclose, isfinite
from typing import Any, cast

from warehouse.statistics.interval import Interval, Level, NotSupported, SessionNoise
from warehouse.transform.project.claim import Claim, ClaimedNumber

RUN_ID, SESSION, STARTED_AT, REQUESTS = "run_id", "session", "started_at", "requests"
DECLARED_REPEATS, MISSING_REPEATS = "declared_repeats", "missing_repeats"
TESTBED, METRIC, QUANTITY = "testbed", "metric", "quantity"
OUTCOME_DIGEST, FIGURES = "outcome_digest", "figures"
OF_VERSION_2 = frozenset({TESTBED, METRIC, QUANTITY, MISSING_REPEATS})
OBSERVED = (SESSION, STARTED_AT, REQUESTS, DECLARED_REPEATS, *sorted(OF_VERSION_2))  # columns of the observations that checks know by name
GATE_VERSION = 2  # of the checks: another one may judge the same evidence otherwise (first_version)
DAY = "day "  # how the session of a run without a job begins: then its date, and the testbed (run_session)
UNDATED = "bundle "  # and that of a run with neither a job nor a date: the files that state it are no session
VALUE, TIME = "value", "time"  # what a clause reads that leaves runs out (clause_reads)
COUNT, SHARE = "count", "share"  # a `QUANTITY`: of events in a run; of its requests
NOT_DETERMINED = "not determined"  # which clause left a run out
_PAUSE = timedelta(hours=2)
_NEITHER = (
    "all runs are 0, and a width relative to 0 has no meaning. If they count events, let the observations say so (quantity: count; a result key"
    " that ends in _count); if it is a share of requests, quantity: share and how many requests"
)
DIGITS = 12  # of a figure that is recorded
_LARGEST = 1e150  # whose square is a finite number, and the sum of squares of all runs
_LARGEST_MEDIAN = 8e307  # the sum of two
TOO_LARGE = "the values are too large to compute with"
_SHOW_SHAPE = 6  # runs from which on their shape is tested


@dataclass(frozen=True)
class Observation:
    """One run of a row of the result. `value` is None where it has none, as a run that failed; `is_used`: the number depends on it;
    `columns` are those of the observations that policies ask for, times as text (ISO 8601, UTC)."""

    run_id: str
    value: float | None
    is_used: bool
    columns: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LeftOut:
    """A run that was launched and is not in the number. `reason` is the kind of the clause that left it out, `clause` its text and `place`
    its file and line; `excuse` is why it need not be in, None if no reason was given; `bundle` is the digest of the bundle that states it,
    "" in publications of before; `has_conflict`: bundles state different values of it;
    `reads`: `VALUE` where the claim's reason for a clause is all that excuses it and the clause reads the number's value, `TIME` where it reads times
    alone."""

    run_id: str
    reason: str
    clause: str
    place: str
    excuse: str | None
    has_failed: bool = False
    bundle: str = ""
    has_conflict: bool = False
    reads: str = ""

    @property
    def is_excused(self) -> bool:
        """Whether there is a reason that counts: a clause that picks runs by their value has none."""
        return self.excuse is not None and self.reads != VALUE


@dataclass(frozen=True)
class ColumnEvidence:
    """Of one claimed column of a row: the value of each of the row's observations, the places of those that the number depends on, how
    many an olympic mean drops at each end, and how much other sessions of the testbed differ (History)."""

    values: Sequence[float | None]
    used: frozenset[int]
    dropped: int = 1
    noise: SessionNoise | None = None


@dataclass(frozen=True)
class RowEvidence:
    """What all numbers of a row share: the run of each observation and its columns; the runs that were left out; when it was first looked
    at, and the runs that were added later; `removed`, the runs that were in it at a look and are not now, and `changed`, those that are read from
    other evidence now, each with what happened; `ahead`, those that state a start after the arrival of their evidence. `columns` has those
    that its row claims."""

    observed: Sequence[tuple[str, Mapping[str, Any]]]
    columns: Mapping[str, ColumnEvidence]
    left_out: Sequence[LeftOut] = ()
    first_look: str | None = None
    later: frozenset[str] = frozenset()
    removed: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)
    ahead: frozenset[str] = frozenset()

    def of(self, column: str, value: Any, row: Mapping[str, Any], claim: Claim, guarantees: Mapping[str, Any]) -> "Evidence":
        """The evidence of one of its claimed numbers."""
        own = self.columns[column]
        observations = [
            Observation(run, own.values[place], place in own.used, columns) for place, (run, columns) in enumerate(self.observed)
        ]
        used = {each.run_id for each in observations if each.is_used}
        left_out = [each for each in self.left_out if each.run_id not in used]
        known = {each.run_id for each in left_out}
        left_out += [  # the query read it, and did not take it
            LeftOut(each.run_id, "in the observations, not in the number", "", "", None)
            for each in observations if not each.is_used and each.value is not None and each.run_id not in known | used
        ]
        is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return Evidence(
            column, float(value) if is_number and isfinite(value) else None, claim, row, observations, left_out, self.first_look,
            sorted(self.later & used), guarantees, dropped=own.dropped,
            removed={run: cause for run, cause in self.removed.items() if run not in used},
            changed={run: cause for run, cause in self.changed.items() if run in used}, ahead=sorted(self.ahead & used), noise=own.noise,
        )


@dataclass(frozen=True)
class Evidence:
    """Of one cell: its `column` and `value`, None where that is not a finite number; the values of its `row` by column; `later`, those of
    its runs that were added after somebody had looked at the number with the others, and `first_look`, when that was (ISO 8601, UTC); None
    where there are no later ones. `removed`, `changed` and `ahead` are as in `RowEvidence`."""

    column: str
    value: float | None
    claim: Claim
    row: Mapping[str, Any]
    observations: Sequence[Observation]
    left_out: Sequence[LeftOut]
    first_look: str | None
    later: Sequence[str]
    guarantees: Mapping[str, Any]
    confidence: float = 0.95
    dropped: int = 1  # of an olympic mean, at each end
    removed: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)
    ahead: Sequence[str] = ()
    noise: SessionNoise | None = None  # of other sessions of the testbed
    gate: int = GATE_VERSION  # that judges it

    @property
    def number(self) -> ClaimedNumber:
        return self.claim.numbers[self.column]

    @cached_property
    def used(self) -> list[Observation]:
        return [each for each in self.observations if each.is_used]

    @cached_property
    def measured(self) -> list[Observation]:
        """Those of the used ones that have a value."""
        return [each for each in self.used if each.value is not None]

    @cached_property
    def values(self) -> list[float]:
        return [each.value for each in self.measured if each.value is not None]

    @cached_property
    def session_of(self) -> list[str | None]:
        """The session of each measured run; None where it is not known."""
        return sessions_of(self.measured) if self.gate > 1 else stated_sessions(self.measured)

    @cached_property
    def sessions(self) -> list[str] | None:
        """The session of each measured run; None where one is not known, or all ran in one."""
        known = [session for session in self.session_of if session is not None]
        return known if len(known) == len(self.measured) and len(set(known)) > 1 else None

    @cached_property
    def statistic(self) -> float | NotSupported:
        """What the claimed statistic of the used observations is."""
        values = self.values
        if self.number.statistic == "value" and len(values) == 1:
            return values[0]
        import numpy as np  # 60 ms, which `wh lineage` of one run need not pay

        from warehouse.statistics.summaries import geometric_mean, olympic_mean

        if self.is_too_large if self.number.statistic not in ("median", "value") else self._largest > _LARGEST_MEDIAN:
            return NotSupported(TOO_LARGE, "run", len(values), len(values))
        if self.number.statistic == "olympic mean":
            return olympic_mean([float("inf") if each.value is None else each.value for each in self.used], self.dropped)
        if not values or (self.number.statistic == "value" and len(values) > 1):
            return NotSupported(f"the {self.number.statistic} of these runs", "run", len(values), 1)
        if self.number.statistic == "geometric mean":
            return geometric_mean(values) if min(values) > 0 else NotSupported("a geometric mean needs positive values", "run", 0, 1)
        return float(np.median(values) if self.number.statistic == "median" else np.mean(values))

    @cached_property
    def interval(self) -> Interval | NotSupported:
        """The interval of the claimed statistic, over sessions where the runs are of several. It contains the statistic."""
        if self.gate == 1:
            return self._interval_of_version_1()
        if self.number.statistic == "value":
            return NotSupported("one run has no spread", "run", len(self.values), 2)
        if isinstance(self.statistic, NotSupported):
            return self.statistic
        if self.is_too_large:
            return NotSupported(TOO_LARGE, "run", len(self.values), len(self.values))
        if not any(self.values) and len(self.values) > 1:
            return self._of_zeros()
        if self.number.statistic == "olympic mean" and len(self.values) < len(self.used):
            return NotSupported("a run without a time has no spread", "run", len(self.values), len(self.used))
        found = self._over_sessions(self.statistic, self.sessions) if self.sessions else self._over_runs()
        if isinstance(found, Interval) and not found.low <= self.statistic <= found.high and not isclose(found.low, found.high):
            reason = f"the interval of runs of this shape does not contain their {self.number.statistic}: publish their median"
            return NotSupported(reason, "run", len(self.values), len(self.values) + 1)
        return found

    def _over_sessions(self, value: float, sessions: Sequence[str]) -> Interval | NotSupported:
        from warehouse.statistics.sessions import Statistic, session_interval

        # A claim names no other statistic (transform/project/claim.py).
        statistic = cast(Statistic, self.number.statistic.removeprefix("olympic "))
        return session_interval(self.values, sessions, statistic, self.confidence, self.noise, value, self.quantity == COUNT)

    def _of_zeros(self) -> Interval | NotSupported:
        """How large what was never seen may be: of a share of requests, and of a count in each run."""
        from warehouse.statistics.shares import never_seen

        n: dict[Level, int] = {"run": len(self.values)}
        if self.quantity == SHARE and (requests := self.n.get("request")):
            return never_seen(requests, self.confidence, {**n, "request": requests}, is_share=True)
        if self.quantity == COUNT:
            return never_seen(len(self.values), self.confidence, n, is_share=False)
        return NotSupported(_NEITHER, "run", len(self.values), len(self.values))

    @property
    def width(self) -> float | None:
        """Half the width of the interval as a share of the value; of a share of requests that is zero, as a share of all of them. None of
        another zero."""
        if not isinstance(self.interval, Interval):
            return None
        if not self.interval.estimate and self.quantity == SHARE:
            return (self.interval.high - self.interval.low) / 2
        return self.interval.relative_half_width

    @cached_property
    def quantity(self) -> str | None:
        """What kind of quantity all measured runs say that they measure; None where they do not say, or say several."""
        said = {each.columns.get(QUANTITY) for each in self.measured}
        return str(said.pop()) if len(said) == 1 and None not in said else None

    @property
    def is_too_large(self) -> bool:
        """Whether squares of the values, or sums of these, may be no finite numbers."""
        return self._largest > _LARGEST

    @cached_property
    def _largest(self) -> float:
        return max(map(abs, self.values), default=0.0)

    def _over_runs(self) -> Interval | NotSupported:
        from warehouse.statistics.means import geometric_interval, mean_interval, median_interval, olympic_interval

        match self.number.statistic:
            case "olympic mean":
                return olympic_interval(self.values, self.dropped, self.confidence)
            case "geometric mean":
                return geometric_interval(self.values, self.confidence)
            case "median":
                return median_interval(self.values, self.confidence)
        found = mean_interval(self.values, self.confidence)
        if isinstance(found, Interval) and len(self.values) < _SHOW_SHAPE:
            return replace(found, method=f"{found.method}; {len(self.values)} runs do not show their shape, one level assumed")
        return found

    def _interval_of_version_1(self) -> Interval | NotSupported:
        """As the first version of the gate computed it: of several sessions, that of the session means or medians."""
        from warehouse.statistics.means import geometric_interval, mean_interval, median_interval, olympic_interval

        values, sessions = self.values, self.sessions
        if self.is_too_large:
            return NotSupported(TOO_LARGE, "run", len(values), len(values))
        match self.number.statistic:
            case "value":
                return NotSupported("one run has no spread", "run", len(values), 2)
            case "olympic mean":
                if len(values) < len(self.used):
                    return NotSupported("a run without a time has no spread", "run", len(values), len(self.used))
                return olympic_interval(values, self.dropped, self.confidence)
            case "geometric mean":
                if values and min(values) <= 0:
                    return NotSupported("a geometric mean needs positive values", "run", 0, 1)
                return geometric_interval(values, self.confidence, sessions)
            case "median":
                return median_interval(values, self.confidence, sessions=sessions)
        return mean_interval(values, self.confidence, sessions=sessions)

    @property
    def n(self) -> dict[str, int]:
        """How many observations of each level the number depends on."""
        sessions = {session for session in self.session_of if session is not None}
        counts = [each.columns.get(REQUESTS) for each in self.measured]
        requests = [int(count) for count in counts if count is not None]
        found = {"session": len(sessions)} if sessions else {}
        found["run"] = len(self.measured)
        if requests and len(requests) == len(counts):
            found["request"] = sum(requests)
        return found


def set_of(run: str) -> str:
    """Of what its id names a run as a repeat: a recording, of `recorded_run/RECORDING/run-01`."""
    return run.rpartition("/")[0]


def sessions_of(observations: Sequence[Observation]) -> list[str | None]:
    """The session of each observation; None where it is not known, as of a run that states neither a job nor when it started. One day on
    several testbeds is one session: two hosts do not show what another day would give."""
    return [
        session[: len(DAY) + len("2026-01-01")] if session and session.startswith(DAY)
        else None if session and session.startswith(UNDATED) else session
        for session in stated_sessions(observations)
    ]


def stated_sessions(observations: Sequence[Observation]) -> list[str | None]:
    """The same with the testbed of a day. A day ends at midnight, UTC, and a session may not: runs of one testbed that follow each other
    within two hours are of one day."""
    found = [each.columns.get(SESSION) for each in observations]
    timed = [place for place, each in enumerate(observations) if each.columns.get(STARTED_AT) and str(found[place]).startswith(DAY)]
    last: dict[str, tuple[datetime, str]] = {}  # by testbed
    for place in sorted(timed, key=lambda place: str(observations[place].columns[STARTED_AT])):
        at = datetime.fromisoformat(str(observations[place].columns[STARTED_AT]))
        testbed = testbed_of_day(str(found[place]))
        if testbed in last and at - last[testbed][0] <= _PAUSE:
            found[place] = last[testbed][1]
        last[testbed] = at, str(found[place])
    return [None if session is None else str(session) for session in found]


def testbed_of_day(session: str) -> str:
    """What the session of a day says after its date."""
    return session[len(DAY) + len("2026-01-01") :]


def rounded(figure: Any) -> Any:
    """A figure as it is recorded: a float with `DIGITS` digits, None for one that is not finite."""
    if isinstance(figure, float):
        return float(f"{figure:.{DIGITS}g}") if isfinite(figure) else None
    return figure

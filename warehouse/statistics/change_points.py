"""Whether the level of a series changed: a detector that takes points as they arrive, and keeps a state of bounded size.

`advance` gives the same answer for all points at once and for one at a time, and one more point costs the same however long the
series is. A point is one run (or one session's runs together), never one request. What the states mean:

| status | means |
|---|---|
| `insufficient` | fewer than 11 points at this level |
| `stable` | no split of the last 128 points of this level is surprising |
| `outlier` | the last point lies five spreads off: a spike, or the first point of a change |
| `drifting` | the level moves along a line rather than in a step |
| `suspected` | the level seems to have changed; `needs` more points for a decision |
| `confirmed` | the level has changed, and there are too few points of the new level to look for the next change |

A change is suspected where the deviate of the best split (`splits`) is at least 4.2: that happens once in 30,000 points of Gaussian
noise, and once in 6,500 of noise with an autocorrelation of 0.5. It is confirmed from 5.7 on (once in five million points of the
latter), with five points of two sessions after it. Where sessions have several points each, the sessions must differ as well, with
the session as the replicate: p below 0.001. benchmarks/statistics measures all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from warehouse.statistics.interval import Scale
from warehouse.statistics.observations import Floats, finite, grouped, positive
from warehouse.statistics.splits import LEAST_AFTER, LEAST_BEFORE, WINDOW, Ints, Splits, best_splits

# Raised when any rule or constant here or in `splits` changes: findings of another version are not comparable.
DETECTOR = 1
SUSPECTED, CONFIRMED = 4.2, 5.7

_OUTLIER = 5.0
_CONFIRMED_AFTER = 5
_SESSIONS_AFTER = 2
_SESSION_P = 0.001
_PATIENCE = 64  # points after which a suspicion is given up, so that what came before it is still in the window
_AT_ONCE = 128

Status = Literal["insufficient", "stable", "drifting", "outlier", "suspected", "confirmed"]


@dataclass(frozen=True)
class SeriesState:
    """What the detector keeps of a series: the last points with their sessions, how many points there were, and the first of the
    present level. Plain values: `dataclasses.asdict` writes it, `SeriesState(**document)` reads it."""

    scale: Scale = "ratio"
    values: Sequence[float] = ()
    sessions: Sequence[str] = ()
    points: int = 0
    level_start: int = 0
    is_after_change: bool = False


@dataclass(frozen=True)
class Change:
    """A change of level between two points. `index` is the first point after it and `seen_at` the last point that was known, both counted
    from the first point of the series. `before` and `after` are the medians of the `points_before` and `points_after` on either side of
    it. `deviate` is how surprising the split is, in standard deviations of a normal distribution; `p` the chance that a series of so
    many points without a change has such a split anywhere. `needs` more points are needed to settle it. A suspicion that 64 points
    have not settled is given up: it stays a suspicion, and needs 0. The size of the change, with an interval, is a question for
    `comparisons.ratio_interval` of the points on both sides."""

    index: int
    seen_at: int
    is_confirmed: bool
    before: float
    after: float
    points_before: int
    points_after: int
    sessions_after: int
    deviate: float
    p: float
    needs: int


@dataclass(frozen=True)
class Advance:
    """What new points did to a series: its state and status now, the changes that they settled, the one that is still open, and the
    points that were far off when they came: spikes, and first points of changes."""

    state: SeriesState
    status: Status
    settled: tuple[Change, ...]
    open: Change | None
    outliers: tuple[int, ...]


def false_alarm_rate(deviate: float) -> float:
    """How often a split reaches the deviate in a series without a change, per point.

    The form is that of a likelihood ratio's maximum over all splits (Siegmund, *Boundary crossing probabilities and statistical
    applications*, Annals of Statistics 14, 1986). The factor was fitted to simulated series with autocorrelations of 0.3 and 0.5;
    Gaussian series without any have fewer false alarms.
    """
    return float(min(1.0, 0.07 * deviate**2 * np.exp(-(deviate**2) / 2)))


def advance(state: SeriesState, values: ArrayLike, sessions: Sequence[str] | None = None) -> Advance:
    """Take the next points of a series, in the order of time. Without sessions each point is a session of its own.

    Raises ValueError for a value that is not finite, or on the ratio scale not positive.
    """
    new = positive(values) if state.scale == "ratio" else finite(values)
    names = [str(state.points + place) for place in range(len(new))] if sessions is None else [str(session) for session in sessions]
    if len(names) != len(new):
        raise ValueError(f"{len(new)} values, but {len(names)} sessions")
    end = state.points + len(new)
    held = _Held(np.concatenate([np.asarray(state.values, dtype=np.float64), new]), (*state.sessions, *names), end, state.scale)
    start, judged, is_after_change = state.level_start, state.points, state.is_after_change
    settled: list[Change] = []
    outliers: list[int] = []
    while (first := max(judged, start + LEAST_BEFORE + LEAST_AFTER - 1)) < end:
        seen = np.arange(first, min(end, first + _AT_ONCE))
        splits = held.splits(start, seen)
        change = next((found for row in _ripe(splits) if (found := held.change(int(seen[row]), splits, row)).needs == 0), None)
        judged = (change.seen_at if change else int(seen[-1])) + 1
        outliers += [int(point) for point in seen[(np.abs(splits.last) >= _OUTLIER) & (seen < judged)]]
        if change:
            settled.append(change)
            start, is_after_change = change.index, change.is_confirmed
    status, pending = _now(held, start, is_after_change)
    kept = min(end - start, WINDOW)
    values_kept, sessions_kept = tuple(held.values[len(held.values) - kept :].tolist()), held.sessions[len(held.sessions) - kept :]
    then = SeriesState(state.scale, values_kept, sessions_kept, end, start, is_after_change)
    return Advance(then, status, tuple(settled), pending, tuple(outliers))


def _ripe(splits: Splits) -> list[int]:
    """The rows in which a change may be settled."""
    is_clear = (splits.step >= CONFIRMED) & (splits.after >= _CONFIRMED_AFTER)
    is_old = (splits.step >= SUSPECTED) & (splits.after >= _PATIENCE)
    return [int(row) for row in np.flatnonzero(is_clear | is_old)]


def _now(held: "_Held", start: int, is_after_change: bool) -> tuple[Status, Change | None]:
    """The status as of the last point, and the change that is suspected."""
    if held.end - start < LEAST_BEFORE + LEAST_AFTER:
        return "confirmed" if is_after_change else "insufficient", None
    splits = held.splits(start, np.array([held.end - 1]))
    if splits.step[0] >= SUSPECTED:
        return "suspected", held.change(held.end - 1, splits, 0)
    if splits.deviate[0] >= SUSPECTED:
        return "drifting", None
    return "outlier" if abs(splits.last[0]) >= _OUTLIER else "stable", None


@dataclass(frozen=True)
class _Held:
    """The points at hand, up to the one before `end`, by their index in the series."""

    values: Floats
    sessions: tuple[str, ...]
    end: int
    scale: Scale

    @property
    def offset(self) -> int:
        return self.end - len(self.values)

    @cached_property
    def scaled(self) -> Floats:
        return np.log(self.values) if self.scale == "ratio" else self.values

    def splits(self, start: int, seen: Ints) -> Splits:
        """The best splits of what is known with each point of `seen`."""
        return best_splits(self.scaled, start - self.offset, seen + 1 - self.offset)

    def change(self, seen_at: int, splits: Splits, row: int) -> Change:
        n_before, n_after, deviate = int(splits.before[row]), int(splits.after[row]), float(splits.deviate[row])
        last = seen_at + 1 - self.offset
        middle, first = last - n_after, last - n_after - n_before
        sessions_after = len(set(self.sessions[middle:last]))
        is_confirmed = (
            deviate >= CONFIRMED
            and n_after >= _CONFIRMED_AFTER
            and sessions_after >= _SESSIONS_AFTER
            and self._sessions_differ(first, middle, last)
        )
        return Change(
            index=middle + self.offset,
            seen_at=seen_at,
            is_confirmed=is_confirmed,
            before=float(np.median(self.values[first:middle])),
            after=float(np.median(self.values[middle:last])),
            points_before=n_before,
            points_after=n_after,
            sessions_after=sessions_after,
            deviate=deviate,
            p=float(-np.expm1(-(seen_at + 1) * false_alarm_rate(deviate))),
            needs=0 if is_confirmed or n_after >= _PATIENCE else _needs(deviate, n_before, n_after),
        )

    def _sessions_differ(self, first: int, middle: int, last: int) -> bool:
        """Whether the sessions before and after differ, each with one value: Student's t. Where each has one point, the split says so."""
        before, after = (grouped(self.scaled[start:end], self.sessions[start:end]) for start, end in ((first, middle), (middle, last)))
        if len(before) == middle - first and len(after) == last - middle:
            return True
        a, b = (np.array([np.median(session) for session in side]) for side in (before, after))
        freedom = len(a) + len(b) - 2
        if min(len(a), len(b)) < _SESSIONS_AFTER:
            return False
        variance = (((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / freedom * (1 / len(a) + 1 / len(b))
        distance = abs(a.mean() - b.mean())
        return bool(distance > 0 and (variance == 0 or 2 * stdtr(freedom, -distance / np.sqrt(variance)) <= _SESSION_P))


def _needs(deviate: float, n_before: int, n_after: int) -> int:
    """How many more points would confirm the change if the levels stay as they are, one at least."""
    weight = (CONFIRMED / deviate) ** 2 * n_before * n_after / (n_before + n_after)
    enough = weight * n_before / (n_before - weight) if weight < n_before else _PATIENCE
    return max(1, _CONFIRMED_AFTER - n_after, min(ceil(enough), _PATIENCE) - n_after)

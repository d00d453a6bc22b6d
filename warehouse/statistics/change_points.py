"""Whether a series changed: a detector that takes points as they arrive, and keeps a state of bounded size.

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
noise, and once in 6,500 of noise with an autocorrelation of 0.5. Three things confirm it:

1. It is too large for chance. With five points after it, its deviate is 5.25 at least in noise that does not resemble its neighbours, and
   5.7 where it may have an autocorrelation of 0.5. With three points, all of them lie six spreads from the median before them, and
   earlier points were so far off so seldom that as many in a row are no coincidence.
2. It covers two sessions or more after it, and where sessions have several points each, the sessions differ as well, with the session as
   the replicate.
3. It is no mode: the series was at the old level for 45 points, or has been at the new one for 64. Of a level that it had before, both are
   96; of a step of 15 % or more to a new level, 16. The end of a confirmed change needs no such memory.

Changes of the spread (`spreads`) and drifts (`drifts`) are looked for at every fourth point, and are listed once they are confirmed. A change
that was confirmed stays so. It has an end once the level, or the spread, is back on the other side of the middle between both.
benchmarks/statistics measures all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from warehouse.statistics.change import Change, Kind, probability
from warehouse.statistics.detector.held_points import CONFIRMED_AFTER, FAR, OUTLIER, SESSIONS_AFTER, SLOW_POINTS, SUSPECTED, Held
from warehouse.statistics.detector.modes import KNOWN, NEW, NEW_AFTER, NEW_AND_FAR, Level, last_stay, last_visit, with_level
from warehouse.statistics.interval import Scale
from warehouse.statistics.observations import Floats, finite
from warehouse.statistics.splits import LEAST, LEAST_AFTER, LEAST_BEFORE, SHORT_WINDOW, WINDOW, Ints, Splits

# Raised when any rule or constant here or in the modules that it imports changes: findings of another version are not comparable.
DETECTOR = 2

_FAR_RATIO = 1.15
_AT_ONCE = 32
_SLOWLY = 4  # every so many points spreads and drifts are looked for
_RUNNING = 16  # changes without an end that a state keeps

Status = Literal["insufficient", "stable", "drifting", "outlier", "suspected", "confirmed"]


@dataclass(frozen=True)
class SeriesState:
    """What the detector keeps of a series: the last points with their sessions, how many points there were, the first of the present
    level and spread, the levels before, and the changes that have no end. Plain values: `dataclasses.asdict` writes it,
    `SeriesState(**document)` reads it. The scale is that of ratios until a value of zero or less comes."""

    scale: Scale = "ratio"
    values: Sequence[float] = ()
    sessions: Sequence[str] = ()
    points: int = 0
    level_start: int = 0
    is_after_change: bool = False
    spread_start: int = 0
    levels: Sequence[Level] = ()
    running: Sequence[Change] = ()

    def __post_init__(self) -> None:
        for name in ("values", "sessions"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name, of in (("levels", Level), ("running", Change)):
            object.__setattr__(self, name, tuple(of(**each) if isinstance(each, Mapping) else each for each in getattr(self, name)))


@dataclass(frozen=True)
class Advance:
    """What new points did to a series: its state and status now, the changes that they settled, the one that is still open, and the
    points that were far off when they came: spikes, and first points of changes. Among the settled are changes that were settled before
    and got an end or were confirmed: `merged` puts them in their places."""

    state: SeriesState
    status: Status
    settled: tuple[Change, ...]
    open: Change | None
    outliers: tuple[int, ...]


def merged(earlier: Sequence[Change], later: Sequence[Change]) -> tuple[Change, ...]:
    """The changes of a series by their places, each as it was settled last."""
    latest = {(change.index, change.kind): change for change in (*earlier, *later)}
    return tuple(latest[place] for place in sorted(latest))


def advance(state: SeriesState, values: ArrayLike, sessions: Sequence[str] | None = None) -> Advance:
    """Take the next points of a series, in the order of time. Without sessions each point is a session of its own.

    Raises ValueError for a value that is not finite.
    """
    new = finite(values)
    names = [str(state.points + place) for place in range(len(new))] if sessions is None else [str(session) for session in sessions]
    if len(names) != len(new):
        raise ValueError(f"{len(new)} values, but {len(names)} sessions")
    if state.scale == "ratio" and (new <= 0).any():
        # What was found before stays found: ratios end where they have no logarithm, and no earlier.
        place = int((new <= 0).argmax())
        ratios = advance(state, new[:place], names[:place])
        running = tuple(change for change in ratios.state.running if change.kind == "level")
        rest = advance(replace(ratios.state, scale="difference", running=running), new[place:], names[place:])
        return replace(rest, settled=merged(ratios.settled, rest.settled), outliers=(*ratios.outliers, *rest.outliers))
    scan = _Scan(state, new, names)
    while scan.judged < scan.held.end:
        scan.take()
    status, pending = scan.now()  # which also brings up to date what is not final
    return Advance(scan.state(), status, merged((), scan.settled), pending, tuple(scan.outliers))


class _Scan:
    """The work of `advance`: what is known after each event."""

    def __init__(self, state: SeriesState, new: Floats, names: Sequence[str]) -> None:
        values = np.concatenate([np.asarray(state.values, dtype=np.float64), new])
        self.held = Held(values, (*state.sessions, *names), state.points + len(new), state.scale)
        self.judged = state.points
        self.start, self.spread_start, self.is_after_change = state.level_start, state.spread_start, state.is_after_change
        self.levels, self.running = tuple(state.levels), tuple(state.running)
        self.settled: list[Change] = []
        self.outliers: list[int] = []

    def state(self) -> SeriesState:
        held = self.held
        kept = min(held.end - self.start, WINDOW)
        first = len(held.values) - kept
        return SeriesState(
            held.scale, tuple(held.values[first:].tolist()), held.sessions[first:], held.end, self.start, self.is_after_change,
            self.spread_start, self.levels, self.running,
        )

    @property
    def last(self) -> Change | None:
        """The change that the present level began with, unless it has ended."""
        return next((change for change in self.running if change.kind == "level" and change.index == self.start), None)

    def take(self) -> None:
        """Judge the next points, up to the first event among them."""
        until = min(self.held.end, self.judged + _AT_ONCE)
        last = self.last
        back = self._back(last, until) if last else None
        if back:
            until = back.seen_at
        due = last.seen_at + last.needs if last else 0
        if last and last.needs and self.judged <= due < until:
            self._to(due)
            if self.judged == due and self.last == last:
                is_level = self._has_stayed(last, due)
                self._update(last, replace(last, is_confirmed=is_level, may_be_mode=not is_level, needs=0))
                self.is_after_change = is_level
        else:
            self._to(until)
            if back and self.judged == until and self.last == last:
                self._settle_level(back)

    def _to(self, until: int) -> None:
        """Judge the points before `until`, up to the first change that they settle."""
        first = max(self.judged, self.start + LEAST - 1)
        if first >= until:
            self.judged = until
            return
        seen = np.arange(first, until)
        splits = self.held.splits(self.start, seen)
        level = next(self.held.changes(self.start, seen, splits, settled_only=True), None)
        slow = self._slow(seen[seen < level.seen_at] if level else seen, splits)
        at = slow[0] if slow else level.seen_at if level else until - 1
        self.judged = at + 1
        self.outliers += [int(point) for point in seen[(np.abs(splits.last) >= OUTLIER) & (seen <= at)]]
        if slow and slow[1].kind == "level":
            self._settle_level(slow[1])
        elif slow:
            self._settle_slow(slow[1])
        elif level:
            self._settle_level(self._remembered(level))

    def _settle_level(self, change: Change) -> None:
        self.judged = change.seen_at + 1
        self.levels = with_level(self.levels, Level(change.index, change.before))
        last = self.last
        self._end(change.after, "level", change.index)
        self._leave(last)
        self._begin(change)
        self.start, self.spread_start, self.is_after_change = change.index, change.index, change.is_confirmed

    def _remembered(self, change: Change) -> Change:
        """A settled change of level, with what the levels before it say: whether it may be a mode, or is the end of the last change."""
        last = self.last
        ends = last is not None and last.is_undone_by(change.after)
        is_end = ends and last is not None and last.is_confirmed and not last.is_return
        visited = max(
            last_visit(self.levels, change.before, change.after),
            self._stay(self.start, change.index, change.seen_at, change.before, change.after, change.effect),
        )
        least = KNOWN if visited else NEW_AND_FAR if self.held.scale == "ratio" and _is_far(change) else NEW
        least_after = NEW_AFTER if least == NEW else least
        is_clear = is_end or change.index - visited >= least or (change.points_after >= least_after and self._has_stayed(change, change.seen_at))
        may_be_mode = change.is_confirmed and not is_clear
        return replace(
            change, is_return=ends, is_confirmed=change.is_confirmed and is_clear, may_be_mode=may_be_mode,
            needs=max(0, least_after - change.points_after) if may_be_mode else 0,
        )

    def _has_stayed(self, change: Change, until: int) -> bool:
        """Whether the series was never back since a change."""
        return not self._stay(change.index, until + 1, until, change.after, change.before, change.effect)

    def _stay(self, start: int, end: int, seen_at: int, before: float, after: float, effect: float | None) -> int:
        """The index after the last stay at `after` among these points of the level `before`, as far as a state has them; 0 where there is
        none."""
        first = max(start, seen_at + 1 - WINDOW)
        stay = last_stay(self.held.raw(first, end), before, after, effect or np.inf)
        return first + stay if stay else 0

    def _back(self, last: Change, until: int) -> Change | None:
        """The end of a confirmed change that lasted for so few points that they have no splits."""
        if not last.is_confirmed or not last.effect:
            return None
        least = LEAST_AFTER if last.effect >= FAR else CONFIRMED_AFTER
        for seen in range(self.judged, min(until, self.start + LEAST_BEFORE + CONFIRMED_AFTER - 1)):
            level = self.held.raw(self.start, seen + 1)
            n_after = len(list(takewhile(last.is_undone_by, level[::-1].tolist())))
            n_before = len(level) - n_after
            if n_after < least or not 0 < n_before < LEAST_BEFORE or self.held.sessions_between(seen + 1 - n_after, seen + 1) < SESSIONS_AFTER:
                continue
            deviate = last.effect * float(np.sqrt(n_before * n_after / len(level)))
            return Change(
                index=seen + 1 - n_after, seen_at=seen, is_confirmed=True, before=float(np.median(level[:n_before])),
                after=float(np.median(level[n_before:])), points_before=n_before, points_after=n_after,
                sessions_after=self.held.sessions_between(seen + 1 - n_after, seen + 1), deviate=deviate, p=probability(seen, deviate), needs=0,
                effect=last.effect, is_return=True,
            )
        return None

    def _slow(self, seen: Ints, splits: Splits) -> tuple[int, Change] | None:
        """The first change of spread, drift or end of a drift, and the point at which it is seen."""
        rows = [row for row in np.flatnonzero(seen % _SLOWLY == _SLOWLY - 1) if seen[row] + 1 - self.start >= SLOW_POINTS]
        level = [row for row in rows if splits.deviate[row] < SUSPECTED]
        spreads = self.held.spread_changes(max(self.start, self.spread_start), seen[level]) if level else {}
        drift = next((change for change in self.running if change.kind == "drift"), None)
        for row in rows:
            end = int(seen[row])
            for longest in (SHORT_WINDOW, WINDOW):
                first = max(self.start, drift.seen_at + 1, end + 1 - longest) if drift else end
                if drift and end + 1 - first >= SLOW_POINTS and self.held.is_slower(drift, first, end + 1):
                    return end, replace(drift, ended_at_index=self.held.drift_end(drift, first, end + 1))
            if drift and splits.step[row] < SUSPECTED:
                if step := self.held.step_on_drift(max(self.start, drift.index, end + 1 - WINDOW), end):
                    return end, step
            if not drift and splits.deviate[row] >= SUSPECTED:
                points, after = int(splits.before[row] + splits.after[row]), int(splits.after[row])
                if found := self.held.drift(end, points, 0 if splits.is_drift[row] else after):
                    return end, found
            if end in spreads:
                return end, spreads[end]
        return None

    def _settle_slow(self, change: Change) -> None:
        if change.ended_at_index is not None:
            self.running = tuple(each for each in self.running if each.kind != change.kind)
            self.settled.append(change)
            self._leave(self.last)
            self.start = self.spread_start = change.ended_at_index
            self.is_after_change = False
            return
        if change.kind == "spread":
            self._end(change.after, "spread", change.index)
            self.spread_start = change.index
        self._begin(change)

    def _leave(self, last: Change | None) -> None:
        """Give up a suspicion of a mode, as the level that it began is left for another on the same side."""
        if last and last.needs and last in self.running:
            self._update(last, replace(last, needs=0))

    def _begin(self, change: Change) -> None:
        self.running = (*self.running, change)[-_RUNNING:]
        self.settled.append(change)

    def _update(self, change: Change, then: Change) -> None:
        self.running = tuple(then if each == change else each for each in self.running)
        self.settled.append(then)

    def _end(self, now: float, kind: Kind, index: int) -> None:
        """Give an end to the changes that a new level or spread undoes."""
        undone = [change for change in self.running if change.kind == kind and change.is_undone_by(now)]
        self.running = tuple(change for change in self.running if change not in undone)
        self.settled += [replace(change, ended_at_index=index, needs=0) for change in undone]

    def now(self) -> tuple[Status, Change | None]:
        """The status as of the last point, and the change that is suspected."""
        held, last = self.held, self.last
        if last and last.needs:
            self.settled.append(replace(last, needs=last.seen_at + last.needs + 1 - held.end))
        status, pending = self._status()
        return ("suspected" if last and last.needs and status != "outlier" else status), pending

    def _status(self) -> tuple[Status, Change | None]:
        held = self.held
        if held.end - self.start < LEAST:
            return "confirmed" if self.is_after_change else "insufficient", None
        seen = np.array([held.end - 1])
        splits = held.splits(self.start, seen)
        if pending := next(held.changes(self.start, seen, splits), None):
            return "suspected", pending
        if splits.deviate[0] >= SUSPECTED:
            return "drifting", None
        return "outlier" if abs(splits.last[0]) >= OUTLIER else "stable", None


def _is_far(change: Change) -> bool:
    low, high = sorted((change.before, change.after))
    return high >= _FAR_RATIO * low

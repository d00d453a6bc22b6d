"""The last points of a series, and which changes they show: what `change_points` judges with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from scipy.special import fdtrc, stdtr

from warehouse.statistics.change import Change, probability
from warehouse.statistics.detector.drifts import Line, line_through, rise_end, rise_start, step_on_line
from warehouse.statistics.detector.modes import KNOWN, NEW, last_stay
from warehouse.statistics.detector.spreads import deviations, spread_ratio, spread_splits
from warehouse.statistics.interval import Scale
from warehouse.statistics.observations import Floats, grouped
from warehouse.statistics.splits import CLIP, WINDOW, Ints, Splits, best_splits, centre_and_spread

SUSPECTED, CONFIRMED = 4.2, 5.7
NEARLY_SUSPECTED = 3.0
OUTLIER = 5.0
CONFIRMED_AFTER, SESSIONS_AFTER = 5, 2
FAR = 6.0  # spreads from the level before, where three points confirm
SLOW_POINTS = 32  # points that a change of spread or a drift needs

# The deviates that confirm, by the autocorrelation that the noise may have.
_BARS = {0.3: 5.15, 0.5: CONFIRMED, 0.9: 6.4}
_SPREAD_BARS = {0.3: 4.65, 0.5: CONFIRMED, 0.9: 6.4}  # roots of deviations have no long tails, and are looked at a quarter as often
_WIDE_CLIP = 4.5  # decides: 3.5 takes a twelfth of a step of three spreads away
_FAR_ALIKE = 8.0  # spreads between points that form one level
_COINCIDENCE = 2e-6  # how seldom as many far points come in a row
_SESSION_P = 2e-5
_PATIENCE = 64  # points after which a suspicion is given up, so that what came before it is still in the window
_WIDER_P = 0.01  # from which on the spread after a step is its own
_RISING = 8  # points after a step from which on it is compared with a rise
_SLOW_AFTER = 12  # points after a change of spread


@dataclass(frozen=True)
class Held:
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

    def raw(self, first: int, end: int) -> Floats:
        return self.values[max(0, first - self.offset) : end - self.offset]

    def sessions_between(self, first: int, end: int) -> int:
        return len(set(self.sessions[first - self.offset : end - self.offset]))

    def splits(self, start: int, seen: Ints, clip: float = CLIP) -> Splits:
        """The best splits of what is known with each point of `seen`."""
        return best_splits(self.scaled, start - self.offset, seen + 1 - self.offset, clip)

    def changes(self, start: int, seen: Ints, splits: Splits, settled_only: bool = False) -> Iterator[Change]:
        """The changes of level that are suspected at each point of `seen`, if any. With `settled_only`, those that need no more points."""
        is_suspected = splits.step >= SUSPECTED
        rows = np.flatnonzero(is_suspected | ((splits.step >= NEARLY_SUSPECTED) & (np.abs(splits.last) >= OUTLIER)))
        if not len(rows):
            return
        wide = self.splits(start, seen[rows], _WIDE_CLIP)
        for place, row in enumerate(rows):
            if wide.step[place] < SUSPECTED:
                continue
            n_after, deviate, bar = int(wide.after[place]), float(wide.deviate[place]), _bar(float(wide.correlation[place]))
            step = self._step(start, int(seen[row]), int(wide.before[place]), n_after)
            if not step.is_far and (not is_suspected[row] or (settled_only and n_after < _PATIENCE and not _is_clear(deviate, bar, n_after))):
                continue
            change = self._change(int(seen[row]), step, deviate, bar)
            if not (settled_only and change.needs):
                yield change

    def _step(self, start: int, seen_at: int, n_before: int, n_after: int) -> _Step:
        last = seen_at + 1 - self.offset
        middle, first = last - n_after, last - n_after - n_before
        before, after = self.scaled[first:middle], self.scaled[middle:last]
        (centre, spread), (level, _) = centre_and_spread(before), centre_and_spread(after)
        sign = 1 if level > centre else -1
        distances, earlier, distance = sign * (after - centre), sign * (before - centre), abs(level - centre)
        chance = float(((earlier > OUTLIER * spread).sum() + 0.5) / (n_before + 1))
        is_far = bool(
            distances.min() > FAR * spread
            and np.ptp(distances) <= max(_FAR_ALIKE * spread, distance / 2)
            and chance**n_after <= _COINCIDENCE
        )
        return _Step(first, middle, last, distance / spread, is_far)

    def _change(self, seen_at: int, step: _Step, deviate: float, bar: float) -> Change:
        n_before, n_after = step.middle - step.first, step.last - step.middle
        if step.is_far:  # no bound hides the size of what lies so far off
            deviate = max(deviate, float(self.splits(step.first + self.offset, np.array([seen_at]), np.inf).deviate[0]))
        sessions_after = len(set(self.sessions[step.middle : step.last]))
        is_confirmed = (
            (step.is_far or (_is_clear(deviate, bar, n_after) and self._is_clear_of_its_spread(step)))
            and sessions_after >= SESSIONS_AFTER
            and self._sessions_differ(self.scaled, step.first, step.middle, step.last)
            and (n_after < _RISING or rise_start(self._winsorised(step), n_after) is None)
        )
        return Change(
            index=step.middle + self.offset,
            seen_at=seen_at,
            is_confirmed=is_confirmed,
            before=float(np.median(self.values[step.first : step.middle])),
            after=float(np.median(self.values[step.middle : step.last])),
            points_before=n_before,
            points_after=n_after,
            sessions_after=sessions_after,
            deviate=deviate,
            p=probability(seen_at, deviate),
            needs=0 if is_confirmed or n_after >= _PATIENCE else _needs(deviate, bar, n_before, n_after),
            effect=step.effect,
        )

    def _winsorised(self, step: _Step) -> Floats:
        """The values of a split, each side about its own median."""
        sides = (self.scaled[step.first : step.middle], self.scaled[step.middle : step.last])
        bound = _WIDE_CLIP * centre_and_spread(sides[0])[1]
        centres = [centre_and_spread(side)[0] for side in sides]
        return np.concatenate([np.clip(side, centre - bound, centre + bound) for side, centre in zip(sides, centres, strict=True)])

    def _is_clear_of_its_spread(self, step: _Step) -> bool:
        """Whether a step that is followed by a wider spread is surprising beside that spread: Welch's t (Biometrika 34, 1947)."""
        values, n_before = self._winsorised(step), step.middle - step.first
        before, after = values[:n_before], values[n_before:]
        wide, narrow = float(after.var(ddof=1)), float(before.var(ddof=1))
        if not narrow or fdtrc(len(after) - 1, n_before - 1, wide / narrow) > _WIDER_P:
            return True
        error, freedom = np.sqrt(wide / len(after) + narrow / n_before), len(after) - 1
        t_squared = float((after.mean() - before.mean()) / error) ** 2
        return bool(np.sqrt(freedom * np.log1p(t_squared / freedom)) * (8 * freedom + 1) / (8 * freedom + 3) >= NEARLY_SUSPECTED)

    def spread_changes(self, start: int, seen: Ints) -> dict[int, Change]:
        """The confirmed changes of spread by the point at which they are seen."""
        seen = seen[seen + 1 - start >= SLOW_POINTS]
        if not len(seen):
            return {}
        ends = seen + 1 - self.offset
        starts = np.maximum(max(0, start - self.offset), ends - WINDOW)
        splits = spread_splits(self.scaled, starts, ends)
        found = {}
        for row in np.flatnonzero((splits.step >= SUSPECTED) & (splits.after >= _SLOW_AFTER)):
            first, last = int(starts[row]), int(ends[row])
            middle, deviate = last - int(splits.after[row]), float(splits.deviate[row])
            away = np.zeros(len(self.scaled))
            away[first:last] = deviations(self.scaled[first:last])
            sessions_after = len(set(self.sessions[middle:last]))
            is_clear = deviate >= _bar(float(splits.correlation[row]), _SPREAD_BARS) and sessions_after >= SESSIONS_AFTER
            if not (is_clear and self._sessions_differ(away, first, middle, last)):
                continue
            size = spread_ratio(self.scaled[first:middle], self.scaled[middle:last])
            found[int(seen[row])] = Change(
                middle + self.offset, int(seen[row]), True, size.before, size.after, middle - first, last - middle, sessions_after, deviate,
                probability(int(seen[row]), deviate), 0, "spread", low=size.low, high=size.high,
            )
        return found

    def line(self, start: int, end: int) -> Line:
        return line_through(self.scaled[start - self.offset : end - self.offset])

    def is_slower(self, drift: Change, start: int, end: int) -> bool:
        """Whether these points rise by less than half of what the drift would, at the 95 % level."""
        ends = np.array([drift.before, drift.after])
        before, after = np.log(ends) if self.scale == "ratio" else ends
        expected, line = (after - before) / (drift.points_after - 1) * (end - 1 - start), self.line(start, end)
        return bool((line.high if expected > 0 else -line.low) < abs(expected) / 2)

    def drift_end(self, drift: Change, start: int, end: int) -> int:
        """Where a drift ended, among points over which it is slower: the first of them may be of the drift still."""
        return start + rise_end(self.scaled[start - self.offset : end - self.offset], drift.after > drift.before)

    def step_on_drift(self, start: int, seen_at: int) -> Change | None:
        """A step among points of a drift, far beyond what they spread about its line. It stays suspected if it may be a mode."""
        if seen_at + 1 - start < SLOW_POINTS:
            return None
        step = step_on_line(self.scaled[start - self.offset : seen_at + 1 - self.offset], CONFIRMED_AFTER)
        if step is None:
            return None
        index = start + step.place
        sessions_after = self.sessions_between(index, seen_at + 1)
        if step.effect < FAR or step.deviate < CONFIRMED or sessions_after < SESSIONS_AFTER:
            return None
        rest = np.zeros(len(self.scaled))
        first, middle, last = (place - self.offset for place in (start, index, seen_at + 1))
        rest[first:last] = step.rest
        visited = last_stay(step.rest[: step.place], 0.0, step.after - step.before, step.effect)
        is_confirmed = step.place - visited >= (KNOWN if visited else NEW) and self._sessions_differ(rest, first, middle, last)
        ends = np.array([step.before, step.after, step.low, step.high])
        before, after, low, high = (np.exp(ends) if self.scale == "ratio" else ends).tolist()
        return Change(
            index, seen_at, is_confirmed, before, after, step.place, seen_at + 1 - index, sessions_after, step.deviate,
            probability(seen_at, step.deviate), 0, effect=step.effect, low=low, high=high,
        )

    def drift(self, seen_at: int, points: int, after: int) -> Change | None:
        """The drift among the last points, if it is confirmed: from the first of them on, or from where a rise to the last `after` begins."""
        first = seen_at + 1 - points
        if after:
            rise = rise_start(self.scaled[first - self.offset : seen_at + 1 - self.offset], after)
            if rise is None:
                return None
            first += rise
        line = self.line(first, seen_at + 1)
        sessions = self.sessions_between(first, seen_at + 1)
        if line.deviate < CONFIRMED or sessions <= SESSIONS_AFTER:
            return None
        ends = np.array([line.first, line.last, line.low, line.high])
        before, after, low, high = (np.exp(ends) if self.scale == "ratio" else ends).tolist()
        return Change(
            first, seen_at, True, before, after, 0, seen_at + 1 - first, sessions, line.deviate, probability(seen_at, line.deviate), 0, "drift",
            low=low, high=high,
        )

    def _sessions_differ(self, values: Floats, first: int, middle: int, last: int) -> bool:
        """Whether the sessions before and after differ, each with one value: Student's t. Where each has one point, the split says so."""
        before, after = (grouped(values[start:end], self.sessions[start:end]) for start, end in ((first, middle), (middle, last)))
        if len(before) == middle - first and len(after) == last - middle:
            return True
        a, b = (np.array([np.median(session) for session in side]) for side in (before, after))
        freedom = len(a) + len(b) - 2
        if min(len(a), len(b)) < SESSIONS_AFTER:
            return False
        variance = (((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / freedom * (1 / len(a) + 1 / len(b))
        distance = abs(a.mean() - b.mean())
        return bool(distance > 0 and (variance == 0 or 2 * stdtr(freedom, -distance / np.sqrt(variance)) <= _SESSION_P))


@dataclass(frozen=True)
class _Step:
    """A split: the places of its points, its size in spreads of those before it, and whether all after it lie so far off that three do."""

    first: int
    middle: int
    last: int
    effect: float
    is_far: bool


def _bar(correlation: float, bars: Mapping[float, float] | None = None) -> float:
    """The deviate that confirms, for noise that may have so much autocorrelation."""
    bars = _BARS if bars is None else bars
    return float(np.interp(correlation, list(bars), list(bars.values())))


def _is_clear(deviate: float, bar: float, n_after: int) -> bool:
    return deviate >= bar and n_after >= CONFIRMED_AFTER


def _needs(deviate: float, bar: float, n_before: int, n_after: int) -> int:
    """How many more points would confirm the change if the levels stay as they are, one at least."""
    weight = (bar / deviate) ** 2 * n_before * n_after / (n_before + n_after)
    enough = weight * n_before / (n_before - weight) if weight < n_before else _PATIENCE
    return max(1, CONFIRMED_AFTER - n_after, min(ceil(enough), _PATIENCE) - n_after)

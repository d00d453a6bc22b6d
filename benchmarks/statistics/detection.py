"""False alarms and power of the change detector, and what it costs, on series drawn with a seed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from figure import Figure
from numpy.random import Generator
from numpy.typing import NDArray
from rules import hud

from warehouse.statistics.change_points import Advance, Change, SeriesState, advance
from warehouse.statistics.comparisons import ratio_interval
from warehouse.statistics.effects import judge
from warehouse.statistics.interval import Interval
from warehouse.statistics.scans import benjamini_hochberg

Floats = NDArray[np.float64]
Draw = Callable[[Generator, int], Floats]
_POINTS = 200


def autoregressive(chance: Generator, n: int, correlation: float) -> Floats:
    values = chance.normal(size=n + 50)
    for point in range(1, len(values)):
        values[point] += correlation * values[point - 1]
    return values[50:]


# Noise of 1 %, where nothing else is said.
FLAT: Mapping[str, Draw] = {
    "Gaussian": lambda chance, n: 100 + chance.normal(size=n),
    "log-normal 0.5": lambda chance, n: 100 * chance.lognormal(0, 0.5, n),
    "2 % spikes": lambda chance, n: 100 + chance.normal(size=n) + np.where(chance.random(n) < 0.02, chance.uniform(5, 50, n), 0),
    "AR(1) 0.5": lambda chance, n: 100 + autoregressive(chance, n, 0.5),
    "bimodal, half and half": lambda chance, n: 100 + chance.normal(size=n) + 10 * (chance.random(n) < 0.5),
    "bimodal, one in four": lambda chance, n: 100 + chance.normal(size=n) + 10 * (chance.random(n) < 0.25),
}


def changes(found: Advance) -> list[Change]:
    """The changes of level; `beside` has those of other kinds."""
    return [change for change in (*found.settled, *([found.open] if found.open else [])) if change.kind == "level"]


def figures(series: int, scan: int) -> Iterator[Figure]:
    yield from false_alarms(series)
    yield from power(series)
    yield from scans(scan)
    yield from sessions(series)
    yield from same_against_same(series)
    yield from threshold_rule(series)
    yield from cost()


def false_alarms(series: int) -> Iterator[Figure]:
    for name, draw in FLAT.items():
        chance = np.random.default_rng(1)
        flagged = ever = 0
        for _ in range(series):
            values = draw(chance, _POINTS)
            flagged += bool(changes(advance(SeriesState(), values)))
            # Who looks after every twentieth point also sees suspicions that the next points took back.
            state, seen = SeriesState(), False
            for start in range(0, _POINTS, 20):
                found = advance(state, values[start : start + 20])
                state, seen = found.state, seen or bool(changes(found))
            ever += seen
        yield Figure("flat series of 200 points", f"{name}: share with a change at the end", flagged / series, high=0.05)
        yield Figure("flat series of 200 points", f"{name}: share with a change at any of ten looks", ever / series, high=0.05)


def power(series: int) -> Iterator[Figure]:
    for size, after, target in ((3, 6, 0.8), (2, 12, 0.8), (3, 8, None), (2, 16, None), (5, 3, None)):
        for before in (100, 194, 40):
            chance = np.random.default_rng(2)
            found = confirmed = 0
            for _ in range(series):
                values = 100 + chance.normal(size=before + after)
                values[before:] += size
                near = [change for change in changes(advance(SeriesState(), values)) if abs(change.index - before) <= 2]
                found += bool(near)
                confirmed += any(change.is_confirmed for change in near)
            name = f"{size} sigma, {before} points before and {after} after"
            yield Figure("steps found within two points", name, found / series, low=target if before >= 100 else None)
            yield Figure("steps found within two points", "  confirmed", confirmed / series)


def scans(series: int) -> Iterator[Figure]:
    """Scans of 2,000 series of 200 points, of which none or 20 have a step of three sigma, ten to fifty points ago."""
    group = "scan of 2,000 series"
    flat = {name: _scan(draw, series, 0)[1] for name, draw in FLAT.items()}
    for name, wrong in flat.items():
        yield Figure(group, f"{name}: confirmed changes where nothing changed", wrong * 2000 / series)
    yield Figure(group, "mean over the kinds of noise", float(np.mean(list(flat.values()))) * 2000 / series, high=0.1)
    right, wrong = _scan(FLAT["Gaussian"], series, series // 100)
    yield Figure(group, "1 % changed: false share of the confirmed", wrong / max(1, right + wrong), high=0.05)
    yield Figure(group, "1 % changed: share of them confirmed", right / (series // 100))
    chance = np.random.default_rng(5)
    p_values = []
    for number in range(2000):
        values = FLAT["Gaussian"](chance, _POINTS)
        if number < 20:
            values[_POINTS - 20 :] += 3
        p_values.append(min((change.p for change in changes(advance(SeriesState(), values))), default=1.0))
    kept = benjamini_hochberg(p_values) <= 0.05
    yield Figure(group, "1 % changed, Benjamini-Hochberg at 5 %: false share", float(kept[20:].sum() / max(1, kept.sum())), high=0.05)
    yield Figure(group, "1 % changed, Benjamini-Hochberg at 5 %: share of them found", float(kept[:20].mean()))


def _scan(draw: Draw, series: int, changed: int) -> tuple[int, int]:
    """How many changes were confirmed, right and wrong."""
    chance = np.random.default_rng(3)
    right = wrong = 0
    for number in range(series):
        values = draw(chance, _POINTS)
        step = _POINTS - int(chance.integers(10, 50)) if number < changed else None
        if step:
            values[step:] += 3
        for change in advance(SeriesState(), values).settled:
            is_right = step is not None and abs(change.index - step) <= 5
            right += change.is_confirmed and is_right
            wrong += change.is_confirmed and not is_right
    return right, wrong


def sessions(series: int) -> Iterator[Figure]:
    """Runs that spread by 1 % in sessions that spread by 5 %; nothing changes."""
    for each, count in ((50, 2), (5, 40), (10, 20)):
        chance = np.random.default_rng(4)
        names = [str(session) for session in range(count) for _ in range(each)]
        confirmed = suspected = 0
        for _ in range(series):
            values = 100 * np.exp(0.05 * np.repeat(chance.normal(size=count), each) + 0.01 * chance.normal(size=count * each))
            found = changes(advance(SeriesState(), values, names))
            confirmed += any(change.is_confirmed for change in found)
            suspected += bool(found)
        yield Figure("sessions that differ by 5 %", f"{count} sessions of {each} runs: share confirmed", confirmed / series, high=0.05)
        yield Figure("sessions that differ by 5 %", "  suspected or confirmed", suspected / series)
    for count in (1, 2, 3):
        chance = np.random.default_rng(4)
        wrong = supported = 0
        for _ in range(series):
            sides = [100 * np.exp(0.05 * np.repeat(chance.normal(size=count), 5) + 0.01 * chance.normal(size=5 * count)) for _ in range(2)]
            names = np.repeat(np.arange(count), 5).tolist()
            found = ratio_interval(*sides, base_sessions=names, head_sessions=names)
            supported += isinstance(found, Interval)
            wrong += isinstance(found, Interval) and judge(found, 0.02, "lower").outcome in ("better", "worse")
        yield Figure("sessions that differ by 5 %", f"comparison, {count} a side: share better or worse", wrong / series, high=0.05)
        yield Figure("sessions that differ by 5 %", "  supported", supported / series)


def same_against_same(series: int) -> Iterator[Figure]:
    for spread in (0.0266, 0.0056):
        chance = np.random.default_rng(6)
        plain = float(np.mean(np.abs(chance.normal(0, spread, 100_000)) > 0.02))
        yield Figure("A/A against a threshold of 2 %", f"spread {spread:.2%}: a plain threshold on one run", plain)
        for n in (3, 5, 10):
            outcomes = []
            for _ in range(series):
                found = ratio_interval(chance.lognormal(0, spread, n), chance.lognormal(0, spread, n))
                outcomes.append(judge(found, 0.02, "higher").outcome if isinstance(found, Interval) else "not supported")
            wrong = np.mean([outcome in ("better", "worse") for outcome in outcomes])
            yield Figure("A/A against a threshold of 2 %", f"spread {spread:.2%}, {n} runs a side: better or worse", float(wrong), high=0.01)
            yield Figure("A/A against a threshold of 2 %", "  the same within the threshold", float(np.mean([one == "same" for one in outcomes])))


def threshold_rule(series: int) -> Iterator[Figure]:
    """A point a day of the same thing; a rule raises an alert on each day on which it calls something that it did not call before."""
    for spread in (0.0266, 0.04):
        chance = np.random.default_rng(7)
        theirs = ours = 0
        for _ in range(series // 4):
            values = 100 * np.exp(spread * chance.normal(size=_POINTS))
            days = [values[day : day + 1] for day in range(_POINTS)]
            calls = [hud(days[: day + 1], 0.95) for day in range(20, _POINTS)]
            theirs += sum(now and not before for before, now in zip([False, *calls], calls, strict=False))
            state, before = SeriesState(), False
            for day in range(_POINTS):
                found = advance(state, values[day : day + 1])
                state, now = found.state, bool(changes(found))
                ours += now and not before
                before = now
        days_seen = series // 4 * (_POINTS - 20) / 1000
        yield Figure("PyTorch HUD's rule on A/A data", f"spread {spread:.2%}: its alerts in 1,000 days", theirs / days_seen)
        yield Figure("PyTorch HUD's rule on A/A data", f"spread {spread:.2%}: ours, as a share of its", ours / max(1, theirs), high=0.1)


def cost() -> Iterator[Figure]:
    chance = np.random.default_rng(8)
    histories = [100 + chance.normal(size=1000) for _ in range(1000)]
    started = time.process_time()
    states = [advance(SeriesState(), values).state for values in histories]
    yield Figure("CPU seconds", "1,000 series of 1,000 points", time.process_time() - started, high=20)
    for name, of_states in (("1,000", states), ("200", [advance(SeriesState(), values[:200]).state for values in histories])):
        started = time.process_time()
        for state in of_states:
            advance(state, [100.0])
        yield Figure("CPU seconds", f"one more point for each of 1,000 series of {name} points", time.process_time() - started, high=2)
    for values in histories:
        values[::100] += 3
        values += np.repeat(3 * chance.normal(size=10), 100)
    started = time.process_time()
    for values in histories:
        advance(SeriesState(), values)
    yield Figure("CPU seconds", "1,000 series of 1,000 points with ten levels each", time.process_time() - started, high=20)

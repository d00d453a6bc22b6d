"""Our detector and the rules of others on the same series, drawn with a seed: what is raised where nothing changed, and what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import rules
from detection import FLAT, Floats, autoregressive, changes
from figure import Figure
from numpy.random import Generator

from warehouse.statistics.change_points import SeriesState, advance

OTHERS: Mapping[str, Callable[[Floats], list[int]]] = {
    "Otava": rules.otava, "asv": rules.asv, "Perfherder": rules.perfherder, "PELT": rules.pelt,
}


@dataclass(frozen=True)
class Drawn:
    """A series, the session of each point, and the first point after its change, if it has one."""

    values: Floats
    sessions: Sequence[str]
    step: int | None = None


@dataclass(frozen=True)
class Row:
    """A kind of series. `before` is the share of series with a confirmed change in detector 1, 600 series of seed 11."""

    name: str
    draw: Callable[[Generator], Drawn]
    target: float | None
    before: float
    any_target: float | None = None


def _alone(values: Floats, step: int | None = None) -> Drawn:
    return Drawn(values, [str(place) for place in range(len(values))], step)


def _in_sessions(chance: Generator, each: int, count: int, spread: float) -> Drawn:
    """Runs that spread by 1 % in sessions that spread by more."""
    values = 100 * np.exp(spread * np.repeat(chance.normal(size=count), each) + 0.01 * chance.normal(size=count * each))
    return Drawn(values, [str(session) for session in range(count) for _ in range(each)])


def _modes(chance: Generator, points: int, gap: float, stay: int, share: float = 0.5) -> Drawn:
    """Two modes, of which the upper one has a share of the points; a stay has so many points in the mean of both directions."""
    is_upper, modes = bool(chance.random() < share), np.zeros(points)
    for point in range(points):
        if chance.random() < (2 * (1 - share) if is_upper else 2 * share) / stay:
            is_upper = not is_upper
        modes[point] = gap * is_upper
    return _alone(100 + chance.normal(size=points) + modes)


def _step(chance: Generator, size: float, before: int, after: int, last_sessions: Sequence[str] = ()) -> Drawn:
    values = 100 + chance.normal(size=before + after)
    values[before:] += size
    sessions = [f"before {place}" for place in range(before)] + list(last_sessions or (f"after {place}" for place in range(after)))
    return Drawn(values, sessions, before)


FLAT_ROWS = [
    *(Row(f"{name}, 200 points", lambda chance, draw=draw: _alone(draw(chance, 200)), 0.005, 0.0) for name, draw in FLAT.items()),
    Row("AR(1) 0.5, 1,000 points", lambda chance: _alone(100 + autoregressive(chance, 1000, 0.5)), 0.05, 0.0),
    Row("AR(1) 0.8, 200 points", lambda chance: _alone(100 + autoregressive(chance, 200, 0.8)), 0.05, 0.0033),
    Row("AR(1) 0.8, 1,000 points", lambda chance: _alone(100 + autoregressive(chance, 1000, 0.8)), 0.05, 0.0117),
    Row("20 sessions of 10, 4 % between them", lambda chance: _in_sessions(chance, 10, 20, 0.04), 0.05, 0.0683),
    Row("100 sessions of 10, 4 % between them", lambda chance: _in_sessions(chance, 10, 100, 0.04), 0.05, 0.2567),
    Row("40 sessions of 5, 5 % between them", lambda chance: _in_sessions(chance, 5, 40, 0.05), 0.05, 0.0),
    Row("modes 5 % apart, stays of 10, 200 points", lambda chance: _modes(chance, 200, 5, 10), 0.2, 0.55),
    Row("modes 10 % apart, stays of 10, 200 points", lambda chance: _modes(chance, 200, 10, 10), 0.2, 0.66),
    Row("modes 5 % apart, one in four, 200 points", lambda chance: _modes(chance, 200, 5, 10, 0.25), 0.2, 0.6483),
    Row("modes 5 % apart, stays of 10, 1,000 points", lambda chance: _modes(chance, 1000, 5, 10), 0.2, 0.985),
    Row("modes 5 % apart, stays of 20, 200 points", lambda chance: _modes(chance, 200, 5, 20), None, 0.96),
]
STEP_ROWS = [
    Row("3 sigma, 6 after 100", lambda chance: _step(chance, 3, 100, 6), 0.5, 0.1883, 0.9),
    Row("3 sigma, 8 after 100", lambda chance: _step(chance, 3, 100, 8), None, 0.5267),
    Row("5 sigma, 5 after 100", lambda chance: _step(chance, 5, 100, 5), None, 0.605),
    Row("10 sigma, 3 after 100, two sessions", lambda chance: _step(chance, 10, 100, 3, "aab"), 0.95, 0.0017),
    Row("10 sigma, 3 after 45, two sessions", lambda chance: _step(chance, 10, 45, 3, "aab"), None, 0.0),
    Row("20 sigma, 3 after 45, two sessions", lambda chance: _step(chance, 20, 45, 3, "aab"), None, 0.0),
]


def figures(series: int) -> Iterator[Figure]:
    for rows, title in ((FLAT_ROWS, "share of series with a change, where nothing changed"), (STEP_ROWS, "share of steps found within two points")):
        for row in rows:
            confirmed, anything, others = measured(row, series)
            bounds = {"high" if rows is FLAT_ROWS else "low": row.target}
            yield Figure(title, f"{row.name}: confirmed ({row.before:.3f} before)", confirmed, **bounds)
            yield Figure(title, "  suspected or confirmed", anything, low=row.any_target)
            for name, share in others.items():
                yield Figure(title, f"  {name}", share)


def measured(row: Row, series: int) -> tuple[float, float, dict[str, float]]:
    """The shares of ours, confirmed and of any status, and those of the others, who are slow and see a tenth of the series."""
    chance = np.random.default_rng(11)
    confirmed = anything = 0
    others = dict.fromkeys(OTHERS, 0)
    few = max(1, series // 10)
    for number in range(series):
        drawn = row.draw(chance)
        found = changes(advance(SeriesState(), drawn.values, drawn.sessions))
        if drawn.step is not None:
            found = [change for change in found if abs(change.index - drawn.step) <= 2]
        confirmed += any(change.is_confirmed for change in found)
        anything += bool(found)
        if number < few:
            for name, rule in OTHERS.items():
                others[name] += any(drawn.step is None or abs(point - drawn.step) <= 2 for point in rule(drawn.values))
    return confirmed / series, anything / series, {name: count / few for name, count in others.items()}


def of_kinds(series: int) -> Iterator[Figure]:
    """Changes of spread, and drifts: raised where there are none, and found where there are."""
    for row in FLAT_ROWS:
        chance, found = np.random.default_rng(12), {"spread": 0, "drift": 0}
        for _ in range(series):
            drawn = row.draw(chance)
            for kind in {change.kind for change in advance(SeriesState(), drawn.values, drawn.sessions).settled} & found.keys():
                found[kind] += 1
        for kind, count in found.items():
            high = None if "modes" in row.name else 0.05
            yield Figure(f"share of series with a {kind}, where there is none", row.name, count / series, high=high)
    for after in (20, 30, 60):
        for factor in (3.0, 1 / 3):
            ratio = np.repeat([1.0, factor], [100, after])
            name = f"spread x{factor:.2g}, {after} after 100"
            yield from _found("spread", name, series, lambda chance, by=ratio: 100 + by * chance.normal(size=len(by)), factor)
    for size in (3, 5, 8):
        rise = np.concatenate([np.zeros(50), np.linspace(0, size, 100)])
        yield from _found("drift", f"rise of {size} sigma over 100 after 50", series, lambda chance, by=rise: 100 + by + chance.normal(size=len(by)))


def _found(kind: str, name: str, series: int, draw: Callable[[Generator], Floats], truth: float | None = None) -> Iterator[Figure]:
    chance, sizes, levels = np.random.default_rng(13), [], 0
    for _ in range(series):
        settled = advance(SeriesState(), draw(chance)).settled
        sizes += [change for change in settled if change.kind == kind][:1]
        levels += any(change.kind == "level" and change.is_confirmed for change in settled)
    yield Figure(f"{kind}s found", name, len(sizes) / series)
    yield Figure(f"{kind}s found", "  a step of the level confirmed", levels / series)
    if truth:
        covered = [change.low is not None and change.high is not None and change.low <= truth <= change.high for change in sizes]
        yield Figure(f"{kind}s found", "  interval of the ratio contains the truth", float(np.mean(covered)) if covered else 0.0)

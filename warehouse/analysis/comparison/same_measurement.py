"""Which metrics are one measurement: requests, output tokens and all tokens per second of the same runs are one time, taken three times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from warehouse.analysis.measurements import Measurement

_SHARE = 0.2  # of the spread of one, that of their ratio (or product): exact multiples have none, independent ones 1.4

Sides = tuple[Sequence[Measurement], Sequence[Measurement]]


def distinct_measurements(metrics: Sequence[Sides]) -> list[int]:
    """For each metric, base and head, the place of the first that measures the same: on the same runs it is a multiple of it, or of its inverse, as
    a time is of a rate, but for a fifth of what it spreads by."""
    found = list(range(len(metrics)))
    alike: defaultdict[tuple[tuple[str, ...], ...], list[int]] = defaultdict(list)
    for place, sides in enumerate(metrics):
        if all(each.value > 0 for side in sides for each in side):
            alike[tuple(tuple(sorted(each.run_id for each in side)) for side in sides)].append(place)
    for places in alike.values():
        rows = np.array([_logs(metrics[place]) for place in places])
        middle = len(metrics[places[0]][0])
        levels = [part.mean(axis=1, keepdims=True) for part in (rows[:, :middle], rows[:, middle:])]
        steps = (levels[1] - levels[0])[:, 0]
        within = np.hstack([rows[:, :middle] - levels[0], rows[:, middle:] - levels[1]])
        spread = np.sqrt((within**2).mean(axis=1))
        for row, place in enumerate(places):
            others = slice(row + 1, None)
            for sign in (1, -1):
                apart = np.sqrt(((within[others] - sign * within[row]) ** 2).mean(axis=1) + (steps[others] - sign * steps[row]) ** 2)
                same = apart <= _SHARE * np.minimum(spread[others], spread[row]) + 1e-9
                for other in np.flatnonzero(same):
                    found[places[row + 1 + other]] = min(found[places[row + 1 + other]], found[place])
    return found


def _logs(sides: Sides) -> list[float]:
    """The logarithms of base, then of head, each in the order of its runs."""
    return [float(np.log(each.value)) for side in sides for each in sorted(side, key=lambda each: each.run_id)]

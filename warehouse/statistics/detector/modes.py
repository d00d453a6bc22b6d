"""What a series has been like before its present level: whether a level that it moves to is one that it already had.

A bimodal series that stays in one mode for a while makes steps that look like changes of level. Its second mode is known after the first
visit; before it, only a long enough stay tells a level from a mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from warehouse.statistics.observations import Floats

# Points without which a level may be a mode: one that the series never had, the same 15 % away or more, and one that it had before. Where too
# few came before a new level, more than that must come after it: a series of two modes gets two chances to stay long enough.
NEW, NEW_AND_FAR, KNOWN, NEW_AFTER = 45, 16, 96, 64

_KEPT = 16  # levels, so that the state of a series has a bounded size
_RARE = 1e-4  # how rarely noise alone makes a visit among a window's points
_SHORTEST = 2


@dataclass(frozen=True)
class Level:
    """A stretch of a series between two changes: the index after its last point, and its median."""

    end: int
    median: float


def with_level(levels: tuple[Level, ...], level: Level) -> tuple[Level, ...]:
    return (*levels, level)[-_KEPT:]


def last_visit(levels: tuple[Level, ...], before: float, after: float) -> int:
    """The index after the last point of an earlier level that was nearer to `after` than to `before`; 0 where none was."""
    return max((level.end for level in levels if _is_there(np.array([level.median]), before, after)[0]), default=0)


def last_stay(values: Floats, before: float, after: float, effect: float) -> int:
    """The place after the last stay at `after` among values of the level `before`, from which it lies `effect` spreads away: so many
    neighbours beyond the middle as noise seldom makes. 0 where there is none."""
    beyond = float(ndtr(-effect / 2))
    least = max(_SHORTEST, int(np.ceil(np.log(_RARE) / np.log(beyond)))) if beyond > 0 else _SHORTEST
    if len(values) < least:
        return 0
    there = np.lib.stride_tricks.sliding_window_view(_is_there(values, before, after), least).all(axis=1)
    places = np.flatnonzero(there)
    return int(places[-1]) + least if len(places) else 0


def _is_there(values: Floats, before: float, after: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    middle = (before + after) / 2
    is_there = values > middle if after > before else values < middle
    return np.asarray(is_there & (np.abs(values - after) < abs(after - before)))

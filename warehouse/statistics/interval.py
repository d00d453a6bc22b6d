"""What a statistical question returns: an interval that states what it covers, or the refusal that states what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Level = Literal["session", "run", "request"]
# `ratio`: positive by nature (a time, a rate, bytes), so that effects multiply and logarithms are apt. `difference`: may be zero
# or negative (a drift, a difference).
Scale = Literal["ratio", "difference"]


@dataclass(frozen=True)
class Interval:
    """A confidence interval of `estimate`, in its unit. `n` has the observations of each level whose variation the interval covers,
    the top level first (those of both sides of a comparison together): `{"run": 5}` says nothing about what another session would give."""

    estimate: float
    low: float
    high: float
    confidence: float
    method: str
    n: Mapping[Level, int]

    @property
    def levels(self) -> tuple[Level, ...]:
        return tuple(self.n)

    @property
    def relative_half_width(self) -> float | None:
        """Half the width as a share of the estimate; None for an estimate of zero."""
        return (self.high - self.low) / 2 / abs(self.estimate) if self.estimate else None


@dataclass(frozen=True)
class NotSupported:
    """The observations do not support an answer: `n` of `level` are there, `needs` are needed. `reason` is a sentence."""

    reason: str
    level: Level
    n: int
    needs: int

    def __str__(self) -> str:
        if self.n >= self.needs:  # more of the same would not help
            return f"not supported: {self.reason}"
        return f"not supported, needs {self.needs} {self.level}{'s' * (self.needs != 1)} (has {self.n}): {self.reason}"


@dataclass(frozen=True)
class SessionNoise:
    """How much other sessions of a testbed differ beyond what their runs explain, as a share (a standard deviation): from so many sessions,
    with so many degrees of freedom. `of_runs` is what their runs add to the mean of a session, with `run_freedom`: where it is large, the
    sessions of a quiet history may differ all the same."""

    spread: float
    freedom: int
    sessions: int
    of_runs: float = 0.0
    run_freedom: int = 0

"""One measured figure beside its target."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A value, and the bounds that it should keep: `low` at least, `high` at most. Without bounds it is there to compare with."""

    group: str
    name: str
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def is_met(self) -> bool | None:
        if self.low is None and self.high is None:
            return None
        return (self.low is None or self.value >= self.low) and (self.high is None or self.value <= self.high)

    def told(self) -> str:
        bounds = " to ".join(f"{bound:g}" for bound in (self.low, self.high) if bound is not None)
        target = {True: f"{bounds}: met", False: f"{bounds}: MISSED", None: ""}[self.is_met]
        sign = "" if self.low is not None and self.high is not None else ">= " if self.low is not None else "<= " if self.high is not None else ""
        return f"{self.name:<64} {self.value:>10.4g}  {sign}{target}"

"""How the two sides of a comparison ran: side by side or one after the other, and in which sessions.

What a machine does in an hour (another tenant, a warm room, a clock) is in every run of that hour. Runs that alternate share it, and
their ratio is free of it. Runs in separate blocks do not, and no statistics of these runs can tell it from the change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from warehouse.analysis.measurements import Measurement

Order = Literal["interleaved", "separate blocks", "mixed", "unknown"]


@dataclass(frozen=True)
class Design:
    """The order in which base and head ran; the pairs of runs that ran side by side, if that is how; and how many sessions each side has."""

    order: Order
    pairs: tuple[tuple[Measurement, Measurement], ...]
    base_sessions: int
    head_sessions: int

    @property
    def is_across_sessions(self) -> bool:
        return min(self.base_sessions, self.head_sessions) >= 2

    @property
    def note(self) -> str | None:
        if self.order == "separate blocks":
            return "base and head ran in separate blocks of time: an effect of the time cannot be separated from the change"
        if self.order == "unknown":
            return "runs without a start time: whether base and head ran side by side is not known"
        return None


def design_of(base: Sequence[Measurement], head: Sequence[Measurement]) -> Design:
    """How two sides of one metric ran."""
    sessions = len({each.session for each in base}), len({each.session for each in head})
    if any(each.started_at is None for each in (*base, *head)):
        return Design("unknown", (), *sessions)
    pairs = _pairs(base, head)
    if pairs:
        return Design("interleaved", pairs, *sessions)
    times = [sorted(each.started_at for each in side if each.started_at) for side in (base, head)]
    is_apart = times[0][-1] < times[1][0] or times[1][-1] < times[0][0]
    return Design("separate blocks" if is_apart else "mixed", (), *sessions)


def _pairs(base: Sequence[Measurement], head: Sequence[Measurement]) -> tuple[tuple[Measurement, Measurement], ...]:
    """Base and head of each two neighbours in time, where every two neighbours are one of each, in one session: A B A B, A B B A."""
    if len(base) != len(head) or len(base) < 2:
        return ()
    ordered = sorted([(each, 0) for each in base] + [(each, 1) for each in head], key=lambda found: (found[0].started_at, found[0].run_id))
    pairs = []
    for (first, side), (second, other) in zip(ordered[::2], ordered[1::2], strict=True):
        if side == other or first.session != second.session:
            return ()
        pairs.append((first, second) if side == 0 else (second, first))
    return tuple(pairs)

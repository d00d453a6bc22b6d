"""Axes: where a value is drawn, and which few round values are named. Numbers, points in time, and logarithms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import ceil, floor, isfinite, log10
from typing import Any

_ACROSS, _UP = 110, 40  # pixels that a tick's words take, where a phone shows them large
_CLOCK = 85  # pixels of the words of a tick that states a day and an hour
_DAY = 86400.0
_MONTH = 30.4375
# Steps of time, as days, and how their ticks are written.
_SPANS = ((1 / 24, "%H:%M"), (0.25, "%d %b %H:%M"), (1, "%d %b"), (2, "%d %b"), (7, "%d %b"), (14, "%d %b %Y"))
_MONTHS = (1, 3, 6, 12, 24, 60, 120)


def number(value: Any) -> float | None:
    """A value as an axis has it: a point in time as its seconds since 1970. None for what is missing, not finite or not a number."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` on the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False
    is_time: bool = False

    def at(self, value: float) -> float:
        """Its pixel; a value outside is drawn at the edge."""
        low, high, value = (log10(each) if self.is_log else each for each in (self.low, self.high, min(max(value, self.low), self.high)))
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    @property
    def most(self) -> int:
        """How many ticks have room."""
        return max(2, min(5, round((self.end - self.start) / (_ACROSS if self.end > self.start else -_UP))))

    def ticks(self) -> list[tuple[float, str]]:
        """A few round values within the axis, with their text."""
        found = list(self._times() if self.is_time else self._decades() if self.is_log else self._numbers(self.most))
        if len(found) < 2 and not self.is_time:  # too few are round enough; on a logarithmic axis, none within a decade
            found = [each for each in self._numbers(self.most + 2) if each[0] > 0 or not self.is_log]
        if len(found) < 2:
            found = [(value, self.text(value)) for value in (self.low, self.high)]
        return found

    def text(self, value: float) -> str:
        if self.is_time:
            return f"{datetime.fromtimestamp(value, UTC):{'%-d %b %Y' if self.high - self.low >= _DAY else '%-d %b %Y %H:%M'}}"
        return f"{value:,.6g}"

    def _numbers(self, most: int) -> Iterator[tuple[float, str]]:
        rough = (self.high - self.low) / most
        power = 10.0 ** floor(log10(rough))
        step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough * 0.9)
        decimals = max(0, -floor(log10(step) + 1e-9))
        is_plain = decimals <= 6 and max(abs(self.low), abs(self.high)) < 1e7
        for place in range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1):
            value = place * step
            yield value, f"{value:,.{decimals}f}" if is_plain else f"{value:.3g}"

    def _decades(self) -> Iterator[tuple[float, str]]:
        first, last = floor(log10(self.low)), ceil(log10(self.high))
        factors = (1, 2, 5) if last - first <= 2 else (1,)
        every = max(1, ceil((last - first) / self.most))
        for power in range(first, last + 1):
            for factor in factors if power % every == 0 else ():
                value = factor * 10.0**power
                if self.low * 0.999 <= value <= self.high * 1.001:
                    yield value, f"{value:,.0f}" if 1 <= value < 1e7 else f"{value:g}"

    def _times(self) -> Iterator[tuple[float, str]]:
        days = (self.high - self.low) / 86400
        first, last = (datetime.fromtimestamp(each, UTC) for each in (self.low, self.high))
        if days <= 14 * self.most:
            room = min(self.most + 1.0, abs(self.end - self.start) / _CLOCK)
            step, form = next((span for span in _SPANS if days / span[0] <= room), _SPANS[-1])
            at, every = first.replace(hour=0, minute=0, second=0, microsecond=0), timedelta(days=step)
            if step < 1 / 24 * 2 and days < 1 / 12:  # within two hours: the edges say it
                return
            while at <= last:
                if at >= first:
                    yield at.timestamp(), at.strftime(form)
                at += every
            return
        months = next((each for each in _MONTHS if days / _MONTH / each <= self.most + 1.5), _MONTHS[-1])
        place = first.year * 12 + first.month - 1
        for month in range(ceil(place / months) * months, last.year * 12 + last.month, months):
            at = datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC)
            if first <= at <= last:
                yield at.timestamp(), at.strftime("%Y" if months >= 12 else "%b %Y")


def axis(
    values: Iterable[float], start: float, end: float, is_log: bool = False, is_time: bool = False, is_from_zero: bool = False
) -> Axis:
    """The axis that values fit on, with some room at its ends. Values of zero or less are for the caller to leave out of a logarithmic one."""
    found = list(values)
    low, high = min(found), max(found)
    if is_log:
        room = (high / low) ** 0.04 if high > low else 1.5
        return Axis(low / room, high * room, start, end, is_log=True)
    if is_from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = (high - low) * 0.04 or (43200.0 if is_time else abs(high) * 0.05 or 1.0)
    return Axis(
        low if is_from_zero and low == 0 else low - room, high if is_from_zero and high == 0 and low < 0 else high + room, start, end, is_time=is_time
    )

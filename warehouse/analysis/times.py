"""Points in time as they are typed: a date, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from warehouse.errors import ExitCode, WarehouseError, printable

_AGO = re.compile(r"(\d{1,5})\s*(h|d|w|m|y)")
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30.4375, "y": 365.25}  # a month and a year are those of the calendar's mean


def parse_since(text: str, now: datetime) -> datetime:
    """`1y`, `6m`, `2w`, `10d`, `12h` ago, or a date or time of ISO 8601 (UTC where it states no zone). Raises WH502 for anything else."""
    if ago := _AGO.fullmatch(text.strip()):
        return now - timedelta(days=int(ago[1]) * _DAYS[ago[2]])
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        hint = "for example 1y, 6m, 2w, 10d, 12h, 2026-01-31"
        raise WarehouseError("WH502", f"{printable(text)!r} is no time", hint=hint, exit_code=ExitCode.USAGE) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)

"""Times as described files state them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from warehouse.landing.described import units
from warehouse.landing.described.layout import Moment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_S = 253_402_300_800  # the year 10000
_ZONE_NAME = re.compile(r"(\d{4}-\d\d-\d\d[ T][\d:.,]+) ([A-Z]{2,5})")  # such as CST, which is several zones


def moment_of(text: str, stated: Moment) -> tuple[datetime, bool] | None:
    """A moment in UTC, and whether its zone was assumed."""
    try:
        if stated.unit is not None:
            seconds = units.converted(text, units.factor(stated.unit, "s") or Fraction(1))
            return None if seconds is None or not 0 <= seconds < _LAST_S else (_EPOCH + timedelta(microseconds=round(seconds * 1e6)), False)
        named = _ZONE_NAME.fullmatch(text) if stated.format is None else None
        text = named[1] if named else text
        moment = datetime.strptime(text, stated.format) if stated.format else datetime.fromisoformat(_shortened(text))
        has_zone = moment.tzinfo is not None or named is not None and named[2] in ("UTC", "GMT")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC), not has_zone and not stated.is_zone_known
    except (ValueError, OverflowError):
        return None


def _shortened(text: str) -> str:
    """A time with at most six digits of a second, which is what Python reads."""
    before, mark, rest = text.partition(".")
    digits = len(rest) - len(rest.lstrip("0123456789"))
    return f"{before}.{rest[: min(digits, 6)].ljust(6, '0')}{rest[digits:]}" if mark and digits else text

"""Times as the suite writes them: ISO 8601 with a zone, `+00:00`, `+0000` or `Z`."""

from __future__ import annotations

from datetime import datetime

from warehouse.landing.readers.records import Record
from warehouse.landing.rows import parse_utc


def moment(record: Record, key: str) -> datetime | None:
    """The time under a key; reported if it is not a time, or states no zone."""
    stated = record.values.get(key)
    if stated is None or stated == "":
        return None
    try:
        return parse_utc(stated)
    except (ValueError, TypeError, OverflowError):
        record.flag("not-a-time", f"{key}: {str(stated)[:80]}")
        return None

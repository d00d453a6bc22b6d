"""The power daemon's `spl.txt`: one line a second, the whole system first, then each channel of the analyser.

Time stays as the daemon's clock wrote it: its zone is in power/server.json and is applied by the models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any, NamedTuple

from warehouse.landing.text import Data, Line, Report, clean, decoded, lines

_MEASURES = {"Watts": "watts", "Volts": "volts", "Amps": "amps", "PF": "power_factor"}
_CHANNEL = re.compile(r"Ch\w+")
_TIME = re.compile(r"(\d\d)-(\d\d)-(\d{4}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?", re.ASCII)
_EXACT = re.compile(r"[+-]?\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_SIXTH = Decimal("0.000001")


class Sample(NamedTuple):
    """One reading of the system (channel None) or of a channel; values as decimals, None where absent."""

    offset: int
    length: int
    sampled_at: datetime | None
    sampled_at_text: str
    channel: str | None
    measures: dict[str, Decimal | None]
    mark: str | None


def samples(data: Data, report: Report) -> Iterator[Sample]:
    for line in lines(data, report):
        fields = [field.strip() for field in decoded(line, report).split(",")]
        if len(fields) < 4 or fields[0] != "Time" or not fields[1]:
            report.at("malformed-power-line", ",".join(fields)[:120], line, "error")
            continue
        if len(data) - line.offset == len(line.data):  # the daemon ends every line
            report.at("truncated-power-line", ",".join(fields)[-120:], line, "error")
        yield from _line_samples(fields, line, report)


def _line_samples(fields: list[str], line: Line, report: Report) -> Iterator[Sample]:
    channels: list[tuple[str | None, dict[str, Any]]] = [(None, {})]
    mark: str | None = None
    position = 2
    while position < len(fields):
        name = fields[position]
        if name not in _MEASURES and _CHANNEL.fullmatch(name):
            channels.append((clean(name)[:256], {}))
            position += 1
            continue
        if position + 1 >= len(fields):
            report.at("malformed-power-line", f"{name[:80]} has no value", line)
        elif name in _MEASURES:
            channels[-1][1][_MEASURES[name]] = _decimal(name, fields[position + 1], line, report)
        elif name == "Mark":
            mark = clean(fields[position + 1])[:256] or None
        position += 2  # a measure this table has no column for is a name and a value, too
    sampled_at = _time(fields[1], line, report)
    for channel, measures in channels:
        yield Sample(line.offset, len(line.data), sampled_at, clean(fields[1])[:256], channel, measures, mark)


def _time(text: str, line: Line, report: Report) -> datetime | None:
    try:
        if match := _TIME.fullmatch(text):
            month, day, year, hour, minute, second = map(int, match.groups()[:6])
            return datetime(year, month, day, hour, minute, second, int((match[7] or "").ljust(6, "0")))
    except ValueError:
        pass
    report.at("malformed-time", text[:80], line)
    return None


def _decimal(name: str, text: str, line: Line, report: Report) -> Decimal | None:
    if _EXACT.fullmatch(text):
        return Decimal(text)
    try:
        number = Decimal(text)
        if number.is_finite() and abs(number) < 10**12:
            rounded = number.quantize(_SIXTH, ROUND_HALF_EVEN)
            if rounded != number:
                report.at("rounded-number", f"{name}: {text[:80]} has more than six decimals", line)
            return rounded
    except InvalidOperation:
        pass
    if text:
        report.at("not-a-number", f"{name}: {text[:80]}", line)
    return None

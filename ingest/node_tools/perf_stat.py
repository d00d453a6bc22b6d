"""`perf stat -x,`: what performance counters counted, of the whole (-x,) or in intervals (-I). With another separator it is not read.

Fields (perf-stat(1), CSV FORMAT): the time since the start with -I, a CPU or socket with -A or --per-socket, the count, its unit, the event, for how
long it was counted in ns and percent, and a metric with its unit. `<not counted>` and `<not supported>` have no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from warehouse.landing.readers.text import Data, Report, decoded, lines, number_in

from .stated import Entry, Sample, Stated, Tool

_COUNT = r"(?:[\d.]+|<not counted>|<not supported>)"
_LINE = re.compile(
    r"(?: *(?P<since>\d{1,9}\.\d{6,9}),)?(?:(?P<place>CPU\d+|S\d+(?:-D\d+)?(?:-C\d+)?|N\d+|D\d+),(?:(?P<of>\d+),)?)?"
    rf"(?P<count>{_COUNT}),(?P<unit>[^,]*),"
    r"(?P<event>[A-Za-z_][^,]*(?:/[^/]*/[A-Za-z]*)?),(?P<ns>\d+),(?P<pct>\d{1,3}\.\d\d)(?:,(?P<rest>.*))?"
)
_STARTED = re.compile(r"# started on (\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\s*")
_HEAD = re.compile(
    rb"(?:(?:#[^\n]*|[ \t\r]*)\n)*(?: *\d{1,9}\.\d{6,9},)?(?:(?:CPU|S|N|D)\d[^,\n]*,(?:\d+,)?)?(?:[\d.]+|<not counted>|<not supported>),[A-Za-z]*,"
    rb"[A-Za-z_][^\n]*,\d+,\d{1,3}\.\d\d(?:,|\n|\r|$)"
)


def _read(data: Data, report: Report) -> Iterator[Stated]:
    started: datetime | None = None
    for line in lines(data, report):
        shown = decoded(line, report)
        if found := _STARTED.fullmatch(shown):
            try:
                started = datetime.strptime(found[1], "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC)
            except ValueError:
                report.at("no-log-time", found[1], line)
        elif shown.startswith("#"):
            continue
        elif found := _LINE.fullmatch(shown):
            event, place, since = found["event"], found["place"] or "", found["since"]
            count = number_in(found["count"])
            if since is None:
                yield Entry(line, "event", " ".join(filter(None, (event, place))), "count", found["count"], found["unit"] or None)
            elif count is not None:
                at = started + timedelta(seconds=float(since)) if started else None
                yield Sample(line, _metric(event, found["unit"]), {"place": place} if place else {}, count, at, "zone assumed" if at else None)
        else:
            report.at("unknown-line", shown[:200], line)


def _metric(event: str, unit: str) -> str:
    """The event, with the unit where perf scales the count to one: uncore_imc/cas_count_read/ is in MiB."""
    return f"{event} [{unit}]" if unit else event


TOOL = Tool("perf", lambda head: _HEAD.match(head) is not None, _read)

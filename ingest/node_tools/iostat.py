"""`iostat -o JSON`: CPU of a node, and input and output of its disks, with the node's name. The first report is the mean since boot, and left out
unless it is the only one. Times are there with -t; only those in ISO 8601 (S_TIME_FORMAT=ISO) and in the American form of 12 hours are read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from math import inf
from typing import Any

from warehouse.landing.readers.text import Data, Place, Report

from .json_output import items, json_output, objects
from .stated import Sample, Stated, Tool

_HEAD = re.compile(rb'\s*\{\s*"sysstat"\s*:\s*\{\s*"hosts"\s*:(?=[^\0]{0,3000}"(?:avg-cpu|disk)"\s*:)')
_AMERICAN = "%m/%d/%Y %I:%M:%S %p"


def _read(data: Data, report: Report) -> Iterator[Stated]:
    place, document = json_output(data, report)
    hosts = dict(items(document.get("sysstat"))).get("hosts")
    for host in objects(hosts):
        name = host.get("nodename")
        labels = {"Hostname": name} if isinstance(name, str) and name else {}
        reports = objects(host.get("statistics"))
        for each in reports[1:] or reports:
            at, clock = _time(each.get("timestamp")) if len(reports) > 1 else (None, None)
            for key, value in items(each.get("avg-cpu")):
                yield from _sample(report, place, f"avg-cpu/{key}", labels, value, at, clock)
            for disk in objects(each.get("disk")):
                device = disk.get("disk_device")
                for key, value in disk.items() if isinstance(device, str) else ():
                    if key != "disk_device":
                        yield from _sample(report, place, f"disk/{key}", labels | {"device": str(device)}, value, at, clock)


def _sample(
    report: Report, place: Place, metric: str, labels: dict[str, str], value: Any, at: datetime | None, clock: str | None
) -> Iterator[Sample]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        is_huge = isinstance(value, int) and abs(value) > 1e300
        yield Sample(place, metric, labels, inf if is_huge else float(value), at, clock)
    elif value is not None:
        report.at("not-a-number", f"{metric}: {str(value)[:80]}", place, "error")


def _time(stated: Any) -> tuple[datetime | None, str | None]:
    if not isinstance(stated, str):
        return None, None
    try:
        at = datetime.fromisoformat(stated)
    except ValueError:
        try:
            at = datetime.strptime(stated, _AMERICAN)
        except ValueError:
            return None, None
    try:
        return (at.replace(tzinfo=UTC), "zone assumed") if at.tzinfo is None else (at.astimezone(UTC), "stated")
    except OverflowError:
        return None, None


TOOL = Tool("iostat", lambda head: _HEAD.match(head) is not None, _read)

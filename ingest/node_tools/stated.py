"""What the readers of tools yield, and what they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from warehouse.landing.readers.text import Data, Located, Report


@dataclass(frozen=True)
class Entry:
    """A property of a component."""

    place: Located
    component_kind: str
    component: str
    key: str
    value: str
    unit: str | None = None
    node_name: str | None = None


@dataclass(frozen=True)
class Event:
    """Something that went wrong. `event_at` has a zone; `is_zone_assumed` where the tool states none."""

    place: Located
    code: str
    message: str
    component_kind: str | None = None
    component: str | None = None
    certainty: str = "stated"
    node_name: str | None = None
    event_at: datetime | None = None
    is_zone_assumed: bool | None = None
    s_since_boot: float | None = None
    gpu_uuid: str | None = None
    number: int | None = None


@dataclass(frozen=True)
class Sample:
    """A value at a time, of the series that `metric` and `labels` name. `clock` says where the time is from, as in `telemetry_series`."""

    place: Located
    metric: str
    labels: Mapping[str, str]
    value: float
    at: datetime | None
    clock: str | None


Stated = Entry | Event | Sample


@dataclass(frozen=True)
class Tool:
    """`is_head` recognises the beginning of its output."""

    name: str
    is_head: Callable[[bytes], bool]
    read: Callable[[Data, Report], Iterator[Stated]]


# A file name is of a host if a word with a digit is left of it: not one that numbers runs or files, and no date.
_EXTENSION = re.compile(r"(?:\.(?:txt|log|out|json|jsonl|csv|xml|gz|zst))+$", re.IGNORECASE)
_TOOL_WORDS = re.compile(
    r"(?<![A-Za-z0-9])(?:dmesg|kern(?:el)?|journal(?:ctl)?|syslog|messages|dcgmi?|diag|health|nvidia[-_]?smi|topo|nvlink|lspci|vvv|ibdiagnet2?|perf|stat|"
    r"numastat|vmstat|iostat|pidstat|log|output|host|after|before)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_NO_HOST = re.compile(r"(?:run|test|part|rank|step|job|try|repeat|sample|file|out|r|v|x)?[-_.]?\d+|\d[\d:.TZ_-]*", re.IGNORECASE)
_HOST = re.compile(r"(?=[^\d]*[A-Za-z])(?=.*\d)[A-Za-z0-9][A-Za-z0-9.-]*")


def host_in_name(path: str) -> str | None:
    """The host that a file is named for, if it is."""
    left = _TOOL_WORDS.sub("", _EXTENSION.sub("", path.rpartition("/")[2])).strip("-_. ")
    return left if _HOST.fullmatch(left) and not _NO_HOST.fullmatch(left) else None

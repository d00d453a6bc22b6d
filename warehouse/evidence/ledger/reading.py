"""The ledger without reading it over and over: an event that was read is not read again as long as it lies there.

An event's name has the sha256 of its bytes, so what was read under a name is what it is: an event cannot become another one. That a file was
altered since is for `wh fsck` and `wh verify` to find, which remember nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from warehouse.digest import bytes_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import Event, Ledger, name_digest
from warehouse.evidence.objects.base import Objects

_FILE = ".ledger.json"  # beside the builds; the sha256 of its second line is the first one
_FEW = 32  # events, for which the file is not written again
Reading = tuple[tuple[Event, ...], tuple[WarehouseError, ...]]


@dataclass
class LedgerReading:
    """The events of one store's ledger, for many threads."""

    _events: dict[str, Event] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def events(self, objects: Objects) -> tuple[Event, ...]:
        """The events that lie there and can be read, the oldest first. An event of before names had digests is read each time. Raises WH114."""
        with self._lock:
            found, _ = _read(Ledger(objects), self._events)
            self._events = {event.key: event for event in found if name_digest(event.key)}
            return found


def known_events(objects: Objects, builds: Path) -> Reading:
    """The events of a ledger that can be read, the oldest first, and what is wrong with the others. Those that a command read before are in a
    file beside the builds, which can be removed: to open 20,000 small files takes seconds. Raises WH114."""
    path = builds / _FILE
    known = _remembered(path)
    found, damaged = _read(Ledger(objects), known)
    kept = [event for event in found if name_digest(event.key)]
    if len(kept) > len(known) + _FEW:
        _remember(path, kept)
    return found, damaged


def read_ledger(objects: Objects) -> Reading:
    """The events of a ledger that can be read, all read now, and what is wrong with the others. Raises WH114."""
    return _read(Ledger(objects), {})


def _read(ledger: Ledger, known: Mapping[str, Event]) -> Reading:
    keys = ledger.keys()
    new = {event.key: event for event in ledger.read(key for key in keys if key not in known)}
    events = (known.get(key) or new.get(key) for key in keys)
    return tuple(event for event in events if event), tuple(ledger.damaged)


def _remembered(path: Path) -> dict[str, Event]:
    try:
        digest, _, body = path.read_bytes().partition(b"\n")
        if digest.decode() != bytes_digest(body):
            return {}
        return {event.key: event for event in msgspec.json.decode(body, type=list[Event])}
    except (OSError, ValueError):  # or by a version of wh whose events are others
        return {}


def _remember(path: Path, events: Iterable[Event]) -> None:
    body = msgspec.json.encode([*events])
    scratch = path.with_name(f"{_FILE}.{os.getpid()}")
    with suppress(OSError):  # of a folder that is not there, or that others own: it saves time alone
        scratch.write_bytes(bytes_digest(body).encode() + b"\n" + body)
        os.replace(scratch, path)

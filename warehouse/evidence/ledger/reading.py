"""The ledger without reading it over and over: an event that was read is not read again as long as it lies there.

An event's name has the sha256 of its bytes, so what was read under a name is what it is: an event cannot become another one. That a file was
altered since is for `wh fsck` and `wh verify` to find, which remember nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from warehouse.evidence.ledger.events import Event, Ledger, name_digest
from warehouse.evidence.objects.base import Objects


@dataclass
class LedgerReading:
    """The events of one store's ledger, for many threads."""

    _events: dict[str, Event] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def events(self, objects: Objects) -> tuple[Event, ...]:
        """The events that lie there and can be read, the oldest first. An event of before names had digests is read each time. Raises WH114."""
        with self._lock:
            ledger = Ledger(objects)
            keys = ledger.keys()
            new = {event.key: event for event in ledger.read(key for key in keys if key not in self._events)}
            found = tuple(event for key in keys if (event := self._events.get(key) or new.get(key)))
            self._events = {event.key: event for event in found if name_digest(event.key)}
            return found


@dataclass(frozen=True)
class ReadLedger:
    """A ledger all of whose events were read, to be asked as a `Listing` is."""

    objects: Objects
    read: tuple[Event, ...]

    def events(self) -> tuple[Event, ...]:
        return self.read

    def of_publications(self) -> tuple[Event, ...]:
        return self.read

    def of_bundles(self, digests: Iterable[str]) -> tuple[Event, ...]:
        return self.read

    def decisions(self) -> list[Event]:
        return Ledger(self.objects).decisions()

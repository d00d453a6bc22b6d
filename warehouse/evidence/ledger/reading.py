"""The ledger for a process that reads it over and over: an event that was read is not read again as long as it lies there.

An event's name has the sha256 of its bytes, so what was read under a name is what it is: an event cannot become another one. That a file was
altered since is for `wh fsck` and `wh verify` to find, which remember nothing.
"""

from __future__ import annotations

import threading
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
        ledger = Ledger(objects)
        with self._lock:
            found: dict[str, Event] = {}
            for key in ledger.keys():
                known = self._events.get(key) if name_digest(key) else None
                for event in (known,) if known else ledger.read([key]):
                    found[key] = event
            self._events = found
            return tuple(found.values())

"""Who works on what: leases in the store, objects created only if absent, so that two runners of one campaign never run a slot at once.

A lease is a chain of numbered objects under its name. Each says whose it is and until when. Its owner adds the next before the last has ended;
whoever finds that the last has ended adds the next as its own. The owner gives a lease back by an object that says so. Between machines, the
assumption is that no clock is wrong by more than `MARGIN`; on one machine a lease lasts as long as its process.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from warehouse.digest import canonical_json
from warehouse.errors import WarehouseError
from warehouse.evidence.durable import unique_name
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.store import CAMPAIGNS

LASTS = timedelta(minutes=3)
MARGIN = timedelta(minutes=1)
_GIVEN_BACK = datetime.min.replace(tzinfo=UTC)
_UNKNOWN = "-"


@dataclass(frozen=True)
class Holder:
    """Who has a lease, and until when."""

    owner: str
    until: datetime

    @property
    def has_ended(self) -> bool:
        """Whether nobody works under it any more: it was given back, its process ran here and has ended, or it ran elsewhere and the time is over."""
        host, pid, began, _ = self.owner.split(" ")
        if self.until == _GIVEN_BACK:
            return True
        if host == _host() and began != _UNKNOWN:  # the clock says nothing: it may have been set, and the machine may have slept
            return began != _began(int(pid))
        return datetime.now(UTC) > self.until + MARGIN


class Leases:
    """The leases of one process on the slots of a campaign."""

    def __init__(self, objects: Objects, campaign_id: str) -> None:
        self._objects, self._campaign_id = objects, campaign_id
        self._owner = f"{_host()} {os.getpid()} {_began(os.getpid())} {unique_name()}"

    @contextmanager
    def held(self, name: str) -> Iterator[bool]:
        """Hold a lease while it is open; False where another has it."""
        number = self._take(name)
        if number is None:
            yield False
            return
        ended = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(name, number, ended), daemon=True)
        renewing.start()
        try:
            yield True
        finally:
            ended.set()
            renewing.join()
            last = self._last(name)
            found = self._read(name, last)
            if found and found.owner == self._owner:  # else another has it, after a time in which it could not be renewed
                self._add(name, last + 1, timedelta(0))

    def holder(self, name: str) -> Holder | None:
        """Who holds a lease now."""
        last = self._last(name)
        found = self._read(name, last) if last else None
        return None if found is None or found.has_ended else found

    def _take(self, name: str) -> int | None:
        last = self._last(name)
        if last:
            found = self._read(name, last)
            if found and not found.has_ended:
                return None
        return last + 1 if self._add(name, last + 1, LASTS) else None

    def _renew(self, name: str, number: int, ended: threading.Event) -> None:
        while not ended.wait(LASTS.total_seconds() / 3):
            try:
                number += self._add(name, number + 1, LASTS)
            except WarehouseError:  # the store cannot be reached now: what was added last still counts
                continue

    def _add(self, name: str, number: int, lasts: timedelta) -> bool:
        until = datetime.now(UTC) + lasts if lasts else _GIVEN_BACK
        data = canonical_json({"owner": self._owner, "until": until.isoformat()})
        return self._objects.create(f"{self._key(name)}/{number:08d}.json", data)

    def _last(self, name: str) -> int:
        keys = self._objects.matching(f"{self._key(name)}/*.json")
        return max((int(key.rpartition("/")[2].removesuffix(".json")) for key in keys), default=0)

    def _read(self, name: str, number: int) -> Holder | None:
        try:
            document = json.loads(self._objects.read(f"{self._key(name)}/{number:08d}.json"))
            return Holder(document["owner"], datetime.fromisoformat(document["until"]))
        except (OSError, ValueError, KeyError, TypeError):  # damaged: fsck says so
            return None

    def _key(self, name: str) -> str:
        return f"{CAMPAIGNS}/{self._campaign_id}/leases/{name}"


def _host() -> str:
    """This host since it was started, and the namespace of its processes, so that numbers of processes mean the same."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()}/{boot}/{os.readlink('/proc/self/ns/pid')}"
    return socket.gethostname()


def _began(pid: int) -> str:
    """When a process was started, as the kernel counts; "-" for none, for one that has ended and waits for its parent, and where the kernel does not
    say."""
    with suppress(OSError):
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return _UNKNOWN if state in "ZX" else fields[18]
    return _UNKNOWN

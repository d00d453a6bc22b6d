"""The ledger: append-only events, one JSON file each: what arrived and what was published, when, by whom, from where."""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


from warehouse.digest import canonical_json
from warehouse.errors import WarehouseError, printable
from warehouse.evidence.objects import Objects

ARRIVAL = "arrival"
PUBLICATION = "publication"
REMOVAL = "removed"


@dataclass(frozen=True)
class Event:
    """One line of history. `subject` is the digest it is about (a manifest's, a publication's); `at` is UTC with
    microseconds; `detail` depends on the kind."""

    kind: str
    subject: str
    at: str
    detail: Mapping[str, Any]
    by: str = ""  # user and host, as the machine says


@dataclass(frozen=True)
class History:
    """What the ledger says of bundles, by digest: when those that should be here arrived (UTC), and the event by which
    policy removed those that should not."""

    arrivals: Mapping[str, str]
    removals: Mapping[str, Event]


class Ledger:
    """The events under `<store>/ledger/<yyyy>/<mm>/<dd>/<ulid>.json`."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self.damaged: list[WarehouseError] = []  # events that the last reading could not read

    def arrived(self, digest: str, family: str, source: str) -> None:
        """Record that a bundle arrived now, from a place as the user named it. Raises WH109."""
        self._append(ARRIVAL, digest, {"family": family, "from": printable(source)})

    def published(self, digest: str, query: str, build_digest: str) -> None:
        """Record that a rollup was frozen now, and from which build. Raises WH109."""
        self._append(PUBLICATION, digest, {"query": query, "build_digest": build_digest})

    def removed(self, digest: str, policy: Mapping[str, Any]) -> None:
        """Record that a bundle is removed by a retention policy: written before a byte of it goes. Raises WH109."""
        self._append(REMOVAL, digest, dict(policy))

    def events(self) -> Iterator[Event]:
        """All events that can be read, oldest first; one that cannot (WH107) goes to `damaged` and stops nobody. Raises
        WH114."""
        self.damaged = []
        for key in sorted(self._objects.matching("ledger/*/*/*/*.json"), key=lambda key: key.rpartition("/")[2]):
            try:
                event = _parse_event(self._objects.read(key))
            except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
                self.damaged.append(WarehouseError("WH107", f"a ledger event cannot be read: {error}", f"{self._objects.url}/{key}"))
                continue
            yield event

    def arrivals(self) -> Mapping[str, str]:
        """When each bundle first arrived: digest to UTC time. One that policy removed has not, until it arrives again."""
        return self.history().arrivals

    def history(self) -> History:
        """Arrivals and removals, each bundle's last word."""
        arrivals: dict[str, str] = {}
        removals: dict[str, Event] = {}
        for event in self.events():
            if event.kind == ARRIVAL:
                arrivals.setdefault(event.subject, event.at)
                removals.pop(event.subject, None)
            elif event.kind == REMOVAL:
                removals[event.subject] = event
                arrivals.pop(event.subject, None)
        return History(arrivals, removals)

    def _append(self, kind: str, digest: str, detail: dict[str, Any]) -> None:
        from ulid import ULID

        now = datetime.now(UTC)
        identity = ULID.from_datetime(now)
        document = {
            "kind": kind,
            "subject": digest,
            "at": now.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "by": f"{_user()}@{socket.gethostname()}",
            "detail": detail,
        }
        key = f"ledger/{now:%Y/%m/%d}/{identity}.json"
        try:
            self._objects.create(key, canonical_json(document))
        except OSError as error:
            raise WarehouseError("WH109", f"the ledger cannot be written: {error.strerror}", f"{self._objects.url}/{key}") from error


def _parse_event(data: bytes) -> Event:
    document = json.loads(data)
    event = Event(document["kind"], document["subject"], document["at"], document["detail"], str(document.get("by", "")))
    if not all(isinstance(value, str) for value in (event.kind, event.subject)) or not isinstance(event.detail, dict):
        raise ValueError("its kind, subject or detail is none")
    if datetime.fromisoformat(event.at).tzinfo is None:
        raise ValueError(f"{event.at!r} states no zone")
    return event


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user has no name; OSError from Python 3.13 on
        return str(os.getuid())

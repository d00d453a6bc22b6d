"""The ledger: append-only events, one JSON file each: what arrived, what was published and what was decided of runs, when, by
whom, from where."""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import WarehouseError, printable
from warehouse.evidence.objects import Objects

ARRIVAL = "arrival"
PUBLICATION = "publication"
REMOVAL = "removed"
_DECIDED = ".decision.json"


@dataclass(frozen=True)
class Event:
    """One line of history. `subject` is the digest it is about (a manifest's, a publication's), or the run; `at` is UTC with
    microseconds; `detail` depends on the kind; `key`, `sha256` and `bytes` are those of its file in the store."""

    kind: str
    subject: str
    at: str
    detail: Mapping[str, Any]
    by: str = ""  # user and host, as the machine says
    key: str = ""
    sha256: str = ""
    bytes: int = 0


@dataclass(frozen=True)
class History:
    """What the ledger says of bundles, by digest: when those that should be here arrived (UTC), and the event by which
    policy removed those that should not."""

    arrivals: Mapping[str, str]
    removals: Mapping[str, Event]


class Ledger:
    """The events under `<store>/ledger/<yyyy>/<mm>/<dd>/<ulid>.json`; those of runs end in `.decision.json`, so that the few of
    them are found without reading the others."""

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

    def decided(self, kind: str, run_id: str, detail: Mapping[str, Any]) -> Event:
        """Record what was decided of a run now (`evidence.decisions`). Raises WH109."""
        return self._append(kind, run_id, dict(detail), _DECIDED)

    def events(self) -> Iterator[Event]:
        """All events that can be read, oldest first; one that cannot (WH107) goes to `damaged` and stops nobody. Raises
        WH114."""
        return self._read("ledger/*/*/*/*.json")

    def decision_keys(self) -> list[str]:
        """The keys of the events of runs; nothing is read."""
        return self._objects.matching(f"ledger/*/*/*/*{_DECIDED}")

    def decisions(self) -> list[Event]:
        """The events of runs, read as `events` does; of those within one millisecond the names do not tell which came first,
        their times do."""
        return sorted(self._read(f"ledger/*/*/*/*{_DECIDED}"), key=lambda event: datetime.fromisoformat(event.at))

    def _read(self, pattern: str) -> Iterator[Event]:
        self.damaged = []
        for key in sorted(self._objects.matching(pattern), key=lambda key: key.rpartition("/")[2]):
            try:
                event = parse_event(key, self._objects.read(key))
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

    def _append(self, kind: str, digest: str, detail: dict[str, Any], suffix: str = ".json") -> Event:
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
        key, data = f"ledger/{now:%Y/%m/%d}/{identity}{suffix}", canonical_json(document)
        try:
            self._objects.create(key, data)
        except OSError as error:
            raise WarehouseError("WH109", f"the ledger cannot be written: {error.strerror}", f"{self._objects.url}/{key}") from error
        return parse_event(key, data)


def parse_event(key: str, data: bytes) -> Event:
    """The event in the file `key` of these bytes. Raises ValueError, KeyError, TypeError or RecursionError for none."""
    document = json.loads(data)
    event = Event(
        document["kind"], document["subject"], document["at"], document["detail"], str(document.get("by", "")),
        key, bytes_digest(data), len(data),
    )
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

"""The ledger: append-only events, one JSON file each: what arrived, was signed, published, removed or decided of runs, when, by
whom, from where.

An event's name has the sha256 of its bytes, so that a change of any of them is found, and it names the events that it follows
(`evidence.ledger.chain`), so that one that is removed, or put in afterwards, is found too. Events of before these rules are read, and nothing
protects them.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from operator import le
from typing import TYPE_CHECKING, Any

from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.objects.base import Objects, damage

if TYPE_CHECKING:
    from ulid import ULID

ARRIVAL = "arrival"
PUBLICATION = "publication"
PUBLISHING = "publishing"  # a publication is about to be written: the ledger as it was then is what it is held against
JUDGED = "judged"  # a query's numbers, without being published: its subject is the query_spec_digest
WITHDRAWAL, CORRECTION = "withdrawn", "corrected"  # of a publication: it does not count any more, or another one replaces it
REMOVAL = "removed"
BROUGHT = "brought"  # events were copied from another store's ledger: its subject is that store's URL
SIGNATURE = "signed"
WITNESS = "decided"  # that there is a decision: its subject is the sha256 of the decision's event
UNPACKED = "unpacked"  # of an arrival's detail: the archives that its files were in (`evidence.ledger.arrivals`)
LAST_ARRIVAL = "last_arrived_at"  # of a removal's detail: the last arrival that it knew
AFTER = "after"  # of a decision's detail: the sha256 of the event that it follows, whatever their times
WITHOUT = "without"  # of a publication's detail: bundles that had arrived, and that its build had not seen
SEEN = "seen"  # of the detail of a `publishing` or `judged` event: which runs were in which row of the query, and by which bundle (claims.gate.looks)
STOPPING = "stopping"  # likewise: the rule for adding runs that its claim named then
INTENT = "intent"  # of a publication's detail: the sha256 of the `publishing` event before it
SPEC = "query_spec_digest"  # of the detail of a `publishing` event
ENVELOPE = "envelope"  # of a signature's detail: the text of its file, so that a crash before that is written loses nothing
_DECIDED = ".decision.json"
_RECENT, _RECENT_MS = 256, 5_000  # the last events by name, and all of so long, among which the ends of the chain are sought
_LOOK_AGAIN_S = 1.0  # a process that writes for long looks for events of others as often, and follows them
_LOOKING_SHARE = 20  # and waits so many times as long as it took to look: a ledger may have 100,000 events of today
_CROCKFORD, _TIME_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 10  # of a ULID
_NAME = re.compile(r"[0-9A-Z]{26}(?:-(?P<sha256>[0-9a-f]{64}))?(?:\.decision)?\.json")


@dataclass(frozen=True)
class Event:
    """One line of history. `subject` is the digest it is about (a manifest's, a publication's), or the run; `at` is UTC with
    microseconds; `detail` depends on the kind; `follows` are the sha256 of the events that it follows, None in those of earlier
    versions; `key`, `sha256` and `bytes` are those of its file in the store."""

    kind: str
    subject: str
    at: str
    detail: Mapping[str, Any]
    by: str = ""  # user and host, as the machine says
    key: str = ""
    sha256: str = ""
    bytes: int = 0
    follows: tuple[str, ...] | None = None


@dataclass(frozen=True)
class History:
    """What the ledger says of bundles, by digest: when those that should be here arrived (UTC), the event by which
    policy removed those that should not, and when each arrived last, be it here or not."""

    arrivals: dict[str, str] = field(default_factory=dict)
    removals: dict[str, Event] = field(default_factory=dict)
    last_arrivals: dict[str, str] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """Take the next event in. The name of one that removes a bundle may be younger than that of the bundle's next arrival, where
        machines' clocks differ: a removal ends the arrivals that it knew, and no other."""
        digest = event.subject
        if event.kind == ARRIVAL:
            self.arrivals.setdefault(digest, event.at)
            self.removals.pop(digest, None)
            self.last_arrivals[digest] = max(event.at, self.last_arrivals.get(digest, event.at), key=datetime.fromisoformat)
        elif event.kind == REMOVAL:
            last, known = self.last_arrivals.get(digest), event.detail.get(LAST_ARRIVAL)
            if last and known and datetime.fromisoformat(str(known)) < datetime.fromisoformat(last):
                self.arrivals[digest] = last
            else:
                self.removals[digest] = event
                self.arrivals.pop(digest, None)


def history_of(events: Iterable[Event]) -> History:
    """What events, the oldest first, say of bundles."""
    history = History()
    for event in events:
        history.add(event)
    return history


class Ledger:
    """The events under `<store>/ledger/<yyyy>/<mm>/<dd>/<ulid>-<sha256>.json`; those of runs end in `.decision.json`, so that the
    few of them are found without reading the others."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.damaged: list[WarehouseError] = []  # events that the last reading could not read
        self._ends: set[str] | None = None  # of the chain, as far as this process knows
        self._read_keys: set[str] = set()  # of the events that it knows the ends of the chain from
        self._look_at, self._newest_ms = 0.0, 0
        self._last_name: "ULID | None" = None

    def arrived(self, digest: str, family: str, source: str, unpacked: Sequence[Mapping[str, Any]] = ()) -> None:
        """`all_arrived` of one bundle."""
        self.all_arrived({digest: (family, unpacked)}, source)

    def all_arrived(self, bundles: Mapping[str, tuple[str, Sequence[Mapping[str, Any]]]], source: str) -> None:
        """Record that bundles, by digest, arrived now, from a place as the user named it: the family of each, and which of its files were in
        an archive. Raises WH109."""
        self._append_all(ARRIVAL, [
            (digest, {"family": family, "from": printable(source)} | ({UNPACKED: [*unpacked]} if unpacked else {}))
            for digest, (family, unpacked) in bundles.items()
        ])

    def publishing(
        self, digest: str, query: str, build_digest: str, spec: str, without: Iterable[str], seen: Mapping[str, Any], stopping: str | None = None
    ) -> Event:
        """Record that a rollup is about to be frozen: written before any of its files. Raises WH109."""
        detail = {"query": query, "build_digest": build_digest, SPEC: spec, WITHOUT: sorted(without), SEEN: seen, **_stated(stopping)}
        return self._append(PUBLISHING, digest, detail)

    def published(self, digest: str, query: str, build_digest: str, without: Iterable[str] = (), intent: Event | None = None) -> Event:
        """Record that a rollup is frozen, from which build, the bundles that had arrived `without` being in it, and the `publishing`
        event before it. Raises WH109."""
        detail: dict[str, Any] = {"query": query, "build_digest": build_digest, WITHOUT: sorted(without)}
        return self._append(PUBLICATION, digest, detail | ({INTENT: intent.sha256} if intent else {}))

    def judged(
        self, query_spec_digest: str, query: str, build_digest: str, verdicts: Mapping[str, int], without: Iterable[str], seen: Mapping[str, Any],
        stopping: str | None = None,
    ) -> None:
        """Record that somebody looked at what a query's numbers are worth now, how many have which verdict, and what was `seen` that no event
        before says. Raises WH109."""
        detail = {"query": query, "build_digest": build_digest, "verdicts": dict(verdicts), WITHOUT: sorted(without), SEEN: seen}
        self._append(JUDGED, query_spec_digest, detail | _stated(stopping))

    def corrected(self, digest: str, reason: str, by: str | None = None) -> Event:
        """Record that a publication does not count any more, or that the publication `by` replaces it. Raises WH109."""
        detail = {"reason": reason} | ({"by": by} if by else {})
        return self._append(CORRECTION if by else WITHDRAWAL, digest, detail)

    def brought(self, url: str, events: Iterable[str]) -> None:
        """Record that events, by sha256, were copied from another store's ledger: those that they follow may not be here. Raises WH109."""
        self._append(BROUGHT, url, {"events": sorted(events)})

    def removed(self, digest: str, policy: Mapping[str, Any]) -> None:
        """Record that a bundle is removed by a retention policy: written before a byte of it goes. Raises WH109."""
        self._append(REMOVAL, digest, dict(policy))

    def signed(self, digest: str, key_id: str, envelope: bytes) -> None:
        """Record that a bundle or publication is signed by a key, with its envelope: written before that lies there. Raises WH109."""
        sha256 = bytes_digest(envelope)
        self._append(SIGNATURE, digest, {"key_id": key_id, "sha256": sha256, ENVELOPE: envelope.decode()})
        if "signatures" in vars(self):  # or the ledger would be read for it
            self.signatures[digest, key_id] = sha256

    def events(self) -> Iterator[Event]:
        """All events that can be read, oldest first; one that cannot (WH107) or is not what its name says (WH105) goes to
        `damaged` and stops no reader. Raises WH114."""
        return (event for _, event in self.keyed_events())

    def keyed_events(self) -> Iterator[tuple[str, Event]]:
        """Likewise, each with its key."""
        return self._read(self.keys())

    def decided(self, kind: str, run_id: str, detail: Mapping[str, Any]) -> Event:
        """Record what was decided of a run now (`evidence.ledger.run_decisions`). The event names the one that it follows, of any run: the order
        depends on no clock. A second event names it, so that the loss of the last decision is noticed as well: it is written
        after it, because a crash between the two must not leave an event about a decision that does not exist. Raises WH109, WH114."""
        earlier = self.decisions()
        follows = {AFTER: earlier[-1].sha256} if earlier else {}
        event = self._append(kind, run_id, {**detail, **follows}, _DECIDED)
        self._append(WITNESS, event.sha256, {"event": event.key})
        return event

    def decisions(self, keys: Iterable[str] | None = None) -> list[Event]:
        """The events of runs, read as `events` does, in the order in which they were decided; of those within one millisecond the
        names do not tell which came first, their times do. `keys` are theirs, where the caller knows them."""
        found = {event.sha256: event for _, event in self._read(self._keys(f"ledger/*/*/*/*{_DECIDED}") if keys is None else keys)}
        moments = _moments(found)
        return sorted(found.values(), key=lambda event: moments[event.sha256])

    def read(self, keys: Iterable[str]) -> Iterator[Event]:
        """The events under some keys, read as `events` does."""
        return (event for _, event in self._read(keys))

    def _read(self, keys: Iterable[str]) -> Iterator[tuple[str, Event]]:
        self.damaged = []
        for key in keys:
            try:
                event = self.event(key)
            except WarehouseError as error:
                self.damaged.append(damage(error))
                continue
            yield key, event

    def keys(self) -> list[str]:
        """The keys of all events, the oldest first."""
        return self._keys("ledger/*/*/*/*.json")

    def _keys(self, pattern: str) -> list[str]:
        return in_order(self.objects.matching(pattern))

    def event(self, key: str) -> Event:
        """The event under a key. Raises WH107 where it cannot be read, WH105 where it is not what its name says, WH114."""
        try:
            data = self.objects.read(key)
            if name_digest(key) not in (None, bytes_digest(data)):
                raise self._altered(key, "a ledger event differs from the digest in its name")
            event = parse_event(key, data)
            if not _is_named_for(event):
                raise self._altered(key, f"the name of a ledger event states another time than the event, which is of {event.at}")
            return event
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise WarehouseError("WH107", f"a ledger event cannot be read: {error}", f"{self.objects.url}/{key}") from error

    def _altered(self, key: str, message: str) -> WarehouseError:
        return WarehouseError("WH105", message, f"{self.objects.url}/{key}", "restore the store from a copy", ExitCode.TAMPERED)

    @cached_property
    def signatures(self) -> dict[tuple[str, str], str]:
        """The sha256 of each envelope that the ledger knows, by what it signs and the key's id; as of the first asking."""
        return {
            (event.subject, str(event.detail.get("key_id"))): str(event.detail.get("sha256"))
            for event in self.events() if event.kind == SIGNATURE
        }

    def new_events(self, seen: set[str]) -> Iterator[Event]:
        """The events, the oldest first, under keys that are not among those `seen`; these are then. Read as `events` does."""
        keys = [key for key in self.keys() if key not in seen]
        seen.update(keys)
        return (event for _, event in self._read(keys))

    def arrivals(self) -> Mapping[str, str]:
        """When each bundle first arrived: digest to UTC time. One that policy removed has not, until it arrives again."""
        return self.history().arrivals

    def history(self) -> History:
        """Arrivals and removals, each bundle's last word."""
        return history_of(self.events())

    def _append(self, kind: str, digest: str, detail: dict[str, Any], suffix: str = ".json") -> Event:
        return self._append_all(kind, [(digest, detail)], suffix)[0]

    def _append_all(self, kind: str, events: Sequence[tuple[str, dict[str, Any]]], suffix: str = ".json") -> list[Event]:
        """Write events, each with its subject and detail, that follow one another."""
        ends, by = self._chain_ends(), f"{_user()}@{socket.gethostname()}"
        written: dict[str, bytes] = {}
        found = []
        for subject, detail in events:
            now = datetime.now(UTC)
            document = {
                "kind": kind, "subject": subject, "at": now.isoformat(timespec="microseconds").replace("+00:00", "Z"), "by": by, "detail": detail,
                "follows": sorted(ends),
            }
            data = canonical_json(document)
            key = f"{event_folder(now)}/{self._name(now)}-{bytes_digest(data)}{suffix}"
            written[key] = data
            found.append(parse_event(key, data))
            ends = {found[-1].sha256}
        try:
            self.objects.create_in_order(written)
        except OSError as error:
            raise WarehouseError("WH109", f"the ledger cannot be written: {error.strerror}", f"{self.objects.url}/{next(iter(written))}") from error
        self._ends = ends
        self._read_keys.update(written)
        return found

    def _name(self, now: datetime) -> "ULID":
        """The beginning of an event's name: of this process's events within a millisecond, each is the next one."""
        from ulid import ULID

        name, last = ULID.from_datetime(now), self._last_name
        if last is not None and last.milliseconds == name.milliseconds:
            name = ULID.from_int(int(last) + 1)
        self._last_name = name
        return name

    def _chain_ends(self) -> set[str]:
        """The sha256 of the newest events that none follows yet. Where no event names any that it follows, the chain begins, with all
        events that there are."""
        began = time.monotonic()
        if self._ends is not None and began < self._look_at:
            return self._ends
        if self._ends is None:
            keys = self.keys()
            recent_keys = _recent(keys, None)
            recent = [event for _, event in self._read(recent_keys)]
            if recent and all(event.follows is None for event in recent):
                recent = [event for _, event in self._read(keys)]
        else:  # what others have written since is of today, or of yesterday's last minutes
            now = datetime.now(UTC)
            keys = [key for day in (now - timedelta(days=1), now) for key in self._keys(f"{event_folder(day)}/*.json")]
            recent_keys = _recent(keys, self._newest_ms)
            recent = [event for _, event in self._read(key for key in recent_keys if key not in self._read_keys)]
        self._newest_ms = max(map(_named_ms, keys[-1:]), default=0)
        self._read_keys.update(recent_keys)
        followed = {sha256 for event in recent for sha256 in event.follows or ()}
        self._ends = {*(self._ends or ()), *(event.sha256 for event in recent)} - followed
        self._look_at = time.monotonic() + max(_LOOK_AGAIN_S, _LOOKING_SHARE * (time.monotonic() - began))
        return self._ends


def in_order(keys: Iterable[str]) -> list[str]:
    """Keys of events, the oldest first."""
    found = sorted(keys)
    names = [key.rpartition("/")[2] for key in found]
    # Days are in order, and mostly the names within them: so is the whole, unless clocks differ.
    return found if all(map(le, names, names[1:])) else [found[place] for place in sorted(range(len(found)), key=names.__getitem__)]


def _recent(keys: Sequence[str], since_ms: int | None) -> Sequence[str]:
    """The newest of these keys, which are sorted by time: the last `_RECENT`, and all up to `_RECENT_MS` before the newest (or `since_ms`)."""
    since = (max(map(_named_ms, keys[-1:]), default=0) if since_ms is None else since_ms) - _RECENT_MS
    first = max(0, len(keys) - _RECENT)
    while first and _named_ms(keys[first - 1]) >= since:
        first -= 1
    return keys[first:]


def _named_ms(key: str) -> int:
    """The time in an event's name; 0 in that of another file."""
    try:
        return _milliseconds(key.rpartition("/")[2])
    except ValueError:
        return 0


def _stated(stopping: str | None) -> dict[str, str]:
    return {STOPPING: stopping} if stopping else {}


def event_folder(at: datetime) -> str:
    """What the keys of a day's events begin with."""
    return f"ledger/{at:%Y/%m/%d}"


def is_event_name(name: str) -> bool:
    """Whether an event's file can have this name."""
    return _NAME.fullmatch(name) is not None


def is_decision_name(key: str) -> bool:
    """Whether an event's name says that it is of a run."""
    return key.endswith(_DECIDED)


def name_digest(key: str) -> str | None:
    """The sha256 that an event's name commits to; None for one that commits to nothing."""
    found = _NAME.fullmatch(key.rpartition("/")[2])
    return found["sha256"] if found else None


def parse_event(key: str, data: bytes) -> Event:
    """The event in the file `key` of these bytes. Raises ValueError, KeyError, TypeError or RecursionError for none."""
    document = json.loads(data)
    event = Event(
        document["kind"], document["subject"], document["at"], document["detail"], str(document.get("by", "")),
        key, bytes_digest(data), len(data), tuple(map(str, document["follows"])) if "follows" in document else None,
    )
    if not all(isinstance(value, str) for value in (event.kind, event.subject)) or not isinstance(event.detail, dict):
        raise ValueError("its kind, subject or detail is not valid")
    if datetime.fromisoformat(event.at).tzinfo is None:
        raise ValueError(f"{event.at!r} states no zone")
    return event


def _is_named_for(event: Event) -> bool:
    """Whether an event's folder and name state its own time: else a copy of it would count as a later or an earlier event."""
    folder, _, name = event.key.rpartition("/")
    at = datetime.fromisoformat(event.at).astimezone(UTC)
    is_timed = name_digest(name) is None or _milliseconds(name) == int(at.timestamp() * 1000)
    return is_timed and folder == event_folder(at)


def _milliseconds(name: str) -> int:
    """The time of the ULID that a name begins with, since 1970. Raises ValueError for another name."""
    found = 0
    for letter in name[:_TIME_LETTERS]:
        found = found << 5 | _CROCKFORD.index(letter)
    return found


def _moments(events: Mapping[str, Event]) -> dict[str, tuple[datetime, int]]:
    """When each event was, by sha256, and the how manieth of that time: not before the one that it says it follows."""
    found: dict[str, tuple[datetime, int]] = {}
    for sha256 in events:
        chain, before = [], sha256
        while before in events and before not in found:  # it ends: no event has the sha256 of a later one
            chain.append(before)
            before = str(events[before].detail.get(AFTER))
        moment = found.get(before, (datetime.min.replace(tzinfo=UTC), 0))
        for each in reversed(chain):
            moment = found[each] = max((datetime.fromisoformat(events[each].at), 0), (moment[0], moment[1] + 1))
    return found


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user has no name; OSError from Python 3.13 on
        return str(os.getuid())

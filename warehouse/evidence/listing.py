"""What lies in a store, without listing all of it again: a listing in files beside the builds, with the ledger's events in parts.

In a folder the stamps of its folders tell which of them changed, as in git's index; in a bucket new events do. Only that is listed and read
again. The files are checked, and may be removed at any time: where anything is not as it was remembered, all is listed. `wh fsck`,
`wh verify`, `wh publish` and `wh gc` do not use them.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from warehouse.digest import bytes_digest, domain_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import (
    ARRIVAL,
    BROUGHT,
    CORRECTION,
    PUBLICATION,
    REMOVAL,
    WITHDRAWAL,
    Event,
    Ledger,
    event_folder,
    history_of,
    in_order,
    is_decision_name,
    name_digest,
)
from warehouse.evidence.memory_file import read_memory_file, write_memory_file
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.store import EvidenceStore, manifest_key

FOLDER = ".listing"  # beside the builds
_INDEX, _FORM = "index.json", "wh/listing/1"
_LISTED = "listed"  # the stamp of what lies in a bucket: events tell what changes it
_CLOCKS_DIFFER = timedelta(days=2)  # at most, of machines that write to a bucket
_LISTED_FOR_S = 86_400  # so often all of a bucket is listed: of what other tools do there no event tells
_BUNDLES_A_PAGE = 500  # at most, in one answer of a bucket
_BEGINNING = re.compile(r"[0-9a-f]{2}")  # of a bundle's digest: the part of the ledger that is of such bundles
_DECIDED, _PUBLISHED, _OTHER = "decided", "published", "other"  # the parts that are of no bundle
_Events = Mapping[str, Event]  # by key


@dataclass(frozen=True)
class _Names:
    """The names in a folder: how many, a digest of them, and the folder's stamp, or "" where it must be listed again."""

    stamp: str = ""
    count: int = 0
    digest: str = bytes_digest(b"")


@dataclass(frozen=True)
class _Bundles(_Names):
    """The bundles in a folder; how many are of each family, of those that arrived, and the key of the last arrival."""

    families: Mapping[str, int] = field(default_factory=dict)
    last_arrival: str = ""


@dataclass(frozen=True)
class _Index:
    """The folders of bundles and of events of a store, and the sha256 of the file of each part of its ledger. `listed_at`: when all was listed,
    in seconds since 1970; 0 where it must be again."""

    store: str = ""
    listed_at: float = 0
    fans: Mapping[str, _Bundles] = field(default_factory=dict)
    days: Mapping[str, _Names] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Look:
    """The stamps of a store's folders of bundles and of events, and the keys in those days that may have changed."""

    fans: Mapping[str, str]
    days: Mapping[str, str]
    keys: Mapping[str, Sequence[str]]
    is_bucket: bool


class Listing:
    """What lay in a store when this was made. `damaged`: what is wrong with events that cannot be read. Raises WH114."""

    def __init__(self, store: EvidenceStore, builds: Path) -> None:
        self._objects = store.objects
        self._folder = builds / FOLDER
        self._made: dict[str, _Events] = {}  # the parts that were made now
        self.damaged: tuple[WarehouseError, ...] = ()
        self._kept = self._remembered()
        self._now = self._remember(self._looked() or self._listed())

    # -- what lies there ----------------------------------------------------------------------------------------

    @property
    def bundles(self) -> str:
        """A digest of the digests of all bundles."""
        return domain_digest("wh/bundles/1", {name: fan.digest for name, fan in self._now.fans.items() if fan.count})

    @property
    def families(self) -> Counter[str]:
        """How many bundles are of each family, of those that are there and have arrived."""
        return sum((Counter(fan.families) for fan in self._now.fans.values()), Counter())

    def last_arrival(self) -> Event | None:
        """The last arrival of a bundle that is there."""
        keys = {fan.last_arrival: name for name, fan in self._now.fans.items() if fan.last_arrival}
        last = in_order(keys)[-1:]
        return next((event for key in last for event in self._events([keys[key]]) if event.key == key), None)

    def events(self) -> tuple[Event, ...]:
        """All events that can be read, the oldest first."""
        return self._events(self._now.parts)

    def of_publications(self) -> tuple[Event, ...]:
        """Those by which publications were made, withdrawn or superseded, the oldest first."""
        return self._events([_PUBLISHED])

    def of_bundles(self, digests: Iterable[str]) -> tuple[Event, ...]:
        """The arrivals and removals of some bundles, and of others beside them, the oldest first."""
        return self._events({digest[:2] for digest in digests})

    def arrivals(self) -> Mapping[str, str]:
        """As `Ledger.arrivals`. One part after another: 100,000 events at once take half a gigabyte."""
        parts = [part for part in self._now.parts if _BEGINNING.fullmatch(part)]
        return {digest: at for part in parts for digest, at in history_of(self._events([part])).arrivals.items()}

    def decisions(self) -> list[Event]:
        """As `Ledger.decisions`, which reads them: they are not remembered, only where they are."""
        return Ledger(self._objects).decisions([event.key for event in self._events([_DECIDED])])

    def _events(self, parts: Iterable[str]) -> tuple[Event, ...]:
        wanted = [*parts]
        found = [self._part(part) for part in wanted]
        if any(part is None for part in found):  # another process has written it since, or somebody changed it
            self._now = self._remember(self._listed())
            found = [self._part(part) for part in wanted]
        events = {key: event for part in found for key, event in (part or {}).items()}
        return tuple(map(events.__getitem__, in_order(events)))

    # -- finding out --------------------------------------------------------------------------------------------

    def _looked(self) -> _Index | None:
        """What lies there, found out from what has changed; None where all must be listed."""
        before = self._kept
        look = _look(self._objects, before)
        if look is None or before.days.keys() - look.days.keys():
            return None
        days, new = dict(before.days), list[str]()
        for day, keys in look.keys.items():
            known = days.get(day, _Names())
            if _digest(keys[: known.count]) != known.digest:  # an event is gone, or has come between others
                return None
            days[day] = _Names(look.days[day], len(keys), _digest(keys))
            new += keys[known.count :]
        events = self._read(new)
        if self.damaged or not all(map(name_digest, events)) or any(event.kind == BROUGHT for event in events.values()):
            return None
        news = _parted(events)
        changed = {name for name, stamp in look.fans.items() if not stamp or stamp != before.fans.get(name, _Bundles()).stamp}
        changed |= (before.fans.keys() - look.fans.keys()) | set(filter(_BEGINNING.fullmatch, news))
        if look.is_bucket and len(changed) * _BUNDLES_A_PAGE > sum(fan.count for fan in before.fans.values()):
            return None
        for part in {*news, *filter(_BEGINNING.fullmatch, changed)}:
            if (known_events := self._part(part)) is None:
                return None
            self._made[part] = {**known_events, **news.get(part, {})}
        fans = dict(before.fans)
        for name in changed:
            keys = self._objects.matching(manifest_key("*").replace("*", name, 1))
            fans[name] = self._bundles(name, look.fans.get(name, _LISTED if look.is_bucket else ""), keys)
        return replace(before, fans={name: fan for name, fan in fans.items() if name in look.fans or fan.count}, days=days)

    def _listed(self) -> _Index:
        """What lies there, all of it listed. Events that are known are not read again."""
        began, objects = time.time(), self._objects
        fans, days = _fan_stamps(objects), _day_stamps(objects)
        known = {key: event for part in self._kept.parts for key, event in (self._part(part) or {}).items()}
        # Before the bundles: of a bundle that is added meanwhile the event is new the next time.
        keys = Ledger(objects).keys()
        read = self._read(key for key in keys if key not in known)
        events = {key: event for key in keys if (event := known.get(key) or read.get(key))}
        is_whole = not self.damaged and all(map(name_digest, events))
        self._made = dict.fromkeys(self._kept.parts, {}) | _parted(events)
        bundles: dict[str, list[str]] = {name: [] for name in fans or ()}
        for key in objects.matching(manifest_key("*")):
            bundles.setdefault(key.split("/")[2], []).append(key)
        return _Index(
            objects.url, began if is_whole else 0,
            {name: self._bundles(name, _LISTED if fans is None else fans.get(name, ""), found) for name, found in bundles.items()},
            {
                day: _Names(_LISTED if days is None else days.get(day, ""), len(found), _digest(found))
                for day, found in {**dict.fromkeys(days or (), [*()]), **_by_day(keys)}.items()
            },
        )

    def _bundles(self, name: str, stamp: str, manifests: Sequence[str]) -> _Bundles:
        """A folder of bundles, by the keys of its manifests. It must be listed again while a bundle in it is being added or removed, of which
        its stamp does not tell."""
        digests = [key.split("/")[3] for key in manifests]
        events = self._made.get(name, {})
        ordered = [events[key] for key in in_order(events)]
        there = frozenset(digests)
        arrived = [event for event in ordered if event.kind == ARRIVAL and event.subject in there]
        families = Counter({event.subject: str(event.detail.get("family")) for event in arrived}.values())
        folders = self._objects.folders(f"raw/sha256/{name}/*") if stamp else None
        if there & history_of(ordered).removals.keys() or (folders is not None and len(folders) > len(there)):
            stamp = ""
        return _Bundles(stamp, len(digests), _digest(digests), families, arrived[-1].key if arrived else "")

    def _read(self, keys: Iterable[str]) -> dict[str, Event]:
        ledger = Ledger(self._objects)
        found = {event.key: event for event in ledger.read(keys)}
        self.damaged = tuple(ledger.damaged)
        return found

    # -- remembering --------------------------------------------------------------------------------------------

    def _remembered(self) -> _Index:
        try:
            return msgspec.json.decode(read_memory_file(self._folder / _INDEX, _FORM) or b"{}", type=_Index)
        except ValueError:  # of another version of wh
            return _Index()

    def _part(self, part: str) -> _Events | None:
        """The events of a part; None where its file is not what it was."""
        if part in self._made or part not in self._kept.parts:
            return self._made.get(part, {})
        try:
            body = (self._folder / f"{part}.json").read_bytes()
            if bytes_digest(body) == self._kept.parts[part]:
                return {event.key: event for event in msgspec.json.decode(body, type=list[Event])}
        except (OSError, ValueError):  # or of another version of wh
            pass
        return None

    def _remember(self, found: _Index) -> _Index:
        """Write what is not written yet. Returns the index with all parts."""
        parts = {**found.parts, **dict.fromkeys(self._made, "")}
        if self._folder.parent.is_dir():
            with suppress(OSError, UnicodeError):  # the folder is not writable, or a name is no valid text: a memory only saves time
                self._folder.mkdir(exist_ok=True)
                for part, events in self._made.items():
                    body = msgspec.json.encode([event for event in events.values() if name_digest(event.key)])
                    parts[part] = bytes_digest(body)
                    if parts[part] != self._kept.parts.get(part):
                        scratch = self._folder / f".{part}.{os.getpid()}"
                        scratch.write_bytes(body)
                        os.replace(scratch, self._folder / f"{part}.json")
                if (now := replace(found, parts=parts)) != self._kept:
                    write_memory_file(self._folder / _INDEX, _FORM, msgspec.json.encode(now))
        return replace(found, parts=parts)


def _look(objects: Objects, before: _Index) -> _Look | None:
    """A look at a store that was listed `before`; None where all of it must be listed."""
    fans, days = _fan_stamps(objects), _day_stamps(objects)
    if before.store != objects.url or not before.listed_at:
        return None
    if fans is not None and days is not None:
        changed = [day for day, stamp in days.items() if not stamp or stamp != before.days.get(day, _Names()).stamp]
        return _Look(fans, days, {day: objects.matching(f"{day}/*.json") for day in changed}, is_bucket=False)
    if not 0 <= time.time() - before.listed_at < _LISTED_FOR_S:
        return None
    since = event_folder(datetime.fromtimestamp(before.listed_at, UTC) - _CLOCKS_DIFFER)
    keys = _by_day(entry.key for entry in objects.entries("ledger", since))
    known = {day: _LISTED for day in before.days if day < since}
    return _Look(dict.fromkeys(before.fans, _LISTED), {**known, **dict.fromkeys(keys, _LISTED)}, keys, is_bucket=True)


def _fan_stamps(objects: Objects) -> dict[str, str] | None:
    """The folders of bundles, by the beginning of their digests; None in a bucket, which has no folders."""
    folders = objects.folders("raw/sha256/*")
    return None if folders is None else {folder.rpartition("/")[2]: objects.folder_stamp(folder) for folder in folders}


def _day_stamps(objects: Objects) -> dict[str, str] | None:
    folders = objects.folders("ledger/*/*/*")
    return None if folders is None else {folder: objects.folder_stamp(folder) for folder in folders}


def _by_day(keys: Iterable[str]) -> dict[str, list[str]]:
    """Keys of events, by their folders."""
    found: dict[str, list[str]] = {}
    for key in keys:
        if key.count("/") == 4 and key.endswith(".json"):
            found.setdefault(key.rpartition("/")[0], []).append(key)
    return found


def _parted(events: _Events) -> dict[str, _Events]:
    """Events by the part that they are in."""
    found: dict[str, dict[str, Event]] = {}
    for key, event in events.items():
        if event.kind in (ARRIVAL, REMOVAL) and _BEGINNING.fullmatch(event.subject[:2]):
            part = event.subject[:2]
        elif is_decision_name(key):
            part = _DECIDED
        else:
            part = _PUBLISHED if event.kind in (PUBLICATION, WITHDRAWAL, CORRECTION) else _OTHER
        found.setdefault(part, {})[key] = event
    return {**found}


def _digest(names: Sequence[str]) -> str:
    return bytes_digest("\n".join(names).encode(errors="surrogateescape"))

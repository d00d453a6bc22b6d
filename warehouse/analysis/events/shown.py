"""What `wh changes` showed before, kept beside the builds: an event keeps its id, and an id that was shown once can always be answered.

It is derived from scans and can be deleted: then events get the id of their clearest member again, and what passed is forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from warehouse.analysis.events.event import Event, event_id_of
from warehouse.analysis.events.findings import Finding, time_of
from warehouse.evidence.durable import replace_durably

SHOWN_FILE = "changes-shown.json"
_FORM = 1
_RECENT = timedelta(days=14)
_MOST = 20_000  # findings; the oldest are forgotten first


@dataclass(frozen=True)
class Shown:
    """A finding as it was last shown: its event, what it was in words, its status, and the day on which it was shown."""

    event_id: str
    words: str
    status: str
    shown_on: str


@dataclass(frozen=True)
class Memory:
    """All findings that were shown, by id, the first shown first."""

    findings: Mapping[str, Shown] = field(default_factory=dict)

    @property
    def events(self) -> dict[str, str]:
        """The event in which each finding was shown."""
        return {finding_id: each.event_id for finding_id, each in self.findings.items()}

    def without(self, finding_ids: Iterable[str]) -> "Memory":
        """What was shown, but for these findings."""
        now = {*finding_ids}
        return Memory({finding_id: each for finding_id, each in self.findings.items() if finding_id not in now})

    def lost(self, events: Iterable[Event], now: datetime) -> tuple[str, ...]:
        """The confirmed events that were shown in the past two weeks and are not among those of now."""
        since = (now - _RECENT).date().isoformat()
        shown = {each.event_id for each in self.findings.values() if each.status == "confirmed" and each.shown_on >= since}
        return tuple(sorted(shown.difference(*(each.ids for each in events))))

    def named(self, any_id: str) -> dict[str, Shown]:
        """The findings that an id means: of a finding, or of an event or any of its members."""
        if any_id in self.findings:
            return {any_id: self.findings[any_id]}
        begun = {event_id_of(finding_id): each.event_id for finding_id, each in self.findings.items()}
        event_id = begun.get(any_id, any_id)
        return {finding_id: each for finding_id, each in self.findings.items() if each.event_id == event_id}


def read_memory(folder: Path) -> Memory:
    """What was shown; nothing where the file is missing, of another form or cannot be read."""
    try:
        document = json.loads((folder / SHOWN_FILE).read_bytes())
        if document["form"] != _FORM:
            return Memory()
        return Memory({finding_id: Shown(**entry) for finding_id, entry in document["findings"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Memory()


def remember(folder: Path, memory: Memory, events: Iterable[Event], now: datetime) -> None:
    """Keep what is shown now beside what was shown before."""
    shown = {
        each.finding_id: Shown(event.event_id, words(each), each.status, now.date().isoformat())
        for findings in ("returned", "members") for event in events for each in getattr(event, findings)
    }
    if all(memory.findings.get(finding_id) == each for finding_id, each in shown.items()):
        return
    kept = dict(list({**memory.findings, **shown}.items())[-_MOST:])
    text = json.dumps({"form": _FORM, "findings": kept}, separators=(",", ":"), default=vars)
    with suppress(OSError):  # a folder that cannot be written: nothing is remembered
        replace_durably(folder / SHOWN_FILE, text.encode())


def words(found: Finding) -> str:
    """A finding in a few words."""
    unit = f" {found.first.unit}" if found.first.unit else ""
    since = f"{time_of(found.first):%Y-%m-%d %H:%M}Z"
    return f"{found.status} {found.way}: {found.name}, {found.before:.4g} -> {found.after:.4g}{unit}, since {since}"

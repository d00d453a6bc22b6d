"""How far a campaign is, from the objects that its runners leave in the store: when sessions began, which attempts began, and how they ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from warehouse.campaign.cells import Slot
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.store import CAMPAIGNS


def session_key(campaign_id: str, session: int) -> str:
    return f"{CAMPAIGNS}/{campaign_id}/sessions/{session:04d}.json"


def choice_key(campaign_id: str, session: int | None) -> str:
    """Where the cells of a session are said; None: those of the confirmation's sessions."""
    return f"{CAMPAIGNS}/{campaign_id}/choice.json" if session is None else f"{CAMPAIGNS}/{campaign_id}/choices/{session:04d}.json"


def lock_key(campaign_id: str, stack: str) -> str:
    return f"{CAMPAIGNS}/{campaign_id}/locks/{stack}.json"


def attempt_key(campaign_id: str, slot_id: str, attempt: int) -> str:
    return f"{CAMPAIGNS}/{campaign_id}/attempts/{slot_id}.{attempt:04d}.json"


def done_key(campaign_id: str, slot_id: str, attempt: int) -> str:
    return f"{CAMPAIGNS}/{campaign_id}/done/{slot_id}.{attempt:04d}.json"


@dataclass
class Progress:
    """What was seen of a campaign so far. `chosen_sessions` have cells of their own; `attempts`: how many of each slot began; `done`: how the last of
    them that ended did, by slot: status, reason, busy_s."""

    session_began: dict[int, datetime] = field(default_factory=dict)
    chosen_sessions: set[int] = field(default_factory=set)
    attempts: dict[str, int] = field(default_factory=dict)
    done: dict[str, dict[str, Any]] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set)

    def look(self, objects: Objects, campaign_id: str) -> None:
        """See what came since: the objects are never changed, so each is read once."""
        for key in self._unread(objects, f"{CAMPAIGNS}/{campaign_id}/sessions/*.json"):
            self.session_began[int(_name(key))] = datetime.fromisoformat(json.loads(objects.read(key))["began_at"])
        self.chosen_sessions |= {int(_name(key)) for key in self._unread(objects, f"{CAMPAIGNS}/{campaign_id}/choices/*.json")}
        for key in self._unread(objects, f"{CAMPAIGNS}/{campaign_id}/attempts/*.json"):
            slot_id, _, attempt = _name(key).rpartition(".")
            self.attempts[slot_id] = max(int(attempt), self.attempts.get(slot_id, 0))
        for key in self._unread(objects, f"{CAMPAIGNS}/{campaign_id}/done/*.json"):
            self.done[_name(key).rpartition(".")[0]] = json.loads(objects.read(key))

    def _unread(self, objects: Objects, pattern: str) -> Iterator[str]:
        for key in objects.matching(pattern):
            if key not in self._read:
                yield key
                self._read.add(key)

    def lacks(self, slots: Iterable[Slot]) -> tuple[Slot, ...]:
        """Those of the slots that are not done."""
        return tuple(slot for slot in slots if slot.slot_id not in self.done)

    @property
    def started(self) -> int:
        """Runs that began, those that a crash lost among them."""
        return sum(self.attempts.values())

    @property
    def busy_s(self) -> float:
        """Seconds that runs took in all."""
        return float(sum(each.get("busy_s") or 0 for each in self.done.values()))


def _name(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".json")

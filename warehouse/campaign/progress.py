"""How far a campaign is, from the objects that its runners leave in the store: when sessions began, which attempts began, and how they ended."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from warehouse.campaign.cells import Slot
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.store import CAMPAIGNS


def session_key(campaign_id: str, session: int) -> str:
    return f"{CAMPAIGNS}/{campaign_id}/sessions/{session:04d}.json"


def choice_key(campaign_id: str) -> str:
    return f"{CAMPAIGNS}/{campaign_id}/choice.json"


def attempt_key(campaign_id: str, slot_id: str, attempt: int) -> str:
    return f"{CAMPAIGNS}/{campaign_id}/attempts/{slot_id}.{attempt:04d}.json"


def done_key(campaign_id: str, slot_id: str, attempt: int) -> str:
    return f"{CAMPAIGNS}/{campaign_id}/done/{slot_id}.{attempt:04d}.json"


@dataclass(frozen=True)
class Progress:
    """`attempts`: how many of each slot began; `done`: how the last of them that ended did, by slot: status, reason, busy_s."""

    session_began: dict[int, datetime] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    done: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, objects: Objects, campaign_id: str) -> Progress:
        found = cls()
        for key in objects.matching(f"{CAMPAIGNS}/{campaign_id}/sessions/*.json"):
            began = json.loads(objects.read(key))["began_at"]
            found.session_began[int(_name(key))] = datetime.fromisoformat(began)
        for key in objects.matching(f"{CAMPAIGNS}/{campaign_id}/attempts/*.json"):
            slot_id, _, attempt = _name(key).rpartition(".")
            found.attempts[slot_id] = max(int(attempt), found.attempts.get(slot_id, 0))
        for key in objects.matching(f"{CAMPAIGNS}/{campaign_id}/done/*.json"):
            found.done[_name(key).rpartition(".")[0]] = json.loads(objects.read(key))
        return found

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

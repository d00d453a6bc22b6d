"""What was told to whom: so that nothing is told twice, what is over is told once, and what could not be delivered is sent next time.

A file beside the builds. If it is deleted, everything that holds is told again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from warehouse.alive.conditions import Condition, Conditions
from warehouse.evidence.durable import lock, replace_durably
from warehouse.project.project import Project

_FILE = "notified.json"
What = Literal["new", "over", "passed"]  # a condition that is passed came and went while nothing could be delivered


@dataclass(frozen=True)
class Told:
    """One condition as it was told: its kind, title and state."""

    kind: str
    title: str
    state: str
    since: str | None = None


@dataclass(frozen=True)
class Entry:
    """One line of a digest: what became of a condition. Of one that is over only what was told is known."""

    what: What
    key: str
    told: Told
    condition: Condition | None = None


@dataclass(frozen=True)
class Memory:
    """What one address was told, by the condition's key; what it could not be told; and since when it does not answer."""

    told: Mapping[str, Told]
    waiting: Mapping[str, Told]
    down_since: str | None = None

    def entries(self, now: Conditions, kinds: Collection[str]) -> tuple[Entry, ...]:
        """What there is to tell of conditions of these kinds: new ones and changed ones, those that came and went untold, and those that are over."""
        holding = {each.key: each for each in now.holding if each.kind in kinds}
        found = [Entry("new", key, _told(each), each) for key, each in holding.items() if key not in self.told or self.told[key].state != each.state]
        found += [
            Entry("passed", key, each) for key, each in self.waiting.items()
            if key not in holding and key not in self.told and each.kind in kinds and each.kind not in now.unknown
        ]
        found += [
            Entry("over", key, each) for key, each in self.told.items() if key not in holding and each.kind in kinds and each.kind not in now.unknown
        ]
        return tuple(found)

    def delivered(self, now: Conditions, kinds: Collection[str]) -> Memory:
        """After its entries were sent. What is of a kind that could not be looked at stays told."""
        kept = {key: each for key, each in self.told.items() if each.kind in kinds and each.kind in now.unknown}
        waiting = {key: each for key, each in self.waiting.items() if each.kind in now.unknown}
        return Memory(kept | {each.key: _told(each) for each in now.holding if each.kind in kinds}, waiting)

    def not_delivered(self, entries: Iterable[Entry], at: datetime, *, is_down: bool) -> Memory:
        """After they could not be sent, or were held back by quiet hours."""
        waiting = {**self.waiting, **{each.key: each.told for each in entries if each.what != "over"}}
        down = (self.down_since or at.isoformat(timespec="seconds")) if is_down else self.down_since
        return replace(self, waiting=waiting, down_since=down)


def alone(project: Project) -> AbstractContextManager[None]:
    """Be the only one who sends; waits for who does."""
    return lock(project.builds / f".{_FILE}.lock", alone=True)


def read_memory(project: Project) -> dict[str, Memory]:
    """By the name of the variable that has the address."""
    try:
        document = json.loads((project.builds / _FILE).read_bytes())
        return {str(name): _memory(each) for name, each in document.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def write_memory(project: Project, memory: Mapping[str, Memory]) -> None:
    """Raises OSError: what was told and is not remembered would be told again every night."""
    document = {
        name: {
            "told": {key: vars(told) for key, told in each.told.items()}, "waiting": {key: vars(told) for key, told in each.waiting.items()},
            "down_since": each.down_since,
        } for name, each in memory.items()
    }
    project.builds.mkdir(parents=True, exist_ok=True)
    replace_durably(project.builds / _FILE, json.dumps(document, sort_keys=True).encode())


def _memory(document: Mapping[str, Any]) -> Memory:
    told, waiting = ({str(key): Told(**each) for key, each in document[name].items()} for name in ("told", "waiting"))
    return Memory(told, waiting, document["down_since"])


def _told(condition: Condition) -> Told:
    return Told(condition.kind, condition.title, condition.state, condition.since.isoformat() if condition.since else None)

"""What tasks of builds have left in a store: receipts, the parts that they list, and the SQL that they ran.

All of it is derived, and a build that misses some does the work again. Only receipts that a kept build took, and what those list, are in use.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from warehouse.digest import stream_digest
from warehouse.evidence.finding import ALTERED, AWAY, LEFTOVER, MISSING, ORPHANED, Finding
from warehouse.evidence.objects.base import Entry, Objects
from warehouse.scale.task import PARTS, PROJECTS, RECEIPTS, Receipt, decoded, project_key

TASK_WORK = (RECEIPTS, PARTS, PROJECTS)
_NAMES = {
    RECEIPTS: re.compile(rf"{RECEIPTS}/(?P<two>[0-9a-f]{{2}})/(?P<digest>(?P=two)[0-9a-f]{{62}})\.json"),
    PARTS: re.compile(rf"{PARTS}/(?P<table>[^/]+)/(?P<digest>[0-9a-f]{{64}})\.parquet"),
    PROJECTS: re.compile(rf"{PROJECTS}/(?P<digest>[0-9a-f]{{64}})\.json"),
}
_GONE = "wh gc --apply removes it"


def unused_work(objects: Objects, tasks: Collection[str]) -> list[Entry]:
    """The objects that these tasks (their digests, and those of their SQL) do not need, receipts first: a receipt must not list what is
    gone."""
    needed: set[str] = set()
    unused: list[Entry] = []
    there = {top: {entry.key: entry for entry in objects.entries(top)} for top in TASK_WORK}
    for key, entry in there[RECEIPTS].items():
        receipt = _read(objects, key) if key.rpartition("/")[2].removesuffix(".json") in tasks else None
        parts = {part.key for part in receipt.parts} if receipt else set()
        if receipt and parts <= there[PARTS].keys():
            needed |= parts
        else:
            unused.append(entry)
    needed.update(map(project_key, tasks))
    return unused + [entry for top in (PARTS, PROJECTS) for key, entry in there[top].items() if key not in needed]


def _read(objects: Objects, key: str) -> Receipt | None:
    """A receipt; None where it is damaged: it is of no use."""
    try:
        found = decoded(objects.read(key))
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, Receipt) and f"/{found.task}." in key else None


class TaskWork:
    """Checks them, receipts before parts, as their keys are in order."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._listed: dict[str, str] = {}  # parts by key, each with a receipt that lists it

    def inspect(self, top: str, entries: Iterator[Entry]) -> Iterator[Finding]:
        """What is wrong with the objects under one of `TASK_WORK`."""
        seen: set[str] = set()
        for entry in entries:
            seen.add(entry.key)
            named = _NAMES[top].fullmatch(entry.key)
            if named is None:
                yield Finding(ORPHANED, entry.key, "nothing of this name belongs to a task", AWAY)
            elif top == RECEIPTS:
                yield from self._receipt(entry.key)
            elif stream_digest(self._objects.chunks(entry.key)) != named["digest"]:
                yield Finding(ALTERED, entry.key, "it does not hash to its name", "remove it, then run: wh gc --apply")
            elif top == PARTS and "." in named["table"] and entry.key not in self._listed:
                yield Finding(LEFTOVER, entry.key, "no receipt lists it", _GONE)
        if top == PARTS:
            yield from self._missing(seen)

    def _receipt(self, key: str) -> Iterator[Finding]:
        receipt = _read(self._objects, key)
        if receipt is None:
            yield Finding(ALTERED, key, "it is not a receipt of this task", _GONE)
        else:
            self._listed.update({part.key: key for part in receipt.parts})

    def _missing(self, seen: Collection[str]) -> Iterator[Finding]:
        for part, receipt in self._listed.items():
            if part not in seen:
                yield Finding(MISSING, part, f"{receipt} lists it", "wh gc --apply removes the receipt, and the next build makes it again")

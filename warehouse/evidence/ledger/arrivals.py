"""What the ledger says of a bundle's files that were unpacked: the archive, its sha256, and the member, so that a number walks back to the
file that its owner has. A manifest says nothing of it: the same evidence has the same digest, packed or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from warehouse.evidence.ledger.events import ARRIVAL, UNPACKED, Event
from warehouse.evidence.tree import Origin

Unpacked = list[dict[str, Any]]  # for each archive its name, its sha256, and its members by raw_path


def unpacked_from(origins: Mapping[str, Origin]) -> Unpacked:
    """The origins of a bundle's files, by raw_path, as an arrival records them."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for raw_path, origin in sorted(origins.items()):
        found.setdefault((origin.archive, origin.sha256), {})[raw_path] = origin.member
    return [{"archive": archive, "sha256": sha256, "members": members} for (archive, sha256), members in found.items()]


def origins(events: Iterable[Event], bundles: Iterable[str]) -> dict[tuple[str, str], Origin]:
    """Where the files of some bundles, by digest and raw_path, were unpacked from, as of the bundle's first arrival."""
    wanted, seen, found = set(bundles), set[str](), dict[tuple[str, str], Origin]()
    for event in events:
        if event.kind == ARRIVAL and event.subject in wanted and event.subject not in seen:
            seen.add(event.subject)
            for each in event.detail.get(UNPACKED, ()):
                for raw_path, member in each["members"].items():
                    found[event.subject, raw_path] = Origin(str(each["archive"]), str(each["sha256"]), str(member))
    return found

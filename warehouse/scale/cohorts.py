"""Bundles cut into partitions by when they arrived. Pure.

Bundles of one run are in one partition. Where partitions are cut follows from the bundles alone: a bundle that arrives later goes to the
end, or to the partition of its run, and the cuts between all others stay. So a night rewrites what the night touched, on every machine
alike, and no record of former cuts is needed. What comes after the last cut is cut once more, smaller: else each night would write again
all that came since then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LEAST, MOST = 1 / 4, 4  # bytes of a partition, in shares of what is asked for
_SMALLER = 8  # partitions after the last cut, until the next one makes them one


@dataclass(frozen=True)
class Arrived:
    """A bundle: when it arrived (any text in order of time), and its bytes."""

    digest: str
    arrived_at: str
    bytes: int


def cohorts(bundles: Iterable[Arrived], links: Iterable[tuple[str, str]], part_bytes: float) -> list[tuple[str, ...]]:
    """The bundles of each partition, sorted; `links` are a bundle and something that it shares with others, such as a run.

    A partition has `part_bytes` on average. It ends after a bundle whose digest says so, or where it is too large (content-defined
    chunking, as in rsync): a bundle more or less moves no cut but its own."""
    first: dict[str, str] = {}
    above: dict[str, str] = {}

    def root(digest: str) -> str:
        while (over := above.get(digest, digest)) != digest:
            above[digest] = above.get(over, over)
            digest = over
        return digest

    known = {bundle.digest: bundle for bundle in bundles}
    for digest, shared in links:
        if digest in known:
            other, own = root(first.setdefault(shared, digest)), root(digest)
            above[max(other, own)] = min(other, own)
    groups: dict[str, list[Arrived]] = {}
    for bundle in known.values():
        groups.setdefault(root(bundle.digest), []).append(bundle)
    ordered = sorted((sorted(group, key=_place) for group in groups.values()), key=lambda group: _place(group[0]))
    *parts, rest = _cut(ordered, part_bytes)
    parts += [part for part in _cut(rest, part_bytes / _SMALLER) if part]
    return [tuple(sorted(bundle.digest for group in part for bundle in group)) for part in parts]


def _place(bundle: Arrived) -> tuple[str, str]:
    return bundle.arrived_at, bundle.digest


def _cut(ordered: list[list[Arrived]], part_bytes: float) -> Iterable[list[list[Arrived]]]:
    """The groups of each partition, and at last those after the last cut, of which there may be none."""
    part: list[list[Arrived]] = []
    filled = 0
    for group in ordered:
        part.append(group)
        size = sum(bundle.bytes for bundle in group)
        filled += size
        # Of groups of any size, one ends a partition with the chance that its bytes are of a partition's.
        chance = min(1.0, size / part_bytes)
        is_end = int(group[0].digest[:13], 16) < chance * 16**13
        if filled >= MOST * part_bytes or (is_end and filled >= LEAST * part_bytes):
            yield part
            part, filled = [], 0
    yield part

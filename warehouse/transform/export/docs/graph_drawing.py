"""A layered drawing of a graph of tables: where each box is and how each arrow runs, from left to right.

Pure and iterative: the same graph gives the same drawing, and a chain of thousands is no special case. Longest paths
give the layers, barycentres the order in a layer (Sugiyama, Tagawa and Toda 1981).
"""

from __future__ import annotations

import graphlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

_CHARACTER = 7.0  # the width of a character at the drawing's font size, 12 px monospaced
_BOX_HEIGHT = 26.0
_BETWEEN_BOXES = 12.0
_BETWEEN_LANES = 8.0
_BETWEEN_LAYERS = 56.0
_MARGIN = 12.0
_SWEEPS = 8
# Places that lanes may take in a drawing; then the longest arrows run straight. With a lane for every arrow, 40 tables
# that each read the 20 before them took 0.4 s to draw.
_MOST_LANES = 300


@dataclass(frozen=True)
class Box:
    """A table's place: the left upper corner and the size."""

    name: str
    label: str
    x: float
    y: float
    width: float
    height: float = _BOX_HEIGHT


@dataclass(frozen=True)
class Arrow:
    """From the table that is read to its reader, as an SVG path."""

    source: str
    target: str
    path: str


@dataclass(frozen=True)
class Drawing:
    """A drawing and its size in pixels."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    width: float
    height: float


def neighbourhood(
    start: str, reads: Mapping[str, Sequence[str]], read_by: Mapping[str, Sequence[str]], limit: int
) -> list[str]:
    """Up to `limit` tables nearest to `start`, nearest first, up the graph and down it but not round a corner: what a
    table depends on and what depends on it, not its siblings."""
    found = {start: None}
    pending = deque([(start, reads), (start, read_by)])
    while pending and len(found) < limit:
        name, direction = pending.popleft()
        for neighbour in direction[name]:
            if neighbour not in found and len(found) < limit:
                found[neighbour] = None
                pending.append((neighbour, direction))
    return list(found)


def contracted(reads: Mapping[str, Sequence[str]], shown: Sequence[str]) -> dict[str, list[str]]:
    """What each of the `shown` tables reads among them, directly or through tables that are not shown."""
    found: dict[str, list[str]] = {}
    shown_set = frozenset(shown)
    for name in shown:
        seen = dict.fromkeys(reads[name])
        pending = list(seen)
        for parent in pending:
            if parent not in shown_set:
                above = [each for each in reads[parent] if each not in seen]
                seen |= dict.fromkeys(above)
                pending += above
        found[name] = [parent for parent in seen if parent in shown_set]
    return found


def connected_part(reads: Mapping[str, Sequence[str]], limit: int) -> list[str]:
    """Up to `limit` tables that hang together around those with most neighbours."""
    read_by: dict[str, list[str]] = {name: [] for name in reads}
    for name, parents in reads.items():
        for parent in parents:
            read_by[parent].append(name)
    found: dict[str, None] = {}
    for start in sorted(reads, key=lambda name: (-len(reads[name]) - len(read_by[name]), name)):
        pending = deque([start])
        while pending and len(found) < limit:
            name = pending.popleft()
            if name not in found:
                found[name] = None
                pending.extend([*reads[name], *read_by[name]])
    return list(found)


class _Place(NamedTuple):
    """What takes room in a layer: a table's box (source and target are the table), or a lane for a long arrow."""

    source: str
    target: str
    layer: int

    @property
    def is_box(self) -> bool:
        return self.source == self.target


@dataclass(frozen=True)
class _Links:
    """For each place, those it is linked to in the layers on its left and on its right."""

    left: Mapping[_Place, list[_Place]]
    right: Mapping[_Place, list[_Place]]


def draw(labels: Mapping[str, str], reads: Mapping[str, Sequence[str]]) -> Drawing:
    """Draw the tables of `labels`, each with its label, and the reads among them."""
    inner = {name: sorted(parent for parent in reads.get(name, ()) if parent in labels) for name in sorted(labels)}
    layer_of = _layers(inner)
    lanes = _lanes(inner, layer_of)
    rows, links = _rows(inner, layer_of, lanes)
    _reduce_crossings(rows, links)
    middles = _middles(rows, links)
    widths = [max((_width(labels[place.source]) for place in row if place.is_box), default=0.0) for row in rows]
    lefts = list(accumulate((width + _BETWEEN_LAYERS for width in widths[:-1]), initial=_MARGIN))
    boxes = {
        place.source: Box(
            place.source, labels[place.source], lefts[place.layer], middles[place] - _BOX_HEIGHT / 2,
            _width(labels[place.source]),
        )
        for row in rows
        for place in row
        if place.is_box
    }
    arrows = tuple(
        Arrow(parent, name, _path(boxes[parent], boxes[name], [
            (lefts[place.layer], lefts[place.layer] + widths[place.layer], middles[place])
            for place in lanes.get((parent, name), ())
        ]))
        for name, parents in inner.items()
        for parent in parents
    )
    return Drawing(
        tuple(boxes.values()), arrows,
        max((box.x + box.width for box in boxes.values()), default=0.0) + _MARGIN,
        max(middles.values(), default=0.0) + _BOX_HEIGHT / 2 + _MARGIN,
    )


def _width(label: str) -> float:
    return len(label) * _CHARACTER + 20


def _layers(reads: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The layer of each table: right of all it reads, and no further from its first reader than that."""
    order = list(graphlib.TopologicalSorter(reads).static_order())
    layer_of: dict[str, int] = {}
    first_reader: dict[str, int] = {}
    for name in order:
        layer_of[name] = max((layer_of[parent] + 1 for parent in reads[name]), default=0)
    for name in reversed(order):
        layer_of[name] = first_reader.get(name, layer_of[name] + 1) - 1
        for parent in reads[name]:
            first_reader[parent] = min(first_reader.get(parent, layer_of[name]), layer_of[name])
    return layer_of


def _lanes(
    reads: Mapping[str, Sequence[str]], layer_of: Mapping[str, int]
) -> dict[tuple[str, str], list[_Place]]:
    """The lanes of the arrows that cross layers, by arrow: for the shortest first, as far as there is room."""
    arrows = ((parent, name) for name, parents in reads.items() for parent in parents)
    crossing = sorted((layer_of[name] - layer_of[parent] - 1, parent, name) for parent, name in arrows)
    lanes: dict[tuple[str, str], list[_Place]] = {}
    room = _MOST_LANES
    for crossed, parent, name in crossing:
        room -= crossed
        if room < 0:
            break
        lanes[parent, name] = [_Place(parent, name, layer) for layer in range(layer_of[parent] + 1, layer_of[name])]
    return lanes


def _rows(
    reads: Mapping[str, Sequence[str]], layer_of: Mapping[str, int], lanes: Mapping[tuple[str, str], Sequence[_Place]]
) -> tuple[list[list[_Place]], _Links]:
    """The places of each layer, and how they are linked."""
    rows: list[list[_Place]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    left: dict[_Place, list[_Place]] = {}
    right: dict[_Place, list[_Place]] = {}
    boxes = {name: _Place(name, name, layer_of[name]) for name in reads}
    for box in boxes.values():
        rows[box.layer].append(box)
    for name, parents in reads.items():
        for parent in parents:
            lane = lanes.get((parent, name), ())
            for place in lane:
                rows[place.layer].append(place)
            chain = [boxes[parent], *lane, boxes[name]]
            for before, after in pairwise(chain):
                right.setdefault(before, []).append(after)
                left.setdefault(after, []).append(before)
    return rows, _Links(left, right)


def _reduce_crossings(rows: list[list[_Place]], links: _Links) -> None:
    """Put each layer in the order of its neighbours' mean positions, from the left and from the right in turn."""
    for sweep in range(_SWEEPS):
        linked = links.right if sweep % 2 else links.left
        position: dict[_Place, int] = {}
        for row in reversed(rows) if sweep % 2 else rows:
            own = {place: index for index, place in enumerate(row)}
            wanted = {
                place: _mean([position[other] for other in linked.get(place, ()) if other in position], index)
                if links.left.get(place) or links.right.get(place) else float("inf")  # boxes without neighbours come last
                for place, index in own.items()
            }
            row.sort(key=lambda place: (wanted[place], own[place]))
            position |= {place: index for index, place in enumerate(row)}


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _middles(rows: Sequence[Sequence[_Place]], links: _Links) -> dict[_Place, float]:
    """The height of each place's middle: near its neighbours', in the order and at the distance its layer demands."""
    middles: dict[_Place, float] = {}
    for row in rows:
        middles |= dict(zip(row, _offsets(row), strict=True))
    for sweep in range(_SWEEPS):
        for row in reversed(rows) if sweep % 2 else rows:
            offsets, wanted = _offsets(row), list[float]()
            for place, offset in zip(row, offsets, strict=True):
                near = [middles[other] for linked in (links.left, links.right) for other in linked.get(place, ())]
                # A box without neighbours is placed close to the one above it.
                wanted.append(_mean(near, wanted[-1] - offsets[len(wanted) - 1] + offset if wanted else offset))
            middles |= dict(zip(row, _spread(wanted, offsets), strict=True))
    top = min(middles.values(), default=0.0) - _BOX_HEIGHT / 2 - _MARGIN
    return {place: middle - top for place, middle in middles.items()}


def _offsets(row: Sequence[_Place]) -> list[float]:
    """The height of each place's middle when all are as close as they may be."""
    offsets, lower_edge = [], 0.0
    for place in row:
        height, gap = (_BOX_HEIGHT, _BETWEEN_BOXES) if place.is_box else (0.0, _BETWEEN_LANES)
        offsets.append(lower_edge + height / 2)
        lower_edge += height + gap
    return offsets


def _spread(wanted: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """The places nearest to `wanted` that keep the distances of `offsets`: isotonic regression, pooling neighbours."""
    pools: list[tuple[float, int]] = []  # the shift that a run of places shares, and how many they are
    for want, offset in zip(wanted, offsets, strict=True):
        shift, count = want - offset, 1
        while pools and pools[-1][0] > shift:
            before, members = pools.pop()
            shift, count = (before * members + shift * count) / (members + count), members + count
        pools.append((shift, count))
    shifts = [shift for shift, count in pools for _ in range(count)]
    return [offset + shift for offset, shift in zip(offsets, shifts, strict=True)]


def _path(source: Box, target: Box, lanes: Sequence[tuple[float, float, float]]) -> str:
    """A curve from the right of `source` to the left of `target`, level along each lane (left, right, height)."""
    x, y = source.x + source.width, source.y + source.height / 2
    parts = [f"M{x:.0f} {y:.0f}"]
    for left, right, height in [*lanes, (target.x, target.x, target.y + target.height / 2)]:
        bend = (left - x) / 2
        parts.append(f"C{x + bend:.0f} {y:.0f} {left - bend:.0f} {height:.0f} {left:.0f} {height:.0f}")
        if right > left:
            parts.append(f"H{right:.0f}")
        x, y = right, height
    return "".join(parts)

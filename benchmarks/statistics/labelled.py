"""Series in which people have marked the changes, and one scorer for all rules.

A detection is right if it lies within a label: five points around a marked change, as TCPDBench has it (van den Burg and Williams,
arXiv 2003.06222), or a marked window. A second detection at the same change is wrong; one in the same window counts for nothing, as
NAB has it. Several annotators are joined for precision and averaged for recall. The beginning of a series counts as found by
everybody, so that a series without changes can be scored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_MARGIN = 5

Label = tuple[int, int]  # the first and the last point that are right


@dataclass(frozen=True)
class Labelled:
    """A series, the group that it is reported in, and what each annotator marked."""

    name: str
    group: str
    values: NDArray[np.float64]
    annotators: Sequence[Sequence[Label]]
    has_windows: bool = False


def read(folder: Path) -> Iterator[Labelled]:
    """The series of a folder of JSON documents that have one dimension."""
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        group = path.name.partition("_")[0]
        if "series" in document:
            if document["n_dim"] != 1:
                continue
            raw = document["series"][0]["raw"]
            marks = [[_around(point) for point in points] for points in document["annotations"].values()]
        elif "window_indices" in document:
            raw, marks = document["values"], [[(first, last) for first, last in document["window_indices"]]]
        else:
            raw, marks = document["values"], [[_around(point) for point in document["change_points"]]]
        values = np.array([np.nan if value is None else value for value in raw], dtype=np.float64)
        kept = np.isfinite(values)
        if not kept.all():  # labels are moved to where their points are
            place = np.cumsum(kept) - 1
            marks = [[(int(place[max(first, 0)]), int(place[min(last, len(place) - 1)])) for first, last in of_one] for of_one in marks]
        yield Labelled(document["name"], group, values[kept], marks, "window_indices" in document)


def _around(point: int) -> Label:
    return point - _MARGIN, point + _MARGIN


def score(series: Labelled, found: Sequence[int]) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    begin = (0, 0)
    everything = [begin, *sorted({label for marks in series.annotators for label in marks})]
    hits = _hits(everything, [0, *found])
    repeated = sum(any(first <= point <= last for first, last in everything) for point in [0, *found]) - hits if series.has_windows else 0
    precision = hits / (1 + len(found) - repeated)
    recall = float(np.mean([_hits([begin, *marks], [0, *found]) / (1 + len(marks)) for marks in series.annotators]))
    return precision, recall, 2 * precision * recall / (precision + recall)


def _hits(labels: Sequence[Label], found: Sequence[int]) -> int:
    """How many labels have a detection of their own: labels in the order of their ends take the first free one."""
    free = sorted(found)
    hits = 0
    for first, last in sorted(labels, key=lambda label: label[1]):
        inside = next((point for point in free if first <= point <= last), None)
        if inside is not None:
            free.remove(inside)
            hits += 1
    return hits

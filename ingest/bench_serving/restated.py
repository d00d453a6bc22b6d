"""Which records of lists, and of files that were appended to, only restate what another file states.

Tools collect results into lists (vLLM's `summary.json`, InferenceX's `agg_bmk.json`), and people copy them. Names prove nothing:
a record restates another if both give the same value to every key that they share, and if enough of these values are
measurements that no second run repeats to the last digit. Two files of one record each stay two runs: the same bytes may be
filed under two names.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from warehouse.landing.consistency import rounding
from warehouse.landing.contract import Tree
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

from .formats import HEAD_BYTES, format_of, is_list, states_number
from .records import records
from .table import rows

MAX_BYTES = 64 << 20  # of a list
_COUNTED_BYTES = 1 << 20  # of any other file whose records are counted
_LARGER = 16  # times the bytes of the longest list: a file indented as no list's element can be
_ENOUGH = 4  # measurements that two records share
_TELLING_DIGITS = 6  # of a number that no second run repeats
_MAX_TEXT = 64

_Values = Mapping[str, Any]  # a record's scalars by path; arrays and long texts by their digest


class Place(NamedTuple):
    """A record: the file's path and the record's number in it, from 0."""

    path: str
    number: int


class Extent(NamedTuple):
    """How many records a file holds. A list of one record is a list."""

    is_list: bool
    records: int


def extents_of(tree: Tree, paths: list[str]) -> dict[str, Extent]:
    """The extents of the files; not of long files that are no lists, which hold the requests themselves."""
    found = {}
    for path in paths:
        has_list = is_list(tree.head(path, HEAD_BYTES))
        if tree.files[path].bytes <= (MAX_BYTES if has_list else _COUNTED_BYTES):
            count = sum(1 for _ in _records_in(tree, path))
            found[path] = Extent(has_list or count > 1, count)
    return found


def restatements(tree: Tree, paths: list[str], extents: Mapping[str, Extent]) -> dict[Place, set[str]]:
    """The records of lists that restate what other files state, and which files do: those with the fewest records."""
    lists = [path for path, extent in extents.items() if extent.is_list]
    if not lists:
        return {}
    most = min(MAX_BYTES, _LARGER * max(tree.files[path].bytes for path in lists))
    values = {
        Place(path, number): found
        for path in paths if tree.files[path].bytes <= most
        for number, found in enumerate(_values_in(tree, path)) if found
    }
    by_measurement: dict[tuple[str, float], list[Place]] = defaultdict(list)
    for place, stated in values.items():
        for item in _measurements(stated):
            by_measurement[item].append(place)
    restated: dict[Place, set[str]] = {}
    for path in lists:
        for number in range(extents[path].records):
            stated = values.get(Place(path, number), {})
            candidates = {other for item in _measurements(stated) for other in by_measurement[item]}
            before = {other for other in candidates if _rank(other.path, extents) < _rank(path, extents)}
            same = {other.path for other in before if _is_same(stated, values[other])}
            if same:
                fewest = min(_rank(other, extents)[:2] for other in same)
                restated[Place(path, number)] = {other for other in same if _rank(other, extents)[:2] == fewest}
    return restated


def own_rows(tree: Tree, tables: list[str], paths: list[str]) -> dict[str, tuple[list[int], int]]:
    """Of each table of a sweep, the numbers of the rows that no record of the other files states, to the digits of the row; and how many
    rows it has."""
    by_figure: dict[tuple[str, str], list[_Values]] = defaultdict(list)
    for path in paths if tables else ():
        for stated in _values_in(tree, path) if tree.files[path].bytes <= MAX_BYTES else ():
            for key, value in _measurements(stated):
                by_figure[key, f"{value:.4g}"].append(stated)
    found = {}
    for path in tables:
        stated_rows = [
            {entry.key: (entry.number, rounding(entry.value or "")) for entry in row.entries if entry.number is not None and states_number(entry.key)}
            for row in rows(tree.head(path, MAX_BYTES), Report(RowBuffer({}, ""), "", None))
        ]
        found[path] = [number for number, row in enumerate(stated_rows) if not _is_restated(row, by_figure)], len(stated_rows)
    return found


def _is_restated(row: Mapping[str, tuple[float, float]], by_figure: Mapping[tuple[str, str], list[_Values]]) -> bool:
    candidates = [stated for key, (number, _) in row.items() for stated in by_figure.get((key, f"{number:.4g}"), ())]
    for stated in {id(each): each for each in candidates}.values():
        shared = [(*row[key], value) for key, value in _measurements(stated) if key in row]
        if len(shared) >= _ENOUGH and all(abs(number - value) <= rounded + 1e-9 * abs(value) for number, rounded, value in shared):
            return True
    return False


def _rank(path: str, extents: Mapping[str, Extent]) -> tuple[bool, int, str]:
    return (*extents.get(path, Extent(False, 1)), path)


def _records_in(tree: Tree, path: str) -> Iterator[bytes]:
    """The records of a file, as its parser numbers them; an empty one for one that breaks off."""
    data = tree.head(path, MAX_BYTES)
    for record in records(data, Report(RowBuffer({}, ""), "", None)):
        if format_of([pair.key for pair in record.pairs]) is not None:
            yield data[record.offset : record.stop] if record.is_whole else b""


def _values_in(tree: Tree, path: str) -> Iterator[_Values]:
    """The values of each record of a file; nothing of one that cannot be read."""
    for document in _records_in(tree, path):
        try:
            yield dict(_flat(json.loads(document), ""))
        except (ValueError, RecursionError):
            yield {}


def _flat(found: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in found.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}/")
        elif isinstance(value, list) or (isinstance(value, str) and len(value) > _MAX_TEXT):
            yield prefix + key, hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
        else:
            yield prefix + key, value


def _measurements(stated: _Values) -> Iterator[tuple[str, float]]:
    for key, value in stated.items():
        if isinstance(value, float) and len(repr(value).partition("e")[0].replace(".", "").strip("-0")) >= _TELLING_DIGITS:
            yield key, value


def _is_same(one: _Values, other: _Values) -> bool:
    shared = one.keys() & other.keys()
    if any(one[key] != other[key] for key in shared):
        return False
    return len(one) == len(other) == len(shared) or sum(key in shared for key, _ in _measurements(one)) >= _ENOUGH

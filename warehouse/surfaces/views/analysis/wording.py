"""Words and links that several pages share: series, directions, ratios, and filters that keep the rest of an address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warehouse.analysis.conditions import Difference, listed
from warehouse.analysis.names import SEPARATOR, engine_name, gpu_name
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.parts import Column, Fact, Facts, Table
from warehouse.surfaces.view import address
from warehouse.transform.export.docs.published_pages import short

_LONG_NUMBER = re.compile(r"-?\d+\.\d{4,}")
_OF_TIME = frozenset({"h", "min", "s", "ms", "us", "ns"})


def series_name(case: str | None, metric: str, point: str) -> str:
    """A series as people name it."""
    return " · ".join(part for part in (case, metric, point) if part)


def configuration(labels: Mapping[str, Any]) -> str:
    """A configuration as people name it: GPUs, engine, and what else its labels say."""
    left = dict(labels)
    gpu = gpu_name(left.pop("accelerator", None), left.pop("accelerator_count", None))
    engine = engine_name(left.pop("framework", None), left.pop("framework_version", None))
    return SEPARATOR.join(filter(None, (gpu, engine, *map(str, left.values()))))


def direction(outcome: str | None, unit: str | None) -> str | None:
    """Better and worse as faster and slower where a metric is a time or a rate."""
    is_speed = unit in _OF_TIME or (unit or "").endswith("/s")
    return {"better": "faster", "worse": "slower"}.get(outcome or "", outcome) if is_speed else outcome


def percent(ratio: float | None) -> str | None:
    """A ratio as a change: +8.9 %. Beyond a doubling as a factor."""
    if ratio is None:
        return None
    return f"{ratio:.3g} times" if ratio >= 2 or ratio <= 0.5 else f"{(ratio - 1) * 100:+.1f} %"


def between(low: float | None, high: float | None) -> str:
    """The ends of an interval of a ratio: +6.1 to +11.8 %."""
    words = [percent(each) or "" for each in (low, high)]
    if not all(words):
        return ""
    if all(word.endswith(" %") for word in words):
        words[0] = words[0].removesuffix(" %")
    return " to ".join(words)


def choices(
    name: str, path: str, values: Mapping[str, Any], parameter: str, offered: Iterable[tuple[str, Any, int | None]]
) -> Facts:
    """Links that each set one parameter of an address and keep the others: words, value, and how many there are. The chosen one has no link."""
    items = tuple(
        Fact(words, count, link=None if values[parameter] == value else address(path, **{**values, parameter: value}), title=words)
        for words, value, count in offered
    )
    return Facts(name, items, "", "links")


def _digits(text: str) -> str:
    """A value with the digits that a reader takes in, where it is a number with many."""
    return rounded(float(text), most=4) if _LONG_NUMBER.fullmatch(text) else text


def difference_words(found: Difference) -> str:
    """A difference in a line of prose."""
    if found.is_move:
        return str(found)
    base, head = (short(listed(tuple(map(_digits, side)))) for side in (found.base, found.head))
    return f"{found.called} {base} → {head}"


def differences_table(found: Sequence[Difference], title: str, sides: tuple[str, str], most: int = 60) -> Table:
    """What differs between two sides, and nothing of what is the same."""
    columns = (
        Column("kind"), Column("called", "name"), *(Column(side) for side in sides), Column("ratio", kind="number"),
        Column("ranges", is_minor=True), Column("name", is_hidden=True),
    )
    rows = tuple(
        (
            each.kind, each.called, *(short(listed(tuple(map(_digits, side)))) for side in (each.base, each.head)),
            None if each.ratio is None else round(each.ratio, 4),
            "" if each.ratio is None else "apart" if each.is_apart else "overlap", each.name,
        )
        for each in found[:most]
    )
    return Table("differences", columns, rows, title, total=len(found), empty="nothing differs, as far as the evidence says")

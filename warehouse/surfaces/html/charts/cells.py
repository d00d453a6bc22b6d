"""Drawings that fit in a cell of a table: a series, and an effect with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, log
from statistics import median
from typing import Any

from markupsafe import Markup

_SPARK = (128, 32)
_AROUND = 40  # values that a spark has on each side of its change
_EFFECT = (112, 22)
_REACH = 1.5  # times, in both directions: what is beyond is an arrow at the edge


def spark(value: Mapping[str, Any], tone: str) -> Markup:
    """A series in a cell: its values in order, with the level of those `before` and `after` the place of a change (how many values; all
    where it is not said)."""
    values: Sequence[float | None] = [each if each is not None and isfinite(each) else None for each in value["values"]]
    place: int | None = value.get("place")
    start = max(0, (len(values) if place is None else place) - _AROUND)
    shown = values[start : start + 2 * _AROUND]
    known = [each for each in shown if each is not None]
    if not known:
        return Markup("")
    width, height = _SPARK
    low, high = min(known), max(known)

    def x(index: float) -> str:
        return f"{4 + index * (width - 8) / max(1, len(shown) - 1):.1f}"

    def y(level: float) -> str:
        return f"{height / 2 if high == low else height - 4 - (level - low) / (high - low) * (height - 8):.1f}"

    cut = len(shown) if place is None else place - start
    drawn = []
    spans = (max(0, cut - (value.get("before") or cut)), cut), (cut, min(len(shown), cut + (value.get("after") or len(shown))))
    for side, first, span in ((shown[:cut], 0, spans[0]), (shown[cut:], cut, spans[1])):
        if not any(each is not None for each in side):
            continue
        kind = "plain" if first == 0 else tone
        dots = "".join(f"M{x(first + index)} {y(each)}h0" for index, each in enumerate(side) if each is not None)
        if place is not None and (level := [each for each in shown[span[0] : span[1]] if each is not None]):
            drawn.append(f'<path class="level {kind}" d="M{x(span[0])} {y(median(level))}H{x(span[1] - 1)}"/>')
        drawn.append(f'<path class="dots {kind}" d="{dots}"/>')
    words = f"{len(shown)} runs" if place is None else f"{cut} runs before the change and {len(shown) - cut} after it, oldest first"
    return Markup('<svg class="spark" width="{}" height="{}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        width, height, width, height, words, Markup("".join(drawn))
    )


def effect(value: Mapping[str, Any], tone: str) -> Markup:
    """A ratio with its interval, beside the band that is not worth acting on. Equal distances are equal factors."""
    ratio, low, high, threshold = (value.get(name) for name in ("ratio", "low", "high", "threshold"))
    if ratio is None or not isfinite(ratio) or ratio <= 0:
        return Markup("")
    width, height = _EFFECT

    def x(factor: float) -> float:
        reached = max(-1.0, min(1.0, log(factor) / log(_REACH))) if factor > 0 else -1.0
        return round(width / 2 + reached * (width / 2 - 6), 1)

    parts = []
    if threshold:
        left, right = x(1 / (1 + threshold)), x(1 + threshold)
        parts.append(f'<rect class="band" x="{left}" y="2" width="{max(1.0, right - left):.1f}" height="{height - 4}"/>')
    parts.append(f'<path class="none" d="M{x(1)} 2V{height - 2}"/>')
    words = f"{ratio:.3g} times"
    if low is not None and high is not None:
        parts.append(f'<path class="interval {tone}" d="M{x(low)} {height / 2}H{x(high)}"/>')
        words += f", {low:.3g} to {high:.3g}"
    at, middle = x(ratio), height / 2
    if 1 / _REACH <= ratio <= _REACH:
        parts.append(f'<circle class="at {tone}" cx="{at}" cy="{middle}" r="3.6"/>')
    else:
        tip = 5 if ratio > 1 else -5
        parts.append(f'<path class="at {tone}" d="M{at + tip} {middle}l{-2 * tip} -5v10z"/>')
        words += ", beyond what is drawn"
    return Markup('<svg class="effect" width="{}" height="{}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        width, height, width, height, words, Markup("".join(parts))
    )

"""Numbers as people read them: as many digits as are known, or as a reader takes in."""

from __future__ import annotations

from math import floor, isfinite, log10
from typing import Any

_LEADING, _OF_HALF = 3, 2  # significant digits of a number without an interval, and of half the width of one
_SMALLEST = 1e-4  # smaller numbers are written with a power of ten


def rounded(value: Any, half: float | None = None, most: int = _LEADING) -> str:
    """A number with its thousands apart and the digits that half the width of its interval supports; without an interval `most` significant
    digits, never fewer than are before the point. Whole numbers are whole."""
    if isinstance(value, int):
        return f"{value:,}"
    number = float(value)
    if not isfinite(number):
        return f"{value:,}"
    if number and abs(number) < _SMALLEST and not half:
        return f"{number:.{most - 1}e}"
    # Of 9.996 the leading digits are those of 10.0.
    known, leading = (float(half), _OF_HALF) if half and isfinite(float(half)) else (abs(float(f"{number:.{most - 1}e}")), most)
    places = max(0, leading - 1 - floor(log10(known))) if known else 0
    text = f"{value:,.{places}f}"
    if half is None and "." in text and round(number, places) == number:  # nothing is cut: zeros at the end say nothing
        text = text.rstrip("0").rstrip(".")
    return text

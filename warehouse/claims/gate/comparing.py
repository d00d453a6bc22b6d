"""What runs of one number have in common that they should not, and what they should and do not: copies, and settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warehouse.errors import printable

_KNOWN = 3  # digits that repeats have in common anyway: quiet ones spread by a thousandth
_ENOUGH, _ALONE = 5, 6  # digits beyond these, of several figures together or of one, that no two runs share by chance
_ABSENT = "(not set)"
_LISTED, _LONGEST = 3, 64  # settings of a message and values of each; characters of a value


def copies(figures: Sequence[Sequence[Any] | None]) -> dict[int, int]:
    """The place of each run that is a copy of an earlier one, and that one's place. `figures` are what was measured of each run, in one order, as
    text; None: not measured. A copy has at least half of the other's figures to the last digit, and these have more digits than chance explains:
    counts and rounded times prove nothing."""
    known = [[None if each is None else str(each) for each in own or ()] for own in figures]
    alike = defaultdict[tuple[int, str], list[int]](list)
    for run, own in enumerate(known):
        for place, each in enumerate(own):
            if each is not None and _telling_digits(each):
                alike[place, each].append(run)
    found: dict[int, int] = {}
    for first, *others in alike.values():
        for run in others:
            if run not in found and _is_copy(known[first], known[run]):
                found[run] = first
    return found


def _is_copy(one: Sequence[str | None], other: Sequence[str | None]) -> bool:
    both = [(a, b) for a, b in zip(one, other, strict=False) if a is not None and b is not None]
    same = [a for a, b in both if a == b]
    telling = list(filter(None, map(_telling_digits, same)))
    return 2 * len(same) >= len(both) and sum(telling) >= (_ENOUGH if len(telling) > 1 else _ALONE)


def _telling_digits(figure: str) -> int:
    """The digits of a measured quantity that two repeats do not have in common; 0 for a count."""
    mantissa = figure.lower().partition("e")[0].lstrip("+-")
    digits = mantissa.replace(".", "", 1)
    return min(_ALONE, max(0, len(digits.strip("0")) - _KNOWN)) if digits != mantissa and digits.isdigit() else 0


def differing(observed: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, list[str]]:
    """The settings of which runs have several values, and these values. A column is one setting, or an object of several by name: one that an
    object lacks is not set. A run that states no such column is left out of it."""
    found: dict[str, list[str]] = {}
    rows = list(observed)
    for column in columns:
        stated = [row[column] for row in rows if row.get(column) is not None]
        objects = [each if isinstance(each, Mapping) else {column: each} for each in stated]
        for name in sorted({name for each in objects for name in each}):
            values = sorted({_ABSENT if each.get(name) is None else str(each[name]) for each in objects})
            if len(values) > 1:
                found[name] = values
    return found


def in_words(settings: Mapping[str, Sequence[str]]) -> str:
    """The first few settings and their values."""
    words = [f"{name}: {_listed(values, ' or ')}" for name, values in list(settings.items())[:_LISTED]]
    return printable("; ".join(words)) + (f"; and {len(settings) - _LISTED} more" if len(settings) > _LISTED else "")


def _listed(values: Sequence[str], between: str) -> str:
    shown = between.join(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..." for value in values[:_LISTED])
    return f"{shown} and {len(values) - _LISTED} more" if len(values) > _LISTED else shown

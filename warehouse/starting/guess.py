"""What all guesses at a description share: how they are written, and which units and directions are taken."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.landing.described.units import unit_of

BY_HAND = "docs/ingestors.md, Describe a format"
MOST_REQUIRED = 8
_MOST_SHOWN = 6
_IN_BRACKETS = re.compile(r".*[(\[]\s*([^()\[\]]+?)\s*[)\]]\s*")
_PER_SECOND = re.compile(r"(?:.*[^A-Za-z])?(?P<what>[A-Za-z]+)\s*/\s*[Ss](?:ec(?:ond)?)?|.*[a-z]PerSec(?:ond)?")
_BYTES_PER_SECOND = re.compile(r"(?:.*[a-z_])?([KMG]i?)?B(?:ytes?)?PerSec(?:ond)?")
_LOWER, _HIGHER = ("ns", "us", "ms", "s", "min", "h"), ("/s",)


@dataclass(frozen=True)
class Guess:
    """A description, and what to look at in it."""

    text: str
    doubtful: tuple[str, ...]


def label_unit(label: str) -> str | None:
    """The unit that a label states in brackets, `RunTime(ms)`, or as a rate, `KB/sec`."""
    if found := _IN_BRACKETS.fullmatch(label):
        return unit_of(found[1])
    if found := _BYTES_PER_SECOND.fullmatch(label):
        return unit_of(f"{found[1] or ''}B/s")
    found = _PER_SECOND.fullmatch(label)
    return None if found is None else unit_of(f"{found['what']}/s") or "1/s"


def better_of(unit: str | None) -> str:
    return "lower" if unit in _LOWER else "higher" if unit and unit.endswith(_HIGHER) else "neither"


def without_unit(paths: Sequence[str]) -> tuple[str, ...]:
    """One line for all metrics without a unit."""
    more = f" and {len(paths) - _MOST_SHOWN} more" if len(paths) > _MOST_SHOWN else ""
    return (f"no unit is stated for {', '.join(paths[:_MOST_SHOWN])}{more}: write them as `unit`",) if paths else ()


def toml(value: Any) -> str:
    """A TOML text or list: JSON's escapes are TOML's."""
    return json.dumps(value, ensure_ascii=False)


def fault(message: str, sample: Path, hint: str | None = None, code: str = "WH007") -> WarehouseError:
    return WarehouseError(code, message, printable(str(sample)), hint, ExitCode.USAGE)

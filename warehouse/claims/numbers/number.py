"""Numbers as people type them: a number id, a cell, or a number as printed somewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from warehouse.claims.numbers.units import factor, is_unit
from warehouse.errors import ExitCode, WarehouseError

_ID = re.compile(r"n-[a-z2-7]{12}")
_CELL = re.compile(r"(?P<query>[a-z][a-z0-9_]*)\[(?P<grain>.*)\]\.(?P<column>\w+)", re.DOTALL)
_ALL_DIGITS = Context(prec=400)  # a double has up to 309 digits before the point
_LITERAL = re.compile(r"(?P<number>[+-]?(?:\d[\d_,]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d{1,6})?)\s*(?P<rest>\D.*)?", re.DOTALL)
_SUFFIXES = {"k": Decimal(10**3), "K": Decimal(10**3), "M": Decimal(10**6), "B": Decimal(10**9), "G": Decimal(10**9), "T": Decimal(10**12)}
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")  # a comma elsewhere may be a decimal one
_CONDITION = re.compile(
    r"""\s*(?P<key>\w+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?!\s*")(?P<bare>[^,\]]*))\s*(?:,|$)""", re.DOTALL
)


@dataclass(frozen=True)
class IdArgument:
    """A `number_id` as typed."""

    number_id: str


@dataclass(frozen=True)
class CellArgument:
    """`query[key=value,...].column` as typed; values are text, a bare NULL is None."""

    query: str
    grain: Mapping[str, str | None]
    column: str


@dataclass(frozen=True)
class LiteralArgument:
    """A number as printed somewhere: its value, the size of its last digit, and the unit beside it if any."""

    text: str
    value: Decimal
    step: Decimal
    unit: str | None = None

    def carried_by(self, value: Any, unit: str | None) -> bool:
        """Whether a cell's value, rounded to the digits that were typed, reads as this. `unit` is what its column declares."""
        compared = self._compared(value, unit)
        if compared is None:
            return False
        number, meant, step = compared
        # Printers differ in how they round a half: both neighbours read as it.
        return abs(_ALL_DIGITS.subtract(number, meant)) * 2 <= step

    def is_just(self, value: Any, unit: str | None) -> bool:
        """Whether a cell holds this very number, to the last digit."""
        compared = self._compared(value, unit)
        return compared is not None and compared[0] == compared[1]

    def distance(self, value: Any, unit: str | None) -> float | None:
        """How far a cell's value is from this, as a share of it; None where it is no number or of another unit."""
        compared = self._compared(value, unit)
        if compared is None:
            return None
        number, meant, _ = compared
        return float(abs(number - meant) / max(abs(meant), abs(number), Decimal("1e-300")))

    def _compared(self, value: Any, unit: str | None) -> tuple[Decimal, Decimal, Decimal] | None:
        """The cell's number, and this one and its last digit's step in the cell's unit; None where it is no number or of another unit."""
        scale = factor(self.unit, unit) if self.unit else Decimal(1)
        number = _decimal(value)
        if scale is None or number is None:
            return None
        return number, _ALL_DIGITS.multiply(self.value, scale), _ALL_DIGITS.multiply(self.step, scale)


NumberArgument = IdArgument | CellArgument | LiteralArgument


def parse_argument(text: str) -> NumberArgument:
    """What a person typed after `wh lineage`: a number id, a cell, or a number as it is printed on a slide (`8703`, `8.7k`,
    `8702.7 tok/s`). Raises WH304 for anything else."""
    text = text.strip()
    if _ID.fullmatch(text.lower()):
        return IdArgument(text.lower())
    cell = _CELL.fullmatch(text)
    if cell:
        return CellArgument(cell["query"], _conditions(cell["grain"], text), cell["column"])
    if literal := _literal(text):
        return literal
    raise WarehouseError(
        "WH304", f"{text!r} is not a number id, a cell or a number",
        hint="type n-..., query[key=value,...].column, or a number as printed: 8703, 8.7k, 8702.7 tok/s", exit_code=ExitCode.USAGE,
    )


def _literal(text: str) -> LiteralArgument | None:
    found = _LITERAL.fullmatch(text)
    if not found:
        return None
    digits, rest = found["number"], (found["rest"] or "").strip()
    scale = Decimal(1)
    if rest and not is_unit(rest):
        scale, rest = _SUFFIXES.get(rest[0], Decimal(0)), rest[1:].strip()
        if not scale or (rest and not is_unit(rest)):
            return None
    try:
        value = Decimal(digits.replace(",", "") if _THOUSANDS.fullmatch(digits) else digits)
    except InvalidOperation:
        return None
    exponent = value.as_tuple().exponent
    step = Decimal(1).scaleb(int(exponent), _ALL_DIGITS)
    return LiteralArgument(text, _ALL_DIGITS.multiply(value, scale), _ALL_DIGITS.multiply(step, scale), rest or None)


def _conditions(text: str, whole: str) -> dict[str, str | None]:
    conditions: dict[str, str | None] = {}
    position = 0
    while position < len(text):
        match = _CONDITION.match(text, position)
        if not match or match.end() == position:
            raise WarehouseError(
                "WH304", f"cannot read the key at {text[position:]!r}", whole,
                'write key=value, and quotes around a value with a comma: key="a, b"', ExitCode.USAGE,
            )
        quoted = match["quoted"]
        if quoted is None:
            bare = match["bare"].strip()
            conditions[match["key"]] = None if bare.lower() == "null" else bare
        else:
            conditions[match["key"]] = re.sub(r"\\(.)", r"\1", quoted)
        position = match.end()
    return conditions


def _decimal(value: Any) -> Decimal | None:
    """The number that a cell holds; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = Decimal(value) if not isinstance(value, float) else Decimal(repr(value))
    return number if number.is_finite() else None

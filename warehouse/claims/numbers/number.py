"""Numbers: the exact form of a cell's value, its `number_id`, and finding cells again by what a person typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from warehouse.claims.numbers.units import factor, is_unit
from warehouse.digest import number_id
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
        scale = factor(self.unit, unit) if self.unit else Decimal(1)
        number = _decimal(value)
        if scale is None or number is None:
            return False
        # Printers differ in how they round a half: both neighbours read as it.
        difference = abs(_ALL_DIGITS.subtract(number, _ALL_DIGITS.multiply(self.value, scale)))
        return difference * 2 <= _ALL_DIGITS.multiply(self.step, scale)

    def distance(self, value: Any, unit: str | None) -> float | None:
        """How far a cell's value is from this, as a share of it; None where it is no number or of another unit."""
        scale = factor(self.unit, unit) if self.unit else Decimal(1)
        number = _decimal(value)
        if scale is None or number is None:
            return None
        meant = self.value * scale
        return float(abs(number - meant) / max(abs(meant), abs(number), Decimal("1e-300")))


NumberArgument = IdArgument | CellArgument | LiteralArgument


def exact(value: Any) -> list[Any] | None:
    """A value in a form that loses nothing and tells its kind: `["double", hex]`, `["decimal", text]`, ... NULL is None.

    Floats are written in hexadecimal (C99), so that two values are equal exactly when their bits are.
    """
    match value:
        case None:
            return None
        case bool():
            return ["boolean", str(value).lower()]
        case int():
            return ["integer", str(value)]
        case float():
            return ["double", value.hex()]
        case Decimal():
            return ["decimal", str(value)]
        case datetime() if value.replace(tzinfo=None) in (datetime.min, datetime.max):
            raise ValueError("an infinite time has no exact form")
        case datetime():
            return ["timestamp", (value.astimezone(UTC) if value.tzinfo else value).isoformat()]
        case date() if value in (date.min, date.max):
            raise ValueError("an infinite date has no exact form")
        case date():
            return ["date", value.isoformat()]
        case str():
            return ["text", value]
        case dict():
            return ["struct", *([str(key), exact(item)] for key, item in value.items())]
        case list() | tuple():
            return ["list", *(exact(item) for item in value)]
    raise ValueError(f"a value of type {type(value).__name__} has no exact form")


def inexact(form: list[Any] | None) -> Any:
    """The value that `exact` wrote; dates and times stay text."""
    if form is None:
        return None
    kind, *parts = form
    match kind:
        case "double":
            return float.fromhex(parts[0])
        case "integer":
            return int(parts[0])
        case "decimal":
            return Decimal(parts[0])
        case "boolean":
            return parts[0] == "true"
        case "list":
            return [inexact(part) for part in parts]
        case "struct":
            return {key: inexact(part) for key, part in parts}
    return parts[0]


def row_numbers(
    query: str, canonical_text: str, grain: Sequence[str], columns: Sequence[str], row: Sequence[Any]
) -> dict[str, str | None]:
    """The number id of each value column of one row; a NULL cell is no number and has None."""
    values = dict(zip(columns, row, strict=True))
    keys = [exact(values[name]) for name in grain]
    return {
        name: None if value is None else number_id(query, canonical_text, keys, name, exact(value))
        for name, value in values.items()
        if name not in grain
    }


def parse_argument(text: str) -> NumberArgument:
    """What a person typed after `wh lineage`: a number id, a cell, or a number as it stands on a slide (`8703`, `8.7k`,
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

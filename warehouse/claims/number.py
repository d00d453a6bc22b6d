"""Numbers: the exact form of a cell's value, its `number_id`, and finding cells again by what a person typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from warehouse.digest import number_id
from warehouse.errors import ExitCode, WarehouseError

_ID = re.compile(r"n-[a-z2-7]{12}")
_CELL = re.compile(r"(?P<query>[a-z][a-z0-9_]*)\[(?P<grain>.*)\]\.(?P<column>\w+)", re.DOTALL)
_ALL_DIGITS = Context(prec=400)  # a double has up to 309 digits before the point
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
    """A number as printed somewhere."""

    text: str
    value: Decimal


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
    """What a person typed after `wh lineage`. Raises WH304 for what is none of the three forms."""
    text = text.strip()
    if _ID.fullmatch(text.lower()):
        return IdArgument(text.lower())
    cell = _CELL.fullmatch(text)
    if cell:
        return CellArgument(cell["query"], _conditions(cell["grain"], text), cell["column"])
    try:
        value = Decimal(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text)
        if value.is_finite():
            return LiteralArgument(text, value)
    except InvalidOperation:
        pass
    raise WarehouseError(
        "WH304", f"{text!r} is no number id, cell or number",
        hint="type n-..., query[key=value,...].column, or a number as printed", exit_code=ExitCode.USAGE,
    )


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


def carries(value: Any, literal: Decimal) -> bool:
    """Whether a cell, printed with as many digits as the literal has, reads as the literal."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    number = Decimal(value) if not isinstance(value, float) else Decimal(repr(value))
    if not number.is_finite():
        return False
    if number == literal:
        return True
    exponent = literal.as_tuple().exponent
    # A literal without decimals says only that the number is that integer, not that it rounds to it.
    if not isinstance(exponent, int) or exponent >= 0:
        return False
    # Printers differ in how they round a half: both neighbours read as it.
    return abs(_ALL_DIGITS.subtract(number, literal)) * 2 <= Decimal(1).scaleb(exponent, _ALL_DIGITS)

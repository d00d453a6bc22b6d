"""Values in a form that loses nothing, and the number ids of a row's cells."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from warehouse.digest import number_ids


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
    cells = {name: exact(value) for name, value in values.items() if name not in grain}
    present = [(name, form) for name, form in cells.items() if form is not None]
    ids = number_ids(query, canonical_text, keys, present)
    return dict.fromkeys(cells) | {name: number for (name, _), number in zip(present, ids, strict=True)}

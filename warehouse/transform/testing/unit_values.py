"""Values of unit tests as SQL of a column's type, none of them changed on the way.

A cast rounds, cuts and drops zones in silence; a value that does not come back as it was written is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.transform.sql.duck import quote, text_literal
from warehouse.transform.sql.engine_faults import message_of
from warehouse.transform.testing.unit_cases import Value, parsed_text

if TYPE_CHECKING:
    import duckdb

_FLOATS = {"float", "double"}
_INTEGERS = {f"{sign}{size}" for sign in ("", "u") for size in ("tinyint", "smallint", "integer", "bigint", "hugeint")}
_NUMBERS = _INTEGERS | _FLOATS | {"decimal", "bignum"}
_FRACTION_DIGITS = {
    "timestamp_s": 0, "timestamp_ms": 3, "timestamp": 6, "timestamp_ns": 9, "timestamp with time zone": 6,
    "time": 6, "time with time zone": 6, "time_ns": 9,
}
_NESTED = {"list", "array", "struct", "map"}
_ZONE = re.compile(r":\d\d(?:\.\d+)?\s*(?:[a-z]|[+-]\d)", re.IGNORECASE)


@dataclass(frozen=True)
class TypedValue:
    """A value as a SQL expression, and as the engine writes it as text (None: NULL)."""

    sql: str
    text: str | None


def is_float(kind: str) -> bool:
    """Whether values of a column type are compared with a tolerance."""
    return kind.lower() in _FLOATS


def typed_value(con: "duckdb.DuckDBPyConnection", value: Value, kind: str) -> TypedValue:
    """`value` in the type `kind`. Raises WH240 at its place when it has no exact value there."""
    import duckdb

    sql = f"cast({_expression(con, value, duckdb.sqltype(kind))} as {kind})"
    return TypedValue(sql, _as_text(con, sql, value, kind))


def _as_text(con: "duckdb.DuckDBPyConnection", sql: str, value: Value, kind: Any) -> str | None:
    import duckdb

    try:
        [(text,)] = con.execute(f"select ({sql})::varchar").fetchall()
    except duckdb.Error as error:
        raise WarehouseError("WH240", f"no {kind}: {message_of(error)}", value.place) from error
    found: str | None = text
    return found


def _expression(con: "duckdb.DuckDBPyConnection", value: Value, kind: Any) -> str:
    """A value as SQL, checked leaf by leaf."""
    if value.content is None:
        return "null"
    if kind.id in _NESTED:
        return _nested(con, parsed_text(value) if isinstance(value.content, str) else value, kind)
    if not isinstance(value.content, str):
        written = "mapping" if isinstance(value.content, Mapping) else "list"
        raise WarehouseError("WH240", f"a {written}, where the column is {kind}", value.place)
    sql = f"cast({text_literal(value.content)} as {kind})"
    _check_survives(value.content, str(_as_text(con, sql, value, kind)), kind, value.place)
    return sql


def _nested(con: "duckdb.DuckDBPyConnection", value: Value, kind: Any) -> str:
    parts, content = dict(kind.children), value.content
    if kind.id in ("list", "array") and isinstance(content, tuple):
        return f"[{', '.join(_expression(con, item, parts['child']) for item in content)}]"
    if kind.id == "map" and isinstance(content, Mapping):
        keys = ", ".join(_expression(con, Value(key, value.place), parts["key"]) for key in content)
        return f"map([{keys}], [{', '.join(_expression(con, item, parts['value']) for item in content.values())}])"
    if kind.id == "struct" and isinstance(content, Mapping):
        for name in content:
            if name not in parts:
                raise WarehouseError("WH240", f"no field {name}", value.place, f"fields: {', '.join(parts)}")
        missing = Value(None, value.place)
        fields = {name: _expression(con, content.get(name, missing), part) for name, part in parts.items()}
        return f"struct_pack({', '.join(f'{quote(name)} := {sql}' for name, sql in fields.items())})"
    form = "a list: [a, b]" if kind.id in ("list", "array") else "a mapping: {key: value}"
    raise WarehouseError("WH240", f"no {kind}", value.place, f"write {form}")


def _check_survives(text: str, back: str, kind: Any, place: str) -> None:
    """Raise WH240 when `back`, what the engine made of `text`, is another value."""
    lost = None
    if kind.id in _NUMBERS:
        lost = None if _is_same_number(text, back) else f"it would become {back}"
    elif kind.id == "date" and ":" in text:
        lost = f"a time of day, it would become {back}"
    elif kind.id in _FRACTION_DIGITS:
        fraction = re.search(r"\.(\d+)", text)
        if fraction and len(fraction[1].rstrip("0")) > _FRACTION_DIGITS[kind.id]:
            lost = f"it would be cut to {back}"
        elif "zone" not in kind.id and _ZONE.search(text):
            lost = "the column has no time zone"
    if lost:
        raise WarehouseError("WH240", f"{text} is no {kind}: {lost}", place)


def _is_same_number(text: str, back: str) -> bool:
    # The shortest text of a float means that float: 0.1 is that float, 0.10000000000000000001 is not.
    try:
        written, read = Decimal(text), Decimal(back)
    except InvalidOperation:
        return False
    return written == read or (written.is_nan() and read.is_nan())

"""Reads the recorder's own JSON files. What is damaged, missing or of a wrong type is an issue with its place and a
NULL, never an exception and never a zero."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.rows import RowBuffer

from .bundles import RECORDING


def document_in(bundle: Bundle, path: str, buffer: RowBuffer, run_id: str | None = None) -> dict[str, Any] | None:
    """The JSON object in a file of the recorder's; None, and an issue, where there is none."""
    if path not in bundle.manifest.by_path:
        buffer.issue("file-missing", f"{path} is not in the bundle", RECORDING, severity="error", run_id=run_id)
        return None
    data = bundle.read(path)

    def flag(code: str, message: str, offset: int) -> None:
        line_number = data.count(b"\n", 0, offset) + 1
        length = len(data) - offset
        buffer.issue(code, message, path, offset, length, severity="error", line_number=line_number, run_id=run_id)

    return parsed(data, flag)


def parsed(data: bytes, flag: Callable[[str, str, int], None]) -> dict[str, Any] | None:
    """The JSON object in `data`, or None; `flag` is given code, message and byte offset of what is wrong."""

    def pairs_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            flag("duplicate-key", "a key occurs twice; the last one counts", 0)
        return found

    text = ""
    try:
        text = data.decode("utf-8")
        document = json.loads(text, object_pairs_hook=pairs_once)
    except UnicodeDecodeError as error:
        flag("not-utf8", f"not valid UTF-8: {error.reason}", error.start)
    except json.JSONDecodeError as error:
        flag("not-json", f"not valid JSON: {error.msg}", len(text[: error.pos].encode()))
    except (ValueError, RecursionError) as error:
        flag("not-json", f"cannot be read as JSON: {error}", 0)
    else:
        if isinstance(document, dict):
            return document
        flag("not-json", "not a JSON object", 0)
    return None


def typed_columns(
    fields: tuple[tuple[str, pa.DataType], ...], document: Mapping[str, Any], reject: Callable[[str, str], None]
) -> dict[str, Any]:
    """The document's values by column; a value of another type than its column's is NULL and rejected."""
    columns = {}
    for name, type_ in fields:
        value = document.get(name)
        columns[name] = _typed(value, type_)
        if value is not None and columns[name] is None:
            reject("wrong-type", f"{name} is not a {type_}: {shown(value)}")
    return columns


def _typed(value: Any, type_: pa.DataType) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if pa.types.is_string(type_):
        return clean(value) if isinstance(value, str) else None
    if pa.types.is_boolean(type_):
        return value if isinstance(value, bool) else None
    if pa.types.is_int64(type_):
        return value if is_number and isinstance(value, int) and -(2**63) <= value < 2**63 else None
    if pa.types.is_float64(type_):
        return finite(value) if is_number else None
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (TypeError, ValueError, OverflowError):
        return None


def finite(number: int | float) -> float | None:
    """The number as a double, or None if it is not a number."""
    try:
        return float(number) if math.isfinite(number) else None
    except OverflowError:  # an integer beyond the range of a double
        return None


def rejecter(buffer: RowBuffer, path: str, run_id: str | None = None) -> Callable[[str, str], None]:
    """Files an issue, given code and message, about a whole file."""
    return lambda code, message: buffer.issue(code, message, path, run_id=run_id)


def shown(value: Any) -> str:
    """A value for a message; of a list or object, which may be nested without end, only what it is."""
    return type(value).__name__ if isinstance(value, (list, dict)) else clean(str(value))[:200]


def clean(text: str) -> str:
    """Without lone surrogates, which JSON may escape and Arrow cannot hold."""
    return text.encode("utf-8", "replace").decode()

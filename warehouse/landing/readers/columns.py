"""Typed columns out of decoded JSON records, many values at a time: what `Record` gives of each of them, or None where one is
to be looked at by itself, because it is of another kind than tools write or would be reported.

The values must be of standard JSON: NaN means that there is no value. Returns None if every value is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.landing.readers.records import Record

_NUMBERS = frozenset({float, int, type(None)})
_TEXTS = frozenset({str, int, type(None)})


def numbers(values: Sequence[Any] | None) -> NDArray[np.float64] | None:
    """`Record.number` of each; NaN where nothing is stated."""
    if values is None or not _NUMBERS.issuperset(map(type, values)):
        return None
    try:
        return np.array(values, np.float64)
    except OverflowError:
        return None


def counts(values: Sequence[Any] | None) -> pa.Array | None:
    """`Record.count` of each."""
    if values is None or not (types := set(map(type, values))) <= _NUMBERS:
        return None
    if float in types:
        if not all(value.is_integer() for value in values if type(value) is float):
            return None
        values = [int(value) if type(value) is float else value for value in values]
    try:
        return pa.array(values, pa.int64())
    except OverflowError:
        return None


def texts(values: Sequence[Any] | None) -> list[str | None] | None:
    """`Record.text` of each."""
    if values is None or not _TEXTS.issuperset(map(type, values)):
        return None
    read = {value: Record({"text": value}, never).text("text") for value in set(values)}
    return [read[value] for value in values]


def as_column(found: NDArray[np.float64]) -> pa.Array:
    """`numbers` as Arrow: NULL where nothing is stated."""
    return pa.array(found, from_pandas=True)


def never(code: str, message: str) -> None:
    """For a `Record` without anything to report: its values were checked before."""
    raise AssertionError(f"{code}: {message}")

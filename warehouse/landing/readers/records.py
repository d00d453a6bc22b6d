"""Typed values out of decoded JSON records from strangers, for ingestors: a value that is there and cannot be used is reported,
one that is not there is NULL, and nothing becomes zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from warehouse.landing.readers.json_text import Written, is_lost_number, json_number, lost_code
from warehouse.landing.readers.text import clean, landed_text

ABSENT = frozenset({"", "n/a", "na", "null", "none", "unknown", "nan"})
_MAX_INTEGER = 2**63

Flag = Callable[[str, str], None]  # code, message


class Record:
    """A decoded JSON object, read key by key. `flag` is called with what cannot be used."""

    def __init__(self, values: Mapping[str, Any], flag: Flag) -> None:
        self.values, self.flag = values, flag

    def number(self, key: str) -> float | None:
        """The finite number a key states, also as a string."""
        value = self.values.get(key)
        if type(value) is float and value - value == 0.0:  # finite: not NaN, no infinity
            return value
        if value is None or (isinstance(value, str) and value.strip().casefold() in ABSENT):
            return None
        number = json_number(value)
        if number is None:
            self.flag(lost_code(value) if is_lost_number(value) else "not-a-number", f"{key}: {shown(value)}")
        return number

    def count(self, key: str) -> int | None:
        """The integer a key states; 3.0 is one."""
        value = self.values.get(key)
        if type(value) is int and -_MAX_INTEGER <= value < _MAX_INTEGER:
            return value
        number = self.number(key)
        if number is None:
            return None
        if not number.is_integer() or not -_MAX_INTEGER <= number < _MAX_INTEGER:
            self.flag("not-an-integer", f"{key}: {shown(value)}")
            return None
        return int(number)

    def text(self, key: str) -> str | None:
        """The text of a string or number; NULL where it says that nothing is known."""
        value = self.values.get(key)
        if value is None or isinstance(value, (dict, list)):
            return None
        text = clean(value if isinstance(value, str) else str(value)).strip()
        return None if text.casefold() in ABSENT else landed_text(text)

    def within(self, *path: str) -> "Record":
        """The object at a path of keys; an empty one where there is none."""
        found: Any = self.values
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return Record(found if isinstance(found, dict) else {}, self.flag)


def shown(value: Any) -> str:
    """A value for a message; of a list or object, which may be nested without end, only what it is."""
    return type(value).__name__ if isinstance(value, (list, dict)) else clean(value.text if isinstance(value, Written) else str(value))[:120]

"""JSON objects, many at a time, as columns by key.

The first objects of a file tell which keys to expect. Those that follow are decoded straight into structures of these keys: in
half the time that dicts take, and without dicts. Objects of other keys teach these; until then they are dicts. Either way the
columns are the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, Final, Optional

import msgspec

ABSENT: Final = msgspec.UNSET  # in a raw column: the key is not there
_MOST_KEYS = 500  # that are expected; real records have up to a hundred
_MOST_LESSONS = 20  # a file whose objects differ again and again is decoded into dicts


class Records(ABC):
    """Values that follow one another in a document."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def values(self) -> list[Any]:
        """All of them, decoded."""

    @abstractmethod
    def _column(self, path: tuple[str, ...]) -> list[Any] | None:
        """As `column`, with `ABSENT` where the key is not there."""

    def column(self, *path: str) -> list[Any] | None:
        """What each object states at a path of keys, None where it states nothing; None where not all are objects. An array
        may be `msgspec.Raw`: then it is one of numbers and literals."""
        found = self._column(path)
        if found is None or ABSENT not in found:
            return found
        return [None if value is ABSENT else value for value in found]

    def has(self, *path: str) -> list[bool]:
        """Whether each has the key at the end of a path, whatever stands there."""
        return [value is not ABSENT for value in self._column(path) or ()]


class Decoded(Records):
    """Records that are decoded as they are."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values
        self._are_objects = set(map(type, values)) <= {dict}

    def __len__(self) -> int:
        return len(self._values)

    def values(self) -> list[Any]:
        return self._values

    def _column(self, path: tuple[str, ...]) -> list[Any] | None:
        if not self._are_objects:
            return None
        found = self._values
        for key in path:
            found = [value.get(key, ABSENT) if type(value) is dict else ABSENT for value in found]
        return found


class Shaped(Records):
    """Records that are decoded into structures: their columns by path. `again` decodes them once more, as they are."""

    def __init__(self, size: int, columns: Mapping[tuple[str, ...], list[Any]], again: Callable[[], list[Any]]) -> None:
        self._size, self._columns, self._again = size, columns, again

    def __len__(self) -> int:
        return self._size

    def values(self) -> list[Any]:
        return self._again()

    def _column(self, path: tuple[str, ...]) -> list[Any] | None:
        return self._columns.get(path) or [ABSENT] * self._size


class Expected:
    """What a file's objects are expected to be. Learns from `Decoded` ones."""

    def __init__(self) -> None:
        self._shape = _Shape()
        self._structure: type[msgspec.Struct] | None = None
        self._lessons = 0
        self._unlearnt: list[Any] = []

    def learn(self, values: list[Any]) -> None:
        """Objects that could not be decoded as others were."""
        if self._lessons < _MOST_LESSONS:
            self._lessons += 1
            self._structure = None
            self._unlearnt += [value for value in values if type(value) is dict]

    def array(self, data: bytes, pairs: int, again: Callable[[], list[Any]]) -> Shaped | None:
        """The objects of an array, between its brackets, which have so many `pairs`, however deep. None where one of them is
        of another shape, is not plain or is malformed."""
        found = self._found(lambda kind: msgspec.json.decode(b"[%b]" % data, type=list[kind]))
        return found.records(again) if found and found.pairs == pairs and found.are_arrays_plain() else None

    def lines(self, lines: list[bytes], again: Callable[[], list[Any]]) -> Shaped | None:
        """The objects that stand in a line each; as `array`."""
        found = self._found(lambda kind: list(map(msgspec.json.Decoder(kind).decode, lines)))
        return found.records(again) if found and found.are_arrays_plain() and found.is_all_of(b"\n".join(lines)) else None

    def _found(self, decode: Callable[[Any], list[Any]]) -> _Found | None:
        structure = self._made()
        if structure is None:
            return None
        try:
            rows = decode(structure)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None
        found = _Found(len(rows))
        self._shape.look(rows, (), found)
        return found

    def _made(self) -> type[msgspec.Struct] | None:
        """The structure of an object; made when it is asked for, since a small file never asks."""
        if self._structure is None and self._unlearnt:
            for value in self._unlearnt:
                self._shape.learn(value)
            self._unlearnt = []
            if self._shape.count() > _MOST_KEYS:
                self._lessons = _MOST_LESSONS
                return None
            self._structure = self._shape.structure()
        return self._structure


class _Shape:
    """The keys that objects had so far, and what stood under them."""

    def __init__(self) -> None:
        self.fields: dict[str, _Field] = {}

    def learn(self, value: dict[str, Any]) -> None:
        for key, each in value.items():
            field = self.fields.get(key)
            if field is None:
                field = self.fields[key] = _Field()
            if each is not None:
                field.learn(each)

    def count(self) -> int:
        return len(self.fields) + sum(field.shape.count() for field in self.fields.values() if field.shape)

    def structure(self) -> type[msgspec.Struct]:
        fields = [
            (f"f{index}", field.type(), msgspec.field(default=ABSENT, name=key))
            for index, (key, field) in enumerate(self.fields.items())
        ]
        self._getters = [attrgetter(name) for name, *_ in fields]
        self._structure = msgspec.defstruct("Record", fields, forbid_unknown_fields=True, gc=False)
        return self._structure

    def look(self, rows: list[Any], path: tuple[str, ...], found: _Found) -> None:
        """Add what is in some structures to what is `found`; among them may be other values, of objects that are not there."""
        kinds = set(map(type, rows))
        for getter, (key, field) in zip(self._getters, self.fields.items(), strict=True):
            if kinds <= {self._structure}:
                column = list(map(getter, rows))
            else:
                column = [getter(row) if type(row) is self._structure else ABSENT for row in rows]
            found.pairs += len(column) - column.count(ABSENT)
            found.columns[*path, key] = column
            if field.kind == "array":
                found.arrays += [each for each in column if each is not ABSENT]
            elif field.kind == "objects" and field.shape:
                lists = [each for each in column if type(each) is list]
                found.brackets += len(lists)
                within = _Found(0)  # a column of these is none of the records
                field.shape.look(list(chain.from_iterable(lists)), (), within)
                found.add(within)
            elif field.shape:
                field.shape.look(column, (*path, key), found)


class _Field:
    """What is expected under a key: an object, an array of scalars, an array of objects, or anything."""

    def __init__(self) -> None:
        self.kind: str | None = None
        self.shape: _Shape | None = None

    def learn(self, value: Any) -> None:
        kind = _KINDS.get(type(value), "any")
        if kind == "array" and value:
            kinds = set(map(type, value))
            kind = "objects" if kinds == {dict} else "any" if kinds & {dict, list} else "array"
        if self.kind is None and kind in ("object", "objects"):
            self.shape = _Shape()
        if self.kind != kind and self.kind is not None:
            kind, self.shape = "any", None
        self.kind = kind
        if self.shape:
            for each in [value] if kind == "object" else value:
                self.shape.learn(each)

    def type(self) -> Any:
        if self.kind == "array":
            return msgspec.Raw
        if self.shape is None:
            return Any
        structure = self.shape.structure()
        return Optional[structure if self.kind == "object" else list[structure]]  # type: ignore[valid-type]  # made at run time


_KINDS = {dict: "object", list: "array"}


class _Found:
    """What is in decoded structures: columns by path; pairs, arrays of objects, and other arrays, however deep."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.columns: dict[tuple[str, ...], list[Any]] = {}
        self.pairs, self.brackets = 0, 0
        self.arrays: list[msgspec.Raw] = []
        self.other_texts: list[str] = []

    def add(self, other: _Found) -> None:
        self.pairs += other.pairs
        self.brackets += other.brackets
        self.arrays += other.arrays
        self.other_texts += other.texts()

    def texts(self) -> list[str]:
        return self.other_texts + [value for column in self.columns.values() for value in column if type(value) is str]

    def records(self, again: Callable[[], list[Any]]) -> Shaped:
        return Shaped(self.size, self.columns, again)

    def are_arrays_plain(self) -> bool:
        """Whether all arrays of scalars are that, and have no texts."""
        for raw in self.arrays:
            written = bytes(raw)
            if b'"' in written or b"{" in written or written.count(b"[") > 1:
                return False
            self.brackets += written.startswith(b"[")
        return True

    def is_all_of(self, data: bytes) -> bool:
        """Whether nothing else is in `data`: no key that stands twice, no array in an array. Every colon is behind a key or
        in a text then, every opening bracket an array's or in a text."""
        colons, brackets = data.count(b":") - self.pairs, data.count(b"[") - self.brackets
        if colons == 0 and brackets == 0:
            return True
        if b"\\u00" in data:  # a mark may be written otherwise
            return False
        texts = self.texts()
        return colons == sum(text.count(":") for text in texts) and brackets == sum(text.count("[") for text in texts)

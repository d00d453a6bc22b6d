"""JSON objects, many at a time, as columns by key.

The first objects of a file tell which keys to expect. Those that follow are decoded straight into structures of these keys: in
half the time that dicts take, and without dicts. Objects of other keys teach these; until then they are dicts. Either way the
columns are the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple, Optional

import msgspec

from warehouse.landing.text import count_of

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
    """Records that are decoded into structures. `again` decodes them once more, as they are."""

    def __init__(self, rows: list[Any], shape: _Shape, again: Callable[[], list[Any]]) -> None:
        self._shape, self._again = shape, again
        self._columns: dict[tuple[str, ...], list[Any]] = {(): rows}

    def __len__(self) -> int:
        return len(self._columns[()])

    def values(self) -> list[Any]:
        return self._again()

    def _column(self, path: tuple[str, ...]) -> list[Any] | None:
        shape: _Shape | None = self._shape
        for depth, key in enumerate(path):
            if shape is None or key not in shape.fields:
                return [ABSENT] * len(self)
            if path[: depth + 1] not in self._columns:
                self._columns[path[: depth + 1]] = shape.column(self._columns[path[:depth]], key)
            shape = shape.fields[key].shape if shape.fields[key].kind == "object" else None
        return self._columns[path]


class Expected:
    """What a file's objects are expected to be. Learns from `Decoded` ones."""

    def __init__(self) -> None:
        self._shape = _Shape()
        self._decoders: _Decoders | None = None
        self._lessons = 0
        self._unlearnt: list[Any] = []

    def learn(self, values: list[Any]) -> None:
        """Objects that could not be decoded as others were."""
        if self._lessons < _MOST_LESSONS:
            self._lessons += 1
            self._decoders = None
            self._unlearnt += [value for value in values if type(value) is dict]

    def array(self, data: bytes, pairs: int, again: Callable[[], list[Any]]) -> Shaped | None:
        """The objects of an array, between its brackets, which have so many `pairs`, however deep. None where one of them is
        of another shape, is not plain or is malformed."""
        rows = self._rows(lambda decoders: decoders.array.decode(b"[%b]" % data))
        if rows is None:
            return None
        found = _Found()
        self._shape.look(rows, found)
        return Shaped(rows, self._shape, again) if found.pairs == pairs and found.are_arrays_plain() else None

    def lines(self, lines: list[bytes], again: Callable[[], list[Any]]) -> Shaped | None:
        """The objects that stand in a line each; as `array`."""
        rows = self._rows(lambda decoders: list(map(decoders.one.decode, lines)))
        if rows is None:
            return None
        found = _Found()
        self._shape.look(rows, found)
        is_plain = found.are_arrays_plain() and found.is_all_of(b"\n".join(lines), lambda: self._shape.texts(rows))
        return Shaped(rows, self._shape, again) if is_plain else None

    def _rows(self, decode: Callable[[_Decoders], list[Any]]) -> list[Any] | None:
        decoders = self._made()
        try:
            return decode(decoders) if decoders else None
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None

    def _made(self) -> _Decoders | None:
        """The decoders of what was learnt; made when they are asked for, since a small file never asks."""
        if self._decoders is None and self._unlearnt:
            self._shape = deepcopy(self._shape)  # records that were given out are of the old one
            for value in self._unlearnt:
                self._shape.learn(value)
            self._unlearnt = []
            try:
                if self._shape.count() > _MOST_KEYS:
                    raise ValueError("too many keys")
                structure: Any = self._shape.structure()
            except ValueError:  # also of a key that the library takes for no name: one with quotes or control characters
                self._lessons = _MOST_LESSONS
                return None
            self._decoders = _Decoders(msgspec.json.Decoder(structure), msgspec.json.Decoder(list[structure]))
        return self._decoders


class _Decoders(NamedTuple):
    one: msgspec.json.Decoder[Any]
    array: msgspec.json.Decoder[list[Any]]


class _Shape:
    """The keys that objects had so far, and what stood under them."""

    def __init__(self) -> None:
        self.fields: dict[str, _Field] = {}
        self._learnt = 0

    def learn(self, value: dict[str, Any]) -> None:
        self._learnt += 1
        for key, each in value.items():
            field = self.fields.get(key)
            if field is None:
                field = self.fields[key] = _Field()
            field.learn(each)

    def count(self) -> int:
        return len(self.fields) + sum(field.shape.count() for field in self.fields.values() if field.shape)

    def structure(self) -> type[msgspec.Struct]:
        fields: list[Any] = []
        self._is_optional: dict[str, bool] = {}
        for index, (key, field) in enumerate(self.fields.items()):
            self._is_optional[key] = field.seen < self._learnt
            default = ABSENT if self._is_optional[key] else msgspec.NODEFAULT
            fields.append((f"f{index}", field.type(), msgspec.field(default=default, name=key)))
        self._getters = {key: attrgetter(f"f{index}") for index, key in enumerate(self.fields)}
        self._structure = msgspec.defstruct("Record", fields, forbid_unknown_fields=True, kw_only=True, gc=False)
        return self._structure

    def column(self, rows: list[Any], key: str) -> list[Any]:
        """What stands under a key in each of some structures; `ABSENT` in what is none."""
        getter = self._getters[key]
        if set(map(type, rows)) <= {self._structure}:
            return list(map(getter, rows))
        return [getter(row) if type(row) is self._structure else ABSENT for row in rows]

    def fixed(self) -> int | None:
        """How many pairs every such object has, however deep; None where that differs, or where it has arrays."""
        pairs = len(self.fields)
        for key, field in self.fields.items():
            if field.kind == "any" and not self._is_optional[key]:
                continue
            within = field.shape.fixed() if field.shape and field.kind == "object" else None
            if within is None or field.is_nullable or self._is_optional[key]:
                return None
            pairs += within
        return pairs

    def look(self, rows: list[Any], found: _Found) -> None:
        """Add what is in some structures to what is `found`."""
        fixed = self.fixed()
        if fixed is not None:
            found.pairs += fixed * len(rows)
            return
        for key, field in self.fields.items():
            if field.kind == "any" and not self._is_optional[key]:
                found.pairs += len(rows)
                continue
            stated = [each for each in map(self._getters[key], rows) if each is not ABSENT]
            found.pairs += len(stated)
            if field.kind == "array":
                found.arrays += stated
            elif field.shape:
                field.shape.look(field.objects(stated, found), found)

    def texts(self, rows: list[Any]) -> Iterator[str]:
        """All texts in some structures, but for those in arrays of scalars."""
        for key, field in self.fields.items():
            column = map(self._getters[key], rows)
            if field.shape:
                yield from field.shape.texts(field.objects(column, _Found()))
            else:
                yield from (each for each in column if type(each) is str)


class _Field:
    """What is expected under a key: an object, an array of scalars (`array`), an array of `objects`, or anything."""

    def __init__(self) -> None:
        self.kind = "any"
        self.shape: _Shape | None = None
        self.seen, self.is_nullable = 0, False
        self._is_open = True  # nothing stood there so far

    def learn(self, value: Any) -> None:
        self.seen += 1
        if value is None:
            self.is_nullable = True
            return
        kind = _KINDS.get(type(value), "any")
        if kind == "array":
            kinds = set(map(type, value))
            kind = "objects" if kinds == {dict} else "any" if kinds & {dict, list} else "array"
            if not kinds and (self._is_open or self.kind == "objects"):
                self.kind = "objects" if self.shape else "array"
                return
        if self._is_open and kind in ("object", "objects"):
            self.shape = _Shape()
        elif not self._is_open and kind != self.kind:
            kind, self.shape = "any", None
        self.kind, self._is_open = kind, False
        if self.shape:
            for each in [value] if kind == "object" else value:
                self.shape.learn(each)

    def type(self) -> Any:
        if self.kind == "array":
            return msgspec.Raw
        if self.shape is None:
            return Any
        structure: Any = self.shape.structure()
        kind: Any = structure if self.kind == "object" else list[structure]
        return Optional[kind] if self.is_nullable else kind

    def objects(self, column: Iterable[Any], found: _Found) -> list[Any]:
        """The structures in a column of `shape`; their arrays are `found`."""
        stated = [each for each in column if each is not ABSENT and each is not None]
        if self.kind == "object":
            return stated
        found.brackets += len(stated)
        return list(chain.from_iterable(stated))


_KINDS: dict[type, str] = {dict: "object", list: "array"}


class _Found:
    """What is in decoded structures: pairs, arrays of objects, and other arrays, however deep."""

    def __init__(self) -> None:
        self.pairs, self.brackets = 0, 0
        self.arrays: list[msgspec.Raw] = []

    def are_arrays_plain(self) -> bool:
        """Whether all arrays of scalars are that, and have no texts."""
        for raw in self.arrays:
            written = bytes(raw)
            if b'"' in written or b"{" in written or written.count(b"[") > 1:
                return False
            self.brackets += written.startswith(b"[")
        return True

    def is_all_of(self, data: bytes, texts: Callable[[], Iterable[str]]) -> bool:
        """Whether nothing else is in `data`: no key that stands twice, no array in an array. Every colon is behind a key or
        in one of the `texts` then, every opening bracket an array's or in a text."""
        colons, brackets = count_of(b":", data) - self.pairs, count_of(b"[", data) - self.brackets
        if colons == 0 and brackets == 0:
            return True
        if b"\\u003" in data or b"\\u005" in data:  # a mark may be written by its number
            return False
        for text in texts():
            colons -= text.count(":")
            brackets -= text.count("[")
        return colons == 0 and brackets == 0

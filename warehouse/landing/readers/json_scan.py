"""JSON records that are plain beyond doubt, many at a time: scanned by compiled code (`native/`), read by columns, without an
object for each value.

Plain is standard JSON that all readers take for the same: see `native/tape.h`. Of anything else nothing is said here; who asks
goes on with care, value by value, and comes to the same rows.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path as FilePath
from typing import Any, Final, NamedTuple, overload

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.landing.readers import columns
from warehouse.landing.readers.json_records import ABSENT, Elements, Ends, Path, Records
from warehouse.landing.readers.numbers_at import Bools, Floats, Ints, floats_at, parts_of

_ABSENT, _NULL, _TRUE, _FALSE, _INTEGER, _FLOAT = range(6)  # of `kind` in native/tape.h
_LIBRARY = "_json_scan.so"
_VERSION = 1  # SCAN_VERSION of native/columns.c
_ALL_SAME = 2  # of scan_column
_EXACT = 2**53  # integers that a double holds


class _Path(Structure):
    """`path` of native/columns.c."""

    _fields_ = (("keys", c_char_p), ("sizes", POINTER(c_size_t)), ("depth", c_size_t))


_COLUMN: Final = [c_void_p, POINTER(_Path)]
_SIGNATURES: Final[dict[str, tuple[Any, list[Any]]]] = {
    "scan_version": (c_int, []),
    "scan_elements": (c_void_p, [c_void_p, c_size_t]),
    "scan_lines": (c_void_p, [c_void_p, c_size_t, c_void_p, c_void_p, c_size_t]),
    "scan_free": (None, [c_void_p]),
    "scan_count": (c_size_t, [c_void_p]),
    "scan_is_odd": (c_bool, [c_void_p]),
    "scan_are_objects": (c_bool, [c_void_p]),
    "scan_places": (None, [c_void_p] * 3),
    "scan_column": (c_int, [*_COLUMN, *[c_void_p] * 3]),
    "scan_numbers": (c_bool, [*_COLUMN, *[c_void_p] * 4]),
    "scan_lengths": (c_bool, [*_COLUMN, c_void_p]),
    "scan_parts": (None, [*_COLUMN, *[c_void_p] * 2]),
    "scan_ends": (c_bool, [*_COLUMN, *[c_void_p] * 5]),
}


def _loaded() -> ctypes.CDLL:
    try:
        native = ctypes.CDLL(str(FilePath(__file__).with_name(_LIBRARY)))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(native, name)
            function.restype, function.argtypes = result, arguments
        if native.scan_version() != _VERSION:
            raise OSError(f"{_LIBRARY} is of another version")
    except (OSError, AttributeError) as error:
        raise ImportError(f"{error}: it is built when the package is installed (pip install)") from error
    return native


_native = _loaded()


class Found(NamedTuple):
    """The elements that were scanned, None where the first is not plain or not whole; and whether what follows is not plain."""

    elements: Elements | None
    is_odd: bool


class _Part:
    """A part of some bytes, which are kept as long as it is."""

    def __init__(self, data: bytes, start: int, stop: int) -> None:
        self._data, self._start = data, start
        self._text = np.frombuffer(data, np.uint8)[start:stop]
        self.size, self.address = len(self._text), self._text.ctypes.data

    def floats(self, starts: Ints, stops: Ints) -> Floats:
        """The numbers at some places in it."""
        return floats_at(self._text, starts, stops).copy()

    def between(self, start: int, stop: int) -> bytes:
        """The bytes of one place in it."""
        return self._data[start + self._start : stop + self._start]

    def written(self, starts: Ints, stops: Ints) -> list[bytes]:
        """The bytes of some places in it."""
        return parts_of(self._data, starts + self._start, stops + self._start)


class _Array(Sequence[Any]):
    """The elements of an array, each decoded when it is asked for: those from `first` to `end` of many, from `starts` to `stops`."""

    def __init__(self, part: _Part, starts: memoryview, stops: memoryview, first: int, end: int) -> None:
        self._part, self._starts, self._stops, self._first, self._end = part, starts, stops, first, end

    def __len__(self) -> int:
        return self._end - self._first

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + (self._first if index >= 0 else self._end)
        if not self._first <= place < self._end:
            raise IndexError(index)
        return msgspec.json.decode(self._part.between(self._starts[place], self._stops[place]))


class Scanned(Records):
    """Records of a document of which a scan knows the places of all values."""

    def __init__(self, part: "_Part", handle: int) -> None:
        self._part, self._handle = part, handle
        self._count: int = _native.scan_count(handle)
        self._are_objects: bool = _native.scan_are_objects(handle)

    def __del__(self) -> None:
        _native.scan_free(self._handle)

    def __len__(self) -> int:
        return self._count

    def places(self) -> tuple[Ints, Ints]:
        """Where each begins and ends."""
        starts, stops = self._out(np.int64), self._out(np.int64)
        _native.scan_places(self._handle, starts.ctypes.data, stops.ctypes.data)
        return starts, stops

    def values(self) -> list[Any]:
        return _decoded(self._part.written(*self.places()))

    def raw_column(self, path: Path) -> list[Any] | None:
        if not self._are_objects:
            return None
        kinds, starts, stops, are_same = self._column(path)
        if are_same:
            [written] = self._part.written(starts[:1], stops[:1])
            return [msgspec.json.decode(written) if kinds[0] != _ABSENT else ABSENT] * len(self)
        is_there = kinds != _ABSENT
        found = _decoded(self._part.written(starts[is_there], stops[is_there]))
        if len(found) == len(self):
            return found
        stated = iter(found)
        return [next(stated) if is_one else ABSENT for is_one in is_there.tolist()]

    def has(self, *path: str) -> Bools:
        return self._column(path)[0] != _ABSENT if self._are_objects else np.zeros(0, np.bool_)

    def stated(self, *path: str) -> Bools:
        return self._column(path)[0] > _NULL if self._are_objects else np.zeros(0, np.bool_)

    def numbers(self, *path: str) -> Floats | None:
        found = self._numbers(path)
        if found is None:
            return None
        kinds, integers, floats = found
        if floats is not None and len(floats) == len(self):
            return floats
        values = np.where(kinds == _INTEGER, integers, np.nan)
        values[kinds == _FLOAT] = floats
        return values

    def counts(self, *path: str) -> pa.Array | None:
        found = self._numbers(path)
        if found is None:
            return None
        kinds, integers, floats = found
        if floats is not None:
            if not ((floats == np.floor(floats)) & (np.abs(floats) < _EXACT)).all():
                return None
            integers[kinds == _FLOAT] = floats
        is_stated = kinds > _NULL
        return pa.array(integers, mask=None if is_stated.all() else ~is_stated)

    def _numbers(self, path: Path) -> tuple[NDArray[np.uint8], Ints, Floats | None] | None:
        """The kinds of what is at a path, the integers in their rows, and the floats, if there are some; None where there is
        something else."""
        kinds = self._out(np.uint8)
        integers, starts, stops = (self._out(np.int64) for _ in range(3))
        if not self._filled("scan_numbers", path, kinds, integers, starts, stops):
            return None
        is_float = kinds == _FLOAT
        if is_float.all():
            return kinds, integers, self._part.floats(starts, stops)
        return kinds, integers, self._part.floats(starts[is_float], stops[is_float]) if is_float.any() else None

    def texts(self, *path: str) -> list[str | None] | None:
        if self._are_objects and len(self) > 1:
            kinds, starts, stops, are_same = self._column(path)
            if are_same and kinds[0] != _ABSENT:
                found = columns.texts(_decoded(self._part.written(starts[:1], stops[:1])))
                return found and found * len(self)
        return super().texts(*path)

    def ends(self, *path: str) -> Ends | None:
        first, first_stop, last, last_stop, counts = (self._out(np.int64) for _ in range(5))
        if not self._filled("scan_ends", path, first, first_stop, last, last_stop, counts):
            return None
        some = counts > 0
        ends = np.full((2, len(self)), np.nan)
        ends[0, some] = self._part.floats(first[some], first_stop[some])
        ends[1, some] = self._part.floats(last[some], last_stop[some])
        return Ends(ends[0], ends[1], counts)

    def arrays(self, *path: str) -> list[Sequence[Any]] | None:
        lengths = self._out(np.int64)
        if not self._filled("scan_lengths", path, lengths):
            return None
        ends = np.cumsum(lengths)
        starts, stops = np.empty(ends[-1], np.int64), np.empty(ends[-1], np.int64)
        self._filled("scan_parts", path, starts, stops)
        bounds = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        return [_Array(self._part, starts.data, stops.data, first, end) for first, end in bounds]

    def _column(self, path: Path) -> tuple[NDArray[np.uint8], Ints, Ints, bool]:
        kinds, starts, stops = self._out(np.uint8), self._out(np.int64), self._out(np.int64)
        found = self._filled("scan_column", path, kinds, starts, stops)
        if not found:
            raise ValueError(f"a path of {len(path)} keys")
        return kinds, starts, stops, found == _ALL_SAME

    def _filled(self, function: str, path: Path, *columns: NDArray[Any]) -> int:
        """What a function says of the objects, and the columns that it fills; 0 where not all are objects."""
        if not self._are_objects:
            return 0
        keys = [key.encode(errors="surrogatepass") for key in path]
        wanted = _Path(b"".join(keys), (c_size_t * len(keys))(*map(len, keys)), len(keys))
        found: int = getattr(_native, function)(self._handle, byref(wanted), *(column.ctypes.data for column in columns))
        return found

    def _out(self, kind: type[np.generic]) -> NDArray[Any]:
        return np.empty(len(self), kind)


def _decoded(written: list[bytes]) -> list[Any]:
    found: list[Any] = msgspec.json.decode(b"[%b]" % b",".join(written))
    return found


def elements(data: bytes, start: int, size: int, offset: int) -> Found:
    """The elements of an array that begin at `start`, as far as they are whole and plain in the next `size` bytes of `data`, which is
    UTF-8; `offset` is where the first one is in the document."""
    part = _Part(data, start, start + size)
    handle = _native.scan_elements(part.address, part.size)
    if not handle:
        raise MemoryError
    records, is_odd = Scanned(part, handle), _native.scan_is_odd(handle)
    starts, stops = records.places()
    return Found(Elements(starts + offset, stops - starts, records) if len(records) else None, is_odd)


def line_records(data: bytes, starts: Ints, stops: Ints) -> Scanned | None:
    """The values of JSON lines, from `starts` to `stops`; None where one of them is not plain, or `data` is no UTF-8."""
    if not _is_utf8(data):
        return None
    part = _Part(data, 0, len(data))
    starts, stops = np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(stops, np.int64)
    handle = _native.scan_lines(part.address, part.size, starts.ctypes.data, stops.ctypes.data, len(starts))
    return Scanned(part, handle) if handle else None


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False

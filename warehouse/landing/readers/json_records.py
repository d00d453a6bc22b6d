"""JSON objects, many at a time, as columns by key; however they were read, the columns are the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.landing.readers import columns

ABSENT: Final = msgspec.UNSET  # in a raw column: the key is not there
Path = tuple[str, ...]  # of keys, from a record to what stands in it


@dataclass(frozen=True)
class Elements:
    """Elements of an array that follow one another: offsets and lengths in bytes, and what they are. Iterating gives offset,
    length and value of each."""

    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    records: "Records"

    def __iter__(self) -> Iterator[tuple[int, int, Any]]:
        return zip(self.offsets.tolist(), self.lengths.tolist(), self.records.values(), strict=True)

    @property
    def stop(self) -> int:
        """The byte after the last one."""
        return int(self.offsets[-1] + self.lengths[-1])


class Ends(NamedTuple):
    """Of arrays of numbers, the first and the last, NaN where there is none, and how many there are."""

    first: NDArray[np.float64]
    last: NDArray[np.float64]
    counts: NDArray[np.int64]


class Records(ABC):
    """Values that follow one another in a document."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def values(self) -> list[Any]:
        """All of them, decoded."""

    @abstractmethod
    def raw_column(self, path: Path) -> list[Any] | None:
        """As `column`, with `ABSENT` where the key is not there."""

    def column(self, *path: str) -> list[Any] | None:
        """What each object states at a path of keys, None where it states nothing; None where not all are objects."""
        found = self.raw_column(path)
        if found is None or ABSENT not in found:
            return found
        return [None if value is ABSENT else value for value in found]

    def has(self, *path: str) -> NDArray[np.bool_]:
        """Whether each has the key at the end of a path, whatever stands there; of nothing, where not all are objects."""
        return np.array([value is not ABSENT for value in self.raw_column(path) or ()], np.bool_)

    def stated(self, *path: str) -> NDArray[np.bool_]:
        """Whether each has something else than null there; of nothing, where not all are objects."""
        return np.array([value is not None for value in self.column(*path) or ()], np.bool_)

    def numbers(self, *path: str) -> NDArray[np.float64] | None:
        """`columns.numbers` of a column."""
        return columns.numbers(self.column(*path))

    def counts(self, *path: str) -> pa.Array | None:
        """`columns.counts` of a column; of floats that are whole, too, where that is as quick."""
        return columns.counts(self.column(*path))

    def texts(self, *path: str) -> list[str | None] | None:
        """`columns.texts` of a column."""
        return columns.texts(self.column(*path))

    def ends(self, *path: str) -> Ends | None:
        """The ends of the arrays of numbers at a path; None where something else is there, or that is not known."""
        return None

    def arrays(self, *path: str) -> list[Sequence[Any]] | None:
        """The elements of the arrays at a path, which may be decoded when they are asked for; None where one is no array."""
        found = self.column(*path)
        return None if found is None or any(not isinstance(value, list) for value in found) else found


class Decoded(Records):
    """Records that are decoded as they are."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values
        self._columns: dict[Path, list[Any]] = {(): values}
        self._are_objects = set(map(type, values)) <= {dict}

    def __len__(self) -> int:
        return len(self._values)

    def values(self) -> list[Any]:
        return self._values

    def raw_column(self, path: Path) -> list[Any] | None:
        if not self._are_objects:
            return None
        for depth, key in enumerate(path, 1):
            if path[:depth] not in self._columns:
                above = self._columns[path[: depth - 1]]
                self._columns[path[:depth]] = [value.get(key, ABSENT) if type(value) is dict else ABSENT for value in above]
        return self._columns[path]

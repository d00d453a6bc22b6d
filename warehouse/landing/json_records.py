"""JSON objects, many at a time, as columns by key; however they were read, the columns are the same."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.landing import columns

ABSENT: Final = msgspec.UNSET  # in a raw column: the key is not there
Path = tuple[str, ...]  # of keys, from a record to what stands in it


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

    def has(self, *path: str) -> list[bool]:
        """Whether each has the key at the end of a path, whatever stands there."""
        return [value is not ABSENT for value in self.raw_column(path) or ()]

    def numbers(self, *path: str) -> NDArray[np.float64] | None:
        """`columns.numbers` of a column."""
        return columns.numbers(self.column(*path))

    def counts(self, *path: str) -> pa.Array | None:
        """`columns.counts` of a column; of floats that are whole, too, where that is as quick."""
        return columns.counts(self.column(*path))

    def texts(self, *path: str) -> list[str | None] | None:
        """`columns.texts` of a column."""
        return columns.texts(self.column(*path))


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


class Mixed(Records):
    """Records of which some were read in one way and some in another: `order` has, for each, its place in the parts one after
    the other."""

    def __init__(self, parts: Sequence[Records], order: NDArray[np.int64]) -> None:
        self._parts, self._order = parts, order

    def __len__(self) -> int:
        return len(self._order)

    def values(self) -> list[Any]:
        return self._ordered([part.values() for part in self._parts])

    def raw_column(self, path: Path) -> list[Any] | None:
        found = [part.raw_column(path) for part in self._parts]
        return None if any(part is None for part in found) else self._ordered(found)

    def numbers(self, *path: str) -> NDArray[np.float64] | None:
        found = [part.numbers(*path) for part in self._parts]
        stated = [part for part in found if part is not None]
        return np.concatenate(stated)[self._order] if len(stated) == len(found) else None

    def counts(self, *path: str) -> pa.Array | None:
        found = [part.counts(*path) for part in self._parts]
        return None if any(part is None for part in found) else pa.concat_arrays(found).take(pa.array(self._order))

    def texts(self, *path: str) -> list[str | None] | None:
        found = [part.texts(*path) for part in self._parts]
        return None if any(part is None for part in found) else self._ordered(found)

    def _ordered(self, parts: list[Any]) -> list[Any]:
        found = [value for part in parts for value in part]
        return [found[place] for place in self._order.tolist()]

"""A bounded memory of what was made: the last used stays. What several threads ask for at once is made once, and the others wait."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class Kept(Generic[T]):
    """Keeps values up to `most` in all, each of the size that `size` says: 1 each, if it says nothing else."""

    most: int
    size: Callable[[T], int] = lambda value: 1
    _values: OrderedDict[str, T] = field(default_factory=OrderedDict)
    _at_work: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _held: int = 0

    def get(self, key: str, make: Callable[[], T]) -> T:
        """The value of a key, made if it is not kept. Raises what `make` raises, and keeps nothing then."""
        with self._lock:
            if (kept := self._found(key)) is not None:
                return kept
            work = self._at_work.setdefault(key, threading.Lock())
        with work:
            with self._lock:
                if (kept := self._found(key)) is not None:
                    return kept
            try:
                value = make()
                with self._lock:
                    self._keep(key, value)
            finally:
                with self._lock:
                    self._at_work.pop(key, None)
        return value

    def _found(self, key: str) -> T | None:
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def _keep(self, key: str, value: T) -> None:
        self._values[key] = value
        self._held += self.size(value)
        while self._held > self.most:
            _, gone = self._values.popitem(last=False)
            self._held -= self.size(gone)

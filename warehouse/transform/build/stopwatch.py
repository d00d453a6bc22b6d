"""Where time goes: seconds by the parts of a piece of work, in the order in which they first began."""

from __future__ import annotations

import time


class Stopwatch:
    """Runs from when it is made. `began` ends the part before; a part that begins again adds to itself."""

    def __init__(self) -> None:
        self._start = self._since = time.monotonic()
        self._part: str | None = None
        self._seconds: dict[str, float] = {}

    def began(self, part: str) -> None:
        now = time.monotonic()
        if self._part is not None:
            self._seconds[self._part] = self._seconds.get(self._part, 0.0) + now - self._since
        self._part, self._since = part, now

    def parts(self) -> dict[str, float]:
        """Seconds by part, the one that runs included."""
        if self._part is not None:
            self.began(self._part)
        return dict(self._seconds)

    def total(self) -> float:
        return time.monotonic() - self._start

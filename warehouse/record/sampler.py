"""A thread that writes what a reading says, as lines of JSON, while a command runs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from io import TextIOBase
from pathlib import Path
from typing import Any


class Sampler:
    """Writes the rows that `read` returns to `path`, at the start, every `interval_s`, and at the end. Never raises: `stop` tells what went wrong."""

    def __init__(self, path: Path, interval_s: float, read: Callable[[], list[dict[str, Any]]]) -> None:
        self._path, self._interval_s, self._read = path, interval_s, read
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: str | None = None

    def start(self) -> None:
        """Read here and now, then go on in the background."""
        due = time.monotonic() + self._interval_s
        try:
            first = self._read()
        except Exception as error:  # a fault in /proc or in a driver must not stop the command from running
            self._error = _described(error)
            return
        self._thread = threading.Thread(target=self._sample, args=(first, due), daemon=True)
        self._thread.start()

    def stop(self) -> str | None:
        """Read a last time and end. The error that stopped sampling early, or None."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        return self._error

    def _sample(self, first: list[dict[str, Any]], due: float) -> None:
        try:
            with open(self._path, "x", encoding="utf-8") as stream:
                _write(stream, first)
                is_last = False
                while not is_last:
                    is_last = self._stopped.wait(max(0, due - time.monotonic()))
                    _write(stream, self._read())
                    due = max(due + self._interval_s, time.monotonic())
        except Exception as error:
            self._error = _described(error)


def _write(stream: TextIOBase, rows: list[dict[str, Any]]) -> None:
    stream.writelines(json.dumps(row) + "\n" for row in rows)
    stream.flush()


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

"""What an unfinished check of a store has reached, noted beside the project, so that an interrupted one begins with the rest.

One JSON line a bundle or batch, after a first one of what is checked. A line that a crash cut short is as if it were not there. The note says
where a check was, never what it found: whatever it names is checked again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.durable import make_folder


class CheckNote:
    """Use as a context: `add` what is done; `finish` removes the note. `earlier` is what an earlier check reached, by key. Where no note can
    be written, as on a full or read-only disk, there is none, and the check goes on without it."""

    def __init__(self, path: Path, scope: Mapping[str, Any], earlier: frozenset[str] = frozenset()) -> None:
        self._path = path
        self.scope = scope
        self.earlier = earlier
        self._stream: TextIO | None = None

    def __enter__(self) -> "CheckNote":
        with suppress(OSError):
            make_folder(self._path.parent)
            self._stream = open(self._path, "a" if self.earlier else "w", encoding="utf-8")
        # After a line that was cut short another begins.
        self._write("" if self.earlier else json.dumps(self.scope))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def add(self, key: str) -> None:
        """Note that a bundle or batch was checked."""
        if key not in self.earlier:
            self._write(json.dumps({"key": key}))

    def finish(self) -> None:
        """The check is done: nothing is to be gone on with."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _write(self, line: str) -> None:
        try:
            if self._stream:
                self._stream.write(f"{line}\n")
                self._stream.flush()  # a kill loses no line
        except OSError:
            self._close()

    def _close(self) -> None:
        with suppress(OSError):  # what could not be written is tried again
            if self._stream:
                self._stream.close()
        self._stream = None


def read_note(path: Path) -> CheckNote:
    """The note of a check that was interrupted. Raises WH127 when there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            scope = json.loads(next(stream))
            earlier = frozenset(filter(None, map(_key, stream)))
        return CheckNote(path, {**scope}, earlier)
    except (OSError, StopIteration, ValueError, TypeError) as error:
        hint = "run wh fsck without --resume"
        raise WarehouseError("WH127", "no check of this project was interrupted", str(path), hint, ExitCode.USAGE) from error


def _key(line: str) -> str | None:
    try:
        return str(json.loads(line)["key"])
    except (ValueError, KeyError, TypeError):
        return None

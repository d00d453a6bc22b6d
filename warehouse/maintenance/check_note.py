"""What an unfinished check of a store has done, noted beside the project, so that an interrupted one goes on.

One JSON line a bundle or batch, after a first one of what is checked. A line that a crash cut short is as if it were not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.durable import make_folder
from warehouse.evidence.finding import Finding


class CheckNote:
    """Use as a context: `add` what is done; `finish` removes the note. `done` is what an earlier check found, by key. Where no note can
    be written, as on a full or read-only disk, there is none, and the check goes on without it."""

    def __init__(self, path: Path, scope: Mapping[str, Any], done: Mapping[str, tuple[Finding, ...]]) -> None:
        self._path = path
        self.scope = scope
        self.done = done
        self._stream: TextIO | None = None

    def __enter__(self) -> "CheckNote":
        with suppress(OSError):
            make_folder(self._path.parent)
            self._stream = open(self._path, "a" if self.done else "w", encoding="utf-8")
        # After a line that was cut short another begins.
        self._write("" if self.done else json.dumps(self.scope))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def add(self, key: str, findings: tuple[Finding, ...]) -> None:
        """Note what was found of a bundle or batch."""
        self._write(json.dumps({"key": key, "findings": [asdict(finding) for finding in findings]}))

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
            done = dict(filter(None, map(_line, stream)))
        return CheckNote(path, {**scope}, done)
    except (OSError, StopIteration, ValueError, TypeError) as error:
        hint = "run wh fsck without --resume"
        raise WarehouseError("WH127", "no check of this project was interrupted", str(path), hint, ExitCode.USAGE) from error


def _line(line: str) -> tuple[str, tuple[Finding, ...]] | None:
    try:
        document = json.loads(line)
        return document["key"], tuple(Finding(**finding) for finding in document["findings"])
    except (ValueError, KeyError, TypeError):
        return None

"""The lines of a log that hold the marker, in blocks of some thousand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.readers.text import Data, Report, pieces

MARKER = b":::MLLOG"
_FIELD = b'"event_type":'  # every line that mlperf_logging writes has it
# Blanks and a terminal's colours (ECMA-48, 8.3.117) in a reversed line: each byte is looked at once, however many there are.
_BEHIND = re.compile(rb"(?:\s|m[0-9;]*+\[\x1b)*+")
_MAY_END_BEHIND = frozenset(b" \t\n\v\f\rm")


class Marked(NamedTuple):
    """Marked lines: where each marker is in the file, the line numbers, and the bytes after the marker."""

    offsets: list[int]
    numbers: list[int]
    documents: list[bytes]

    def length(self, row: int) -> int:
        """Bytes from the marker to the end of the line's text."""
        return len(MARKER) + len(self.documents[row])


def marked_lines(data: Data, report: Report) -> Iterator[Marked]:
    """The marked lines of a log, without trailing blanks and colours. Lines of mlperf_logging whose marker is damaged are
    reported, and so are lines that are too long."""
    for piece in pieces(data, report):
        offsets, numbers, documents = [], [], []
        offset = piece.offset
        for number, line in enumerate(piece.data.split(b"\n"), piece.number):
            at = line.find(MARKER)
            if at and _FIELD in (line[:at] if at > 0 else line):
                report("unmarked-log-line", "a log line without its :::MLLOG", offset, len(line), number, "error")
            if at >= 0:
                document = line[at + len(MARKER) :]
                if document and document[-1] in _MAY_END_BEHIND:
                    behind = _BEHIND.match(document[::-1])
                    assert behind
                    document = document[: len(document) - behind.end()]
                offsets.append(offset + at)
                numbers.append(number)
                documents.append(document)
            offset += len(line) + 1
        yield Marked(offsets, numbers, documents)

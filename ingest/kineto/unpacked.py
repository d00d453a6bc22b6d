"""Packed traces: their first bytes, and all of a trace as a map of a temporary file, within bounds that no real trace reaches."""

from __future__ import annotations

import mmap
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from warehouse.landing.readers.text import Data, Report

MAX_BYTES = 16 << 30  # of a trace, unpacked
MAX_RATIO = 200  # of unpacked to packed bytes; real traces have 10 to 25
_FREE_BYTES = 64 << 20  # that may be unpacked at any ratio
_MAGIC = b"\x1f\x8b"
_PIECE_BYTES = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS


def is_packed(data: Data) -> bool:
    return data[:2] == _MAGIC


def head(data: bytes, limit: int) -> bytes:
    """The first bytes of a trace, given the first bytes of its file."""
    if not is_packed(data):
        return data[:limit]
    try:
        return zlib.decompressobj(_GZIP).decompress(data, limit)
    except zlib.error:
        return b""


@contextmanager
def opened(data: Data, report: Report) -> Iterator[Data | None]:
    """All bytes of a trace; None, and an issue, where they cannot be unpacked. Of a file that is cut, what there is."""
    if not is_packed(data):
        yield data
        return
    with tempfile.TemporaryFile() as file:
        fault, size = None, 0
        try:
            for piece in _pieces(data):
                size += len(piece)
                if size > min(MAX_BYTES, max(_FREE_BYTES, MAX_RATIO * len(data))):
                    fault = f"unpacks to more than {MAX_RATIO} times its size, or {MAX_BYTES} bytes"
                    break
                file.write(piece)
        except (zlib.error, EOFError) as error:
            fault = f"cannot be unpacked: {error}"
        if fault is not None:
            report("malformed-gzip", fault, severity="error")
        if fault is not None or not size:
            yield None
            return
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            yield mapped


def _pieces(data: Data) -> Iterator[bytes]:
    """What a gzip file of one or several members holds. Raises `EOFError` where it ends in the middle of one."""
    unpacker, place = zlib.decompressobj(_GZIP), 0
    while place < len(data):
        packed = bytes(data[place : place + _PIECE_BYTES])
        place += len(packed)
        while packed:
            yield unpacker.decompress(packed, _PIECE_BYTES)
            packed = unpacker.unconsumed_tail
            if unpacker.eof:
                packed = unpacker.unused_data.lstrip(b"\0")  # tar and some disks fill up the last block
                unpacker = zlib.decompressobj(_GZIP)
                if not packed and not bytes(data[place : place + 1]).strip(b"\0"):
                    return
    if not unpacker.eof:
        raise EOFError("it ends too early")


class PackedReport(Report):
    """Issues of a packed trace. Their places are in the unpacked text, which has no place in the file: the message says them."""

    def __call__(
        self, code: str, message: str, offset: int = 0, length: int = 0, line_number: int | None = None, severity: str = "warning",
    ) -> None:
        super().__call__(code, f"{message} (byte {offset} of the unpacked text)", 0, 0, line_number, severity)

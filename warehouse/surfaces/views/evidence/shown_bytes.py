"""Bytes of evidence as parts of a page: text where they are text, hex where they are not. Evidence is data: it is shown and never interpreted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warehouse.claims.numbers.lineage import RawFile
from warehouse.claims.numbers.raw_bytes import OpenedFile, Window
from warehouse.errors import printable
from warehouse.surfaces.parts import Excerpt
from warehouse.surfaces.view import address

FILE = "/evidence/{bundle}/files/{raw_path:path}"
MANIFEST = "/evidence/{bundle}"
_HEX_BYTES = 16  # a line
_SHOWN_BYTES = 480  # of a cited range


def file_address(digest: str, raw_path: str, sha256: str, offset: int | None = None) -> str:
    """Where a raw file is shown, or for the sha256 that is the bundle's own digest, the manifest."""
    return address(MANIFEST, bundle=digest) if sha256 == digest else address(FILE, bundle=digest, raw_path=raw_path, offset=offset)


def excerpts(opened: Sequence[OpenedFile], windows: int = 2) -> Iterator[Excerpt]:
    """The first cited ranges of each file that is whole, with the bytes around them."""
    for each in opened:
        for number, window in enumerate(each.windows[:windows]):
            yield _excerpt(f"bytes_{opened.index(each) + 1}_{number + 1}", each.file, window)


def _excerpt(name: str, file: RawFile, window: Window) -> Excerpt:
    cited = window.data[:_SHOWN_BYTES]
    is_cut = len(cited) < window.length
    after = b"" if is_cut else window.after
    if window.is_text:
        before, shown, rest = (part.decode(errors="replace") for part in (window.before, cited, after))
        shown += "…" if is_cut else ""
    else:
        before, shown, rest = "", hex_lines(cited, window.offset) + ("\n…" if is_cut else ""), ""
    link = file_address(file.artifact_manifest_digest, file.raw_path, file.sha256, window.offset)
    return Excerpt(name, printable(file.raw_path), window.offset, window.length, before, shown, rest, link)


def hex_lines(data: bytes, offset: int) -> str:
    """Bytes as hex, 16 a line, each with the offset of its first byte, and beside them what of them is printable ASCII."""
    lines = []
    for place in range(0, len(data), _HEX_BYTES):
        part = data[place : place + _HEX_BYTES]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{offset + place:>10}  {part.hex(' '):<{_HEX_BYTES * 3}} {text}")
    return "\n".join(lines)


def text_of(data: bytes, *, is_forced: bool) -> str | None:
    """Bytes of a file as text, but for a character that is cut at an end; None where they are not UTF-8 or have a NUL, unless it
    `is_forced`: then what is not UTF-8 is shown as such."""
    start = next((place for place, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
    if is_forced:
        return data.decode(errors="backslashreplace")
    try:
        found = data[start:].decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return None
        found = data[start : start + error.start].decode()
    return None if "\0" in found else found

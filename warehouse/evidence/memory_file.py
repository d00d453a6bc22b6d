"""Files of what was worked out before, beside the builds. A file that is damaged, or was written for something else, is as if it were not
there; so is a folder that cannot be written to.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from warehouse.digest import bytes_digest
from warehouse.evidence.durable import replace_durably


def read_memory_file(path: Path, key: str) -> bytes | None:
    """What was written for a key (one line), whole; else None."""
    try:
        head, _, text = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    # The key first: a file that is of another one need not be hashed.
    return text if head.endswith(f" {key}".encode()) and head == _head(key, text) else None


def write_memory_file(path: Path, key: str, text: bytes) -> None:
    if path.parent.is_dir():
        with suppress(OSError):
            replace_durably(path, _head(key, text) + b"\n" + text)


def _head(key: str, text: bytes) -> bytes:
    return f"{bytes_digest(text)} {key}".encode()

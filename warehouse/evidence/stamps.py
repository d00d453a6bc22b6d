"""Stamps of files and folders: what the file system says of them (size, times, inode), as in git's index. Another stamp: maybe other content.
Of a folder: maybe other names.
"""

from __future__ import annotations

import os
import time

# FAT keeps times to two seconds; nothing in use is coarser.
_RACY_NS = 2_000_000_000


def stamp_of(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def telling_stamp(status: os.stat_result) -> str:
    """The same; empty while a write in the same tick of the clock would leave it the same."""
    is_recent = max(status.st_mtime_ns, status.st_ctime_ns) > time.time_ns() - _RACY_NS
    return "" if is_recent else stamp_of(status)

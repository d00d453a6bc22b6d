"""An indicator of the disk under the working folder: a file written in blocks and synced, read again, and small appends that are synced one by one.

The system is asked to drop the file from its cache before it is read; where it does not (a RAM disk), the reads are from memory.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from typing import Any


def measure(mib: int, block_kib: int, appends: int) -> dict[str, Any]:
    """The indicator's document."""
    block = os.urandom(block_kib << 10)
    blocks = (mib << 10) // block_kib
    with tempfile.TemporaryFile(dir=".", buffering=0) as file:
        started_ns = time.perf_counter_ns()
        for _ in range(blocks):
            file.write(block)
        os.fsync(file.fileno())
        written_s = (time.perf_counter_ns() - started_ns) / 1e9
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.seek(0)
        started_ns = time.perf_counter_ns()
        read = 0
        while found := file.read(len(block)):
            read += len(found)
        read_s = (time.perf_counter_ns() - started_ns) / 1e9
        if read != blocks * len(block):
            raise ValueError("the file was not read whole")
        synced_ms = []
        for _ in range(appends):
            started_ns = time.perf_counter_ns()
            file.write(block[:4096])
            os.fsync(file.fileno())
            synced_ms.append((time.perf_counter_ns() - started_ns) / 1e6)
    return {
        "name": "DiskThroughput", "component": "disk", "@parameters": {"mib": mib, "block_kib": block_kib, "appends": appends},
        "@result": {
            "write_mib_per_s": (read >> 20) / written_s, "read_mib_per_s": (read >> 20) / read_s, "synced_append_ms": statistics.median(synced_ms),
        },
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("mib", 256), ("block-kib", 1024), ("appends", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    print(json.dumps(measure(**vars(parser.parse_args()))))

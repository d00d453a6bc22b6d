"""A performance indicator for what feeds an accelerator, on a machine that has none: each step prepares a batch, does the host's part of the
work, and waits for a device that takes DEVICE_S (a sleep).

The environment variable INPUT says where the batches come from. `cached`: from a mapped file, which the page cache holds. `process`: from the same
file, and the process itself prepares each batch. `disk`: from a larger file, past the page cache. The host's part is the same in each case, so a
difference is the input's, or that of something beside the command.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mmap
import os
import statistics
import time
import zlib
from collections.abc import Callable
from pathlib import Path

DEVICE_S = 0.008
BATCH_BYTES = 1 << 20
CACHED_BYTES, STORED_BYTES = 24 << 20, 512 << 20
DISK_BATCH_BYTES = 8 << 20
HOST_PASSES = 6  # over a batch
PREPARED_BYTES = 320 << 10  # of a batch: to compress that takes some 15 ms


def stored(folder: Path, size: int) -> Path:
    """A file of random bytes; made if it is not there."""
    path = folder / f"batches-{size >> 20}.bin"
    if not path.exists() or path.stat().st_size != size:
        with open(path, "wb") as stream:
            for _ in range(size >> 20):
                stream.write(os.urandom(1 << 20))
            os.fsync(stream.fileno())
    return path


def batches(source: str, folder: Path) -> Callable[[int], bytes]:
    """A function that returns the batch of a step."""
    if source == "disk":
        opened = os.open(stored(folder, STORED_BYTES), os.O_RDONLY)

        def read(step: int) -> bytes:
            os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
            return os.pread(opened, DISK_BATCH_BYTES, step * DISK_BATCH_BYTES % STORED_BYTES)[:BATCH_BYTES]

        return read
    opened = os.open(stored(folder, CACHED_BYTES), os.O_RDONLY)
    os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)  # so that the page cache that this process fills is its own cgroup's
    mapped = mmap.mmap(opened, CACHED_BYTES, prot=mmap.PROT_READ)
    mapped.madvise(mmap.MADV_RANDOM)

    def slice_of(step: int) -> bytes:
        batch = mapped[step * BATCH_BYTES % CACHED_BYTES : step * BATCH_BYTES % CACHED_BYTES + BATCH_BYTES]
        if source == "process":
            zlib.compress(batch[:PREPARED_BYTES], 6)
        return batch

    return slice_of


def measure(seconds: float, folder: Path) -> dict[str, object]:
    """The indicator document: the median over steps, and steps in all of the time."""
    batch = batches(os.environ.get("INPUT", "cached"), folder)

    def step(number: int) -> float:
        began = time.perf_counter()
        data = batch(number)
        for _ in range(HOST_PASSES):
            hashlib.sha1(data).digest()
        time.sleep(DEVICE_S)  # the device: it works, and the host waits
        return (time.perf_counter() - began) * 1000

    for warmup in range(CACHED_BYTES // BATCH_BYTES):
        step(warmup)
    elapsed_ms: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        elapsed_ms.append(step(len(elapsed_ms)))
    return {
        "name": "FedStep",
        "component": "host",
        "@parameters": {"device_s": DEVICE_S, "batch_bytes": BATCH_BYTES, "seconds": seconds},
        "@result": {"elapsed_ms": statistics.fmean(elapsed_ms), "steps_per_s": 1000 / statistics.fmean(elapsed_ms)},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--folder", type=Path, default=Path("."), help="of the stored batches")
    print(json.dumps(measure(**vars(parser.parse_args()))))

"""An indicator of memory bandwidth: one thread copies a block that is larger than the caches. Bytes read and bytes written both count."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any


def measure(mib: int, repetitions: int) -> dict[str, Any]:
    """The indicator's document."""
    size = mib << 20
    source, target = memoryview(bytearray(b"\x5a") * size), memoryview(bytearray(size))
    target[:] = source  # not timed: the first copy maps the pages
    seconds = []
    for _ in range(repetitions):
        started_ns = time.perf_counter_ns()
        target[:] = source
        seconds.append((time.perf_counter_ns() - started_ns) / 1e9)
    elapsed = statistics.median(seconds)
    return {
        "name": "MemoryBandwidth", "component": "memory", "@parameters": {"mib": mib, "repetitions": repetitions},
        "@result": {"copy_ms": elapsed * 1000, "copy_mib_per_s": 2 * mib / elapsed},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--repetitions", type=int, default=15)
    print(json.dumps(measure(**vars(parser.parse_args()))))

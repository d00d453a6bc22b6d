"""Records the training indicator (train.py) in situations with a known cause, with `wh record`'s own recorder, on a machine with an NVIDIA GPU.

Each folder below DESTINATION is one recording, named for its situation: a healthy pair, batches prepared by the training process, batches read
from disk, another process on the GPU, and busy processes on all CPUs. `wh explain` should name that cause first, and none of the healthy pair.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from warehouse.record.command import record

# The input of the training, and what runs beside it.
SITUATIONS = {
    "healthy_1": ("resident", None),
    "own_process_input": ("process", None),
    "disk_input": ("disk", None),
    "gpu_neighbour": ("resident", "gpu"),
    "cpu_neighbours": ("resident", "cpus"),
    "healthy_2": ("resident", None),
}
BUSY_PER_CPU = 4


def _beside(kind: str | None, seconds: float) -> list[list[str]]:
    if kind == "gpu":
        return [[sys.executable, str(HERE / "gemm.py"), "--seconds", str(seconds)]]
    if kind == "cpus":
        return [["sh", "-c", "while :; do :; done"]] * (BUSY_PER_CPU * (os.cpu_count() or 1))
    return []


@contextmanager
def _running(commands: list[list[str]]) -> Iterator[None]:
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in commands]
    try:
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("destination", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=SITUATIONS, default=list(SITUATIONS))
    args = parser.parse_args()
    for name in args.only:
        source, beside = SITUATIONS[name]
        os.environ["INPUT"] = source
        command = [sys.executable, str(HERE / "train.py"), "--seconds", str(args.seconds), "--folder", str(args.destination.parent)]
        with _running(_beside(beside, args.repeats * (args.seconds + 60))):
            for run in record(command, args.destination / name, repeats=args.repeats).runs:
                print(name, run.status, f"{run.wall_s:.1f} s", flush=True)


if __name__ == "__main__":
    main()

"""What a command costs: CPU seconds of its process tree, peak memory and wall time, in the environment of a user."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

_SHOWN_LINES = 3


class CommandFailed(Exception):
    """A measured command that ended badly; the message is the end of its output."""


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a process tree (user and system), the peak memory of its largest process in MB, wall seconds."""

    cpu_s: float
    peak_mb: float
    wall_s: float


def run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end. Raises CommandFailed. The caller should be small: Linux counts its memory into the peak
    of what it starts."""
    # Python's own switches would change what is measured: without bytecode every start compiles all modules again.
    base = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    log = folder / "benchmark.log"
    with log.open("wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env={**base, **(environment or {})},
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        told = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN_LINES:])
        raise CommandFailed(f"{' '.join(command)} ended with {process.returncode}:\n{told}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, wall_s)


def yardstick() -> float:
    """The least CPU seconds of three that Python takes to add three million objects, here and there in memory: how fast this machine is at the
    moment. Work of others slows memory down more than arithmetic."""
    numbers = list(range(3_000_000))
    Random(1).shuffle(numbers)
    taken = []
    for _ in range(3):
        started = time.process_time()
        sum(numbers[number] for number in numbers)
        taken.append(time.process_time() - started)
    return min(taken)


def medians(costs: Iterable[Cost]) -> Cost:
    """The median of each figure; of memory the largest."""
    found = list(costs)
    return Cost(
        median(cost.cpu_s for cost in found), max(cost.peak_mb for cost in found), median(cost.wall_s for cost in found)
    )

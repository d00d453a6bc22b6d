"""What the recorder costs a command that computes: pairs of the same command alone and recorded, in turn.

Printed are the median ratio of the command's own CPU seconds in a pair with its 95 % interval, and the CPU seconds that the recorder itself used a
second of the command's time. CPU seconds, because other work on the machine moves them less than the time on the clock.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from warehouse.record.command import record
from warehouse.statistics.interval import Interval
from warehouse.statistics.means import median_interval

WORK = "import hashlib\nblock = bytes(1 << 16)\nfor _ in range({count}): hashlib.sha256(block).digest()\n"


def _cpu_s(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def _alone(command: list[str]) -> float:
    before = _cpu_s(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    return _cpu_s(resource.RUSAGE_CHILDREN) - before


def _recorded(command: list[str], folder: Path) -> tuple[float, float]:
    """CPU seconds of the command, and those of the recorder a second while it ran: what it describes once, before the first run, is not counted."""
    marks: list[tuple[float, float]] = []

    def mark(run: object) -> None:
        marks.append((_cpu_s(resource.RUSAGE_SELF), time.monotonic()))

    runs = record(command, folder / "recording", repeats=2, on_run=mark).runs
    (own, began), (own_after, ended) = marks
    used = json.loads((runs[1].folder / "run.json").read_text())
    return used["user_cpu_s"] + used["system_cpu_s"], (own_after - own) / (ended - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--blocks", type=int, default=60_000, help="of 64 KiB that are hashed: some seconds")
    args = parser.parse_args()
    command = [sys.executable, "-c", WORK.format(count=args.blocks)]
    ratios, shares = [], []
    for number in range(args.pairs):
        with tempfile.TemporaryDirectory() as folder:
            if number % 2:
                (recorded, share), alone = _recorded(command, Path(folder)), _alone(command)
            else:
                alone, (recorded, share) = _alone(command), _recorded(command, Path(folder))
        ratios.append(recorded / alone)
        shares.append(share)
        print(f"pair {number + 1}: alone {alone:.3f} s, recorded {recorded:.3f} s; the recorder {100 * share:.2f} % of a core", flush=True)
    found = median_interval(ratios)
    interval = f"{found.low:.4f} to {found.high:.4f}" if isinstance(found, Interval) else "no interval: too few pairs"
    print(f"CPU seconds of the command, recorded / alone: {median(ratios):.4f} ({interval})")
    print(f"the recorder: {100 * median(shares):.2f} % of a core")


if __name__ == "__main__":
    main()

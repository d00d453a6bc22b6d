"""How quickly evidence goes into a store, beside what any program must do for the same promise, and in how much memory."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
MIB = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="on the disk to measure (default: the temporary folder's)")
    parser.add_argument("--s3", metavar="URL", help="a bucket to measure too, s3://bucket; its server and keys by the AWS variables")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="of all sizes and counts: 0.01 to try the script")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wh-bench-", dir=args.folder) as scratch:
        figures = Bench(Path(scratch), args.s3, args.runs, args.scale).figures()
    print(json.dumps(figures, indent=1) if args.json else "\n".join(map(_line, figures)))


def _line(figure: dict[str, Any]) -> str:
    values = "  ".join(f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {value}" for name, value in figure.items() if name != "name")
    return f"{figure['name']:44}{values}"


class Bench:
    """All figures, in a scratch folder. In each run the floor is measured right beside ours: others use this machine too."""

    def __init__(self, scratch: Path, s3: str | None, runs: int, scale: float) -> None:
        self._scratch, self._s3, self._runs, self._scale = scratch, s3, runs, scale
        self._number = 0

    def figures(self) -> list[dict[str, Any]]:
        places = ["folder", *(["bucket"] if self._s3 else [])]
        large = self._files("large", 1, int(512 * self._scale) * MIB or MIB)
        small = self._files("small", int(5000 * self._scale), 4096)
        figures = [
            self._large("a file of 512 MiB, folder", large),
            self._small("5,000 files of 4 KiB, folder", small, "folder", "link", 0.7),
        ]
        if self._s3:
            figures.append(self._small("5,000 files of 4 KiB, bucket", small, "bucket", "put", 0.9))
        shutil.rmtree(large)
        huge = self._files("huge", 1, int(2048 * self._scale) * MIB or MIB)
        figures += [self._memory(f"a file of 2 GiB, {place}", huge, place) for place in places]
        shutil.rmtree(huge)
        many = self._files("many", int(50_000 * self._scale), 512)
        return figures + [self._memory(f"50,000 files of 512 bytes, {place}", many, place) for place in places]

    def _large(self, name: str, source: Path) -> dict[str, Any]:
        rounds = []
        for _ in range(self._runs):
            floors = [self._step(step, source, self._new()) for step in ("sha256", "disk")]
            rounds.append((self._step("ingest", source, self._project("folder")), max(floor["seconds"] for floor in floors)))
        mib = sum(path.stat().st_size for path in source.iterdir()) / MIB
        return self._figure(name, rounds, mib, "MiB/s", 0.6)

    def _small(self, name: str, source: Path, place: str, floor: str, target: float) -> dict[str, Any]:
        def floored() -> float:
            there = self._new() if place == "folder" else f"{self._s3}/{Path(self._new()).name}-{self._scratch.name}"
            return self._step(floor, source, there)["seconds"]

        rounds = []
        for _ in range(self._runs):
            # Before and after: a server is slower the more it keeps.
            before, ours = floored(), self._step("ingest", source, self._project(place))
            rounds.append((ours, (before + floored()) / 2))
        return self._figure(name, rounds, sum(1 for _ in source.iterdir()), "files/s", target)

    def _figure(
        self, name: str, rounds: list[tuple[dict[str, float], float]], amount: float, unit: str, target: float
    ) -> dict[str, Any]:
        return {
            "name": name, unit: amount / median(ours["seconds"] for ours, _ in rounds),
            "floor": amount / median(floor for _, floor in rounds),
            "share of the floor": median(floor / ours["seconds"] for ours, floor in rounds), "target": target,
        }

    def _memory(self, name: str, source: Path, place: str) -> dict[str, Any]:
        cost = self._step("ingest", source, self._project(place))
        return {"name": name, "peak MB": cost["peak_mb"], "seconds": cost["seconds"], "target": 300}

    def _step(self, step: str, source: Path, target: str) -> dict[str, float]:
        os.sync()  # what the last step left to write is not this one's
        environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
        done = subprocess.run(
            [sys.executable, HERE / "steps.py", step, source, target], env=environment, check=True, capture_output=True, text=True
        )
        if Path(target).is_relative_to(self._scratch):
            shutil.rmtree(target, ignore_errors=True)
        return dict(json.loads(done.stdout))

    def _project(self, place: str) -> str:
        root = Path(self._new())
        root.mkdir()
        url = ".wh/store" if place == "folder" else f"{self._s3}/{root.name}-{self._scratch.name}"
        (root / "warehouse.toml").write_text(f'[project]\nname = "benchmark"\n[store]\nurl = "{url}"\n')
        return str(root)

    def _new(self) -> str:
        self._number += 1
        return str(self._scratch / f"target-{self._number}")

    def _files(self, name: str, count: int, size: int) -> Path:
        """Files of random bytes, no two alike."""
        folder = self._scratch / name
        folder.mkdir()
        chance = random.Random(name)
        for number in range(max(count, 1)):
            with open(folder / f"{number:05}", "wb") as stream:
                for start in range(0, size, MIB):
                    stream.write(chance.randbytes(min(MIB, size - start)))
        return folder


if __name__ == "__main__":
    main()

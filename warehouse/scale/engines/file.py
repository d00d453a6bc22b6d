"""Tasks in a file, for a scheduler that runs commands: arrays of Slurm, indexed jobs of Kubernetes. `wh task` runs a slice of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import WarehouseError, counted
from warehouse.evidence.durable import replace_durably
from warehouse.scale.task import Place, Result, Task, decoded, encoded
from warehouse.scale.worker import run

_MAKES = "wh build --engine file --address FILE"


@dataclass(frozen=True)
class FileExecutor:
    """Writes tasks into a file and ends the build: the next one finds their receipts (`Executor`)."""

    place: Place
    path: Path

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        lines = [encoded(self.place), *map(encoded, tasks)]
        replace_durably(self.path, b"".join(line + b"\n" for line in lines))
        hint = f"run: wh task {self.path} --index I --of N, for each I from 0 to N-1; then wh build again"
        raise WarehouseError("WH254", f"{counted(len(tasks), 'task waits', 'tasks wait')} to be run", str(self.path), hint)
        yield  # it gives no result


def run_slice(path: Path, index: int, of: int) -> Iterator[tuple[Task, Result]]:
    """Run each task of a file whose number leaves `index` when it is divided by `of`, and give it with its result. Raises WH254 for a file
    that `FileExecutor` has not written."""
    try:
        place, *found = map(decoded, path.read_bytes().splitlines())
        tasks = [task for task in found if isinstance(task, Task)]
        if not isinstance(place, Place) or len(tasks) != len(found):
            raise ValueError("it has other values")
    except (OSError, ValueError) as error:
        raise WarehouseError("WH254", f"it is not a file of tasks: {error}", str(path), f"make one with: {_MAKES}") from error
    for task in tasks[index::of]:
        yield task, run(place, task)

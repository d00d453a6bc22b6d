"""Runs tasks in processes of this machine, one a core. They are spawned: the threads of DuckDB do not survive a fork."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for
from threading import Thread

from warehouse.errors import WarehouseError
from warehouse.scale.task import Place, Receipt, Result, Task, TaskFailed, decoded, encoded
from warehouse.scale.worker import run_encoded

ATTEMPTS = 4  # of a task whose worker died


@dataclass(frozen=True)
class LocalExecutor:
    """Processes of this machine (`Executor`)."""

    place: Place
    processes: int = 0  # 0: one for each core

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        waiting = {task.digest: task for task in tasks}
        deaths: Counter[str] = Counter()
        while waiting:
            for result in self._round(list(waiting.values())):
                waiting.pop(result.task, None)
                yield result
            deaths.update(list(waiting))  # those that were under way are not told apart from those that waited
            if too_often := [digest for digest in waiting if deaths[digest] == ATTEMPTS]:
                raise died(waiting[too_often[0]])

    def _round(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Results of as many tasks as are done before a process dies."""
        count = min(len(tasks), self.processes or len(os.sched_getaffinity(0)))
        with ProcessPoolExecutor(count, get_context("spawn"), _prepare) as pool:
            pending: set[Future[bytes]] = {pool.submit(run_encoded, self.place, encoded(task)) for task in tasks}
            try:
                while pending:
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield result_of(future.result())
            except BrokenProcessPool:
                return
            finally:
                for future in pending:
                    future.cancel()


def result_of(text: bytes) -> Result:
    """What a worker gave back."""
    found = decoded(text)
    assert isinstance(found, Receipt | TaskFailed)
    return found


def died(task: Task) -> WarehouseError:
    """The error of a task whose workers died, each time."""
    return WarehouseError(
        "WH251", f"the process that ran it was killed or ended, {ATTEMPTS} times", task.subject,
        "if memory ran out, use fewer workers on a machine, or smaller parts: scale.part in warehouse.toml",
    )


def _prepare() -> None:
    """In each process, before its first task."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends the others
    Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(2, 1)  # stdout is data: what an ingestor prints is not


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent
    wait_for([parent.sentinel])
    os._exit(1)

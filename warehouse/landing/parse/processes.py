"""Runs parsing tasks in processes of their own. They are spawned: the threads of DuckDB and OpenBLAS do not survive a fork."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread

from warehouse.errors import WarehouseError
from warehouse.landing.parse.batches import batch_name, record_path
from warehouse.landing.parse.task import Outcome, Task, run
from warehouse.landing.registry import Source

_load = cache(Source.load)  # an ingestor's code is the same for all processes


def run_in_processes(tasks: Sequence[Task], processes: int, on_bundle: Callable[[], None]) -> list[Outcome]:
    """The outcome of each task, in their order. Raises what a task raised, and WH124 when a process ends before its task
    does; then the other processes are killed. Finished batches stay."""
    others = set(active_children())
    outcomes: dict[int, Outcome] = {}
    with ProcessPoolExecutor(processes, get_context("spawn"), _prepare) as pool:
        # The largest first: a long task must not begin last.
        order = sorted(range(len(tasks)), key=lambda number: -tasks[number].bytes)
        futures = {pool.submit(_run, tasks[number]): number for number in order}
        try:
            for future in as_completed(futures):
                outcomes[futures[future]] = future.result()
                for _ in tasks[futures[future]].manifests:
                    on_bundle()
        except BaseException as error:
            for process in set(active_children()) - others:
                process.kill()
            if isinstance(error, BrokenProcessPool):
                unfinished = [tasks[number] for number in order if number not in outcomes and not _is_recorded(tasks[number])]
                raise _ended(unfinished[:processes]) from error
            raise
    return [outcomes[number] for number in range(len(tasks))]


def _is_recorded(task: Task) -> bool:
    return record_path(task.store.landing, batch_name(task.family, task.parser, task.manifests)).exists()


def _ended(tasks: Sequence[Task]) -> WarehouseError:
    """`tasks` were under way; which of their processes ended first is not known."""
    return WarehouseError(
        "WH124", "a process that parsed the bundles of one of these batches was killed or ended",
        ", ".join(f"{task.family} {min(task.manifests)[:12]} to {max(task.manifests)[:12]}" for task in tasks),
        "wh build continues with the rest; if memory ran out, use one process: taskset -c 0 wh build",
    )


def _prepare() -> None:
    """In each process, before its first task."""
    import pyarrow as pa

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends the others
    Thread(target=_end_with_parent, daemon=True).start()
    os.dup2(2, 1)  # stdout is data: what an ingestor prints is not
    pa.set_cpu_count(1)  # there are as many processes as cores already
    # Decoded records come by the ten thousand and hold no cycles: to look for some after every 700 took a fifth of the time.
    gc.set_threshold(100_000)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent
    wait([parent.sentinel])
    os._exit(1)


def _run(task: Task) -> Outcome:
    return run(task, _load(task.source) if task.source else None, lambda: None)

"""Runs parsing tasks in processes of their own: forked where this one has no other threads, since DuckDB's and OpenBLAS's do
not survive that; else started afresh (`started`), which takes each as long as parsing 40 MB; and not by `multiprocessing`, which
would run the caller's own script again in each of them.

A task goes to a process as a pickle. Back come None for each bundle that is done, and then the task's outcome, or the
exception that ended it.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from warehouse.errors import WarehouseError
from warehouse.landing.parse.forked import Forked, may_fork
from warehouse.landing.parse.parsing import Outcome, Task, run
from warehouse.landing.registry import Source

_START = "import sys; sys.path[:] = {path!r}; from warehouse.landing.parse.processes import serve_afresh; serve_afresh()"
# A block's arrays are freed and wanted again with the next one: what is freed is kept. To get the same pages from the kernel
# again and again took a fifth of parsing text. Of glibc; others do not know these.
_ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(256 << 20)}
_THREADS = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # there are as many processes as cores already
_FOR_ALL = ("pyarrow.compute", "warehouse.landing.readers.json_stream", "warehouse.landing.parse.writer")  # that every process would import
_Process = subprocess.Popen[bytes] | Forked
_Events = SimpleQueue[tuple[int, Any]]  # the number of a task, and what its process said


def run_in_processes(tasks: Sequence[Task], processes: int, on_bundle: Callable[[], None]) -> list[Outcome]:
    """The outcome of each task, in their order. Raises what a task raised, and WH124 when a process ends before its task
    does; then the others are stopped, too, and the batches that are finished stay."""
    # The largest first: what is long must not begin last.
    waiting = deque(sorted(range(len(tasks)), key=lambda number: -tasks[number].bytes))
    events: _Events = SimpleQueue()
    if may_fork():
        for module in _FOR_ALL:  # so that it is done once
            import_module(module)
    started: list[_Process] = []
    for _ in range(processes):
        started.append(_start(started))
    threads = [Thread(target=_feed, args=(process, tasks, waiting, events), daemon=True) for process in started]
    outcomes: dict[int, Outcome] = {}
    try:
        for thread in threads:
            thread.start()
        while len(outcomes) < len(tasks):
            number, answer = events.get()
            if answer is None:
                on_bundle()
            elif isinstance(answer, Outcome):
                outcomes[number] = answer
            else:
                raise answer
    finally:
        waiting.clear()
        for process in started:
            process.kill()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        for process in started:
            with suppress(OSError), process:  # closes its pipes; what was not sent is nobody's any more
                pass
    return [outcomes[number] for number in range(len(tasks))]


def _start(earlier: Sequence[_Process]) -> _Process:
    environment = {**_ALLOCATOR, **os.environ, **_THREADS}
    if may_fork():
        return Forked(_serve, [process for process in earlier if isinstance(process, Forked)], environment)
    return subprocess.Popen(
        [sys.executable, "-c", _START.format(path=sys.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        process_group=0,  # Ctrl-C is for this process, which stops the others
        env=environment,
    )


def _feed(process: _Process, tasks: Sequence[Task], waiting: deque[int], events: _Events) -> None:
    """Give a process one task after another, and pass on what it says of them."""
    assert process.stdin and process.stdout
    while waiting:
        try:
            number = waiting.popleft()
        except IndexError:  # another thread was quicker
            return
        done = 0
        try:
            pickle.dump(tasks[number], process.stdin)
            process.stdin.flush()
            while (answer := pickle.load(process.stdout)) is None:
                done += 1
                events.put((number, None))
        except (OSError, EOFError, pickle.UnpicklingError):
            answer = _ended(process, tasks[number], done)
        except Exception as error:  # an answer that cannot be read must end the wait for it
            answer = error
        events.put((number, answer))
        if not isinstance(answer, Outcome):
            return


def _ended(process: _Process, task: Task, done: int) -> WarehouseError:
    status = process.wait()
    digests = sorted(task.manifests)
    how = f"killed by signal {-status}" if status < 0 else f"ended with {status}"
    return WarehouseError(
        "WH124", f"the process that parsed it was {how}", f"{task.family} {digests[min(done, len(digests) - 1)][:12]}",
        "wh build goes on with what is not parsed yet; if memory ran out, in one process: taskset -c 0 wh build",
    )


def serve_afresh() -> None:
    """What a process does that was started afresh."""
    _serve(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Run tasks until there are no more."""
    # An ingestor that prints must not be taken for an answer, nor one that asks be given a task.
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    import pyarrow as pa

    pa.set_cpu_count(1)
    # Decoded records come by the ten thousand and hold no cycles: to look for some after every 700 took a fifth of the time.
    gc.set_threshold(100_000)

    # Nobody edits an ingestor for one process only; to load it for each task took as long as a megabyte of it.
    load = cache(Source.load)

    def answer(value: object) -> None:
        pickle.dump(value, answers)
        answers.flush()

    with suppress(EOFError, BrokenPipeError):  # whoever started this process has gone
        while True:
            task = pickle.load(requests)
            try:
                ingestor = load(task.source) if task.source else None
                outcome = run(task, ingestor, lambda: answer(None))
            except BrokenPipeError:
                raise
            except Exception as error:
                # Others may not survive the way.
                answer(error if isinstance(error, WarehouseError | OSError) else RuntimeError(f"{task.family}: {error!r}"))
            else:
                answer(outcome)

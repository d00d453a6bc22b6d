"""A forked process that answers on pipes, with what this one has imported already: a start afresh takes 0.35 s of CPU.

Only where nothing can be lost by it: on Linux, and where this process has no thread but its own. A thread is not there any more
after a fork, but the locks that it held are.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

_OWN_THREADS = frozenset({"jemalloc_bg_thd"})  # pyarrow's; its allocator sees to forks itself
_PR_SET_PDEATHSIG = 1  # of linux/prctl.h
_MALLOPT = {"MALLOC_TRIM_THRESHOLD_": -1, "MALLOC_MMAP_THRESHOLD_": -3}  # glibc's malloc.h


def may_fork() -> bool:
    """Whether a fork of this process is as good as a new one."""
    if sys.platform != "linux":
        return False
    tasks = Path("/proc/self/task")
    try:
        names = [(task / "comm").read_text().strip() for task in tasks.iterdir() if task.name != str(os.getpid())]
    except OSError:
        return False
    return _OWN_THREADS.issuperset(names)


class Forked:
    """A process that runs `serve` with the ends of two pipes to read from and to write to, as a `subprocess.Popen` of which
    the other ends are `stdin` and `stdout`. `earlier` ones' pipes are not for it. `environment` is what the allocator and
    libraries find in theirs."""

    stdin: IO[bytes]
    stdout: IO[bytes]

    def __init__(
        self, serve: Callable[[IO[bytes], IO[bytes]], None], earlier: "Sequence[Forked]", environment: dict[str, str]
    ) -> None:
        requests, into = os.pipe()
        outof, answers = os.pipe()
        self.returncode: int | None = None
        whole = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                _end_with(whole)
                os.setpgid(0, 0)  # Ctrl-C is for the process that was forked, which stops the others
                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, signal.SIG_DFL)
                for own in (into, outof, *(stream.fileno() for other in earlier for stream in (other.stdin, other.stdout))):
                    os.close(own)
                gc.freeze()  # what was there before is nobody's garbage here, and to look at it would copy it
                _set_up(environment)
                serve(os.fdopen(requests, "rb"), os.fdopen(answers, "wb"))
                status = 0
            finally:
                os._exit(status)
        os.close(requests)
        os.close(answers)
        self.stdin, self.stdout = os.fdopen(into, "wb"), os.fdopen(outof, "rb")

    def wait(self) -> int:
        """Its exit code, or the signal that ended it, negative."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def __enter__(self) -> "Forked":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stdout.close()
            self.stdin.close()
        finally:
            self.wait()


def _end_with(forked: int) -> None:
    """Be killed when the process that was forked ends, however it does: the files that it has locked are open here too."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != forked:  # it ended before that
        os._exit(1)


def _set_up(environment: dict[str, str]) -> None:
    os.environ.update(environment)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    for name, option in _MALLOPT.items():
        if mallopt and name in os.environ:
            mallopt(option, int(os.environ[name]))

"""A limit of time for work on what strangers made: its SQL may never end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN_S = 5.0  # until work that went on all the same is stopped again


class _Over(BaseException):
    """The time is over. No Exception: nothing on the way may take it for a fault of its own."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raises TimeoutError once the work has taken so many seconds; None is no limit. In the main thread alone: the clock's signal
    reaches Python code there, and the engine, which asks for signals while a statement runs."""
    if seconds is None:
        yield
        return
    is_over = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal is_over
        is_over = True
        raise _Over

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
        yield
    except _Over:
        pass
    except Exception:  # DuckDB reports the interrupt as a RuntimeError, which its callers may have turned into another error
        if not is_over:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if is_over:
        raise TimeoutError(f"not done after {seconds:g} s")

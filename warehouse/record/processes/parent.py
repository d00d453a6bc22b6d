"""A recorder ends with whoever started it: a command that nobody waits for would disturb the runs that come after it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2)


def end_with_parent() -> None:
    """Take SIGTERM as Ctrl-C, so that a recording ends its command, and have the kernel send it when the parent ends, however it does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it had ended before
        raise KeyboardInterrupt

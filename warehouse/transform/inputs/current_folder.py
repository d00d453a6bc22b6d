"""The current folder of the process while the engine resolves paths: one thread at a time has it.

It is one for all threads of a process. Two that change it at once would read each other's files, or come back to a folder that
is gone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

_HELD = threading.RLock()


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Be in a folder, and back after it; another thread that asks for one waits."""
    with _HELD, chdir(folder):
        yield

"""Processes that tests kill."""

from __future__ import annotations

import signal
import subprocess


def killed_after(process: subprocess.Popen[str], seconds: float) -> bool:
    """Kill a process when it has run that long; whether it still ran."""
    with process:
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return process.returncode == -signal.SIGKILL

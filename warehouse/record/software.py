"""What software a recording ran on: operating system, driver, and the packages of the Python that the command runs.
What cannot be known is None."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from warehouse.record.gpu import cuda_version, gpus

_PYTHON = re.compile(r"(python|pypy)[0-9.]*(\.exe)?")
_TIMEOUT_S = 30
_LONGEST_LINE = 1024  # of a script, the first
# Programs that start the program that their arguments name.
_STARTERS = frozenset(
    ("chrt", "env", "ionice", "ncu", "nice", "nohup", "nsys", "numactl", "perf", "setarch", "stdbuf", "taskset", "time", "timeout", "xvfb-run")
)
_PACKAGES_SCRIPT = """
import importlib.metadata, json, platform
packages = {(d.metadata["Name"], d.version) for d in importlib.metadata.distributions() if d.metadata["Name"]}
print(json.dumps({
    "implementation": platform.python_implementation(),
    "version": platform.python_version(),
    "packages": sorted(f"{name}=={version}" for name, version in packages),
}))
"""


def is_python(program: str) -> bool:
    """Whether a program is a Python interpreter, going by its file name."""
    return _PYTHON.fullmatch(os.path.basename(program)) is not None


def describe_software(command: Sequence[str]) -> dict[str, Any]:
    """The document of `software.json`. `python` is None when no Python interpreter runs the command."""
    release = _os_release()
    drivers = {gpu["driver_version"] for gpu in gpus() or ()}
    return {
        "os_name": release.get("ID"),
        "os_version": release.get("VERSION_ID"),
        "kernel_version": platform.release() or None,
        "nvidia_driver_version": drivers.pop() if len(drivers) == 1 else None,
        "cuda_version": cuda_version(),
        "python": describe_python(interpreter) if (interpreter := interpreter_of(command)) else None,
    }


def interpreter_of(command: Sequence[str]) -> str | None:
    """The Python interpreter that runs a command: it is one, or a script that names one in its first line, as `vllm` and `torchrun` are; after a
    program that only starts another, such as `env` or `numactl`, the first argument that is either. None for any other command."""
    candidates = command if os.path.basename(command[0]) in _STARTERS else command[:1]
    return next((found for each in candidates if (found := each if is_python(each) else _named_in_script(each))), None)


def _named_in_script(program: str) -> str | None:
    """The interpreter in the first line of a program that is a script of Python."""
    path = shutil.which(program)
    try:
        with open(path or "", "rb") as stream:
            line = stream.readline(_LONGEST_LINE).decode(errors="replace")
    except (OSError, ValueError):
        return None
    words = line[2:].split() if line.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words and is_python(words[0]) else None


def describe_python(interpreter: str) -> dict[str, Any] | None:
    """`implementation`, `version` and `packages` (sorted `name==version`) as that interpreter sees them, or None."""
    # With the environment of the command (no -I): PYTHONPATH decides which packages it imports.
    answer = run_for_json([interpreter, "-c", _PACKAGES_SCRIPT])
    return answer if isinstance(answer, dict) else None


def run_for_json(command: Sequence[str]) -> Any:
    """The JSON document a helper command prints, or None if it fails in any way."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=True
        )
        return json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _os_release() -> dict[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {"ID": platform.system()} if platform.system() else {}

"""What software a recording ran on: operating system, driver, and the packages of the Python that the command runs.
What cannot be known is None."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from typing import Any

from warehouse.record.gpu import cuda_version, gpus

_PYTHON = re.compile(r"(python|pypy)[0-9.]*(\.exe)?")
_TIMEOUT_S = 30
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
    """The document of `software.json`. `python` is None when the command is not run by a Python interpreter."""
    release = _os_release()
    drivers = {gpu["driver_version"] for gpu in gpus() or ()}
    return {
        "os_name": release.get("ID"),
        "os_version": release.get("VERSION_ID"),
        "kernel_version": platform.release() or None,
        "nvidia_driver_version": drivers.pop() if len(drivers) == 1 else None,
        "cuda_version": cuda_version(),
        "python": describe_python(command[0]) if is_python(command[0]) else None,
    }


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

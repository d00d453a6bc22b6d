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
# Programs that start the program that their arguments name; those with a subcommand or an architecture before it.
_STARTERS = frozenset(
    ("chrt", "env", "ionice", "ncu", "nice", "nohup", "nsys", "numactl", "perf", "setarch", "stdbuf", "taskset", "time", "timeout", "xvfb-run")
)
_WITH_WORD = frozenset(("nsys", "perf", "setarch"))
_SWITCHES = frozenset(("true", "false", "yes", "no"))  # values of options that are programs too
# Before a helper script: it imports modules of the standard library only, which a file of the current folder or of PYTHONPATH would hide. `path` is
# where the command finds its own. `site` has imported `os` by then.
STANDARD_IMPORTS = """
import os, sys
path = sys.path[:]
library = os.path.dirname(os.__file__)
sys.path[:] = [library] + [each for each in path if os.path.basename(each) == "lib-dynload"]
"""
_PACKAGES_SCRIPT = STANDARD_IMPORTS + """
import importlib.metadata, json, platform
packages = {(d.metadata["Name"], d.version) for d in importlib.metadata.distributions(path=path) if d.metadata["Name"]}
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
    """The Python interpreter that runs a command: it is one, or a script that names one in its first line, as `vllm` and `torchrun` are. Programs
    that only start another, such as `env` or `numactl`, are skipped with their options. None for any other command."""
    before, has_word = "", False
    for position, each in enumerate(command):
        if found := each if is_python(each) else _named_in_script(each):
            return found
        name = os.path.basename(each)
        if name in _STARTERS:
            has_word = name in _WITH_WORD
        elif has_word and not each.startswith("-"):
            has_word = False
        elif position == 0 or _is_program(each, before):
            return None
        before = each
    return None


def _is_program(word: str, before: str) -> bool:
    """Whether a word after a program that starts another is that other program, and no option, number or value of an option."""
    if word.startswith("-") or before.startswith("-") and word in _SWITCHES:
        return False
    return "/" in word and "=" not in word and not before.startswith("-") or shutil.which(word) is not None


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

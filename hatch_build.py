"""Compiles `native/` into the package, for `pip install` from a checkout (editable or not) and for wheels."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_LIBRARY = "warehouse/landing/_json_scan.so"


class NativeBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """A C11 compiler is wanted: the one that `CC` names, else `cc`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        command = [
            *shlex.split(os.environ.get("CC", "cc")), "-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
            "-o", str(root / _LIBRARY), *map(str, sorted((root / "native").glob("*.c"))),
        ]
        try:
            subprocess.run(command, check=True)
        except FileNotFoundError as error:
            raise RuntimeError(f"a C compiler is needed to build this package: {command[0]} is not there (CC names another)") from error
        build_data["artifacts"].append(_LIBRARY)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

"""Compiles `native/` into the package, for `pip install` from a checkout (editable or not) and for wheels."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_LIBRARY = "warehouse/landing/readers/_json_scan.so"


class NativeBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """A C11 compiler is wanted: the one that `CC` names, else `cc`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        library = root / _LIBRARY
        made = library.with_suffix(f".{os.getpid()}")  # who loads the library meanwhile has the old one or the new one, whole
        compiler = os.environ.get("CC") or "cc"
        options = ("-std=c11", "-O3", "-Wall", "-Wextra", "-fPIC", "-shared", "-o", str(made))
        try:
            subprocess.run([*shlex.split(compiler), *options, *map(str, sorted((root / "native").glob("*.c")))], check=True)
            made.replace(library)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            message = f"a C compiler is needed to build this package, and {compiler} (CC names another) does not do it: {error}"
            raise RuntimeError(message) from error
        finally:
            made.unlink(missing_ok=True)
        build_data["artifacts"].append(_LIBRARY)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

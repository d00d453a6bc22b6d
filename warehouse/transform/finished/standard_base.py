"""The standard project built of no evidence, where the first build of every project begins: all that its evidence does not reach is as it
is there.

It is an ordinary project in the cache folder of the user, under a digest of all that it follows from: code, texts and versions. It may
be deleted. What a build takes from it is held against the same digests as what it takes from the build before.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from warehouse.digest import bytes_digest, memo_digest
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import KINDS, Project, read_project, standard_folder
from warehouse.transform.finished.builds import FORM, Build, find_current

_KEPT = 3  # of other versions too: who works on the standard project makes many
_MAKING = ".making-"
_ABANDONED_S = 86_400


def standard_base(project: Project, make: Callable[[Project], object]) -> Build | None:
    """The standard project's build of no evidence, which `make` makes where it is not there yet; None where the cache folder cannot be
    used. What earlier builds remembered of its texts is given to `project`."""
    try:
        folder = _folder()
        place = folder / _digest()
        if not place.exists():
            _make(folder, place, make)
        if place.stat().st_uid != os.geteuid():  # its rows would be somebody else's
            return None
        build = _sound_build(place)
        if build is None:
            shutil.rmtree(place, ignore_errors=True)  # the next first build makes it anew
            return None
        for memory in build.path.parent.glob(".*.json"):
            if not (project.builds / memory.name).exists():
                shutil.copyfile(memory, project.builds / memory.name)
        return build
    except (OSError, RuntimeError, WarehouseError):  # the second is how Python reports that there is no home folder
        return None


def _folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))  # a relative one is invalid by the XDG specification, and to be ignored
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "wh" / "standard"


def _digest() -> str:
    """A digest of all that the standard project's build of no evidence follows from."""
    package = Path(__file__).parents[2]
    standard = standard_folder()
    files = [*package.rglob("*.py"), *(path for kind in KINDS for path in (standard / kind).rglob("*") if path.suffix in (".py", ".sql"))]
    code = {os.path.relpath(path, package): bytes_digest(path.read_bytes()) for path in files}
    return memo_digest("wh/standard-base/1", [code, FORM, {name: version(name) for name in ("duckdb", "pyarrow")}])[:32]


def _sound_build(place: Path) -> Build | None:
    """The build of a base; None where the base is damaged in any way."""
    try:
        build = find_current(read_project(place))
        if build:
            build.check()
    except WarehouseError:
        return None
    return build


def _make(folder: Path, place: Path, make: Callable[[Project], object]) -> None:
    """Make it beside its place and then give it its name, so that it is there whole or not at all."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_old(folder)
    scratch = Path(tempfile.mkdtemp(prefix=_MAKING, dir=folder))
    try:
        make(init_project(scratch))
        scratch.rename(place)
    except OSError:
        if not place.exists():  # else another build was first
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _remove_old(folder: Path) -> None:
    made = sorted((path for path in folder.iterdir() if not path.name.startswith(_MAKING)), key=lambda path: path.stat().st_mtime_ns)
    abandoned = [path for path in folder.glob(f"{_MAKING}*") if path.stat().st_mtime < time.time() - _ABANDONED_S]
    for path in [*made[: -_KEPT + 1], *abandoned]:
        shutil.rmtree(path, ignore_errors=True)

"""Which executor does the work of a build: what the command line says, else what `warehouse.toml` says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from warehouse.errors import ExitCode, WarehouseError, did_you_mean
from warehouse.project.project import ENGINES, Project
from warehouse.scale.drive import Distribution, Work, place_of
from warehouse.scale.task import Executor


def distribution(project: Project, engine: str | None, address: str | None, on_work: Callable[[Work], None]) -> Distribution | None:
    """The work of a build done by an engine; None where the build does it itself. Raises WH253."""
    named = engine or project.scale.engine or "none"
    where = project.scale.address if address is None else address
    if named not in ENGINES:
        hint = did_you_mean(named, ENGINES) or f"one of: {', '.join(ENGINES)}"
        raise WarehouseError("WH253", f"there is no engine {named!r}", hint=hint, exit_code=ExitCode.USAGE)
    return None if named == "none" else Distribution(project, _executor(project, named, where), on_work)


def _executor(project: Project, engine: str, address: str) -> Executor:
    place = place_of(project)
    if engine == "local":
        from warehouse.scale.engines.local import LocalExecutor

        return LocalExecutor(place)
    if engine == "ray":
        from warehouse.scale.engines.ray import RayExecutor

        return RayExecutor(place, address)
    if engine == "spark":
        from warehouse.scale.engines.spark import SparkExecutor

        return SparkExecutor(place, address)
    from warehouse.scale.engines.file import FileExecutor

    if not address:
        raise WarehouseError("WH253", "the engine file needs a file for its tasks", hint="--address FILE", exit_code=ExitCode.USAGE)
    return FileExecutor(place, Path(address).resolve())

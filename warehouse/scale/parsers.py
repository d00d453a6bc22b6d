"""Ingestors by name, as a task carries them to a machine where the package lies elsewhere."""

from __future__ import annotations

from pathlib import Path

from warehouse.landing.registry import Source
from warehouse.project.project import standard_folder


def source_name(source: Source) -> tuple[str, str]:
    """The origin and the target of a source; of a standard one the path within the package."""
    if source.origin == "standard":
        return source.origin, Path(source.target).relative_to(standard_folder()).as_posix()
    return source.origin, str(source.target)


def source_of(origin: str, target: str) -> Source:
    """The source that was named so."""
    if origin == "standard":
        return Source(origin, target, standard_folder() / target)
    return Source(origin, target, target if origin == "installed" else Path(target))

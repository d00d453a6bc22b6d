"""Finds the ingestors: the standard ones, the project's own, and those installed by entry point."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from importlib.metadata import entry_points
from pathlib import Path
from typing import NoReturn, cast

from warehouse.errors import WarehouseError
from warehouse.landing.contract import Ingestor
from warehouse.project import Project

ENTRY_POINT_GROUP = "perf_warehouse.ingestors"


def load_ingestors(project: Project) -> dict[str, Ingestor]:
    """All ingestors by name; a project's own replaces a standard one of the same name. Raises WH121."""
    found: dict[str, Ingestor] = {}
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        _register(found, entry.load(), entry.value)
    for layer in project.layers("ingest"):
        for path in sorted(layer.iterdir()):
            module = path / "__init__.py" if path.is_dir() else path
            if path.name.startswith((".", "_")) or module.suffix != ".py" or not module.is_file():
                continue
            _register(found, _load(module, path.stem), project.shown(module))
    return found


def _register(found: dict[str, Ingestor], ingestor: object, place: str) -> None:
    missing = [name for name in ("name", "version", "tables", "bundles", "parse") if not hasattr(ingestor, name)]
    if missing:
        raise WarehouseError("WH121", f"the ingestor lacks {', '.join(missing)}", place)
    checked = cast(Ingestor, ingestor)
    found[checked.name] = checked


class _AsWritten(SourceFileLoader):
    """Takes no bytecode from a cache: that knows a source by its size and its second, and an edit may change neither."""

    def path_stats(self, path: str) -> NoReturn:
        raise OSError("ask nothing of the file: what get_code() takes as no cache to be had")


def _load(module: Path, name: str) -> object:
    """The `INGESTOR` of a module loaded from its file, under a name that nothing else imports by."""
    unique = f"warehouse_ingest_{name}"
    folder = [str(module.parent)] if module.name == "__init__.py" else None
    loader = _AsWritten(unique, str(module))
    spec = importlib.util.spec_from_file_location(unique, module, loader=loader, submodule_search_locations=folder)
    assert spec and spec.loader
    # Loaded again in one process (`wh build --watch`): its own modules may have been edited since.
    for stale in [other for other in sys.modules if other.startswith(f"{unique}.")]:
        del sys.modules[stale]
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[unique] = loaded
    try:
        spec.loader.exec_module(loaded)
        return loaded.INGESTOR
    except Exception as error:  # a user's own file: whatever it raises is a fault in that file
        raise WarehouseError("WH121", f"cannot be loaded: {type(error).__name__}: {error}", str(module)) from error

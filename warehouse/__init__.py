"""A performance warehouse: published numbers that walk back to their raw bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.version import __version__ as __version__

if TYPE_CHECKING:
    from pathlib import Path

    from warehouse.api import Warehouse


def open(path: str | Path | None = None) -> Warehouse:
    """The warehouse of the project in a folder or above it; without one, of `WH_PROJECT` or the current folder, as `wh` finds
    it. Raises WH001 (no project there), WH002 (its file is not valid)."""
    from warehouse.api import open_warehouse  # here: `wh --help` imports this package too

    return open_warehouse(path)

"""How a store is opened: one function for every kind of place."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from warehouse.evidence.store import EvidenceStore, local_store


class StoreLocation(Protocol):
    """Where a store is, as a project says it: in the folder `store_root`, or, with a `store_url`, there; then the folder has
    only what is no evidence."""

    @property
    def store_root(self) -> Path: ...

    @property
    def store_url(self) -> str | None: ...


def open_store(location: StoreLocation) -> EvidenceStore:
    """The store at a location, without asking whether it is there."""
    return local_store(location.store_root)

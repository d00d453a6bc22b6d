"""An ingestor that is a folder of modules: its `__init__` has the name and the tables, two other modules do the work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, Tree, Unclaimed
from warehouse.landing.rows import RowBuffer


@dataclass(frozen=True)
class Family:
    """An ingestor (`contract.Ingestor`). `package` is its folder's `__name__`: there `cut(tree)` of the module `bundles` yields drafts, and
    `landed(bundle, buffer)` of the module `parse` adds rows and yields full batches. Both are imported when they are first called. `like` has,
    by a format's name, paths that a JSON of it states: a file that has half of them, and is of no family, is said to be like it."""

    package: str
    name: str
    version: int
    formats: tuple[str, ...]
    tables: Mapping[str, pa.Schema]
    like: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def bundles(self, tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
        found: Iterator[BundleDraft | Unclaimed] = import_module(f"{self.package}.bundles").cut(tree)
        return found

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        buffer = RowBuffer(self.tables, bundle.digest)
        yield from import_module(f"{self.package}.parse").landed(bundle, buffer)
        yield from buffer.rest()

"""Evidence parsed for replays, in folders that end with the command. The publications of a store rest mostly on the same evidence: what was
parsed last is kept for the next replay of it."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from warehouse.evidence.ledger.run_decisions import Decision
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.part import part_of
from warehouse.landing.parse.refresh import refresh
from warehouse.landing.registry import RegisteredIngestor, find_ingestors
from warehouse.project.project import Project
from warehouse.transform.inputs.landing_tables import LandingTables, landing_tables

_KEPT = 3  # nothing, the evidence of a publication, and all that was there


@dataclass(frozen=True)
class ParsedPart:
    """The landing tables of some bundles, and the folder in which they lie."""

    tables: LandingTables
    folder: TemporaryDirectory[str]

    @property
    def root(self) -> Path:
        return Path(self.folder.name)


@dataclass
class Parsed:
    """Parts of a project's store, parsed by the ingestors that it has now."""

    project: Project
    _kept: dict[tuple[frozenset[str], tuple[str, ...]], ParsedPart] = field(default_factory=dict)

    @cached_property
    def _ingestors(self) -> dict[str, RegisteredIngestor]:
        return find_ingestors(self.project)

    def part(self, bundles: Collection[str], decisions: Collection[Decision]) -> ParsedPart:
        """Some bundles, by manifest digest, under decisions on runs. Its files are there until three others are asked for."""
        key = frozenset(bundles), tuple(decision.event.sha256 for decision in decisions)
        found = self._kept.pop(key, None) or self._parsed(bundles, decisions)
        self._kept[key] = found
        while len(self._kept) > _KEPT:
            self._kept.pop(next(iter(self._kept))).folder.cleanup()
        return found

    def _parsed(self, bundles: Collection[str], decisions: Collection[Decision]) -> ParsedPart:
        folder = TemporaryDirectory(prefix="wh-replay-")
        part = part_of(open_store(self.project), bundles, Path(folder.name) / "store")
        landing = refresh(part, self._ingestors, decisions=decisions)
        if "pyarrow" in sys.modules:  # of what was parsed nothing is needed any more: 150 MB after 10,000 bundles
            sys.modules["pyarrow"].default_memory_pool().release_unused()
        return ParsedPart(landing_tables(landing), folder)

    def close(self) -> None:
        """Remove what was parsed."""
        while self._kept:
            self._kept.popitem()[1].folder.cleanup()

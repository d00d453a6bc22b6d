"""A store as one command finds it: the ledger's events are read once, each bundle is hashed and its signatures are checked once, and what
was parsed for a replay is kept for the next.

Nothing of it outlives the command.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from warehouse.claims.publish.signing import check_evidence_signatures
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import Event, Ledger
from warehouse.evidence.ledger.removal import expired, removed_bundles
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.signatures import Signing
from warehouse.project.project import Project

if TYPE_CHECKING:
    from warehouse.claims.verify.parsed import Parsed


class StoreNow:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._store = open_store(project)
        self.ledger = Ledger(self._store.objects)
        self._problems: dict[str, tuple[WarehouseError, ...]] = {}
        self._signings: dict[str, Signing] = {}
        self._files: dict[str, int] = {}

    def __enter__(self) -> StoreNow:
        return self

    def __exit__(self, *raised: object) -> None:
        if "parsed" in vars(self):
            self.parsed.close()

    @cached_property
    def parsed(self) -> "Parsed":
        """What replays parse; it ends with the `with` block."""
        from warehouse.claims.verify.parsed import Parsed

        return Parsed(self._project)

    @cached_property
    def events(self) -> Sequence[Event]:
        """The ledger's events, the oldest first; those that cannot be read are in `ledger.damaged`. Raises WH114."""
        return list(self.ledger.events())

    def problems(self, digest: str) -> tuple[WarehouseError, ...]:
        """What is wrong with a bundle."""
        if digest not in self._problems:
            found = list(self._store.check_bundle(digest))
            removals = removed_bundles(self._store, [digest])
            invalid = self.signing(digest).problem(f"signatures/{digest[:12]}")
            if not found:
                self._files[digest] = len(self._store.manifest(digest).files)
            lost = [expired(removal) for removal in removals.values()] or found
            self._problems[digest] = (*lost, *([invalid] if invalid else ()))
        return self._problems[digest]

    def signing(self, digest: str) -> Signing:
        """The signatures of a bundle."""
        if digest not in self._signings:
            self._signings[digest] = check_evidence_signatures(self._project, digest)
        return self._signings[digest]

    def files(self, digest: str) -> int:
        """How many files a bundle without problems has; they were hashed."""
        return self._files[digest]

"""`wh freshness`: what is no longer fresh, the most important first. Each kind of row is one function of what is known.

Reads the ledger, the current build and what is remembered of verifications; hashes and replays nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from warehouse.alive import numbers, series, stacks
from warehouse.alive.row import Known, Row
from warehouse.analysis.health.freshness_counts import KINDS, remember_counts
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import Event
from warehouse.evidence.listing import Listing
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.transform.finished.query import kept_open

_FUNCTIONS: tuple[Callable[[Known], Iterator[Row]], ...] = (
    numbers.failed, numbers.another_value, numbers.changed, numbers.expiring, series.silent, stacks.newer_releases, numbers.unverified,
    stacks.old_locks, stacks.index_state,
)


@dataclass(frozen=True)
class Freshness:
    """The rows, the most important first, and why some kinds could not be looked for."""

    rows: tuple[Row, ...]
    problems: tuple[WarehouseError, ...]

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(each.kind for each in self.rows)
        return {kind: found[kind] for kind in KINDS if found[kind]}


def freshness(project: Project, now: datetime, events: Sequence[Event] | None = None) -> Freshness:
    """What is no longer fresh; how many rows there are is remembered. `events` are the ledger's, where the caller has read them. Raises WH114."""
    found = look(known_now(project, now, events))
    remember_counts(project, found.counts, now)
    return found


def look(known: Known) -> Freshness:
    """What of all that is known is no longer fresh."""
    rows: list[Row] = []
    problems: dict[str, WarehouseError] = {}
    with kept_open(known.build):
        for find in _FUNCTIONS:
            try:
                rows += find(known)
            except WarehouseError as error:  # what is damaged hides one kind, not all
                problems.setdefault(str(error), error)
    rows.sort(key=lambda row: (KINDS.index(row.kind), -row.weight, row.key))
    return Freshness(tuple(rows), tuple(problems.values()))


def known_now(project: Project, now: datetime, events: Sequence[Event] | None = None) -> Known:
    """What rows are made from. Raises WH114."""
    return Known(project, now, Listing(open_store(project), project.builds).events() if events is None else events)


def measured_packages(project: Project, now: datetime) -> list[str]:
    """The packages that published numbers were measured with."""
    return stacks.packages(known_now(project, now))

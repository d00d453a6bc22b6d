"""The warm tier of retention: which rows of detail tables (`retention_tier: warm` in a header) are past their age and are
left out of a build.

A row's age is that of its bundle: when that arrived, as the ledger has it. Pure: the clock is read where a build begins, and
what follows from it here is an input of the build like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from warehouse.digest import memo_digest
from warehouse.project.project import Retention
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.project.data_tests import DataTest
from warehouse.transform.project.model import RUNS

# Tests of a table that hold of some of its rows when they hold of all.
_TESTS_OF_ANY_ROWS = ("not_null", "unique", "accepted_values", "range", "relationships")


@dataclass(frozen=True)
class DetailTable:
    """A table of the tier. `needed_by`: what would be other than it is without all of its rows, so that it stays whole;
    `read_by`: the tables of the tier that read it. All by qualified name."""

    name: str
    qualified: str
    needed_by: tuple[str, ...]
    read_by: tuple[str, ...]


@dataclass(frozen=True)
class WarmTier:
    """What a build leaves out: rows of `tables` (by model name) from the bundles `past`, which arrived no later than the `horizon`
    (UTC), but for those of the runs `kept`. `arrivals` has every bundle's time; one of unknown arrival is never past."""

    horizon: datetime
    days: int
    arrivals: Mapping[str, datetime]
    kept: tuple[str, ...]
    tables: Mapping[str, DetailTable]

    @cached_property
    def past(self) -> list[str]:
        return sorted(digest for digest, arrived in self.arrivals.items() if arrived <= self.horizon)

    def leaves_out(self, name: str) -> list[str]:
        """The bundles whose rows a table is made without; none where something needs them."""
        return [] if name not in self.tables or self.tables[name].needed_by else self.past

    def content_ids(self) -> dict[str, str]:
        """By the name of its input (`age_of`), what every table of the tier is made without."""
        whole, past = memo_digest("wh/warm-tier/1", [[], []]), memo_digest("wh/warm-tier/1", [self.past, list(self.kept)])
        return {age_of(name): past if self.leaves_out(name) else whole for name in self.tables}

    def stands_until(self, bundles: Collection[str]) -> datetime | None:
        """When the first row of these bundles, which are in the database, will be past the horizon; None: never."""
        times = [self.arrivals[digest] for digest in bundles if digest in self.arrivals and self.arrivals[digest] > self.horizon]
        return min(times) + timedelta(days=self.days) if times else None


def age_of(name: str) -> str:
    """The input of a detail table that says what it is made without. No model can be called so."""
    return f"age of {name}"


def warm_tier(
    checked: CheckedProject, arrivals: Mapping[str, datetime], retention: Retention, now: datetime
) -> WarmTier:
    """The tier of a project at a time (UTC)."""
    horizon = now - timedelta(days=retention.warm_days)
    return WarmTier(horizon, retention.warm_days, arrivals, retention.kept_detail, detail_tables(checked))


def detail_tables(checked: CheckedProject) -> dict[str, DetailTable]:
    """The tables of the tier by model name.

    One that a table of another kind reads, a query or a test of something else, stays whole: these would say other things
    without its rows. One that is read by others of the tier, by `run_id` alone, leaves as they do.
    """
    names = [name for name in checked.graph.order if checked.models[name].retention_tier]
    readers: dict[str, list[str]] = {name: [] for name in names}
    for name in checked.graph.order if names else ():
        if checked.models[name].materialized != "view":
            for other in {read for found in checked.with_views(name) for read in checked.graph.models[found]} & readers.keys():
                readers[other].append(name)
    found: dict[str, DetailTable] = {}
    for name in reversed(names):  # whoever reads it is known then
        others = [reader for reader in readers[name] if not _follows(name, reader, checked, found)]
        needed_by = [checked.models[reader].qualified for reader in others]
        needed_by += ["every publication"] * (checked.models[name].role == RUNS)
        needed_by += [f"test {test.name}" for test in checked.tests if _needs_all(test, name, checked)]
        read_by = tuple(found[reader].qualified for reader in readers[name] if reader in found)
        found[name] = DetailTable(name, checked.models[name].qualified, tuple(needed_by), read_by)
    return {name: found[name] for name in names}


def _follows(name: str, reader: str, checked: CheckedProject, found: Mapping[str, DetailTable]) -> bool:
    """Whether the rows that a reader has are the same without those of other runs."""
    plan = checked.key_plans.get(reader)
    return bool(plan and reader in found and not found[reader].needed_by and name not in plan.whole)


def _needs_all(test: DataTest, name: str, checked: CheckedProject) -> bool:
    if not any(name == read or name in _under_views(read, checked) for read in test.reads):
        return False
    if test.model != name or test.stated is None:
        return test.model != name  # its own without a statement is of its grain
    is_within = test.stated.kind == "relationships" and test.reads == {name}
    return is_within or test.stated.kind not in _TESTS_OF_ANY_ROWS or bool(test.stated.where)


def _under_views(name: str, checked: CheckedProject) -> set[str]:
    if checked.models[name].materialized != "view":
        return set()
    return {read for found in checked.with_views(name) for read in checked.graph.models[found]}


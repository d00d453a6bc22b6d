"""Publications as values, for the documentation site: what was published, by whom, from which runs and bytes.

Values only: `claims.numbers.documented` reads them from the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias


@dataclass(frozen=True)
class PublishedFile:
    """A raw file that a value was read from, and how many bytes of it in how many ranges."""

    artifact_manifest_digest: str
    raw_path: str
    sha256: str
    ranges: tuple[tuple[int, int], ...]  # offset and length in bytes


# Runs, why-set digest and files: what most numbers of a row have in common.
Origin: TypeAlias = tuple[tuple[str, ...], str, tuple[PublishedFile, ...]]


@dataclass(frozen=True)
class PublishedNumber:
    """A cell that has a value. `determinism` is as `wh lineage` states it; `is_current`: the current build holds this number;
    `not_admitted` are decisions in force now against runs of it, in words."""

    number_id: str
    column: str
    value: Any
    unit: str | None
    determinism: str
    runs: tuple[str, ...]
    why_digest: str
    files: tuple[PublishedFile, ...]
    is_current: bool
    not_admitted: tuple[str, ...] = ()
    worth: str = ""  # interval, counts and verdict, in words
    against: tuple[str, ...] = ()  # what keeps it from being publishable

    @property
    def origin(self) -> Origin:
        return self.runs, self.why_digest, self.files

    @property
    def is_measure(self) -> bool:
        return isinstance(self.value, int | float | Decimal) and not isinstance(self.value, bool)


@dataclass(frozen=True)
class PublishedRow:
    """A row of a publication: its grain, its numbers, and the columns that are NULL, which have no number."""

    grain: Mapping[str, Any]
    numbers: tuple[PublishedNumber, ...]
    nulls: tuple[str, ...]

    @cached_property
    def by_column(self) -> Mapping[str, PublishedNumber]:
        return {number.column: number for number in self.numbers}

    @cached_property
    def runs(self) -> tuple[str, ...]:
        return tuple(sorted({run for number in self.numbers for run in number.runs}))

    @cached_property
    def origins(self) -> Mapping[Origin, int]:
        """The origins of its numbers, each with its place from 1."""
        return {origin: place for place, origin in enumerate(dict.fromkeys(number.origin for number in self.numbers), 1)}

    @cached_property
    def measures(self) -> tuple[PublishedNumber, ...]:
        return tuple(number for number in self.numbers if number.is_measure)

    @cached_property
    def shared_worth(self) -> str:
        """What all of its numbers are worth, where that is the same."""
        return next(iter(said)) if len(said := {number.worth for number in self.measures}) == 1 else ""

    @cached_property
    def first_with_reasons(self) -> Mapping[tuple[str, ...], PublishedNumber]:
        """For each list of reasons against a number, the first number shown that has it."""
        return {number.against: number for number in reversed(self.measures)}

    @cached_property
    def files(self) -> int:
        """How many raw files its numbers were read from."""
        return len({(file.artifact_manifest_digest, file.raw_path) for number in self.numbers for file in number.files})


@dataclass(frozen=True)
class Publication:
    """A publication. `rows` are the first of `row_count`; `guarantees` are name, meaning and how it was established; `clauses` those for
    which one is not. A damaged publication has a `fault` and no more than its digest and, where the ledger knows it, its query."""

    digest: str
    query: str | None
    published_at: str | None = None
    published_by: str | None = None
    software: str = ""
    query_spec_digest: str = ""
    row_count: int = 0
    number_count: int = 0
    guarantees: tuple[tuple[str, str, str], ...] = ()
    clauses: tuple[str, ...] = ()
    rows: tuple[PublishedRow, ...] = ()
    fault: str = ""

    @cached_property
    def numbers(self) -> tuple[PublishedNumber, ...]:
        """Those of `rows`."""
        return tuple(number for row in self.rows for number in row.numbers)

"""What a column of a query is made of, as values: the source columns that are copied, computed with, or decide.

Sets of columns and how they unite; knows nothing of SQL or of plans.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# In place of a column's name: which rows a table has.
ROWS = "*"


@dataclass(frozen=True, slots=True, order=True)
class ColumnRef:
    """A column of a table (`schema.name`, a landing table, or the text of a call that reads files), or its `ROWS`."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"rows of {self.table}" if self.column == ROWS else f"{self.table}.{self.column}"


Refs = frozenset[ColumnRef]
NONE: Refs = frozenset()


@dataclass(frozen=True, slots=True)
class Derived:
    """What a column is made of: columns copied as they are, columns computed with, columns that decide which value."""

    copied: Refs = NONE
    computed: Refs = NONE
    conditions: Refs = NONE

    @property
    def everything(self) -> Refs:
        return self.copied | self.computed | self.conditions

    def under(self, conditions: Refs) -> "Derived":
        """The same, where `conditions` decide too."""
        return Derived(self.copied, self.computed, self.conditions | conditions)


@dataclass(frozen=True, slots=True)
class Relation:
    """What an operator yields: its columns in order, and what decides which rows it has (and how they are ordered)."""

    columns: tuple[Derived, ...]
    rows: Refs


def united(sets: Iterable[Refs]) -> Refs:
    return NONE.union(*sets)


def merged(columns: Iterable[Derived]) -> Derived:
    """One column whose values come from any of several."""
    several = tuple(columns)
    return Derived(
        united(column.copied for column in several),
        united(column.computed for column in several),
        united(column.conditions for column in several),
    )


def computed_from(columns: Iterable[Derived]) -> Derived:
    """One column that is computed with several."""
    whole = merged(columns)
    return Derived(NONE, whole.copied | whole.computed, whole.conditions)


def stacked(relations: Iterable[Relation]) -> Relation:
    """The rows of several relations of as many columns, one above the other."""
    several = tuple(relations)
    columns = tuple(map(merged, zip(*(each.columns for each in several), strict=True)))
    return Relation(columns, united(each.rows for each in several))

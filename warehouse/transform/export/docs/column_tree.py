"""The columns that a column is made of, and those made of it, for one place in a page.

Iterative, and cut short: for a column that depends on thousands of others, the nearest are listed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warehouse.transform.export.description import ColumnLineage

# A page is for reading: beyond this, the sources' own pages go on.
_LONGEST_TREE = 12


@dataclass(frozen=True)
class Source:
    """A column some steps upstream (`depth` from 1). `is_condition`: it decides which rows count, not their value, and
    is followed no further. `is_repeated`: its own sources were shown before."""

    depth: int
    table: str
    column: str
    is_condition: bool = False
    is_repeated: bool = False


@dataclass(frozen=True)
class ColumnTree:
    """All that one column is made of, each source before its own sources. `is_cut`: some have sources not shown."""

    sources: tuple[Source, ...]
    is_cut: bool = False

    @property
    def values(self) -> tuple[Source, ...]:
        """The direct sources of its value."""
        return tuple(source for source in self.sources if source.depth == 1 and not source.is_condition)

    @property
    def conditions(self) -> tuple[Source, ...]:
        """The columns that decide directly which rows count."""
        return tuple(source for source in self.sources if source.depth == 1 and source.is_condition)


def column_tree(lineage: ColumnLineage, table: str, column: str) -> ColumnTree:
    """The tree of one column: its direct sources are always whole."""
    followed, is_cut = _nearest(lineage, (table, column))
    found: list[Source] = []
    shown: set[tuple[str, str]] = set()
    pending = [(0, (table, column), False)]
    while pending:
        depth, key, is_condition = pending.pop()
        is_open = key in followed and not is_condition
        if depth:
            found.append(Source(depth, *key, is_condition, is_repeated=is_open and key in shown))
        if is_open and key not in shown:
            shown.add(key)
            edges = sorted(lineage[key], key=lambda edge: edge[2] == "condition")
            pending.extend((depth + 1, (source, name), kind == "condition") for source, name, kind in reversed(edges))
    return ColumnTree(tuple(found), is_cut)


def _nearest(lineage: ColumnLineage, start: tuple[str, str]) -> tuple[set[tuple[str, str]], bool]:
    """The columns whose sources are shown, nearest to `start` first as far as there is room; whether any were cut."""
    followed: set[tuple[str, str]] = set()
    room = _LONGEST_TREE
    pending = deque([start] if start in lineage else [])
    while pending:
        key = pending.popleft()
        if key in followed:
            continue
        room -= len(lineage[key])
        if room < 0 and followed:
            return followed, True
        followed.add(key)
        sources = [(table, column) for table, column, kind in lineage[key] if kind == "value"]
        pending.extend(source for source in sources if source in lineage)
    return followed, False


def columns_made_of(lineage: ColumnLineage) -> Mapping[tuple[str, str], Sequence[tuple[str, str, str]]]:
    """The lineage turned round: for each column, those made of it directly, and how."""
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for (table, column), edges in lineage.items():
        for source, name, kind in edges:
            found.setdefault((source, name), []).append((table, column, kind))
    return found

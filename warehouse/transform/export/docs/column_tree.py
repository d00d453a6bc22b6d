"""The columns that a column is made of, and those made of it: one step each way, for the page of each goes on from there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from warehouse.transform.export.description import ColumnLineage

Place = tuple[str, str]  # a table and its column


@dataclass(frozen=True)
class Sources:
    """What one column is made of directly: of its value, and the columns that decide which rows count."""

    values: tuple[Place, ...] = ()
    conditions: tuple[Place, ...] = ()

    def without(self, conditions: Collection[Place]) -> Sources:
        """The same without conditions that are said elsewhere."""
        return Sources(self.values, tuple(each for each in self.conditions if each not in conditions))


def sources(lineage: ColumnLineage, table: str, column: str) -> Sources:
    edges = lineage.get((table, column), ())
    of_kind = {
        is_condition: tuple((source, name) for source, name, kind in edges if (kind == "condition") is is_condition) for is_condition in (False, True)
    }
    return Sources(of_kind[False], of_kind[True])


def shared_conditions(columns: Iterable[Sources]) -> tuple[Place, ...]:
    """The columns that decide for each of these columns which rows count; none for a single column."""
    of_each = [each.conditions for each in columns if each != Sources()]
    return tuple(each for each in of_each[0] if all(each in conditions for conditions in of_each)) if len(of_each) > 1 else ()


@dataclass(frozen=True)
class Uses:
    """The columns that a column goes into, and how many columns of which tables it is a condition of."""

    values: tuple[Place, ...] = ()
    conditions: Mapping[str, int] | None = None


def uses_of_columns(lineage: ColumnLineage) -> Mapping[Place, Uses]:
    """The lineage turned round: what is made of each column directly."""
    values: dict[Place, list[Place]] = {}
    conditions: dict[Place, dict[str, int]] = {}
    for (table, column), edges in lineage.items():
        for source, name, kind in edges:
            if kind == "condition":
                of_table = conditions.setdefault((source, name), {})
                of_table[table] = of_table.get(table, 0) + 1
            else:
                values.setdefault((source, name), []).append((table, column))
    return {place: Uses(tuple(values.get(place, ())), conditions.get(place)) for place in {**values, **conditions}}

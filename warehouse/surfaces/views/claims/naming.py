"""What people call a number and what it is of: by the names in its row, else by its grain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.analysis.metric_names import MetricNames
from warehouse.analysis.names import SEPARATOR, name_of
from warehouse.claims.numbers.search import FoundCell
from warehouse.claims.publish.publication import PublishedRow
from warehouse.claims.publish.specification import Units
from warehouse.surfaces.parts import Fact
from warehouse.surfaces.views.results.facets import heading, metric_of_row, named_column
from warehouse.transform.export.docs.published_pages import is_digest, short


def named_cell(names: MetricNames, units: Units, column: str, row: PublishedRow) -> tuple[str, str | None]:
    """What people call a cell's column, and its unit: as declared or stated in the row; for a statistic of the metric that the row names, else
    that of the metric."""
    unit = units.of_cell(column, row)
    if unit is None and column in units.statistics and (metric := metric_of_row(row.grain)):
        unit = names.of(metric, None)[2]
    return named_column(names, column, unit)


def cell_name(found: FoundCell) -> str:
    """What was measured, by the row of the cell; else the query."""
    return row_name(found.row) or found.query


def row_name(row: PublishedRow) -> str:
    """What was measured: model, GPU, engine and load where the row states them, and the metric where it names that."""
    metric = metric_of_row(row.grain)
    name = name_of({**{column: cell.value for column, cell in row.cells.items()}, **row.grain})
    if name.subject and (name.gpu or name.engine or name.load):
        return SEPARATOR.join(filter(None, (str(name), metric and metric.replace("_", " "))))
    said = [value for value in row.grain.values() if value is not None]
    return SEPARATOR.join(short(value) for value in said if not is_digest(value)) or SEPARATOR.join(map(short, said))


def grain_facts(grain: Mapping[str, Any]) -> tuple[Fact, ...]:
    """What a row is of, in words; the digests and keys in it last."""
    said = {name: value for name, value in grain.items() if value is not None}
    facts = (Fact(name, value, kind="code" if is_digest(value) else "text", title=heading(name)) for name, value in said.items())
    return tuple(sorted(facts, key=lambda each: each.kind == "code"))

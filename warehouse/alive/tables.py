"""What `wh freshness` finds, as tables that a query of a user can read beside those of the build.

No model can have them: a build follows from evidence and decisions alone, and these also from publications, from what was verified on this machine,
and from the time. They are made for a query that names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from numbers import Real
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.project.project import Project

if TYPE_CHECKING:
    import pyarrow as pa

    from warehouse.alive.row import Known

FRESHNESS, NUMBERS = "freshness", "published_number"


@dataclass(frozen=True)
class LiveTables:
    """The tables that a query names, by name, and what could not be looked at."""

    tables: Mapping[str, "pa.Table"]
    problems: tuple[WarehouseError, ...] = ()


def live_tables(project: Project, query: str) -> LiveTables:
    """Those of `freshness` (its rows) and `published_number` (the numbers of the last publication of each query) that occur in a query. Raises WH114
    and WH307."""
    named = {name for name in (FRESHNESS, NUMBERS) if re.search(rf"\b{name}\b", query, re.IGNORECASE)}
    if not named:
        return LiveTables({})
    import pyarrow as pa

    from warehouse.alive.freshness import known_now, look

    found: dict[str, pa.Table] = {}
    problems: tuple[WarehouseError, ...] = ()
    known, time = known_now(project, datetime.now(UTC)), pa.timestamp("us", "UTC")
    if FRESHNESS in named:
        fresh = look(known)
        texts = [pa.field(name, pa.string()) for name in ("kind", "subject", "words", "remedy", "publication")]
        schema = pa.schema([*texts, pa.field("since", time), pa.field("evidence", pa.list_(pa.string()))])
        found[FRESHNESS] = pa.Table.from_pylist([{name: getattr(row, name) for name in schema.names} for row in fresh.rows], schema)
        problems = fresh.problems
    if NUMBERS in named:
        texts = [pa.field(name, pa.string()) for name in ("number_id", "cell", "query", "column_name", "publication")]
        schema = pa.schema([*texts, pa.field("value", pa.float64()), pa.field("published_at", time)])
        found[NUMBERS] = pa.Table.from_pylist([*_numbers(known)], schema)
    return LiveTables(found, problems)


def _numbers(known: "Known") -> Iterator[dict[str, Any]]:
    from warehouse.claims.numbers.search import cell_key

    for each in known.counting:
        query = str(each.query)
        for row in each.rows():
            for cell in row.cells.values():
                if cell.number_id:
                    yield {
                        "number_id": cell.number_id, "cell": cell_key(query, row.grain, cell.column), "query": query, "column_name": cell.column,
                        "publication": each.digest, "published_at": known.published_at.get(each.digest),
                        "value": float(cell.value) if isinstance(cell.value, Real) else None,
                    }

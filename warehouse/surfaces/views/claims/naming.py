"""What people call a number and what it is of: by the names in its row, else by its grain."""

from __future__ import annotations

from warehouse.analysis.names import name_of
from warehouse.claims.numbers.search import FoundCell
from warehouse.transform.export.docs.published_pages import is_digest, short


def cell_name(found: FoundCell) -> str:
    """What was measured: model, GPU, engine and load where its row states them."""
    name = name_of({**{column: cell.value for column, cell in found.row.cells.items()}, **found.row.grain})
    if name.subject and (name.gpu or name.engine or name.load):
        return str(name)
    said = [value for value in found.row.grain.values() if value is not None]
    return " · ".join(short(value) for value in said if not is_digest(value)) or " · ".join(map(short, said)) or found.query

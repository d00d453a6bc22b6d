"""What the current build holds of a published query: whether a published number is the same there.

A sum of floats may differ in its last bits from one build to another, and has another number id then: within the tolerance of its class it is
the same number all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from warehouse.claims.numbers.search import built_rows, current_numbers
from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow
from warehouse.project.project import Project
from warehouse.trace.determinism import EXACT, equals, recorded


def is_same(publication: PublishedRollup, cell: PublishedCell, now: PublishedCell) -> bool:
    """Whether what a cell holds now is the number that was published in it."""
    if now.number_id == cell.number_id:
        return True
    determinism = recorded(publication.record, cell.column, cell.is_exact)
    return now.number_id is not None and equals(now.form, cell.form, determinism) is not None


class CurrentNumbers:
    """The current build's numbers of the query of a publication; rows are read when a number is not among their ids."""

    def __init__(self, project: Project, publication: PublishedRollup) -> None:
        self._project = project
        self._publication = publication
        self._query = str(publication.query)
        self._ids = current_numbers(project, self._query)

    def hold(self, row: PublishedRow, cell: PublishedCell) -> bool:
        """Whether the build holds this number in its cell."""
        if cell.number_id in self._ids:
            return True
        now = self._forms.get(_key(row), {}).get(cell.column)
        return now is not None and is_same(self._publication, cell, now)

    @cached_property
    def _forms(self) -> Mapping[str, Mapping[str, PublishedCell]]:
        if not self._ids:
            return {}
        record = self._publication.record
        inexact = {name for name in record.get("columns", {}) if recorded(record, name, is_exact=False).determinism != EXACT}
        rows = built_rows(self._project, self._query) if inexact else ()
        return {_key(row): {name: cell for name, cell in row.cells.items() if name in inexact} for _, row, _ in rows}


def _key(row: PublishedRow) -> str:
    return repr(sorted((name, str(value)) for name, value in row.grain.items()))

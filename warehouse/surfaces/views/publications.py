"""Publications: which numbers stand published, what they are worth, and what became of them."""

from __future__ import annotations

from warehouse.claims.publish.corrections import corrections
from warehouse.claims.publish.publication import publications
from warehouse.surfaces.parts import Column, Page, Table
from warehouse.surfaces.view import View, Visit

_COLUMNS = (
    Column("query", link="/publications/{publication}"), Column("publication", kind="code", is_minor=True), Column("rows", kind="number"),
    Column("state", kind="state"),
)


def _list(visit: Visit) -> Page:
    corrected = corrections(visit.project)
    rows = tuple(
        (
            each.query, each.digest, None if each.fault else each.record.get("rows"),
            "damaged" if each.fault else "withdrawn" if each.digest in corrected else "counts",
        )
        for each in publications(visit.project)
    )
    return Page("Publications", (Table("publications", _COLUMNS, rows, empty="nothing is published yet: wh publish"),))


VIEWS = (
    View("publications", "/publications", "Publications", "All publications, the last one first.", _list, menu="Publications", needs_build=False),
)

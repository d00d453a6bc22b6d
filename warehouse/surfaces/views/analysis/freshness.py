"""Freshness: what is no longer fresh, the most important first, each with the command that ends it."""

from __future__ import annotations

from warehouse.alive.freshness import freshness
from warehouse.errors import counted
from warehouse.surfaces.parts import Column, Page, Table, Text
from warehouse.surfaces.view import View, Visit

_MOST = 200
_HOW = (
    "Published numbers are looked at by their last publication that counts: with which packages they were measured, whether the query, its policy"
    " or the value in the cell is another now, and when they were last verified on this machine. Limits are in warehouse.toml, [freshness]."
)


def _answer(visit: Visit) -> Page:
    found = freshness(visit.project, visit.now, visit.events())
    columns = (
        Column("kind", kind="state"), Column("words", "what"), Column("since", kind="moment", is_minor=True),
        Column("remedy", "what ends it", kind="code"), Column("subject", is_hidden=True), Column("evidence", is_hidden=True),
    )
    rows = tuple(
        (each.kind, each.words, each.since, each.remedy, each.subject, ", ".join(each.evidence)) for each in found.rows[:_MOST]
    )
    said = ", ".join(f"{count} {kind}" for kind, count in found.counts.items())
    table = Table("rows", columns, rows, total=len(found.rows), empty="everything is fresh, as far as the warehouse knows")
    return Page(
        "Freshness", (table, Text("how", _HOW, title="How this is decided")), said or counted(0, "row"),
        notices=tuple(str(each) for each in found.problems), next_steps={"What changed": "/changes", "Published numbers": "/numbers"},
    )


VIEWS = (
    View(
        "freshness", "/freshness", "Freshness",
        "Which published numbers, series and stacks are no longer fresh: why, since when, and the command that ends it.",
        _answer, menu="Freshness", is_further=True, is_costly=True, is_fresh=True,  # what was verified, and the day, change it
    ),
)

"""Freshness: what is no longer fresh, the most important first, each with the command that ends it."""

from __future__ import annotations

from warehouse.alive.freshness import freshness
from warehouse.alive.numbers import ANOTHER_VALUE, FAILED
from warehouse.alive.row import Row
from warehouse.alive.series import SILENT
from warehouse.alive.stacks import LOCK, NEWER
from warehouse.errors import counted
from warehouse.surfaces.parts import Column, Fact, Facts, Page, Table, Text
from warehouse.surfaces.view import View, Visit, address

_MOST = 200
_BAD = (FAILED, ANOTHER_VALUE)
_HOW = (
    "Published numbers are looked at by their last publication that counts: with which packages they were measured, whether the query, its policy"
    " or the value in the cell is another now, and when they were last verified on this machine. Limits are in warehouse.toml, [freshness]."
)


def _answer(visit: Visit) -> Page:
    found = freshness(visit.project, visit.now, visit.events())
    columns = (
        Column("kind", kind="state"), Column("words", "what", link="{place}"), Column("since", kind="moment", is_minor=True),
        Column("remedy", "what ends it", kind="code"), *(Column(name, is_hidden=True) for name in ("subject", "evidence", "place")),
    )
    rows = tuple(
        (each.kind, each.words, each.since, each.remedy, each.subject, ", ".join(each.evidence), _place(each)) for each in found.rows[:_MOST]
    )
    cards = tuple(Fact(kind, count, title=kind, tone="bad" if kind in _BAD else "warn") for kind, count in found.counts.items())
    table = Table("rows", columns, rows, total=len(found.rows), empty="everything is fresh, as far as the warehouse knows")
    answer = f"{counted(len(found.rows), 'thing')} to renew or to check, the most important first" if found.rows else "nothing to renew"
    parts = [Facts("counts", cards, form="cards")] if len(cards) > 1 else []
    return Page(
        "Freshness", (*parts, table, Text("how", _HOW, title="How this is decided")), answer,
        notices=tuple(str(each) for each in found.problems), next_steps={"What changed": "/changes", "Published numbers": "/numbers"},
    )


def _place(row: Row) -> str | None:
    """The page of what a row is about: a publication, a run or a campaign."""
    last = row.evidence[-1] if row.evidence else None
    if row.kind == LOCK:
        return address("/campaigns", campaign=last)
    if row.kind in (SILENT, NEWER):
        return address("/runs/{run_id:path}", run_id=last) if last else None
    of, _, publication = row.evidence[0].partition(" ") if row.evidence else ("", "", "")
    return address("/publications/{publication}", publication=publication) if of == "publication" else None


VIEWS = (
    View(
        "freshness", "/freshness", "Freshness",
        "Which published numbers, series and stacks are no longer fresh: why, since when, and the command that ends it.",
        _answer, menu="Freshness", is_further=True, is_costly=True, is_fresh=True,  # what was verified, and the day, change it
    ),
)

"""Links to pages that a build cannot answer, taken out of other pages: a project of its own may have no table of runs or of load points."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from warehouse.surfaces.parts import Column, Entry, Excerpt, Facets, Fact, Facts, Figure, Form, Page, Part, Table
from warehouse.surfaces.view import View
from warehouse.transform.finished.builds import Build
from warehouse.transform.finished.role_tables import role_table


def unanswered(views: Sequence[View], build: Build | None) -> frozenset[str]:
    """The paths of the views whose table the build lacks, as far as their first parameter."""
    if build is None or not build.path.exists():
        return frozenset()
    return frozenset(view.path.partition("/{")[0] for view in views if view.role and role_table(build.path, view.role) is None)


def without_links(page: Page, gone: Collection[str]) -> Page:
    """The page without links to these paths. What was nothing but such a link is left out."""
    if not gone:
        return page

    def kept(link: str | None) -> str | None:
        place = (link or "").partition("?")[0].partition("#")[0].partition("/{")[0]
        return None if any(place == path or place.startswith(f"{path}/") for path in gone) else link

    def fact(each: Fact) -> Fact:
        return replace(each, link=kept(each.link))

    def column(each: Column) -> Column:
        return replace(each, link=kept(each.link))

    def part(each: Part) -> Part:
        if isinstance(each, Table):
            return table(each)
        if isinstance(each, Facts):
            return replace(each, items=tuple(map(fact, each.items)))
        if isinstance(each, Facets):
            return replace(each, groups=tuple(replace(group, items=tuple(map(fact, group.items))) for group in each.groups))
        if isinstance(each, Figure | Excerpt):
            return replace(each, link=kept(each.link))
        if isinstance(each, Entry):
            actions = tuple(act for act in each.actions if isinstance(act, Form) or kept(act.link))
            return replace(each, link=kept(each.link), figures=tuple(map(table, each.figures)), actions=actions)
        return each

    def table(each: Table) -> Table:
        chart = each.chart and replace(each.chart, link=kept(each.chart.link))
        return replace(each, columns=tuple(map(column, each.columns)), more=kept(each.more), chart=chart)

    steps = {words: place for words, place in page.next_steps.items() if kept(place)}
    crumbs = tuple((words, place) for words, place in page.crumbs if kept(place))
    return replace(page, parts=tuple(map(part, page.parts)), next_steps=steps, crumbs=crumbs)

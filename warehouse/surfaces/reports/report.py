"""A report as a value: what it is of, its published and its exploratory parts, and the record that verification makes it again from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.analysis.names import name_of
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.ledger.events import Event, Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.surfaces.markdown import plain
from warehouse.surfaces.parts import Page, Part
from warehouse.surfaces.reports import exploratory, published_sections
from warehouse.surfaces.reports.exploratory import Findings, read_findings
from warehouse.surfaces.reports.glance import glance_markdown
from warehouse.surfaces.reports.numbers_shown import Number, Scope, Selection, read_scope, select
from warehouse.surfaces.reports.reading import REPORT_VERSION
from warehouse.surfaces.reports.withholding import Withholding, names_ours, read_withholding
from warehouse.surfaces.reports.wording import measure, plain_title
from warehouse.transform.finished.builds import Build, find_current
from warehouse.version import __version__

_TITLES = {
    "engineering": "Performance report for engineering", "product": "Performance report for product", "partner": "Performance report for partners",
}
_LEADS = {
    "engineering": "Published numbers with the rules that they do not pass and the runs under them; then what is open, with what to try next.",
    "product": "What moved in latency, throughput, reliability and cost, how sure that is, and what comes next.",
    "partner": "What was measured, what differs upstream and what on our side, how to repeat it, and the smallest change to make.",
}
_EXPLORATORY: Mapping[str, Callable[[Findings], Iterator[Part]]] = {
    "engineering": exploratory.engineering, "product": exploratory.product, "partner": exploratory.partner,
}


@dataclass(frozen=True)
class Report:
    """`page` has the published parts, `exploratory` the others; `record` is what the file says of itself to programs."""

    page: Page
    exploratory: tuple[Part, ...]
    record: Mapping[str, Any]


def make_report(project: Project, audience: str, scope: Sequence[str] = ()) -> Report:
    """The report of a project for one audience. Raises WH610 for a scope of which nothing is published, WH612 for one that a partner must
    not read, and what reading publications and the build raises."""
    found, findings, withheld = _read(project, audience, scope)
    build = find_current(project)
    parts = list(_EXPLORATORY[audience](findings))
    report = published_report(audience, scope, found, build.digest if build else None, withheld)
    return replace(report, exploratory=tuple(withheld.part(each) if audience == "partner" else each for each in parts))


def report_at_a_glance(project: Project, audience: str, scope: Sequence[str] = ()) -> str:
    """The report in at most 25 lines of Markdown. Raises what `make_report` does."""
    found, events, withheld = _read(project, audience, scope)
    names = [withheld.text(f"{_name(each, withheld)} · {measure(each.column, each.unit)}") for each in found.numbers]
    events = replace(events, names={event: withheld.text(name) for event, name in events.names.items()})
    said = f"Scope: {', '.join(map(plain, scope))}. " if scope else ""
    return glance_markdown(_TITLES[audience], said, found, events, names)


def _name(number: Number, withheld: Withholding) -> str:
    """A number by model, GPU, engine and load where its row states them."""
    return str(name_of({**number.settings, **number.grain})) or plain_title(number, number.grain, withheld.text)


def _read(project: Project, audience: str, scope: Sequence[str]) -> tuple[Selection, Findings, Withholding]:
    wanted = read_scope(scope)
    build = find_current(project)
    withheld = read_withholding(build) if audience == "partner" else Withholding()
    _check_scope(audience, scope, wanted, withheld)
    found = select(project, wanted, list(Ledger(open_store(project).objects).events()))
    runs = {run for each in found.numbers for run in each.run_ids} if scope else None
    return found, read_findings(project, build, runs), withheld


def published_again(
    project: Project, record: Mapping[str, Any], events: Sequence[Event], build: Build | None
) -> tuple[Report, Selection]:
    """The report that a record is of, made again from the publications; without its exploratory parts. Raises WH610, WH307."""
    scope = [str(each) for each in record["scope"]]
    found = select(project, read_scope(scope), events, str(record["until"] or ""))
    withheld = read_withholding(build) if record["audience"] == "partner" else Withholding()
    return published_report(record["audience"], scope, found, record["build"], withheld), found


def published_report(audience: str, scope: Sequence[str], found: Selection, build: str | None, withheld: Withholding) -> Report:
    """The published part of a report: a pure function of these."""
    parts = {
        "engineering": lambda: published_sections.engineering(found), "product": lambda: published_sections.product(found),
        "partner": lambda: published_sections.partner(found, withheld),
    }[audience]()
    said = f"Scope: {', '.join(map(printable, scope))}. " if scope else ""
    page = Page(_TITLES[audience], tuple(parts), f"{said}{_LEADS[audience]}")
    record = {
        "report_version": REPORT_VERSION, "audience": audience, "scope": list(scope), "wh": __version__, "build": build, "until": found.until,
        "publications": sorted(found.shown), "left_out": sorted(each.publication for each in found.left_out),
        "numbers": [each.number_id for each in found.numbers],
        "sections": [{"id": "published", "is_exploratory": False}, {"id": "exploratory", "is_exploratory": True}],
    }
    return Report(page, (), record)


def _check_scope(audience: str, scope: Sequence[str], wanted: Scope, withheld: Withholding) -> None:
    if audience != "partner":
        return
    for text in scope:
        column, sign, value = text.partition("=")
        if (sign and names_ours(column)) or withheld.text(value if sign else column) != (value if sign else column):
            message = "a report for partners does not name our machines, people, folders or jobs"
            raise WarehouseError("WH612", message, printable(text), "take a scope that names a query, workload or model", ExitCode.USAGE)

"""Ingest: what arrived last, what no ingestor knows, what is wrong with what was read, and what somebody has to decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.claims.publish.admissibility import conflicted_runs
from warehouse.errors import WarehouseError, counted
from warehouse.evidence.ledger.events import ARRIVAL, Event, History
from warehouse.evidence.manifest import UNRECOGNISED
from warehouse.evidence.objects.location import open_store
from warehouse.surfaces.parts import Column, Page, Part, Table
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit
from warehouse.surfaces.views.evidence.issues import filtered, issue_groups, issue_list
from warehouse.transform.build.build import newer_than
from warehouse.transform.finished.builds import is_unfinished

_ARRIVALS = 20
_QUARANTINED = 50
_DECISIONS = 100
_BUNDLE = "/evidence/{bundle}"


def _page(visit: Visit) -> Page:
    where, more = filtered(visit.values, visit["offset"])
    if where:
        title = "Issues: " + ", ".join(where.values())
        return Page(title, (issue_list(visit, where, visit["offset"], more),), crumbs=(("Ingest", "/ingest"),))
    arrivals = [event for event in visit.events() if event.kind == ARRIVAL]
    parts: list[Part] = [*_decisions(visit), issue_groups(visit), _quarantine(visit, arrivals), _arrivals(arrivals)]
    return Page("Ingest", tuple(parts), notices=tuple(_notices(visit)), next_steps={"All bundles": "/evidence", "The ledger": "/audit"})


def _notices(visit: Visit) -> list[str]:
    if visit.build is None:
        return ["Nothing is built yet: what is wrong with the evidence is known after wh build."]
    newer = newer_than(visit.project, visit.build)
    found = ["Evidence or decisions arrived after this build: run wh build."] if newer.evidence else []
    return [*found, *(["The last build did not finish: run wh build --retry."] if is_unfinished(visit.project) else [])]


def _decisions(visit: Visit) -> list[Part]:
    if visit.build is None:
        return []
    runs = list(conflicted_runs(visit.build))
    columns = (Column("run_id", "run", "code", link="/runs/{run_id:path}"), Column("command", "to decide"))
    rows = tuple((run, f"wh settle {run} --bundle DIGEST --reason TEXT") for run in runs[:_DECISIONS])
    note = "Several bundles state these runs differently. None is published until somebody settles which bundle is its evidence." if runs else ""
    return [Table("decisions", columns, rows, "Runs that need a decision", note, "none: no two bundles contradict each other", len(runs))]


def _arrivals(arrivals: Sequence[Event]) -> Table:
    columns = (
        Column("at", "arrived", "moment"), Column("family", link="/evidence?family={family}"), Column("bundle", kind="code", link=_BUNDLE),
        Column("came_from", "from"), Column("by", is_minor=True),
    )
    rows = tuple((each.at, each.detail.get("family"), each.subject, each.detail.get("from"), each.by) for each in arrivals[: -_ARRIVALS - 1 : -1])
    return Table("arrivals", columns, rows, "The last arrivals", empty="nothing arrived yet: wh ingest PATH", total=len(arrivals), more="/evidence")


def _quarantine(visit: Visit, arrivals: Sequence[Event]) -> Table:
    """The bundles that no ingestor knows, and are still here: kept, and not read."""
    history = History()
    for event in visit.events():
        history.add(event)
    found = [each for each in arrivals if each.detail.get("family") == UNRECOGNISED and each.subject in history.arrivals]
    rows: list[tuple[Any, ...]] = []
    for each in found[: -_QUARANTINED - 1 : -1]:
        try:
            files = open_store(visit.project).manifest(each.subject).files
        except WarehouseError as error:
            if error.code == "WH114":
                raise
            rows.append((each.at, each.subject, None, None, error.message))
            continue
        shown = ", ".join(file.raw_path for file in files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
        rows.append((each.at, each.subject, len(files), sum(file.bytes for file in files), shown))
    columns = (
        Column("at", "arrived", "moment"), Column("bundle", kind="code", link=_BUNDLE), Column("files", kind="number"),
        Column("bytes", "size", "bytes", "bytes"), Column("names", "files"),
    )
    note = f"No ingestor knows the files of {counted(len(found), 'bundle')}. They are kept, and no number depends on them." if found else ""
    return Table(
        "unrecognised", columns, tuple(rows), "Not recognised", note, "every bundle was recognised", len(found),
        f"/evidence?family={UNRECOGNISED}" if len(found) > _QUARANTINED else None,
    )


VIEWS = (
    View(
        "ingest", "/ingest", "Ingest", "What arrived last, what no ingestor knows, the issues of what was read, and the runs to decide on.", _page,
        (
            Parameter("severity", "Only issues of this severity.", choices=("error", "warning", "note")),
            Parameter("family", "Only issues of this evidence family."), Parameter("code", "Only issues of this code."), OFFSET,
        ),
        menu="Ingest", is_further=True, needs_build=False,
    ),
)

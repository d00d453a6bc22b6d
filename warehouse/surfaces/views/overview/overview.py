"""Overview: what moved, new runs, what to decide, what is published; then a section for each kind of evidence that there is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from warehouse.analysis.changes import changes
from warehouse.analysis.events.event import Event
from warehouse.errors import WarehouseError, counted
from warehouse.surfaces.parts import Column, Fact, Facts, Page, Part, Table
from warehouse.surfaces.view import View, Visit, address
from warehouse.surfaces.views.analysis.event_entry import event_table
from warehouse.surfaces.views.facts.reading import Reader, reader
from warehouse.surfaces.views.facts.runs import STATE_SQL, runs_table
from warehouse.surfaces.views.overview import others, published, serving, submissions
from warehouse.transform.finished.role_tables import RoleTable
from warehouse.transform.project.model import MEASUREMENTS

PATH = "/overview"
_DAYS = 14
_EVENTS = 3  # that are listed
_DECISIONS = 8
_LISTED = 5  # runs in conflict


def _answer(visit: Visit) -> Page:
    with reader(visit) as found:
        try:
            table = runs_table(found)
        except WarehouseError:  # a project of its own may have no table of runs
            table = None
        since, is_past = _since(found, table, visit.now)
        events, earlier, is_tested = _events(visit, since)
        stated = published.published_numbers(visit, found)
        decisions = [*_conflicts(found, table.sql if table else None), *stated.decisions]
        cards = [
            *_moved(events, earlier, is_tested, since, is_past), *_arrived(found, table),
            Fact(
                "decide", len(decisions), link="#decide" if decisions else None,
                title="thing to decide" if len(decisions) == 1 else "things to decide", tone="warn" if decisions else "good",
                note=decisions[0][1] if len(decisions) == 1 else "" if decisions else "no run in conflict, no number gone stale",
            ), stated.card,
        ]
        parts: list[Part] = [Facts("now", tuple(cards), form="cards")]
        if events:
            worst = sorted(events, key=lambda each: (each.status != "confirmed", each.outcome != "worse"))[:_EVENTS]
            parts.append(event_table(worst, title="What moved", total=len(events), more=_changes(since, is_past)))
        elif earlier:
            parts.append(event_table(earlier[:_EVENTS], title="What moved last, and is still so", total=len(earlier), more="/changes"))
        sections = [*serving.serving_parts(found, [*events, *earlier]), *submissions.submission_parts(found), *others.other_parts(found)]
        parts += sections or others.measured_parts(found)
    if decisions:
        columns = (Column("state", kind="state"), Column("words", "what", link="{place}"), Column("place", is_hidden=True))
        parts.append(Table("decide", columns, tuple(decisions[:_DECISIONS]), "To decide", total=len(decisions)))
    return Page("Overview", tuple(parts), next_steps={
        "What regressed in the past year": address("/changes", since="1y", way="worse"), "All results": "/results",
        **({"All runs": "/runs"} if table else {}), "Evidence": "/evidence", "What is no longer fresh": "/freshness",
    })


def _since(found: Reader, runs: RoleTable | None, now: datetime) -> tuple[datetime, bool]:
    """From when on what moved is new: the past 14 days, or in a warehouse that is not fed now, the last 14 of it; and whether it is that."""
    table = runs or found.role(MEASUREMENTS)
    last = found.rows(f"select max(started_at) as last from {table.sql}")[0]["last"] if table and "started_at" in table.columns else None
    if last is None:
        return now - timedelta(days=_DAYS), False
    last = last if last.tzinfo else last.replace(tzinfo=UTC)
    is_past = last < now - timedelta(days=_DAYS)
    return (min(last, now) - timedelta(days=_DAYS)).replace(hour=0, minute=0, second=0, microsecond=0), is_past


def _events(visit: Visit, since: datetime) -> tuple[list[Event], list[Event], bool]:
    """The events since then, earlier ones that are still so, the last one first, and whether any series has enough runs to be tested."""
    try:
        found = changes(visit.project, now=visit.now)
    except WarehouseError as error:
        if error.code not in ("WH501", "WH504"):
            raise
        return [], [], False
    dated = [(at, each) for each in found.events if (at := each.clearest.first.started_at) and each.state not in ("false-alarm", "fixed")]
    earlier = sorted((each for each in dated if each[0] < since and each[1].now == "still"), key=lambda each: each[0], reverse=True)
    return [each for at, each in dated if at >= since], [each for _, each in earlier], bool(found.tested)


def _changes(since: datetime, is_past: bool, **chosen: Any) -> str:
    return address("/changes", since=f"{since:%Y-%m-%d}" if is_past else f"{_DAYS}d", **chosen)


def _moved(events: list[Event], earlier: list[Event], is_tested: bool, since: datetime, is_past: bool) -> list[Fact]:
    worse = [each for each in events if each.outcome == "worse" and each.status == "confirmed"]
    suspected = [each for each in events if each.status == "suspected"]
    better = [each for each in events if each.outcome == "better" and each.status == "confirmed"]
    words = [f"{len(suspected)} suspected"] * bool(suspected) + [f"{len(better)} better"] * bool(better)
    words.append(f"since {since:%-d %b %Y}, the last 14 days with runs" if is_past else f"past {_DAYS} days")
    if not events and earlier and (at := earlier[0].clearest.first.started_at):
        words.append(f"the last event began {at:%-d %b}")
    if not is_tested:  # none found is not none there
        return [Fact("moved", None, link="/changes", title="changes", note="not judged: too few dated runs to look for changes")]
    title = "confirmed change for the worse" if len(worse) == 1 else "confirmed changes for the worse"
    link = _changes(since, is_past, way="worse" if worse else None) if is_tested else "/changes"
    return [Fact("moved", len(worse), link=link, title=title, tone="bad" if worse else "", note=" · ".join(words))]


def _arrived(found: Reader, table: RoleTable | None) -> list[Fact]:
    """The runs of the last day on which any arrived."""
    lineage, measurements = "main.artifact_lineage_dim", found.role(MEASUREMENTS)
    if table is None and measurements is None:
        return []
    if table is None or not {"run_id", "arrived_at"} <= found.columns(lineage):
        of = table or measurements
        assert of
        row = found.rows(f"select count(distinct run_id) as runs, max(started_at) as last from {of.sql}")[0]
        last = f"the last on {row['last']:%-d %b %Y}" if row["last"] else ""
        return [Fact("runs", row["runs"], link="/runs" if table else "/explore", title="run" if row["runs"] == 1 else "runs", note=last)]
    runs = table.sql
    row = found.rows(
        f"with new as (select arrived_at, {STATE_SQL} as state from {runs} inner join {lineage} using (run_id)"
        f" where arrived_at >= (select max(arrived_at) from {lineage}) - interval 1 day)"
        " select count(*) as runs, count(*) filter (state = 'failed') as failed, max(arrived_at) as last,"
        f" (select count(*) from {runs}) as total from new"
    )[0]
    words = [f"arrived until {row['last']:%-d %b %H:%M} UTC" if row["last"] else "none has arrived"]
    words += [f"{row['failed']} failed"] * bool(row["failed"]) + [f"{row['total']:,} in all"] * (row["total"] != row["runs"])
    words += _not_recognised(found)
    return [Fact("runs", row["runs"], link="/runs", title="new run" if row["runs"] == 1 else "new runs", note=" · ".join(words))]


def _conflicts(found: Reader, runs: str | None) -> list[tuple[str, str, str]]:
    if runs is None:
        return []
    rows = found.rows(f"select run_id from {runs} where has_conflict order by run_id")
    told = [("stated twice", f"bundles state different values of the run {row['run_id']}", address("/runs/{run_id:path}", **row)) for row in rows]
    if len(told) <= _LISTED:
        return told
    return [*told[: _LISTED - 1], ("stated twice", f"and {len(told) - _LISTED + 1} more runs", address("/runs", state="in conflict"))]


def _not_recognised(found: Reader) -> list[str]:
    table = "main.raw_artifact"
    if "is_recognised" not in found.columns(table):
        return []
    ((files,),) = found.con.execute(f"select count(*) from {table} where not is_recognised").fetchall()
    return [f"{counted(files, 'file')} not recognised"] if files else []


VIEWS = (
    View(
        "overview", PATH, "Overview",
        "What moved, new runs, what needs a decision, what is published and whether it holds, and the best results of each kind of evidence.",
        _answer, menu="Overview", is_costly=True,
    ),
)

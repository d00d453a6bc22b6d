"""What a notice may be about: confirmed events, builds that failed, verifications, decisions that wait, and what is no longer fresh.

A condition holds or does not; what was told of it, and whether it is over, is for `warehouse.alive.memory`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from warehouse.alive.freshness import freshness
from warehouse.alive.index_state import FAMILY
from warehouse.alive.numbers import ANOTHER_VALUE, FAILED, UNVERIFIED
from warehouse.alive.row import Row
from warehouse.alive.secrets import without_secrets
from warehouse.analysis.changes import changes
from warehouse.analysis.events.event import Event as Change
from warehouse.claims.publish.admissibility import conflicted_runs
from warehouse.digest import bytes_digest
from warehouse.errors import WarehouseError, counted, printable
from warehouse.evidence.ledger.events import ARRIVAL, Event, History
from warehouse.evidence.listing import Listing
from warehouse.evidence.objects.location import open_store
from warehouse.landing.parse.batches import BUNDLE_TABLE
from warehouse.project.alive import BUILDS, DECISIONS, EVENTS, FRESHNESS, VERIFICATIONS
from warehouse.project.project import Project
from warehouse.transform.build.build import newer_than
from warehouse.transform.finished.builds import Build, find_current, is_unfinished
from warehouse.transform.finished.query import read_query
from warehouse.transform.inputs.landing_tables import built_rows
from warehouse.transform.testing.rejected_rows import rejected

_OF_VERIFICATIONS = (FAILED, ANOTHER_VALUE, UNVERIFIED)
_WAITS = timedelta(days=1)  # evidence for a build: results arrive at any time, and the next night builds them
_LISTED = 5


@dataclass(frozen=True)
class Condition:
    """`key` names it as long as it lasts, and `state` is another when there is something new to say of it. `lines` are what is known, `commands` what
    to do."""

    kind: str
    key: str
    title: str
    state: str
    since: datetime | None = None
    lines: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conditions:
    """What holds now, and the kinds that could not be looked at, with why: of these nothing is known, so nothing is over either."""

    holding: tuple[Condition, ...]
    unknown: Mapping[str, WarehouseError]


def conditions(project: Project, kinds: Iterable[str], now: datetime) -> Conditions:
    """The conditions of these kinds (of `project.alive.NOTICE_KINDS`), without secrets. Raises WH114."""
    wanted = set(kinds)
    ledger_events = Listing(open_store(project), project.builds).events()
    build = find_current(project)
    found: list[Condition] = []
    unknown: dict[str, WarehouseError] = {}
    makers: Mapping[str, Callable[[], Iterator[Condition]]] = {
        EVENTS: lambda: _events(project, build, now), BUILDS: lambda: _builds(project, build, ledger_events, now),
        DECISIONS: lambda: _decisions(build),
    }
    for kind, make in makers.items():
        if kind in wanted:
            try:
                found += make()
            except WarehouseError as error:
                unknown[kind] = error
    if wanted & {VERIFICATIONS, FRESHNESS}:
        fresh = freshness(project, now, ledger_events)
        found += [each for each in map(_of_row, fresh.rows) if each.kind in wanted]
        unknown |= {kind: fresh.problems[0] for kind in (VERIFICATIONS, FRESHNESS) if fresh.problems and kind in wanted}
    return Conditions(tuple(_cleaned(project, each) for each in found), {kind: _without_secrets(project, why) for kind, why in unknown.items()})


def _without_secrets(project: Project, error: WarehouseError) -> WarehouseError:
    place, hint = (text and without_secrets(project, text) for text in (error.place, error.hint))
    return replace(error, message=without_secrets(project, error.message), place=place, hint=hint)


def _cleaned(project: Project, found: Condition) -> Condition:
    """A condition without secrets. Keys that only secrets tell apart stay apart."""
    def clean(text: str) -> str:
        return without_secrets(project, printable(text))

    key = found.key if clean(found.key) == found.key else f"{clean(found.key)} {bytes_digest(found.key.encode())[:8]}"
    lines, evidence, commands = (tuple(map(clean, texts)) for texts in (found.lines, found.evidence, found.commands))
    return replace(found, key=key, title=clean(found.title), state=clean(found.state), lines=lines, evidence=evidence, commands=commands)


def _events(project: Project, build: Build | None, now: datetime) -> Iterator[Condition]:
    """Confirmed events that are still so, got worse or have no direction, and that nobody explained."""
    if build is None:
        return
    try:
        found = changes(project, now=now).events
    except WarehouseError as error:
        if error.code == "WH501":  # a project without measurements
            return
        raise
    for each in found:
        if each.worst_status() == "confirmed":
            first, last = each.clearest.first, each.clearest.last
            lines = [f"{counted(len(each.members), 'series', 'series')} moved, {each.unmoved} of the same cases did not"]
            lines += [f"noted {note}" for note in each.notes] + [f"differs: {one.words}" for one in each.differences[:_LISTED]]
            yield Condition(
                EVENTS, f"event {each.event_id}", f"{each.way} {_size(each)}: {each.name}", f"{each.way} {each.state} {each.doubt or ''}",
                first.started_at, tuple(lines), (f"event {each.event_id}", f"last run before {last.run_id}", f"first run after {first.run_id}"),
                (f"wh changes {each.event_id}", f"wh explain {shlex.quote(first.run_id)}"),
            )


def _size(event: Change) -> str:
    found = event.headline
    if found.before <= 0:
        return "from zero"
    ratio = found.after / found.before
    return f"{ratio:.3g}x" if ratio >= 2 or ratio <= 0.5 else f"{(ratio - 1) * 100:+.1f} %"


def _builds(project: Project, build: Build | None, events: Iterable[Event], now: datetime) -> Iterator[Condition]:
    """That the last build failed, or that evidence waits for one since more than a day; and bundles and rows that the current build lacks."""
    made_at = datetime.fromtimestamp(build.path.stat().st_mtime, UTC) if build else None
    if is_unfinished(project):
        title = "the last build did not finish; the last good one is current"
        yield Condition(BUILDS, "build unfinished", title, "", None, (), (), ("wh build --retry",))
    elif build and newer_than(project, build).models:
        title = "the current build is of earlier models than the project has"
        yield Condition(BUILDS, "build models", title, "", made_at, (), (), ("wh check", "wh build"))
    store = open_store(project)
    column = "artifact_manifest_digest"
    built = {row[column] for row in built_rows(build.landing, store.landing, BUNDLE_TABLE, [column])} if build else set()
    history, families = History(), {}
    for event in events:
        history.add(event)
        if event.kind == ARRIVAL:
            families[event.subject] = event.detail.get("family")
    waiting = {
        digest: at for digest, arrived in history.arrivals.items()
        if digest not in built and families.get(digest) != FAMILY and now - (at := datetime.fromisoformat(arrived)) > _WAITS
    }
    if waiting:
        oldest = min(waiting.values())
        title = f"{counted(len(waiting), 'bundle')} of evidence {'has' if len(waiting) == 1 else 'have'} waited for a build for more than a day"
        yield Condition(BUILDS, "build waiting", title, "", oldest, (), tuple(f"bundle {each}" for each in sorted(waiting)[:_LISTED]), ("wh build",))
    if build:
        with read_query(build.path, "select code, place, message from catalog.damaged order by all") as result:
            damaged = result.fetchall()
        if damaged:
            lines = tuple(printable(f"{code} {place}: {message}") for code, place, message in damaged[:_LISTED])
            title = f"the current build lacks {counted(len(damaged), 'bundle')} that could not be read"
            state = " ".join(str(place) for _, place, _ in damaged)
            yield Condition(BUILDS, "build damaged", title, state, made_at, lines, tuple(str(each[1]) for each in damaged[:_LISTED]), ("wh fsck",))
        with read_query(build.path, "select 1") as con:
            left_out = rejected(con)
        if left_out:
            lines = tuple(f"{each.table}: {counted(each.rows, 'row')}" for each in left_out)
            title = f"the current build left {counted(sum(each.rows for each in left_out), 'row')} out, because a test of their table forbids them"
            command = "wh sql \"from ingest_issue where code = 'row-left-out'\""
            yield Condition(BUILDS, "build left out", title, " ".join(lines), made_at, lines[:_LISTED], (), (command,))


def _decisions(build: Build | None) -> Iterator[Condition]:
    """Runs that bundles state differently: nothing of them is published until somebody decides."""
    for run_id in conflicted_runs(build) if build else ():
        yield Condition(
            DECISIONS, f"conflict {run_id}", f"several bundles state the run {run_id} differently", "", None,
            ("nothing about it is published until one of them is chosen",), (f"run {run_id}",),
            (f"wh impact {shlex.quote(run_id)}", f"wh settle {shlex.quote(run_id)} --bundle DIGEST --reason TEXT"),
        )


def _of_row(row: Row) -> Condition:
    kind = VERIFICATIONS if row.kind in _OF_VERIFICATIONS else FRESHNESS
    return Condition(kind, row.key, row.words, row.news, row.since, (), row.evidence, (row.remedy,))

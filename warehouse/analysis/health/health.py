"""The health of a warehouse as hot metrics: its current build, its publications, and series without new runs.

Reads the build and the ledger; hashes nothing. What cannot be known is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from warehouse.analysis.events.silence import is_stale
from warehouse.analysis.health.freshness_counts import KINDS, last_counts
from warehouse.analysis.measurements import measured
from warehouse.claims.gate.policy import EXPLORATORY, VERDICTS
from warehouse.claims.publish.corrections import corrected
from warehouse.claims.publish.publication import stored_publications
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import CORRECTION, Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.transform.build.build import newer_than
from warehouse.transform.finished.builds import Build
from warehouse.transform.finished.query import read_query
from warehouse.transform.project.hot_metrics import ENGINE_PREFIX, HotMetric

_FINISHED, _TOOK, _NEWER = "build_finished_timestamp_seconds", "build_duration_seconds", "evidence_newer"
_COUNTING, _WITHDRAWN, _SUPERSEDED, _DAMAGED = (f"publications_{state}" for state in ("counting", "withdrawn", "superseded", "damaged"))
_NUMBERS = {verdict: f"numbers_{verdict.replace(' ', '_')}" for verdict in (*VERDICTS, EXPLORATORY)}
_SERIES, _STALE = "series", "series_stale"
_CHECKED, _FRESHNESS = "freshness_checked_timestamp_seconds", {kind: f"freshness_{kind.replace(' ', '_')}" for kind in KINDS}

HEALTH: tuple[HotMetric, ...] = tuple(
    HotMetric(f"{ENGINE_PREFIX}{name}", text, "seconds" if name.endswith("_seconds") else None)
    for name, text in (
        (_FINISHED, "When the current build was finished; a build with nothing new makes no new one"),
        (_TOOK, "Time that the models and tests of the current build took, without parsing of evidence"),
        (_NEWER, "1: evidence, signatures or decisions have come since the current build; 0: none have"),
        (_COUNTING, "Publications that were not corrected"),
        (_WITHDRAWN, "Publications that were withdrawn"),
        (_SUPERSEDED, "Publications that another publication supersedes"),
        (_DAMAGED, "Publications whose record cannot be read, or is not the one that was published"),
        *((name, f"Judged numbers with the verdict {verdict} in publications that were not corrected") for verdict, name in _NUMBERS.items()),
        (_SERIES, "Series of measurements"),
        (_STALE, "Series that had no run for three mean gaps between their sessions"),
        (_CHECKED, "When wh freshness ran last here"),
        *((name, f"Rows of the kind '{kind}' that wh freshness listed last here") for kind, name in _FRESHNESS.items()),
    )
)


def health(project: Project, build: Build, now: datetime) -> dict[str, float | None]:
    """The value of each metric of `HEALTH`, by name. Raises WH114, WH218."""
    found: Mapping[str, float | None] = {
        _FINISHED: build.path.stat().st_mtime, _TOOK: _seconds(build), _NEWER: float(newer_than(project, build).evidence),
        **_publications(project), **_series(build, now), **_freshness(project),
    }
    return {metric.name: found[metric.name.removeprefix(ENGINE_PREFIX)] for metric in HEALTH}


def _freshness(project: Project) -> dict[str, float | None]:
    """What `wh freshness` counted last: a scrape does not count it anew."""
    found = last_counts(project)
    return {_CHECKED: found[0] if found else None, **{name: float(found[1][kind]) if found else None for kind, name in _FRESHNESS.items()}}


def _seconds(build: Build) -> float | None:
    sql = "select sum(seconds) from (select seconds from catalog.model_result union all select seconds from catalog.test_result)"
    with read_query(build.path, sql) as result:
        ((seconds,),) = result.fetchall()
    return None if seconds is None else float(seconds)


def _publications(project: Project) -> dict[str, float | None]:
    """Publications by state, and the numbers of those that count by verdict."""
    objects = open_store(project).objects
    events = list(Ledger(objects).events())
    corrections = corrected(events)
    states: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    for each in stored_publications(objects, events):
        if each.fault:
            states[_DAMAGED] += 1
        elif correction := corrections.get(each.digest):
            states[_SUPERSEDED if correction.kind == CORRECTION else _WITHDRAWN] += 1
        else:
            states[_COUNTING] += 1
            verdicts.update(each.record.get("verdicts", {}))
    return {
        **{name: float(states[name]) for name in (_COUNTING, _WITHDRAWN, _SUPERSEDED, _DAMAGED)},
        **{name: float(verdicts[verdict]) for verdict, name in _NUMBERS.items()},
    }


def _series(build: Build, now: datetime) -> dict[str, float | None]:
    try:
        with measured(build) as found:
            sql = f"select min(started_at), max(started_at), count(distinct session) from {found.measurements.sql} group by series_key"
            stale = [is_stale(first, last, sessions, now) for first, last, sessions in found.con.execute(sql).fetchall()]
    except WarehouseError as error:
        if error.code not in ("WH501", "WH504"):  # a project without measurements, or whose series wh changes refuses
            raise
        return {_SERIES: None, _STALE: None}
    return {_SERIES: float(len(stale)), _STALE: float(sum(stale))}

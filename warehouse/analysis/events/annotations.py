"""Dated notes on clusters, testbeds, nodes and series (`wh note --at`): writing one, and which of them are near an event or of a series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from warehouse.analysis.events.event import Event
from warehouse.analysis.events.findings import time_of
from warehouse.analysis.measurements import Measured, measured
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.evidence.ledger.annotations import ANNOTATION, Annotation
from warehouse.evidence.ledger.events import Event as LedgerEvent
from warehouse.evidence.ledger.run_decisions import decide
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build

if TYPE_CHECKING:
    from warehouse.evidence.signing.keys import SigningKey

_NEAR = timedelta(days=3)  # before the last run before an event, or after the first run after it
_BEGINNING = 8  # characters of a key, at least, name the one that begins so
_CLUSTERS = ("main", "cluster_region_dim")
_COLUMNS = {"testbed": "testbed", "node": "node", "series": "series_key"}


class Places:
    """Which annotations are of which measurements. An annotation of a cluster is of all its testbeds."""

    def __init__(self, found: Measured, noted: Sequence[Annotation]) -> None:
        clusters = sorted({each.subject for each in noted if each.place == "cluster"})
        self._noted = noted
        self._testbeds: dict[str, set[str]] = {}
        for cluster, testbed in _testbeds(found, clusters) if clusters else ():
            self._testbeds.setdefault(cluster, set()).add(testbed)

    def of(self, series_key: str | None, testbed: str | None, node: str | None) -> list[Annotation]:
        """Those of a measurement with this series, testbed and node."""
        values: Mapping[str, str | None] = {"series": series_key, "testbed": testbed, "node": node}
        return [
            each for each in self._noted
            if (testbed in self._testbeds.get(each.subject, ()) if each.place == "cluster" else values[each.place] == each.subject)
        ]

    def near(self, event: Event) -> tuple[Annotation, ...]:
        """Those of any member of an event that are of the time of its place, or of three days before or after it."""
        since, until = time_of(event.clearest.last) - _NEAR, time_of(event.clearest.first) + _NEAR
        near = {
            each.event.key: each for member in event.members
            for each in self.of(member.first.series_key, member.first.variables["testbed"], member.first.node) if since <= each.at <= until
        }
        return tuple(sorted(near.values(), key=lambda each: (each.at, each.event.key)))


def place_of(project: Project, subject: str) -> tuple[str, str] | None:
    """The kind of a cluster, testbed, node or series of the current build, and its whole name or key; the beginning of a key is enough. None where
    nothing of the build is called so. Raises WH314 for several, WH211, WH218."""
    try:
        with measured(current_build(project)) as found:
            known = _known(found, subject)
    except WarehouseError as error:
        if error.code not in ("WH501", "WH504"):
            raise
        return None
    exact = [each for each in known if each[1] == subject]
    if len(candidates := exact[:1] or known) > 1:
        listed = ", ".join(f"{place} {printable(name)}" for place, name in candidates[:5])
        raise WarehouseError("WH314", f"several begin so: {listed}", printable(subject), "give more of it", ExitCode.AMBIGUOUS)
    return candidates[0] if candidates else None


def annotate(project: Project, subject: str, text: str, at: datetime, key: "SigningKey | None" = None) -> LedgerEvent:
    """Record what happened to a cluster, testbed, node or series at a time. Raises WH314 where the build has none, and what `decide` raises."""
    if not text.strip():
        raise WarehouseError("WH314", "a note needs a text", printable(subject))
    meant = place_of(project, subject)
    if meant is None:
        raise WarehouseError(
            "WH314", "no cluster, testbed, node or series of the current build is called so", printable(subject), _similar(project, subject),
            ExitCode.NOT_FOUND,
        )
    place, name = meant
    return decide(open_store(project).objects, ANNOTATION, name, text, {"of": place, "at": at.isoformat()}, key)


def _known(found: Measured, subject: str) -> list[tuple[str, str]]:
    """What is called so or begins so: of names only the whole, of keys also the beginning."""
    listed = []
    for place, column in _COLUMNS.items():
        begins = f"or (length(?) >= {_BEGINNING} and starts_with({column}, ?))" if place != "node" else ""
        values = [subject, subject, subject] if begins else [subject]
        sql = f"select distinct {column} from {found.measurements.sql} where {column} = ? {begins} order by 1 limit 6"
        listed += [(place, name) for name, in found.con.execute(sql, values).fetchall()]
    return [("cluster", subject)] if next(iter(_testbeds(found, [subject])), None) else listed


def _testbeds(found: Measured, clusters: Iterable[str]) -> list[tuple[str, str]]:
    """Clusters by name, each with the keys of its testbeds; none where the build has no table of them."""
    schema, table = _CLUSTERS
    held = found.con.execute(
        "select count(*) from duckdb_columns() where schema_name = ? and table_name = ? and column_name in ('cluster', 'cluster_region_key')",
        [schema, table],
    ).fetchone()
    if held is None or held[0] != 2:
        return []
    sql = f"select cluster, cluster_region_key from {schema}.{table} where cluster in (select unnest(?::varchar[])) order by all"
    return found.con.execute(sql, [[*clusters]]).fetchall()


def _similar(project: Project, subject: str) -> str | None:
    try:
        with measured(current_build(project)) as found:
            names = [name for name, in found.con.execute(
                f"select distinct node from {found.measurements.sql} where node is not null order by 1 limit 1000"
            ).fetchall()]
    except WarehouseError:
        return None
    return did_you_mean(subject, names) or "wh note RUN TEXT is for a run; wh sql 'from cluster_region_dim' lists clusters"

"""Decisions on runs and what they do to numbers: which ones a number was made with, and what may be published under them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from warehouse.claims.publish.publication import PublishedRollup
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import PUBLICATION, PUBLISHING, Ledger
from warehouse.evidence.ledger.run_decisions import Decision, named_decisions, standing, standing_now
from warehouse.evidence.objects.location import open_store
from warehouse.landing.parse.batches import DECIDED_TABLES
from warehouse.project.project import Project
from warehouse.transform.finished.builds import find_current
from warehouse.transform.project.model import RUNS

if TYPE_CHECKING:
    from warehouse.transform.finished.builds import Build

_LISTED = 12  # runs of a refusal

# How a record names a decision: `key` and `sha256` of its event.
Reference = Mapping[str, str]


def made_with(project: Project, publication: PublishedRollup | None) -> Sequence[Reference]:
    """The decisions that a publication was made with, as it says; without one, those of the current build. Raises WH123."""
    if publication:
        return list(publication.record.get("decisions", ()))
    build = find_current(project)
    return _of_build(project, build) if build else []


def check_admitted(
    project: Project, build: "Build", specification: Mapping[str, Any], runs: Iterable[str], place: str
) -> Sequence[Reference]:
    """The decisions that a publication from a build must name: none where its query does not read them. Raises WH313 where it
    depends on runs that are not admitted now, or the build knows other decisions than the ledger; WH105, WH106 or WH107 where an
    event was altered, is gone or cannot be read."""
    objects = open_store(project).objects
    now, built = standing_now(objects), _of_build(project, build)
    for problem in named_decisions(objects, built)[1]:
        raise problem
    known = {reference["sha256"] for reference in built}
    if refused := [now.not_admitted[run] for run in sorted(set(runs) & now.not_admitted.keys())]:
        raise _not_admitted(refused, known, place)
    if not reads_decisions(specification):
        return []
    if known != {decision.event.sha256 for decision in now.all()}:
        raise WarehouseError("WH313", "the build was made with other decisions on runs than the ledger has now", place, "run: wh build")
    return built


def conflicted_runs(build: "Build") -> list[str]:
    """The runs of a build that bundles state differently: nothing of them is published. Empty for a project that has no table of
    runs."""
    from warehouse.transform.finished.query import read_query
    from warehouse.transform.finished.role_tables import role_table

    runs = role_table(build.path, RUNS)
    if runs is None or "has_conflict" not in runs.columns:
        return []
    with read_query(build.path, f"select run_id from {runs.sql} where has_conflict order by 1") as result:
        return [row[0] for row in result.fetchall()]


def decisions_then(project: Project, publication: PublishedRollup) -> frozenset[str]:
    """The decisions in force when a publication was first made, by sha256, as the ledger has it."""
    ledger = Ledger(open_store(project).objects)
    events = [event for event in ledger.events() if event.kind in (PUBLISHING, PUBLICATION) and event.subject == publication.digest]
    made = min((event.at for event in events), key=datetime.fromisoformat, default=None)
    before = [event for event in ledger.decisions() if made is None or datetime.fromisoformat(event.at) < datetime.fromisoformat(made)]
    return frozenset(decision.event.sha256 for decision in standing(before).all())


def _not_admitted(refused: Sequence[Decision], known: set[str], place: str) -> WarehouseError:
    listed = "\n".join(f"  {decision.run_id}  {decision}" for decision in refused[:_LISTED])
    more = f"\n  and {len(refused) - _LISTED} more" if len(refused) > _LISTED else ""
    is_built = all(decision.event.sha256 in known for decision in refused)
    count = f"{len(refused)} run{'s' * (len(refused) > 1)} that {'are' if len(refused) > 1 else 'is'}"
    return WarehouseError(
        "WH313", f"it depends on {count} not admitted:\n{listed}{more}", place,
        "leave them out of the query, for example with: where state = 'admitted'" if is_built else "decided after the build was made: run wh build",
    )


def reads_decisions(specification: Mapping[str, Any]) -> bool:
    """Whether a query, or a model under it, reads what was decided of runs."""
    documents = [specification["document"], *specification["models"].values()]
    return any(leaf["table"] in DECIDED_TABLES for document in documents for leaf in document["landing"])


def _of_build(project: Project, build: "Build") -> Sequence[Reference]:
    from warehouse.transform.inputs.landing_tables import built_rows

    landing = open_store(project).landing
    named = {  # several rows may be of one decision
        row["event_key"]: row["event_sha256"]
        for table in DECIDED_TABLES for row in built_rows(build.landing, landing, table, ("event_key", "event_sha256"))
    }
    return [{"key": key, "sha256": sha256} for key, sha256 in named.items()]

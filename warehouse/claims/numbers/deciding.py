"""Decisions on runs: retract one, replace it by another, take that back, settle which bundle is its evidence, or attach a note.
Also reads the ledger.

Only runs that the current build knows are decided on: a run id that was mistyped would leave the one that was meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.claims.publish.admissibility import conflicted_runs
from warehouse.claims.publish.signing import trusted_keys
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.ledger.events import Event, Ledger
from warehouse.evidence.ledger.run_decisions import (
    NOTE,
    REINSTATEMENT,
    RETRACTION,
    SETTLEMENT,
    SUPERSESSION,
    Standing,
    decide,
    decision_subject,
    is_of_run,
    standing_now,
)
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.signatures import Signing, check_signatures
from warehouse.project.project import Project
from warehouse.transform.finished.builds import Build, current_build
from warehouse.transform.project.model import BUNDLE_COLUMN, RUN_FILES, RUNS

if TYPE_CHECKING:
    from warehouse.evidence.signing.keys import SigningKey

_SIMILAR = 5
_DIGEST_CHARACTERS = 8  # of a digest, at least, name what begins so


def retract(
    project: Project, run_id: str, reason: str, superseded_by: str | None = None, key: "SigningKey | None" = None
) -> Event:
    """Retract a run, or with `superseded_by` record that an admitted run replaces it. Raises WH314 for a run that the build does not
    know or that cannot replace another, WH211, WH107, WH109, WH113."""
    now = _checked(project, run_id, reason)
    if superseded_by is None:
        return decide(open_store(project).objects, RETRACTION, run_id, reason, key=key)
    _check_known(project, superseded_by)
    if superseded_by == run_id:
        raise WarehouseError("WH314", "a run cannot replace itself", printable(run_id))
    if superseded_by in now.not_admitted:
        message = f"it cannot replace another run: {now.not_admitted[superseded_by]}"
        raise WarehouseError("WH314", message, printable(superseded_by), "name an admitted run")
    return decide(open_store(project).objects, SUPERSESSION, run_id, reason, {"superseded_by": superseded_by}, key)


def reinstate(project: Project, run_id: str, reason: str, key: "SigningKey | None" = None) -> Event:
    """Take back that a run was retracted or superseded. Raises WH314 where it was not, and what `retract` raises."""
    if run_id not in _checked(project, run_id, reason).not_admitted:
        raise WarehouseError("WH314", "it is admitted: there is nothing to take back", printable(run_id))
    return decide(open_store(project).objects, REINSTATEMENT, run_id, reason, key=key)


def settle(project: Project, run_id: str, bundle: str, reason: str, key: "SigningKey | None" = None) -> Event:
    """Say which of the bundles that state a run differently is its evidence, by its digest or what that begins with; the others
    that the build knows are set aside. One that arrives later with other bytes is a conflict again. Raises WH314 for a run
    whose bundles agree, and for a bundle that does not state it, and what `retract` raises."""
    now = _checked(project, run_id, reason)
    stating, is_in_conflict = _stating(current_build(project), run_id)
    if not is_in_conflict and run_id not in now.settled:
        raise WarehouseError("WH314", "no bundles state it differently: there is nothing to settle", printable(run_id))
    if len(bundle) < _DIGEST_CHARACTERS:
        message = f"{printable(bundle)!r} does not name a bundle: give {_DIGEST_CHARACTERS} or more characters of its digest"
        raise WarehouseError("WH314", message, printable(run_id), f"it is stated by {', '.join(stating)}", ExitCode.NOT_FOUND)
    found = [digest for digest in stating if digest.startswith(bundle)]
    if len(found) != 1:
        begin = "have digests that begin" if found else "has a digest that begins"
        message = f"{len(found) or 'none'} of its bundles {begin} with {printable(bundle)}"
        exit_code = ExitCode.AMBIGUOUS if found else ExitCode.NOT_FOUND
        raise WarehouseError("WH314", message, printable(run_id), f"it is stated by {', '.join(stating)}", exit_code)
    detail = {"bundle": found[0], "set_aside": [digest for digest in stating if digest != found[0]]}
    return decide(open_store(project).objects, SETTLEMENT, run_id, reason, detail, key)


def note(project: Project, run_id: str, text: str, key: "SigningKey | None" = None) -> Event:
    """Keep a word on a run, which decides nothing. Raises what `retract` raises."""
    _checked(project, run_id, text)
    return decide(open_store(project).objects, NOTE, run_id, text, key=key)


@dataclass(frozen=True)
class LedgerLine:
    """An event, and what the signatures of one that is of a run are now; None for another, which has none."""

    event: Event
    signing: Signing | None


def ledger_lines(project: Project, subject: str | None, damaged: list[WarehouseError]) -> Iterator[LedgerLine]:
    """The ledger's events, oldest first: all, or those of a run or of the digest that begins so. Events that cannot be read
    (WH107) go to `damaged`."""
    objects, trusted = open_store(project).objects, trusted_keys(project)
    ledger = Ledger(objects)
    for event in ledger.events():
        if subject is None or _is_of(event, subject):
            yield LedgerLine(event, check_signatures(objects, decision_subject(event), trusted) if is_of_run(event) else None)
    damaged += ledger.damaged


def _is_of(event: Event, subject: str) -> bool:
    is_digest = len(subject) >= _DIGEST_CHARACTERS and not is_of_run(event)
    return event.subject == subject or (is_digest and event.subject.startswith(subject))


def _checked(project: Project, run_id: str, reason: str) -> Standing:
    """The decisions in force now, where something may be decided on a run."""
    if not reason.strip():
        raise WarehouseError("WH314", "it needs a reason", printable(run_id))
    now = standing_now(open_store(project).objects)
    if run_id not in now.not_admitted:  # decided on before, it may have no evidence any more
        _check_known(project, run_id)
    return now


def _check_known(project: Project, run_id: str) -> None:
    from warehouse.transform.finished.query import kept_open

    build = current_build(project)
    with kept_open(build):
        is_known, similar = look_up_run(build, run_id)
    if is_known:
        return
    hints = []
    if waiting := set(open_store(project).digests()) - _built_bundles(project, build):
        count = len(waiting)
        hints.append(f"{count} bundle{'s are' if count > 1 else ' is'} in the store and not built yet: run wh build")
    if similar:
        hints.append(f"similar: {', '.join(map(printable, similar))}")
    raise WarehouseError(
        "WH314", "no run of the current build has this id", printable(run_id), "; ".join(hints) or None, ExitCode.NOT_FOUND
    )


def look_up_run(build: Build, run_id: str) -> tuple[bool, list[str]]:
    """Whether a build knows a run, and if not, the ids most like it. In a project without a table of runs, every table with
    a run_id holds runs."""
    from warehouse.transform.finished.query import read_query
    from warehouse.transform.finished.role_tables import role_table
    from warehouse.transform.sql.duck import quoted, text_literal

    wanted = text_literal(run_id)
    sql = (
        "select distinct column_info.table_schema || '.' || column_info.table_name from information_schema.columns as column_info"
        " inner join catalog.model as model on model.schema_name = column_info.table_schema and model.name = column_info.table_name"
        " where column_info.column_name = 'run_id' order by 1"
    )
    if table := role_table(build.path, RUNS):
        tables = [table.name]
    else:
        with read_query(build.path, sql) as result:
            tables = [row[0] for row in result.fetchall()]
    if not tables:
        return False, []
    runs = " union ".join(f"select run_id::varchar as run_id from {quoted(table)}" for table in tables)
    ranked = f"order by run_id <> {wanted}, not contains(run_id, {wanted}), levenshtein(run_id, {wanted}), run_id"
    with read_query(build.path, f"select run_id from ({runs}) where run_id is not null group by run_id {ranked} limit {_SIMILAR}") as result:
        found = [row[0] for row in result.fetchall()]
    return found[:1] == [run_id], found


def _stating(build: Build, run_id: str) -> tuple[list[str], bool]:
    """The bundles of a build that state a run, sorted, and whether they do so differently: none and no, where no table of the project
    has the role of saying so."""
    from warehouse.transform.finished.query import read_query
    from warehouse.transform.finished.role_tables import role_table
    from warehouse.transform.sql.duck import text_literal

    files = role_table(build.path, RUN_FILES)
    if files is None:
        return [], False
    sql = f"select distinct {BUNDLE_COLUMN} from {files.sql} where run_id = {text_literal(run_id)} order by 1"
    with read_query(build.path, sql) as result:
        stating = [row[0] for row in result.fetchall()]
    return stating, run_id in conflicted_runs(build)


def _built_bundles(project: Project, build: Build) -> set[str]:
    from warehouse.landing.parse.batches import BUNDLE_TABLE
    from warehouse.transform.inputs.landing_tables import built_rows

    column = "artifact_manifest_digest"
    return {row[column] for row in built_rows(build.landing, open_store(project).landing, BUNDLE_TABLE, [column])}

"""Published numbers that are no longer fresh: not verified, other than the build holds, of a query that changed, or of evidence that expires."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from warehouse.alive.row import Known, Row, publish_again
from warehouse.claims.numbers.current import CurrentNumbers
from warehouse.claims.numbers.search import current_numbers
from warehouse.claims.publish.publication import ROWS, PublishedRollup
from warehouse.claims.publish.specification import Specification, parse_specification, stored_specification
from warehouse.claims.verify.last_checks import number_checks, publication_check
from warehouse.claims.verify.verdict import RETRACTED, STALE, VERIFIED
from warehouse.errors import counted, printable
from warehouse.evidence.ledger.events import ARRIVAL
from warehouse.maintenance.retention import DUE, plan_retention
from warehouse.transform.finished.query import read_query
from warehouse.transform.sql.duck import text_literal

FAILED, ANOTHER_VALUE, CHANGED, EXPIRING, UNVERIFIED = "failed verification", "another value", "query changed", "evidence expires", "not verified"
_NUMBER = re.compile(rb'"number_id":"(n-[a-z0-9]+)"')
_LISTED = 3
_TRUE = (VERIFIED, STALE, RETRACTED)  # what a verification found to be what was published


def failed(known: Known) -> Iterator[Row]:
    """Publications whose last verification here found a number that is not what was published."""
    for each in known.counting:
        if found := publication_check(known.project, each.digest):
            check, others = found
            states = dict.fromkeys((check.state, *others, *([check.doubt] if check.doubt else [])), check.at)
        else:
            states = {check.state: check.at for check in number_checks(known.project, each.digest)}
        if bad := {state: at for state, at in states.items() if state not in _TRUE}:
            words = f"the last verification of {each.query} found: {', '.join(bad)}"
            yield Row(
                FAILED, f"{FAILED} {each.digest}", str(each.query), words, _verify(each), min(bad.values()), (f"publication {each.digest}",),
                publication=each.digest, news=words,
            )


def unverified(known: Known) -> Iterator[Row]:
    """Publications that nobody verified here for a while."""
    for each in known.counting:
        found, published = publication_check(known.project, each.digest), known.published_at.get(each.digest)
        at = found[0].at if found else published
        if at is None or not known.is_older(at, known.project.freshness.verified_days):
            continue
        said = f"{'last verified here on' if found else 'never verified here; published on'} {at:%Y-%m-%d}"
        yield Row(
            UNVERIFIED, f"{UNVERIFIED} {each.digest}", str(each.query), f"{_numbers(each)} of {each.query}: {said}", _verify(each), at,
            (f"publication {each.digest}",), (known.now - at).total_seconds(), each.digest,
        )


def another_value(known: Known) -> Iterator[Row]:
    """Publications with numbers whose cells hold another value in the current build, or none. Rows are only read where an id is not in the build."""
    if known.build is None:
        return
    for each in known.counting:
        ids = {number.decode() for line in each.lines(ROWS) for number in _NUMBER.findall(line)}
        if not (missing := ids - current_numbers(known.project, str(each.query))):
            continue
        now = CurrentNumbers(known.project, each)
        gone = sorted({
            str(cell.number_id) for row in each.rows() for cell in row.cells.values() if cell.number_id in missing and not now.hold(row, cell)
        })
        if gone:
            listed = ", ".join(gone[:_LISTED]) + (f" and {len(gone) - _LISTED} more" if len(gone) > _LISTED else "")
            words = f"{len(gone)} of {_numbers(each)} of {each.query} {'is' if len(gone) == 1 else 'are'} not in the current build: {listed}"
            yield Row(
                ANOTHER_VALUE, f"{ANOTHER_VALUE} {each.digest}", str(each.query), words, publish_again(each), known.published_at.get(each.digest),
                (f"publication {each.digest}", *gone[:_LISTED]), len(gone), each.digest, words,
            )


def changed(known: Known) -> Iterator[Row]:
    """Publications whose policy, query, or a model under it, is another now."""
    if known.build is None or not known.counting:
        return
    names = ", ".join(text_literal(str(each.query)) for each in known.counting)
    sql = f"select name, specification from catalog.model where schema_name = 'rollup' and specification is not null and name in ({names})"
    with read_query(known.build.path, sql) as result:
        built = dict(result.fetchall())
    for each in known.counting:
        what = [*_policy_changes(known, each), *_query_changes(known, each, built.get(each.query))]
        if what:
            words = f"{each.query}: since it was published, {' and '.join(what)}"
            yield Row(
                CHANGED, f"{CHANGED} {each.digest}", str(each.query), words,
                publish_again(each) if each.query in built else f"wh withdraw {each.digest[:12]} --reason 'its query is gone'",
                known.published_at.get(each.digest), (f"publication {each.digest}",), publication=each.digest, news=words,
            )


def expiring(known: Known) -> Iterator[Row]:
    """Publications with evidence that policy will remove soon: the last publication of each query keeps its evidence, earlier ones do for as long as
    they are young."""
    limits = known.project.freshness
    then = known.now + timedelta(days=limits.expiry_days)
    oldest = min((event.at for event in known.events if event.kind == ARRIVAL), default=None)
    keeps = timedelta(days=known.project.retention.cold_days)
    if oldest is None or datetime.fromisoformat(oldest) > then - keeps:
        return  # nothing is old enough: no publication has to be read
    due = {aged.digest: aged.arrived_at for aged in plan_retention(known.project, then) if aged.state == DUE}
    for each in known.not_corrected if due else ():
        if going := sorted(each.bundles() & due.keys()):
            first = min(datetime.fromisoformat(due[digest]).astimezone(UTC) for digest in going) + keeps
            at = max([first, *([known.published_at[each.digest] + keeps] if each.digest in known.published_at else [])])
            when = f"from {at:%Y-%m-%d} on" if at > known.now else "now"
            words = f"retention may remove {counted(len(going), 'bundle')} under the publication {each.digest[:12]} of {each.query} {when}"
            yield Row(
                EXPIRING, f"{EXPIRING} {each.digest}", str(each.query), words, f"wh push ../kept-evidence {each.digest[:12]} --create", at,
                (f"publication {each.digest}", *going[:_LISTED]), -at.timestamp(), each.digest,
            )


def _policy_changes(known: Known, publication: PublishedRollup) -> Iterator[str]:
    stated = publication.record.get("policy")
    if not stated:
        return
    policy = known.policy(str(stated["name"]))
    if policy is None:
        yield f"its policy {printable(str(stated['name']))} is gone or not valid"
    elif policy.digest != stated["digest"]:
        versions = f": version {stated['version']}, now {policy.version}" if str(stated["version"]) != str(policy.version) else ""
        yield f"its policy {policy.name} changed{versions}"


def _query_changes(known: Known, publication: PublishedRollup, text: str | None) -> Iterator[str]:
    """What of the query is another in the current build, of its own text first."""
    if text is None:
        yield "its query is not in the project any more"
        return
    before = stored_specification(known.project, str(publication.record["query_spec_digest"]))
    digest = re.search(r'"query_spec_digest":"([0-9a-f]{64})"', text)
    if digest is None or digest[1] == before.digest:
        return
    now = parse_specification(text.encode(), digest[1], "the current build")
    parts = [name for name in ("sql", "claim", "contract", "engine") if before.document["document"].get(name) != now.document["document"].get(name)]
    if parts:
        yield f"its {' and '.join('SQL' if part == 'sql' else part for part in parts)} changed"
    earlier, later = _texts(before), _texts(now)
    if models := [name for name in {**later, **earlier} if earlier.get(name) != later.get(name)]:
        more = f" and {len(models) - _LISTED} more" if len(models) > _LISTED else ""
        yield f"{counted(len(models), 'model')} under it changed: {', '.join(models[:_LISTED])}{more}"
    elif not parts:
        yield "what is under it changed, but not the text of any model"


def _texts(specification: Specification) -> dict[str, object]:
    """The SQL of every model under a query, by name, the nearest first."""
    return {name: specification.document["models"][digest].get("sql") for name, digest in specification.models}


def _numbers(publication: PublishedRollup) -> str:
    return counted(int(publication.record.get("numbers", 0)), "number")


def _verify(publication: PublishedRollup) -> str:
    return f"wh verify {publication.digest[:12]}"

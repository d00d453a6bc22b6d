"""One number: its value and what that is worth, the runs under it, the way to its bytes, and how to check all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain

from warehouse.analysis.names import SEPARATOR
from warehouse.claims.gate.judgement import interval_text
from warehouse.claims.numbers.lineage import Lineage, lineage_of
from warehouse.claims.numbers.raw_bytes import WHOLE, OpenedFile, open_file
from warehouse.claims.numbers.search import find_cell
from warehouse.claims.publish.corrections import correction_text
from warehouse.claims.publish.publication import publications
from warehouse.claims.verify.last_checks import LastCheck, last_check
from warehouse.errors import counted, printable
from warehouse.evidence.ledger.events import CORRECTION
from warehouse.evidence.ledger.removal import removal_text
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.signatures import INVALID, VALID
from warehouse.evidence.store import proof_key
from warehouse.project.project import Project
from warehouse.statistics.interval import Interval
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.parts import Fact, Facts, Figure, Page, Part
from warehouse.surfaces.view import View, Visit, address
from warehouse.surfaces.views.claims import number_audit, number_checks, number_origin, number_runs
from warehouse.surfaces.views.claims.naming import cell_name, grain_facts
from warehouse.surfaces.views.claims.number_audit import NUMBER_ID, read_id
from warehouse.surfaces.views.evidence.shown_bytes import excerpts
from warehouse.surfaces.views.facts.reading import metric_names_of
from warehouse.surfaces.views.results.facets import metric_of_row, named_column
from warehouse.transform.sql.duck import engine_version
from warehouse.version import __version__

_OPENED_FILES = 3
_HASHED_BYTES = 64 << 20  # for one page: a larger file is hashed where it is shown itself


def _page(visit: Visit) -> Page:
    events = visit.events()
    published = publications(visit.project, events)
    found = find_cell(visit.project, read_id(visit), published)
    number = lineage_of(visit.project, found, events)
    opened = _opened(visit.project, number)
    metric, unit = _metric(visit, number)
    check = last_check(visit.project, number.publication, number.number_id) if number.publication and number.number_id else None
    parts: list[Part] = [
        _figure(number, opened, unit, f"{check.state} {check.age(visit.now)}" if check else None),
        _about(number, unit, number_checks.before(number, found, published, events), check), number_runs.runs_table(number, unit),
        _steps(number, opened), *excerpts(opened),
        *number_checks.gate(number), number_checks.verification(number), number_checks.history(number, found, published, events),
        *number_origin.reproduction(visit, number), *number_origin.query(visit, number), number_origin.files(number, opened),
        number_checks.signatures(number), number_checks.citation(visit, number),
    ]
    said = f": {number.description}" if number.description else ""
    return Page(
        cell_name(found), tuple(part for part in parts if part is not None), f"{metric}{number.query}.{number.column}{said}",
        notices=tuple(_notices(number)),
        crumbs=(("Numbers", "/numbers"),), next_steps=_next_steps(number),
    )


def _metric(visit: Visit, number: Lineage) -> tuple[str, str | None]:
    """What people call its column, before a separator, and its unit for people: that of the metric which its row names, for a statistic of it."""
    names, of_row = metric_names_of(visit), metric_of_row(number.grain)
    unit = names.of(of_row, None)[2] if of_row and number.unit is None and number.worth and number.worth.statistic else number.unit
    name, unit = named_column(names, number.column, unit)
    return f"{name}{SEPARATOR}", unit


def _opened(project: Project, number: Lineage) -> list[OpenedFile]:
    """The first files, hashed, as far as they are not too large for a page."""
    objects, left, found = open_store(project).objects, _HASHED_BYTES, []
    for file in number.raw_files[:_OPENED_FILES]:
        with suppress(OSError):  # one that is gone costs nothing to hash
            left -= objects.size(proof_key(file.artifact_manifest_digest, file.raw_path, file.sha256))
        if left >= 0:
            found.append(open_file(project, file))
    return found


def _figure(number: Lineage, opened: Sequence[OpenedFile], unit: str | None, checked: str | None) -> Figure:
    worth, half = number.worth, None
    words = [interval_text(worth.interval)] if worth and worth.interval else []
    if worth and isinstance(worth.interval, Interval) and worth.interval.high > worth.interval.low:
        low, high = worth.interval.low, worth.interval.high
        half = (high - low) / 2
        words = [f"{rounded(low, half)} to {rounded(high, half)} {words[0].partition('] ')[2]}"]
    if worth and worth.n:
        words.append(", ".join(counted(count, level) for level, count in worth.n.items()))
    if not words:
        was_judged = worth is not None and worth.policy is not None
        words.append(f"no interval: {'its query claims no statistic of it' if was_judged else 'it was not judged'}")
    states = [*_states(number, opened), *([checked] if checked else [])]
    return Figure("number", number.value, unit, "; ".join(words), tuple(dict.fromkeys(states)), half=half)


def _states(number: Lineage, opened: Sequence[OpenedFile]) -> Iterator[str]:
    if number.correction:
        yield "superseded" if number.correction.kind == CORRECTION else "withdrawn"
    yield from (each.state for each in opened if each.state != WHOLE)
    if number.publication is None:
        yield "not published"
    elif number.worth:
        yield number.worth.verdict
    if number.is_provisional and not (number.worth and number.worth.verdict == "provisional"):
        yield "published as provisional"
    if number.decisions:
        yield "retracted"
    if number.now or (number.is_gone and number.publication):
        yield "stale"
    if number.removals:
        yield "expired by policy"
    if number.signings and number.signings.publication:
        state = number.signings.publication.state
        yield {VALID: "signed", INVALID: "signature invalid"}.get(state, state)


def _notices(number: Lineage) -> Iterator[str]:
    if number.correction:
        yield f"The publication that holds it was {correction_text(number.correction)}."
    if number.publication is None:
        yield f"This number is built and not published: it was traced now, in the current build. To publish it: wh publish {number.query}"
    if number.now:
        yield f"As published it is {number.value}; the current build holds {number.now[1]} in its cell."
    elif number.is_gone and number.publication:
        yield "The current build has no such cell. What is shown is as it was published."
    for run, decision in chain(number.decisions.items(), number.settlements.items()):
        yield f"Run {printable(run)} was {decision}."
    for digest, removal in number.removals.items():
        yield f"Bundle {digest[:12]} was {removal_text(removal)}."


def _about(number: Lineage, unit: str | None, before: Fact | None, check: LastCheck | None) -> Facts:
    exactly = [Fact("exactly", str(number.value), unit)] if isinstance(number.value, float) else []
    facts = [*exactly, *([before] if before else []), *grain_facts(number.grain)]
    facts.append(Fact("number", number.number_id, kind="code"))
    facts.append(Fact("cell", printable(number.key), kind="code"))
    if number.worth and number.worth.statistic:
        facts.append(Fact("statistic", number.worth.statistic, note="of its runs, as its query claims"))
    if number.publication:
        facts += _published(number, unit, number.publication)
    if check:
        whole = f", and its publication as a whole {check.doubt}" if check.doubt else ""
        said = f"{check.state} then{whole}. This is remembered, not proven: verify it again"
        facts.append(Fact("last_verified", check.at, kind="moment", note=said))
    return Facts("about", tuple(facts))


_CLASSES = "E: to the last bit; T: within the tolerance of float sums; U: made of one, and no float"


def _published(number: Lineage, unit: str | None, publication: str) -> Iterator[Fact]:
    """What was published, and what the current build holds now."""
    event, now = number.published, number.now
    by = f"by {printable(event.by)}" if event else "the ledger has no event of it"
    yield Fact("published", event.at if event else None, kind="moment", note=by)
    yield Fact("publication", publication, link=address("/publications/{publication}", publication=publication), kind="code")
    yield Fact("as_published", number.value, unit)
    link = address("/numbers/{number_id}", number_id=now[0]) if now and now[0] else None
    if now:
        yield Fact("now", now[1], unit, link, note="another number")
    else:
        value, note = (None, "the current build has no such cell") if number.is_gone else (number.value, "the same number")
        yield Fact("now", value, unit, note=note)
    if number.determinism:
        yield Fact("reproducible", str(number.determinism), note=_CLASSES)
    here = {"engine": f"duckdb {engine_version()}", "wh": __version__}
    for name, version in number.software.items():
        yield Fact(f"made_with_{name}", version, note=f"verified here with {here[name]}" if here.get(name, version) != version else "")


def _steps(number: Lineage, opened: Sequence[OpenedFile]) -> Facts:
    workloads = {run.get("workload_spec_digest") for run in number.runs} - {None}
    left_out = number_runs.left_out_count(number)
    hashed = [each for each in opened if each.state == WHOLE]
    told = "; ".join([
        f"{len(hashed)} of {len(number.raw_files)} hashed now and whole" if opened else "",
        *(f"{printable(each.file.raw_path)} is {each.state}" for each in opened if each.state != WHOLE),
    ])
    publication = number.publication and address("/publications/{publication}", publication=number.publication)
    catalogue = address("/catalogue/{table}", table=f"rollup.{number.query}")
    return Facts("steps", (
        Fact("row", number.column, link=publication, note="of a row that was published" if publication else "of a row of the current build"),
        Fact("query", number.query, link=catalogue, note=f"query_spec_digest {number.query_spec_digest[:12]}"),
        Fact(
            "runs", counted(len(number.runs), "run used", "runs used"), link="#runs",
            note=", ".join([*([f"{left_out} left out"] if left_out else []), counted(len(workloads), "workload")]),
        ),
        Fact("raw", counted(len(number.raw_files), "file"), link="#files", note=told),
    ), "From this number to its bytes", "steps")


def _next_steps(number: Lineage) -> dict[str, str]:
    found = {"All runs that were left out, each with the clause that did it": address("/numbers/{number_id}/excluded", number_id=number.number_id)}
    if number.publication:
        found["Everything that was published with it"] = address("/publications/{publication}", publication=number.publication)
    return found


VIEWS = (
    View(
        "number", "/numbers/{number_id}", "Number", "One number: its value with interval and verdict, its runs, its raw bytes and how to check it.",
        _page, (NUMBER_ID,), needs_build=False, says_checks=True,
    ),
    *number_audit.VIEWS,
)

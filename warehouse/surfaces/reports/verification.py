"""`wh verify REPORT`: whether a report shows what its publications hold, and whether its numbers are still what the evidence gives.

A report of the same version of wh is made again from its record, and its published sections must be the same text. One of another
version is read instead, and compared number by number. Exploratory sections are not verified, only kept apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from warehouse.claims.publish.corrections import corrected, correction_text
from warehouse.claims.publish.publication import publications
from warehouse.claims.verify.store_now import StoreNow
from warehouse.claims.verify.verdict import MISSING, REFUSED, RETRACTED, STALE, TAMPERED, VERIFIED, Verdict
from warehouse.claims.verify.verification import verify_number, verify_publication
from warehouse.errors import WarehouseError, counted, printable
from warehouse.evidence.ledger.events import Event, Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.reports.numbers_shown import Number, Selection
from warehouse.surfaces.reports.reading import NUMBER_ID, ReportFile, exploratory_fault, read_report, rows_of, titled
from warehouse.surfaces.reports.rendering import END, START, report_html, report_markdown
from warehouse.surfaces.reports.report import Report, published_again
from warehouse.surfaces.reports.wording import half_of, interval, n_of, standing, unit_of
from warehouse.transform.export.docs.published_pages import shown_value
from warehouse.transform.finished.builds import Build, find_build, find_current
from warehouse.version import __version__

_BY_ITSELF = 8  # numbers that are replayed one by one; of more, their publications are replayed whole
_FIGURE = ("value", "unit", "interval", "n", "verdict", "may be quoted")


def verify_report(project: Project, path: Path) -> Iterator[Verdict]:
    """A verdict on each number of a report, and at last one on the report itself. Raises WH611."""
    report = read_report(path)
    events = list(Ledger(open_store(project).objects).events())
    yield from _replayed(project, report, events)
    yield check_report(project, report, events)


def check_report(project: Project, report: ReportFile, events: Sequence[Event]) -> Verdict:
    """The verdict on the file alone: whether it shows what its publications hold, by the ledger's events. Nothing is replayed."""
    try:
        build, is_its_build = _build(project, report.record["build"])
        again, found = published_again(project, report.record, events, build)
    except WarehouseError as error:
        if error.code not in ("WH610", "WH307"):
            raise
        return Verdict(None, str(report.path), None, TAMPERED, f"it cannot be made again from its record: {error.message}", 0, (error,))
    return _verdict(report, again, found, is_its_build)


def _build(project: Project, digest: str | None) -> tuple[Build | None, bool]:
    """The build that a report was made on, or the current one, and whether it is the very one."""
    current = find_current(project)
    if digest is None or (current and current.digest == digest):
        return (current if digest else None), True
    try:
        return find_build(project, digest), True
    except WarehouseError:
        return current, False


def _verdict(report: ReportFile, again: Report, found: Selection, is_its_build: bool) -> Verdict:
    """The verdict on the file: that its published sections are those of its publications."""
    place = str(report.path)
    if wrong := _selection_fault(report.record, found):
        return Verdict(None, place, None, *wrong)
    is_same_version = report.record["wh"] == __version__
    made = (report_html if report.is_html else report_markdown)(again)
    head, _, rest = made.partition(START)
    tail = rest[rest.rindex(END) :]
    head += START
    is_same = len(report.text) >= len(head) + len(tail) and report.text.startswith(head) and report.text.endswith(tail)
    if is_same:
        inside = report.text[len(head) : len(report.text) - len(tail)]
        if fault := exploratory_fault(inside, is_html=report.is_html):
            return Verdict(None, place, None, TAMPERED, f"its exploratory section is not one: {fault}")
        counts = f"its published sections are, letter by letter, what {_count(found)} give"
        unknown = "" if is_its_build else ", nor that it was made on the build that it names, which is not here"
        return Verdict(None, place, None, VERIFIED, f"{counts}; its exploratory section is not verified{unknown}")
    faults = list(_figure_faults(report, found.numbers))
    if faults:
        return Verdict(None, place, None, TAMPERED, "; ".join(faults[:5]) + (f"; and {len(faults) - 5} more" if len(faults) > 5 else ""))
    if is_same_version and (is_its_build or report.record["audience"] != "partner"):
        said = _first_difference(report.text, made)
        return Verdict(None, place, None, TAMPERED, f"its published sections are not what its publications give: {said}")
    lost = "the build that it was made on is not here, so that names cannot be withheld again"
    why = lost if is_same_version else "it was made by another version of wh"
    compared = "the value, unit, interval, n and verdict of every number were compared"
    reason = f"{why}: {compared}; its words, drawings, other tables and exploratory section are not verified"
    return Verdict(None, place, None, STALE, reason)  # not verified: its words may say anything


def _count(found: Selection) -> str:
    return counted(len(found.shown), "publication")


def _selection_fault(record: Mapping[str, Any], found: Selection) -> tuple[str, str] | None:
    """What a report shows or leaves out other than the ledger has it for its time: a state and the reason."""
    of_ledger = {"publications": set(found.shown), "left_out": {each.publication for each in found.left_out}}
    for name, there in of_ledger.items():
        if other := sorted(set(record[name]) ^ there):
            what = printable(other[0])[:16]
            return REFUSED, f"by the ledger here it should show other publications: {what} differs. It was changed, or events were copied since"
    if list(record["numbers"]) != (own := [each.number_id for each in found.numbers]):
        other = sorted(set(record["numbers"]) ^ set(own))
        return TAMPERED, f"its record has other numbers than its publications: {printable(other[0])[:40] if other else 'in another order'}"
    return None


def _figure_faults(report: ReportFile, numbers: Sequence[Number]) -> Iterator[str]:
    """Figures in the tables that are not those of the number beside them."""
    known = {each.number_id: each for each in numbers}
    seen = set[str]()
    for row in rows_of(report):
        number_id = row.get("number", "")
        if "value" not in row or "verdict" not in row or not NUMBER_ID.fullmatch(number_id):
            if {"value", "verdict", "number"} <= row.keys():
                yield f"a figure without its number id: {printable(row['value'])[:40]}"
            continue
        if number_id not in known:
            yield f"{number_id} is not a number of its publications"
            continue
        seen.add(number_id)
        for name, text in _figure(known[number_id]).items():
            said = row.get(name)
            if said != text and not (name == "value" and said in _rounded(known[number_id])):
                yield f"{number_id}: its {name} is {text}, and the report has {printable(str(said))[:60]}"
    for number_id in known.keys() - seen:
        yield f"{number_id} is not shown"


def _figure(number: Number) -> dict[str, str]:
    """The cells of a number as text."""
    values = (number.value, unit_of(number), interval(number.worth), n_of(number.worth), number.worth.verdict, standing(number.worth))
    texts = (f"{each:,}" if hasattr(each, "__round__") else shown_value(each) for each in values)
    return {name: " ".join(text.split()) for name, text in zip(_FIGURE, texts, strict=True)}


def _rounded(number: Number) -> tuple[str, ...]:
    """Its value as Markdown and HTML show it: with half the width of its interval, and in HTML rounded to that, all digits being the title."""
    half = half_of(number.worth)
    around = "" if half is None else f" ± {rounded(half, half)}"
    return f"{number.value:,}{around}", f"{rounded(number.value, half)}{around} {titled(f'{number.value:,}')}"


def _first_difference(text: str, made: str) -> str:
    place = next((index for index, (one, other) in enumerate(zip(text, made, strict=False)) if one != other), min(len(text), len(made)))
    line = text.count("\n", 0, place) + 1
    found = re.sub(r"\s+", " ", text[max(0, place - 20) : place + 20])
    return f"they differ from line {line}: {printable(found)!r}"


def _replayed(project: Project, report: ReportFile, events: Sequence[Event]) -> Iterator[Verdict]:
    """The verdicts on its numbers, with what became of their publications since."""
    wanted = list(dict.fromkeys(report.record["numbers"]))
    corrections = corrected(events)
    with StoreNow(project) as store:
        if len(wanted) <= _BY_ITSELF:
            yield from (_replayed_alone(project, number_id, corrections, store) for number_id in wanted)
            return
        known = {each.digest: each for each in publications(project, events)}
        left = set(wanted)
        for digest in report.record["publications"]:
            if digest not in known:
                yield Verdict(None, printable(digest)[:80], None, MISSING, "the store has no such publication")
                continue
            for verdict in verify_publication(project, known[digest], store):
                if verdict.number_id is None or verdict.number_id in left:
                    left.discard(verdict.number_id or "")
                    yield _with_correction(verdict, corrections, digest)
        for number_id in (each for each in wanted if each in left):
            yield Verdict(None, printable(number_id)[:40], None, REFUSED, "none of its publications holds this number, or it could not be read")


def _replayed_alone(project: Project, number_id: str, corrections: Mapping[str, Event], store: StoreNow) -> Verdict:
    try:
        return _with_correction(verify_number(project, number_id, store), corrections)
    except WarehouseError as error:
        return Verdict(number_id if NUMBER_ID.fullmatch(number_id) else None, printable(number_id), None, MISSING, error.message, 0, (error,))


def _with_correction(verdict: Verdict, corrections: Mapping[str, Event], publication: str | None = None) -> Verdict:
    """A verdict with what became of the publication; a number that does not count any more is no longer simply verified."""
    event = corrections.get(verdict.publication or publication or "")
    if event is None:
        return verdict
    state = RETRACTED if verdict.state in (VERIFIED, STALE) else verdict.state
    return replace(verdict, state=state, reason=f"its publication was {correction_text(event)}; {verdict.reason}")

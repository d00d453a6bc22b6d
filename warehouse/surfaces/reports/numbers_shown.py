"""Which published numbers a report shows: of each query the last publication that counts, and of that what is in scope.

It depends on the publications, the ledger up to one event, and the arguments, so that a report can be made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any

from warehouse.claims.gate.worth import PublishedWorth, Worth
from warehouse.claims.publish.corrections import corrected
from warehouse.claims.publish.publication import PublishedRollup, publications
from warehouse.claims.publish.specification import read_specification, units_of
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.evidence.ledger.events import CORRECTION, PUBLICATION, WITHDRAWAL, Event
from warehouse.project.project import Project
from warehouse.transform.export.docs.published_pages import shown_value
from warehouse.transform.project.claim import claim_of

MOST_NUMBERS = 300
_LONGEST_SETTING = 40  # characters
_KINDS = (PUBLICATION, WITHDRAWAL, CORRECTION)


@dataclass(frozen=True)
class Earlier:
    """The number that the publication before held in the same cell."""

    number_id: str
    value: float | Decimal
    worth: Worth


@dataclass(frozen=True)
class Number:
    """One published number, with what it is worth."""

    publication: str
    query: str
    grain: Mapping[str, Any]
    column: str
    number_id: str
    value: float | Decimal
    unit: str | None
    worth: Worth
    run_ids: tuple[str, ...]
    settings: Mapping[str, str]  # what else its row says in words
    earlier: Earlier | None = None


@dataclass(frozen=True)
class LeftOut:
    """A publication that is not shown, and why."""

    publication: str
    query: str | None
    why: str


@dataclass(frozen=True)
class Selection:
    """The numbers of a report. `total` are in scope, `numbers` the first of them, those that rules were applied to before the others;
    `until` is the key of the last event of the ledger that counted; `others` are cells in scope that hold settings and counts,
    of which nothing is claimed and which have no unit."""

    numbers: tuple[Number, ...]
    total: int
    others: int
    shown: Mapping[str, tuple[str, str]]  # of each publication its query and time
    left_out: tuple[LeftOut, ...]
    until: str | None


@dataclass(frozen=True)
class Scope:
    """Which queries, and which values of which columns of the grain; both may have `*`. Values of one column are alternatives."""

    queries: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()

    def takes_query(self, query: str | None) -> bool:
        return not self.queries or any(fnmatchcase(query or "", wanted) for wanted in self.queries)

    def takes_row(self, grain: Mapping[str, Any]) -> bool:
        names = {name for name, _ in self.values}
        return all(
            name in grain and any(fnmatchcase(shown_value(grain[name]), wanted) for column, wanted in self.values if column == name) for name in names
        )


def read_scope(given: Sequence[str]) -> Scope:
    """The scope that a command line means. Raises WH610."""
    for text in given:
        if not text.strip() or text.startswith("="):
            raise WarehouseError("WH610", "a scope is a query or column=value", printable(text), "--scope serving_results", ExitCode.USAGE)
    pairs = [(name.strip(), value.strip()) for name, sign, value in (text.partition("=") for text in given) if sign]
    return Scope(tuple(text.strip() for text in given if "=" not in text), tuple(pairs))


def select(project: Project, scope: Scope, events: Sequence[Event], until: str | None = None) -> Selection:
    """What a report of this scope shows, by the ledger's events, or by those up to the one with the key `until`. Raises WH610 where the scope
    names what is not published."""
    known = [event for event in events if event.kind in _KINDS and (until is None or event.key <= until)]
    times = {event.subject: event.at for event in known if event.kind == PUBLICATION}
    published = [each for each in publications(project, known) if each.digest in times]
    corrections = corrected(known)
    shown, before, left_out = _standing(published, scope, corrections)
    _check(scope, published)
    found: list[Number] = []
    others = 0
    for query, publication in shown.items():
        numbers, skipped = _numbers(project, publication, scope)
        earlier = _earlier(project, before[query], scope) if query in before else {}
        found += [replace(each, earlier=earlier.get(_cell(each))) for each in numbers]
        others += skipped
    if scope.values and not found:
        wanted = ", ".join("=".join(pair) for pair in scope.values)
        raise WarehouseError("WH610", "no published number is in this scope", printable(wanted), _grain(project, shown.values()), ExitCode.NOT_FOUND)
    found.sort(key=lambda each: not each.worth.rules)
    last = max((event.key for event in known), default=None)
    return Selection(
        tuple(found[:MOST_NUMBERS]), len(found), others, {each.digest: (query, times[each.digest]) for query, each in shown.items()},
        tuple(left_out), last,
    )


def _standing(
    published: Sequence[PublishedRollup], scope: Scope, corrections: Mapping[str, Event]
) -> tuple[dict[str, PublishedRollup], dict[str, PublishedRollup], list[LeftOut]]:
    """For each query in scope, the last publication that counts and the one before it, and those that do not count, with the reason."""
    shown: dict[str, PublishedRollup] = {}
    before: dict[str, PublishedRollup] = {}
    left_out = []
    for each in published:
        if not scope.takes_query(each.query):
            continue
        if each.digest in corrections:
            event = corrections[each.digest]
            what = f"superseded by {str(event.detail.get('by'))[:12]}" if event.kind == CORRECTION else "withdrawn"
            left_out.append(LeftOut(each.digest, each.query, f"{what} on {event.at[:10]}: {event.detail.get('reason')}"))
            continue
        try:
            each.check()
        except WarehouseError as error:
            left_out.append(LeftOut(each.digest, each.query, f"damaged: {error.message}"))
            continue
        query = str(each.query)
        if query not in shown:
            shown[query] = each
        else:
            before.setdefault(query, each)
            left_out.append(LeftOut(each.digest, each.query, "its query was published again since"))
    return dict(sorted(shown.items())), before, left_out


def _check(scope: Scope, published: Sequence[PublishedRollup]) -> None:
    names = sorted({str(each.query) for each in published})
    for wanted in scope.queries:
        if not any(fnmatchcase(name, wanted) for name in names):
            hint = did_you_mean(wanted, names) or (f"published are: {', '.join(names)}" if names else "nothing is published yet: wh publish")
            raise WarehouseError("WH610", "no query of this name is published", printable(wanted), hint, ExitCode.NOT_FOUND)


def _grain(project: Project, shown: Any) -> str | None:
    names = {name for each in shown for name in read_specification(project, each).document["document"]["contract"]["grain"]}
    return f"rows are named by: {', '.join(sorted(names))}" if names else None


def _numbers(project: Project, publication: PublishedRollup, scope: Scope) -> tuple[list[Number], int]:
    specification = read_specification(project, publication)
    made, units = specification.document["document"], units_of(specification.document)
    claim = claim_of(made["claim"])
    worth = PublishedWorth(publication, claim)
    order = [*made["contract"]["grain"], *(name for name, _ in made["columns"])]
    found, others = [], 0
    for row in publication.rows():
        if not scope.takes_row(row.grain):
            continue
        grain = {name: row.grain[name] for name in sorted(row.grain, key=order.index)}
        settings = {name: row.cells[name].value for name in sorted(row.cells, key=order.index) if _is_setting(row.cells[name].value)}
        for cell in sorted(row.cells.values(), key=lambda cell: order.index(cell.column)):
            value = cell.value
            if cell.number_id is None or isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not isfinite(value):
                continue
            if cell.column not in claim.numbers and (claim.numbers or cell.column not in units.declared):
                others += 1
                continue
            specification.check_number(row, cell)
            unit = units.of_cell(cell.column, row)
            run_ids = tuple(str(run["run_id"]) for run in cell.runs)
            found.append(Number(
                publication.digest, str(publication.query), grain, cell.column, cell.number_id, value, unit, worth.of(row, cell), run_ids, settings,
            ))
    return found, others


def _is_setting(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_SETTING


def _earlier(project: Project, publication: PublishedRollup, scope: Scope) -> dict[tuple[Any, ...], Earlier]:
    return {_cell(each): Earlier(each.number_id, each.value, each.worth) for each in _numbers(project, publication, scope)[0]}


def _cell(number: Number) -> tuple[Any, ...]:
    return number.column, number.unit, *(f"{name}={shown_value(value)}" for name, value in sorted(number.grain.items()))


def by_query(numbers: Sequence[Number]) -> Iterator[tuple[str, list[Number]]]:
    """Numbers of one query after another."""
    for query in dict.fromkeys(each.query for each in numbers):
        yield query, [each for each in numbers if each.query == query]
